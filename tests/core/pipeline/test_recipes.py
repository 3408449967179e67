"""Recipes and the walk through their stages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import core.recipes
from core.domain import Answer, QAPair, Question, Recall, Vote
from core.errors import ConfigurationError, ModelMalformed
from core.memory.decision import Decision
from core.pipeline.context import Draft, Needs, QueryContext
from core.pipeline.stage import run
from core.pipeline.stages.write import Temper
from core.ports import Prompt
from core.prompts import DONT_KNOW
from core.recipes import recipe_of, recipes
from tests.core.test_engine import BOTH, FILTER, PARTS, TIMER, house
from tests.fakes import FakeModel, Reply

FOLDER = Path(core.recipes.__file__).parent


def says(prompts: Sequence[Prompt]) -> Reply:
    """Answer as a model that finds every page useful."""
    if "You write the arithmetic" in prompts[0].content:
        return {"expressions": []}
    if "from what you know" in prompts[0].content:
        return {"reasoning": "", "false_premise": False, "answer": DONT_KNOW}
    if '"false_premise"' in prompts[0].content:
        return {"reasoning": "r", "false_premise": False, "answerable": True, "answer": "45 minutes [1]."}
    if "You read relations" in prompts[0].content:
        return {"triplets": []}
    if "You rank" in prompts[0].content:
        return {"reasoning": "", "ranking": [1, 2, 3, 4]}
    if "keep" in prompts[0].content:
        return {"reasoning": "", "keep": list(range(1, 40))}
    return "45 minutes [1]."


class Says:
    """A stage that writes down that it ran, and answers where it was told to."""

    def __init__(self, seen: list[str], name: str, needs: Needs = "", answers: bool = False) -> None:
        self.seen = seen
        self.name = name
        self.needs = needs
        self.answers = answers

    async def __call__(self, context: QueryContext) -> Answer | None:
        self.seen.append(self.name)
        return Answer("a1", self.name, "abstain", "") if self.answers else None


async def test_the_first_answer_ends_the_journey() -> None:
    seen: list[str] = []
    stages = (Says(seen, "one"), Says(seen, "two", answers=True), Says(seen, "three", answers=True))
    assert (await run(stages, QueryContext(Question("Why?")))).text == "two"
    assert seen == ["one", "two"]


async def test_what_a_journey_withholds_its_stages_do_without() -> None:
    seen: list[str] = []
    stages = (Says(seen, "one"), Says(seen, "two", "memory"), Says(seen, "three", "model"))
    context = QueryContext(Question("Why?"), withheld=frozenset({"memory"}))
    context.draft = Draft("quote", "So.", ())
    assert (await run(stages, context)).text == "So." and seen == ["one", "three"]


async def test_stages_that_say_nothing_are_an_error() -> None:
    with pytest.raises(ValueError, match="end it with Quote"):
        await run((), QueryContext(Question("Why?")))


def test_the_folder_is_the_registry() -> None:
    there = {path.stem for path in FOLDER.glob("*.py")} - {"__init__"}
    assert set(recipes()) == there and recipes()[0] == "threadlore"


def test_an_unknown_recipe_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigurationError, match=r"no recipe 'goulash'.*threadlore"):
        recipe_of("goulash")


@pytest.mark.parametrize("name", recipes())
def test_a_recipe_is_short_and_says_what_it_is(name: str) -> None:
    text = (FOLDER / f"{name}.py").read_text("utf-8")
    assert text.count("\n") <= 120 and text.startswith('"""')


@pytest.mark.parametrize("name", [name for name in recipes() if name != "qa_pregeneration"])
async def test_every_recipe_answers_quotes_and_abstains(name: str) -> None:
    written = await (await house(FakeModel(says), (), recipe=name)).ask(TIMER)
    assert written.text.startswith("45 minutes") and written.citations and written.release == "2.0"
    bot = await house(recipe=name)
    quoted = await bot.ask(FILTER)
    assert quoted.route == "quote" and "Press the latch" in quoted.text
    assert (await bot.ask("How is the timer set in Kettle 9.0?")).route == "abstain"
    assert (await bot.engine.quoted(Question(FILTER, "cli:ada"))).route == "quote"


