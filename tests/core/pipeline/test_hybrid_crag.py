"""The recipe `hybrid_crag`: what is gathered, what the model reasons from, and what is not answered."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.domain import Answer, Document, News, Product, Question, Release, Section, Turn
from core.errors import ModelMalformed
from core.models.embedding.encoder import Encoders
from core.pipeline.context import Draft, QueryContext
from core.pipeline.resources import ModelBudget
from core.pipeline.stage import run
from core.pipeline.stages.cite import Cite
from core.pipeline.stages.papers import OnlyFresh
from core.ports import LanguageModel, Matrix, Prompt
from core.prompts import DONT_KNOW
from core.query.attributes import ENCODER, WEIGHTS, few_shot
from core.recipes import recipe_of
from core.recipes.hybrid_crag import STEPS
from evaluation.tuning.sampled import sampled
from tests.core.evaluation.small import house
from tests.fakes import FakeEncoder, FakeModel, Reply

TABLE = """\
Every job has limits of its own, which the table of limits lists.

| Queue | Tries | Pause in s |
| --- | --- | --- |
| fast | 8 | 3 |
| slow | 2 | 60 |
"""
ASKED = "how long do all tries of the fast queue pause together?"


class Scripted:
    """Replies to each kind of prompt; `said` is what it reasons to."""

    def __init__(self, said: Reply) -> None:
        self.said = said

    def __call__(self, prompts: Sequence[Prompt]) -> Reply:
        system = prompts[0].content
        if "static or dynamic" in system:
            return "Dynamic." if "right now" in prompts[1].content else "static"
        if "You write the arithmetic" in system:
            return {"expressions": ["8 * 3", "import os"]}
        if "from what you know" in system:
            return {"reasoning": "", "false_premise": False, "answer": "About half a minute."}
        if "Another agent reasoned" in system:
            return {"answer": "24 s [1]."}
        if '"false_premise"' in system:
            return self.said
        return "Written plainly [1]."


GOOD = {"reasoning": "8 tries of 3 s.", "false_premise": False, "answerable": True, "answer": "24 s [1]."}


async def asked(model: LanguageModel | None, text: str = ASKED, **given: Any) -> tuple[Answer, QueryContext]:
    page = Document("limits.md", "Limits", "https://k/limits", (Section(("Limits",), "", TABLE),))
    product = Product("Queue", ("queue",), (Release("1.0", latest=True),))
    made, _ = await house(product, {"1.0": [page]}, model)
    parts = replace(made.parts, model=model, budget=ModelBudget(model))
    context = QueryContext(Question(text, **given), is_draft=True, withheld=frozenset({"memory"}))
    return await run(recipe_of("hybrid_crag")(parts), context), context


async def test_the_model_reasons_from_tables_calculations_and_what_it_knows() -> None:
    model = FakeModel(Scripted(GOOD))
    answer, context = await asked(model)
    assert (answer.text, answer.citations[0].path) == ("24 s [1].", "limits.md")
    assert (context.trace.reasoning, context.trace.false_premise) == ("8 tries of 3 s.", False)
    system, user = (prompt.content for prompt in model.calls[-1].prompts)
    assert "8 * 3 = 24" in system and "import" not in system and "About half a minute." in system
    assert "| Queue | Tries | Pause in s |" in user and "| fast | 8 | 3 |" in user, "a table is evidence"
    kinds = [call.kind for call in model.calls]
    assert kinds == ["stream"] * 3 + ["structured", "stream", "structured", "structured"], (
        "three of five samples agree; a second sample adds no expression"
    )


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (GOOD | {"answer": "24 s. But I don't know [1]."}, ""),
        (GOOD | {"answerable": False}, ""),
        (
            GOOD | {"answerable": False, "false_premise": True, "answer": "There is no pause [1]."},
            "There is no pause [1].",
        ),
        (
            ModelMalformed("No JSON.", "## Reasoning: eight tries of three seconds each ## Answer: 24 s"),
            "24 s [1].",
        ),
        (ModelMalformed("No JSON."), "Written plainly [1]."),
        (GOOD | {"answer": "24 s."}, "Written plainly [1]."),
        (
            GOOD | {"answerable": False, "false_premise": True, "answer": "There is no slow queue."},
            "Written plainly [1].",
        ),
    ],
)
async def test_an_answer_is_the_reasoned_one_its_summary_or_none(said: Reply, text: str) -> None:
    answer, _ = await asked(FakeModel(Scripted(said)))
    assert answer.route == ("documents" if text else "abstain")
    assert answer.text == text if text else answer.text.startswith(DONT_KNOW)


async def test_a_summary_that_cites_nothing_is_written_plainly_too() -> None:
    script = Scripted(
        ModelMalformed("No JSON.", "## Reasoning: eight tries of three seconds ## Answer: 24 s")
    )

    def says(prompts: Sequence[Prompt]) -> Reply:
        return {"answer": "24 s."} if "Another agent reasoned" in prompts[0].content else script(prompts)

    assert (await asked(FakeModel(says)))[0].text == "Written plainly [1]."


async def test_a_draft_that_cites_nothing_is_finished() -> None:
    context = QueryContext(Question(ASKED))
    context.draft = Draft("documents", "24 s.", ())
    made, _ = await house(Product("Queue", (), (Release("1.0", latest=True),)), {"1.0": []})
    await Cite(made.parts)(context)
    assert context.draft.text == "24 s."


async def test_what_would_be_lost_is_not_asked_for_where_the_reasoning_is_shown() -> None:
    model = FakeModel(Scripted(GOOD))
    _, context = await asked(model, why=True)
    assert context.notes == "" and {*context.course.taken} == {"attributes"}


async def test_a_follow_up_leaves_all_four_steps_to_the_model() -> None:
    script = Scripted(GOOD)
    forms = {"filtered": "", "versionless": "", "release": "", "parts": [], "attachment": ""}

    def says(prompts: Sequence[Prompt]) -> Reply:
        said = script(prompts)
        return {"base": ASKED, **forms} if said == "Written plainly [1]." else said

    turns = (Turn("user", "What limits has the fast queue?"), Turn("assistant", "8 tries."))
    _, context = await asked(FakeModel(says), "and how long do all of them pause together?", history=turns)
    assert tuple(context.course.taken) == STEPS


async def test_without_a_model_the_page_is_quoted() -> None:
    answer, _ = await asked(None, "what does the table of limits of a job list?")
    assert answer.route == "quote" and answer.citations[0].path == "limits.md"


class Leaning(FakeEncoder):
    """Gives vectors that the shipped weights take for dynamic where "right now" is said, else for static."""

    name = f"{ENCODER}@1"

    def __init__(self) -> None:
        super().__init__(self.name, 384)
        weights = np.array(json.loads(WEIGHTS.read_text("utf-8"))["weights"], np.float32)
        self._toward = weights / np.linalg.norm(weights)

    async def encode(self, texts: Sequence[str]) -> Matrix:
        made: Matrix = np.stack([self._toward if "right now" in text else -self._toward for text in texts])
        return made


async def test_where_the_svm_is_for_another_encoder_the_model_tells_what_changes_soon() -> None:
    model = FakeModel(Scripted(GOOD))
    answer, context = await asked(model, "which queue is slow right now?")
    assert answer.route == "abstain" and "changes often" in answer.text
    assert context.course.taken["attributes"] == model.name
    assert [call.temperature for call in model.calls] == [0.7] * 3


@pytest.mark.parametrize(
    ("said", "dynamic"),
    [
        (["static", "dynamic", "I think: Dynamic", "static", "dynamic"], True),
        (["hm", "static", "hm", "hm", "hm"], False),
        (["hm"] * 5, None),
    ],
)
async def test_the_majority_of_five_samples_counts(said: list[str], dynamic: bool | None) -> None:
    left = iter(said)
    model = FakeModel(lambda prompts: next(left))
    if dynamic is None:
        with pytest.raises(ModelMalformed):
            await few_shot.is_dynamic(model, ASKED)
        return
    assert await few_shot.is_dynamic(model, ASKED) is dynamic
    assert model.calls[0].prompts[0].content.count(" → dynamic") == few_shot.SHOTS


async def test_the_few_shot_form_is_measured_with_its_calls_and_what_it_could_not_tell() -> None:
    shown = few_shot.shots()[0][0]
    questions = [
        shown,
        "is it down?",
        "what is a lid?",
        "who leads now?",
        "how long is it?",
        "when is it due?",
    ]
    said = {
        "is it down?": ["dynamic"] * 3,
        "what is a lid?": ["dynamic", "static", "dynamic", "static", "static"],
        "who leads now?": ["hm", "static", "hm", "static", "dynamic"],
        "how long is it?": ["hm"] * 5,
        "when is it due?": [ModelMalformed("cut")],
    }

    def answer(prompts: Sequence[Prompt]) -> Reply:
        (asked,) = (text for text in said if text in prompts[-1].content)
        return said[asked].pop(0)

    heard: list[str] = []
    told = await sampled(FakeModel(answer), questions, np.array([0, 1, 0, 1, 0, 1]), heard.append)
    assert told.asked == 5, "what is shown as an example is not asked"
    assert (told.accuracy, told.f1) == (0.6, 0.5), "right: down, lid, and long by default"
    assert (told.calls, told.malformed, told.undecided) == (18 / 5, 7, 2) and told.seconds > 0
    assert "3.60 calls" in told.line and not any(said.values()) and not heard


async def reading(text: str, source: str = "s", days: float = 0.5) -> tuple[OnlyFresh, QueryContext]:
    """Return the stage, so many days after the source was read, and a question with what it found."""
    page = Document("limits.md", "Queue", "https://k/limits", (Section(("When it is down",), "", TABLE),))
    product = Product("Queue", (), (Release("1.0", latest=True),))
    made, searcher = await house(product, {"1.0": [page]}, source=source)
    await searcher._store.note_run("1.0", source, "", ())
    encoders = Encoders("fake", Path("unused"), lambda name, cache: Leaning())
    model = FakeModel(Scripted(GOOD))
    parts = replace(made.parts, encoders=encoders, model=model)
    stage = OnlyFresh(parts, clock=lambda: time.time() + days * 86_400)
    context = QueryContext(Question(text), releases=("1.0",))
    context.queries = replace(context.queries, base=text)
    context.vectors = await FakeEncoder().encode([text])
    context.found = await searcher.search(context.queries, context.vectors, "1.0")
    return stage, context


@pytest.mark.parametrize(
    ("text", "source", "days", "answered"),
    [
        ("is the queue down right now?", "s", 0.5, True),
        ("is the queue down right now?", "s", 2, False),
        ("is the queue down right now?", "sdist:queue==1.0", 0.5, False),
        ("what is a queue?", "s", 2, True),
    ],
)
async def test_what_changes_soon_is_answered_from_what_was_just_read_alone(
    text: str, source: str, days: float, answered: bool
) -> None:
    stage, context = await reading(text, source, days)
    assert context.pages.evidence
    answer = await stage(context)
    assert (answer is None) is answered
    if answer is None:
        assert context.found.evidence, "the page is still there"
    else:
        assert answer.route == "abstain" and answer.text.startswith(
            f"{DONT_KNOW}\n\nThe answer changes often"
        )
        assert "https://k/limits" in answer.text, "where to look"


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("what is the latest version of queue, right now?", True),
        ("which queue version is the newest right now?", True),
        ("what is the previous version, right now?", False),
        ("is the latest version down right now?", False),
    ],
)
async def test_the_newest_release_of_the_catalogue_is_named_where_archives_cannot_tell(
    text: str, is_told: bool
) -> None:
    stage, context = await reading(text, source="sdist:queue==1.0")
    answer = await stage(context)
    assert answer is not None and answer.route == "abstain" and answer.text.startswith(DONT_KNOW)
    assert ("The newest release whose documentation I have is Queue 1.0." in answer.text) is is_told


@pytest.mark.parametrize("text", ["right now", "queue right now"])
async def test_of_a_few_keywords_nobody_can_tell_whether_the_answer_changes(text: str) -> None:
    stage, context = await reading(text, days=2)
    assert await stage(context) is None and context.pages.evidence


@pytest.mark.parametrize(
    ("text", "news"), [("what is new right now?", None), ("is there anything of 1.0 right now?", News(()))]
)
async def test_release_notes_that_are_asked_for_may_be_old(text: str, news: News | None) -> None:
    stage, context = await reading(text, days=2)
    context.news = news
    assert await stage(context) is None and context.pages.evidence


async def test_of_several_parts_that_alone_is_left_out_which_changes_soon() -> None:
    stage, context = await reading("what is a queue, and is it down right now?", days=2)
    context.by_part = dict.fromkeys(("what is a queue?", "is it down right now?"), context.pages)
    assert await stage(context) is None and context.pages.evidence
    assert not context.by_part["is it down right now?"].evidence
    assert context.by_part["what is a queue?"].evidence and "is it down right now?" in context.unfound
    context.by_part = dict.fromkeys(("is it up right now?", "is it down right now?"), context.pages)
    answer = await stage(context)
    assert answer is not None and "changes often" in answer.text
