"""Where pages lack what is asked in the asker's words, the model's guess is searched for and read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.domain import Answer, Document, Product, Question, Release, Section
from core.errors import ModelMalformed
from core.generation.guess import guess
from core.pipeline.context import QueryContext
from core.pipeline.resources import ModelBudget
from core.pipeline.stage import run
from core.ports import Prompt
from core.prompts import DONT_KNOW
from core.recipes import recipe_of
from tests.core.evaluation.small import house
from tests.fakes import FakeModel, Reply

ASKED = "how do I see each job that the queue takes"
TARGET = "Set `verbose` to have the log of the worker tell of everything."
GUESS = {
    "passage": "Set verbose, and the log of the worker tells of everything.",
    "terms": ["verbose", "log"],
}

LACKING = (
    "The documentation I found does not say how to see what it takes."
    " You see each job of the queue in list 1 [1]."
)


class Scripted:
    """Knows the answer where the right page is in the prompt; guesses what it is told to."""

    def __init__(self, guess: Reply, otherwise: str, knows: bool) -> None:
        self.guess = guess
        self.otherwise = otherwise
        self.knows = knows

    def __call__(self, prompts: Sequence[Prompt]) -> Reply:
        if "You help a search" in prompts[0].content:
            return self.guess
        said = prompts[-1].content
        at = said.find(TARGET) if self.knows else -1
        numbers = re.findall(r'number="(\d+)"', said[: max(at, 0)])
        return f"Set `verbose` [{numbers[-1]}]." if at >= 0 else self.otherwise


async def asked(
    guess: Reply,
    text: str = ASKED,
    steps: Sequence[str] = ("again",),
    otherwise: str = DONT_KNOW,
    knows: bool = True,
    script: Scripted | None = None,
) -> tuple[Answer, QueryContext, FakeModel]:
    near = f"You see each job of the queue that one takes, and how the queue takes it, in list {{}}. {ASKED}"
    pages = [
        Document(f"p{n}.md", f"Jobs {n}", "https://k/j", (Section((f"Jobs {n}",), "", near.format(n)),))
        for n in range(12)
    ]
    pages.append(Document("log.md", "Worker", "https://k/log", (Section(("Worker",), "", TARGET),)))
    product = Product("Queue", ("queue",), (Release("1.0", latest=True),))
    model = FakeModel(script or Scripted(guess, otherwise, knows))
    made, _ = await house(product, {"1.0": pages}, model)
    parts = replace(made.parts, model=model, budget=ModelBudget(model, only=steps))
    context = QueryContext(Question(text), is_draft=True, withheld=frozenset({"memory"}))
    return await run(recipe_of("threadlore")(parts), context), context, model


async def test_what_the_guess_finds_is_read_and_cited() -> None:
    answer, context, _ = await asked(GUESS)
    assert (answer.route, answer.citations[0].path) == ("documents", "log.md")
    assert answer.text == "Set `verbose` [1]."
    assert context.trace.again == ("verbose", "log") and context.course.taken["again"]
    assert context.trace.found and "log.md" in {page.path for page in context.trace.found.evidence}
    assert {"retrieve", "again"} <= context.timings.keys()


@pytest.mark.parametrize(
    "guess",
    [
        {"passage": "You see each job of the queue in a list.", "terms": ["job", "list"]},  # finds the same
        {"passage": "", "terms": []},
        ModelMalformed("it is no JSON"),
    ],
)
async def test_a_guess_that_leads_nowhere_leaves_the_first_answer_as_it_was(guess: Reply) -> None:
    answer, context, _ = await asked(guess)
    plain, before, _ = await asked(guess, steps=())
    assert answer.route == plain.route == "abstain" and answer.text == plain.text
    assert [i.chunk.id for i in context.pages.evidence] == [i.chunk.id for i in before.pages.evidence]
    assert context.trace.found == before.trace.found and context.trace.read == before.trace.read


async def test_where_the_main_thing_is_lacking_the_guess_is_read_instead() -> None:
    answer, context, _ = await asked(GUESS, otherwise=LACKING)
    assert (answer.text, answer.citations[0].path) == ("Set `verbose` [1].", "log.md")
    assert context.trace.again == ("verbose", "log")


@pytest.mark.parametrize(
    "guess",
    [
        {"passage": "You see each job of the queue in a list.", "terms": ["job", "list"]},  # finds the same
        ModelMalformed("it is no JSON"),
    ],
)
async def test_what_was_written_of_a_part_stays_where_the_guess_leads_nowhere(guess: Reply) -> None:
    answer, context, _ = await asked(guess, otherwise=LACKING)
    plain, before, _ = await asked(guess, steps=(), otherwise=LACKING)
    assert answer.route == plain.route == "documents" and answer.text == plain.text
    assert answer.text.startswith("The documentation I found does not say") and answer.citations
    assert [i.chunk.id for i in context.pages.evidence] == [i.chunk.id for i in before.pages.evidence]
    assert context.trace.read == before.trace.read


async def test_the_first_answer_stays_where_the_second_lacks_the_same() -> None:
    answer, context, model = await asked(GUESS, otherwise=LACKING, knows=False)
    assert context.trace.again == ("verbose", "log") and len(model.calls) == 3
    assert answer.text.startswith("The documentation I found does not say")
    assert answer.level == "close" and answer.confidence <= 0.3
    assert answer.text.endswith("in list 1 [1].")
    assert "log.md" not in {item.chunk.path for item in context.pages.evidence}


PART, LACK = "You see each job of the queue in list 1 [1].", "The documentation I found does not say how."


async def test_what_is_lacking_last_is_searched_for_and_stands_in_its_place() -> None:
    answer, context, model = await asked(GUESS, otherwise=f"{PART} {LACK}")
    assert answer.text == "You see each job of the queue in list 1 [1].\n\nSet `verbose` [2]."
    assert [one.path == "log.md" for one in answer.citations] == [False, True]
    assert context.trace.again == ("verbose", "log") and context.gap is None
    # each is asked for what is lacking, and told what stands
    guessed, written = (call.prompts[-1].content for call in model.calls[1:])
    assert LACK in guessed and PART not in guessed
    assert f"<answered>\nYou see each job of the queue in list 1.\n\n{LACK}\n</answered>" in written
    # both readings are traced, each page under one number
    assert context.trace.found and context.trace.read
    numbers = [item.number for item in context.pages.evidence]
    assert numbers == sorted({*numbers}) and {*context.trace.read} <= {*numbers}
    assert len(context.trace.found.evidence) == len(numbers)
    assert {one.path for one in answer.citations} <= {item.chunk.path for item in context.pages.evidence}


@pytest.mark.parametrize(
    "guess",
    [
        {"passage": "You see each job of the queue in a list.", "terms": ["job", "list"]},  # finds the same
        ModelMalformed("it is no JSON"),
    ],
)
@pytest.mark.parametrize("knows", [True, False])
async def test_what_is_lacking_last_is_said_where_the_guess_leads_nowhere(guess: Reply, knows: bool) -> None:
    answer, context, _ = await asked(guess, otherwise=f"{PART} {LACK}", knows=knows)
    plain, before, _ = await asked(guess, steps=(), otherwise=f"{PART} {LACK}", knows=knows)
    assert answer.text == plain.text == f"{PART} {LACK}" and context.gap is None
    assert context.trace.read == before.trace.read and context.trace.model_error is None
    assert [i.chunk.id for i in context.pages.evidence] == [i.chunk.id for i in before.pages.evidence]


async def test_what_is_lacking_last_of_several_parts_is_searched_for_too() -> None:
    text = f"{ASKED}? And where is the list of each job that the queue takes?"
    answer, context, model = await asked(GUESS, text=text, otherwise=f"{PART} {LACK}")
    assert len(context.parts) == 2 and answer.text.endswith("Set `verbose` [2].")
    assert ["It has these parts" in call.prompts[-1].content for call in model.calls] == [True, False, False]


@pytest.mark.parametrize("again", [DONT_KNOW, f"{LACK} A list has jobs [1].", "Set `frobnicate` [1].", ""])
async def test_the_gap_stays_where_what_was_found_does_not_fill_it(again: str) -> None:
    def second(prompts: Sequence[Prompt]) -> Reply:
        return again if "<answered>" in prompts[-1].content else f"{PART} {LACK}"

    class Deaf(Scripted):
        def __call__(self, prompts: Sequence[Prompt]) -> Reply:
            return self.guess if "You help a search" in prompts[0].content else second(prompts)

    answer, context, model = await asked(GUESS, script=Deaf(GUESS, "", False))
    assert answer.text == f"{PART} {LACK}" and len(model.calls) >= 3
    assert (context.failed, context.trace.model_error, context.gap) == (None, None, None)
    assert "log.md" not in {item.chunk.path for item in context.pages.evidence}


async def test_nobody_guesses_for_what_was_answered_or_is_far_from_the_pages() -> None:
    _, context, model = await asked(GUESS, "what does verbose tell in the log of the worker")
    assert context.trace.again is None and context.draft is not None
    _, context, model = await asked(GUESS, "best pizza in Naples?")
    assert context.trace.again is None and not model.calls


async def test_the_guess_is_told_what_the_documentation_is_about() -> None:
    _, _, model = await asked(GUESS)
    told = next(
        prompts[-1].content
        for prompts in (call.prompts for call in model.calls)
        if "You help a search" in prompts[0].content
    )
    titles = told.partition("<contents>\n")[2].partition("\n</contents>")[0].split("\n")
    assert "- Worker" in titles and len(titles) == len(set(titles)) == 13
    assert titles[0].startswith("- Jobs ") and told.index("</contents>") < told.index("<question>")


async def test_what_a_large_documentation_is_about_is_told_as_far_as_there_is_room() -> None:
    class Reads:
        async def structured(self, prompts: Sequence[Prompt], *_: object, **__: object) -> dict[str, object]:
            self.said = prompts[-1].content
            return dict(GUESS)

    model = Reads()
    titles = [
        "A title " + "without end " * 200,
        "",
        " \n",
        *(f"Page number {n} on boilers" for n in range(900)),
    ]
    await guess(model, ASKED, "Queue", ["1.0"], titles)  # type: ignore[arg-type]
    assert "- Page number 0 on" in model.said and "- Page number 900" not in model.said
    assert 1_000 < len(model.said) < 1_800 and "- \n" not in model.said