async def test_qamr_reduces_and_selects_three_by_the_model_and_asks_no_memory() -> None:
    model = FakeModel(says)
    bot = await house(model, (), recipe="qamr")
    first = await bot.ask(TIMER)
    assert [call.kind for call in model.calls] == ["structured", "structured", "stream"]
    assert first.trace["read"] == [1, 2, 3] and "high" not in first.trace
    assert await bot.engine.feedback(Vote(first.id, "cli:bob", 1))
    assert (await bot.ask(TIMER)).route == "documents"


async def test_qamr_keeps_three_where_the_model_ranks_nothing() -> None:
    model = FakeModel(
        lambda prompts: ModelMalformed("No JSON.") if "You rank" in prompts[0].content else says(prompts)
    )
    kept = await (await house(model, (), recipe="qamr")).ask(TIMER)
    ours = await (await house(model, recipe="threadlore")).ask(TIMER)
    assert len(kept.trace["read"]) == 3 < len(ours.trace["read"])


async def test_qamr_lets_the_model_say_that_it_does_not_know() -> None:
    model = FakeModel(lambda prompts: DONT_KNOW if "evidence" in prompts[1].content else says(prompts))
    answer = await (await house(model, (), recipe="qamr")).ask("Who won the chess olympiad in Lugano?")
    assert answer.route == "abstain" and model.calls[-1].kind == "stream"


async def test_qamr_takes_the_model_at_its_word_that_no_page_bears_on_the_question() -> None:
    def keeps_nothing(prompts: Sequence[Prompt]) -> Reply:
        reads = "keep" in prompts[0].content and "You rank" not in prompts[0].content
        return {"reasoning": "None bears on it.", "keep": []} if reads else says(prompts)

    model = FakeModel(keeps_nothing)
    assert (await (await house(model, (), recipe="qamr")).ask(TIMER)).route == "abstain"
    assert [call.kind for call in model.calls] == ["structured"], "nothing is left to rank or to write from"
    assert (await (await house(model)).ask(TIMER)).route == "documents", "ours lets rules read"


@pytest.mark.parametrize("ranks", [True, False])
async def test_qamr_compares_releases_from_pages_of_each(ranks: bool) -> None:
    old: list[int] = []

    def prefers_the_old(prompts: Sequence[Prompt]) -> Reply:
        if "You rank" in prompts[0].content:
            return {"reasoning": "", "ranking": old} if ranks else ModelMalformed("No JSON.")
        return says(prompts)

    bot = await house(FakeModel(prefers_the_old), (), recipe="qamr")
    first = await bot.ask(BOTH)
    old += [item.number for item in first.evidence if item.chunk.release == "1.0"]
    answer = await bot.ask(BOTH)
    read = [item.chunk.release for item in answer.evidence if item.number in answer.trace["read"]]
    assert {*read} == {"1.0", "2.0"}


async def test_qamr_searches_each_part_and_says_on_which_it_found_nothing() -> None:
    model = FakeModel(says)
    answer = await (await house(model, (), recipe="qamr")).ask(PARTS)
    paths = {item.chunk.path for item in answer.evidence if item.number in answer.trace["read"]}
    assert {"filter.md", "cord.md"} <= paths
    lacking = f"{FILTER[:-1]}, and who won the chess olympiad in Lugano?"
    said = (await (await house(model, (), recipe="qamr")).ask(lacking)).text
    assert "I found nothing in the Kettle 2.0 documentation on “Who won the chess olympiad" in said


async def test_where_reduction_leaves_nothing_the_model_is_not_asked_to_write() -> None:
    model = FakeModel(
        lambda prompts: ModelMalformed("No JSON.") if "keep" in prompts[0].content else says(prompts)
    )
    answer = await (await house(model, (), recipe="qamr")).ask("Who won the chess olympiad in Lugano?")
    assert answer.route == "abstain" and all(call.kind == "structured" for call in model.calls)


async def test_qamr_searches_each_query_form_and_takes_their_union() -> None:
    bot = await house(recipe="qamr")
    named = await bot.ask(TIMER.replace("?", " in 2.0?"))
    assert named.queries.versionless, "three forms: a release is named"
    plain = await (await house(recipe="qamr")).ask(FILTER)
    assert 2 < len(plain.evidence) <= 4 * 2 and 2 < len(named.evidence) <= 4 * 3
    assert len({item.chunk.id for item in named.evidence}) == len(named.evidence)


