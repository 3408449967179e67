"""Recipes and the walk through their stages."""

from __future__ import annotations

from pathlib import Path

import pytest

import core.recipes
from core.domain import Answer, Question
from core.errors import ConfigurationError
from core.pipeline.context import Draft, Needs, QueryContext
from core.pipeline.stage import run
from core.recipes import recipe_of, recipes
from tests.core.test_engine import FILTER, TIMER, house
from tests.fakes import FakeModel

FOLDER = Path(core.recipes.__file__).parent


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


@pytest.mark.parametrize("name", recipes())
async def test_every_recipe_answers_quotes_and_abstains(name: str) -> None:
    written = await (await house(FakeModel(lambda prompts: "45 minutes [1]."), (), recipe=name)).ask(TIMER)
    assert written.text.startswith("45 minutes") and written.citations and written.release == "2.0"
    bot = await house(recipe=name)
    quoted = await bot.ask(FILTER)
    assert quoted.route == "quote" and "Press the latch" in quoted.text
    assert (await bot.ask("How is the timer set in Kettle 9.0?")).route == "abstain"
    assert (await bot.engine.quoted(Question(FILTER, "cli:ada"))).route == "quote"
