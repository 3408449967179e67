"""Remembered answers that the papers' recipes write from: whose words, which pages, and whether they hold."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.domain import Answer, Citation
from core.ports import Prompt, Remembered
from core.prompts import DONT_KNOW
from tests.core.pipeline.test_community_evidence import NEVER
from tests.core.pipeline.test_recipes import NEARLY
from tests.core.pipeline.test_recipes import says as useful
from tests.core.test_engine import PAGES, TIMER, House, house
from tests.fakes import FakeModel, Reply

SAID = "The gremlin keeps it for 45 minutes [1]. The lid opens by a blue latch [2]."
TIMER_PAGE = Citation(1, "Timer", "https://k/2.0/timer.md", "2.0", "timer.md", "h1")
LID_PAGE = Citation(2, "Lid", "https://k/2.0/lid.md", "2.0", "lid.md", "h2")
RECIPES = ("comrag", "graph_context")


async def remembering(
    recipe: str, wrote: str, *cited: Citation, stale: bool = False
) -> tuple[House, FakeModel]:
    """Return a bot that remembers a good answer, and a model that writes this."""

    def says(prompts: Sequence[Prompt]) -> Reply:
        reply = useful(prompts)
        return wrote if isinstance(reply, str) else reply

    model = FakeModel(says)
    bot = await house(model, (), recipe=recipe, decision=NEVER)
    pair = Remembered("p1", TIMER, TIMER, SAID, "2.0", "public", 0.9, 1.0, cited, "person", stale=stale)
    await bot.memory.seed([pair])
    return bot, model


async def pair_of(bot: House, answer: Answer) -> Remembered:
    return (await bot.memories.pairs([answer.pair_id]))[answer.pair_id]


@pytest.mark.parametrize("recipe", RECIPES)
async def test_what_is_written_from_a_remembered_answer_is_known_to_hold_its_words(recipe: str) -> None:
    bot, _ = await remembering(recipe, "The gremlin keeps it [1].", TIMER_PAGE)
    answer = await bot.ask(NEARLY)
    assert answer.route == "reference" and answer.taken.pairs == {"p1"}


@pytest.mark.parametrize("recipe", RECIPES)
async def test_an_answer_cites_all_that_the_remembered_one_cites(recipe: str) -> None:
    bot, _ = await remembering(recipe, "The lid opens by a blue latch [1].", TIMER_PAGE, LID_PAGE)
    answer = await bot.ask(NEARLY)
    assert answer.text == "The lid opens by a blue latch [1][2]."
    assert answer.citations == (TIMER_PAGE, LID_PAGE)
    assert (await pair_of(bot, answer)).citations == answer.citations, "a change of either is noticed"


@pytest.mark.parametrize("recipe", RECIPES)
async def test_what_cites_nothing_is_cited_itself_and_is_no_page(recipe: str) -> None:
    bot, _ = await remembering(recipe, "The lid opens by a blue latch [1].")
    (cited,) = (await bot.ask(NEARLY)).citations
    assert (cited.title, cited.path, cited.hash) == (TIMER, "", "")


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("asked", [TIMER, NEARLY])
async def test_what_is_written_from_a_stale_answer_says_so_and_is_stale_too(recipe: str, asked: str) -> None:
    bot, model = await remembering(recipe, "The gremlin keeps it [1].", TIMER_PAGE, stale=True)
    answer = await bot.ask(asked)
    assert answer.route == "reference", "it is not said again"
    if recipe == "comrag" and asked == TIMER:
        assert answer.trace["guard"] == "The pages it cites have changed since."
    assert "its pages have changed" in model.calls[-1].prompts[-1].content
    assert answer.text.startswith("The gremlin keeps it [1].\n\n*This may be outdated")
    kept = await pair_of(bot, answer)
    assert kept.stale and kept.answer == "The gremlin keeps it [1]."


@pytest.mark.parametrize("recipe", RECIPES)
async def test_where_a_remembered_answer_is_not_enough_pages_are_named_and_no_question(recipe: str) -> None:
    bot, _ = await remembering(recipe, DONT_KNOW, TIMER_PAGE)
    answer = await bot.ask(NEARLY)
    assert answer.route == "abstain" and answer.text.startswith(DONT_KNOW)
    assert answer.text.count(TIMER) == 1, "as what somebody asked"
    assert "https://k/2.0/timer.md" in answer.text
    assert {item.chunk.path for item in answer.evidence} <= PAGES.keys()