async def test_comrag_reuses_by_delta_alone_whatever_memory_is_set_to() -> None:
    bot = await house(FakeModel(says), (), decision=Decision("learned", reach=2.0), recipe="comrag")
    ours = await house(FakeModel(says), (), decision=Decision("learned", reach=2.0))
    for there, route in ((bot, "reuse"), (ours, "reference")):
        first = await there.ask(TIMER)
        assert await there.engine.feedback(Vote(first.id, "cli:bob", 1))
        assert (await there.ask(TIMER)).route == route


NEARLY = "How many minutes does the timer keep milk warm overnight?"
"""As near to `TIMER` as a reference: from τ on and short of δ."""


async def test_comrag_writes_a_reference_from_the_good_pairs_alone_and_cites_what_they_cite() -> None:
    model = FakeModel(says)
    bot = await house(model, (), recipe="comrag")
    first = await bot.ask(TIMER)
    assert first.route == "documents" and len(first.evidence) == 3, "k documents"
    assert await bot.engine.feedback(Vote(first.id, "cli:bob", 1))
    near = await bot.ask(NEARLY)
    assert near.route == "reference" and near.citations == first.citations
    assert [item.chunk.title for item in near.evidence] == [TIMER]
    told = model.calls[-1].prompts[1].content
    assert "45 minutes" in told and "--timer" not in told, "no document is read"
    assert "<remembered>" not in told, "the pair is told once"


async def test_comrag_without_its_model_quotes_documents_on_a_reference() -> None:
    fails = [False]
    model = FakeModel(lambda prompts: ModelMalformed("No words.") if fails[0] else says(prompts))
    bot = await house(model, (), recipe="comrag")
    first = await bot.ask(FILTER)
    assert await bot.engine.feedback(Vote(first.id, "cli:bob", 1))
    fails[0] = True
    quoted = await bot.ask(FILTER.replace("behind the spout", "today, please"))
    assert quoted.trace["decided"] and quoted.route == "quote" and "Press the latch" in quoted.text


async def test_comrag_reads_bad_pairs_only_where_there_are_no_good_ones() -> None:
    told = iter(["45 minutes [1].", "It keeps the water warm for 45 minutes by default [1]."])
    model = FakeModel(lambda _: next(told, "Rinse the filter [1]."))
    bot = await house(model, (), recipe="comrag")
    first = await bot.ask(TIMER)
    assert await bot.engine.feedback(Vote(first.id, "cli:bob", 0))
    avoided = await bot.ask(TIMER)
    assert avoided.route == "avoid" and avoided.trace["low"] and not avoided.trace["high"]
    far = await bot.ask(FILTER)
    assert far.route == "avoid" and far.trace["low"], "the k nearest bad pairs, however far"


async def test_what_people_voted_down_is_not_said_again() -> None:
    bot = await house(model := FakeModel(says), ())
    first = await bot.ask(TIMER)
    assert await bot.engine.feedback(Vote(first.id, "cli:bob", 0))
    again = await bot.ask(TIMER)
    assert again.route == "abstain" and "nothing better" in again.text and "timer" in again.text
    assert "marked as wrong" in model.calls[-1].prompts[-1].content, "it was asked once more"


@pytest.mark.parametrize(
    ("high", "low", "temperature"),
    [
        ((0.9, 0.9), (), 1.0),
        ((0.6, 0.9, 0.899), (), 0.778801),  # gaps .299 and .001: exp(-250 · .001)
        ((), (0.3, 0.2996), 0.904837),  # exp(-250 · .0004)
        ((0.9, 0.898), (), 0.7),  # exp(-.5) = .607 is under the least
        ((0.9, 0.8), (), 0.7),
        ((0.9,), (0.1, 0.1), 0.7),
        ((), (0.1, 0.1), 1.0),
        ((), (), 0.7),
    ],
)
async def test_comrag_tempers_by_the_scores_of_the_pairs_that_are_evidence(
    high: tuple[float, ...], low: tuple[float, ...], temperature: float
) -> None:
    context = QueryContext(Question("Why?"))
    context.recall = Recall("reference", _pairs(high), _pairs(low))
    await Temper(also_low=True)(context)
    assert context.temperature == pytest.approx(temperature, abs=1e-6)


def _pairs(scores: Sequence[float]) -> tuple[tuple[QAPair, float], ...]:
    vector = np.ones(1, np.float32)
    return tuple((QAPair(f"p{n}", "q", "a", "2.0", "public", s, vector), 0.8) for n, s in enumerate(scores))
