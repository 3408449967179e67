"""What people said is evidence: cited with its votes, and enough where no page says it (ComRAG §4.3)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.domain import Citation, Vote
from core.memory.decision import Decision
from core.ports import Prompt, Remembered
from core.ports.opinions import Correction
from tests.contracts.samples import pair
from tests.core.test_engine import TIMER, House, house
from tests.fakes import FakeEncoder, FakeModel, Reply

SAID = "Which resin dissolves the red varnish of an antique tin?"
NEAR = "Which resin dissolves the red varnish of an antique tin box?"
ANSWER = "Rub `shellac_9` on it for 12 minutes."
NEVER = Decision("learned", reach=2.0)


def by_community(prompts: Sequence[Prompt]) -> Reply:
    """Answer from what people said, as a model that finds it in its evidence; else it does not know."""
    text = prompts[-1].content
    at = text.find('title="Community')
    if at < 0 or "ranking" in prompts[0].content or "keep" in prompts[0].content:
        return "I don't know."
    number = text[:at].rsplit('number="', 1)[1].split('"')[0]
    return f"Rub `shellac_9` on it for 12 minutes [{number}]."


async def told(bot: House, origin: str = "person") -> Remembered:
    pair = Remembered(
        "pc1",
        SAID,
        SAID,
        ANSWER,
        "2.0",
        "public",
        0.9,
        1.0,
        (Citation(1, "Answer by Bo", "https://slack/p1", "2.0", ""),),
        origin,  # type: ignore[arg-type]
    )
    await bot.memory.seed([pair])
    return pair


async def test_what_a_helper_accepted_and_no_page_says_is_answered_from_it_and_cited() -> None:
    bot = await house(FakeModel(by_community), (), decision=NEVER)
    assert (await bot.ask(NEAR)).route == "abstain", "no page says it"
    await told(bot)
    answer = await bot.ask(NEAR)
    assert answer.route == "reference" and answer.text == "Rub `shellac_9` on it for 12 minutes [1]."
    (cited,) = answer.citations
    assert cited.title.startswith("Community") and cited.url == "https://slack/p1" and not cited.hash


@pytest.mark.parametrize("model", [None, FakeModel(lambda _: "")])
async def test_without_a_model_what_a_helper_accepted_is_quoted_with_its_question_and_no_page(
    model: FakeModel | None,
) -> None:
    bot = await house(model, (), decision=NEVER)
    assert (await bot.ask(NEAR)).route == "abstain", "weak pages are no answer"
    pair = await told(bot)
    answer = await bot.ask(NEAR)
    assert answer.route == "quote" and answer.pair_id == pair.id and answer.citations == pair.citations
    assert answer.text.startswith("A similar question was answered: “Which resin") and ANSWER in answer.text


async def test_a_pair_is_told_with_its_votes_beside_the_pages() -> None:
    model = FakeModel(lambda prompts: "45 minutes [1].")
    bot = await house(model, (), decision=NEVER)
    first = await bot.ask(TIMER)
    assert await bot.engine.feedback(Vote(first.id, "cli:bob", 1))
    assert (await bot.ask(TIMER)).route == "reference"
    prompt = model.calls[-1].prompts[-1].content
    assert "Community, 1 of 1 found it good" in prompt and prompt.index("timer") < prompt.index("Community")


async def test_a_voted_down_answer_is_named_with_its_reason_and_the_better_text() -> None:
    told = iter(["45 minutes [1].", "It keeps the water warm for 45 minutes by default [1]."])
    bot = await house(model := FakeModel(lambda _: next(told)), ())
    first = await bot.ask(TIMER)
    assert await bot.engine.feedback(Vote(first.id, "cli:bob", 0))
    better = "Say that `--timer` sets it."
    await bot.memories.add([pair("pc9", origin="person")])
    await bot.opinions.correct(Correction(first.id, "cli:bob", "Bob", "outdated", better, 1.0, "pc9"))
    assert (await bot.ask(TIMER)).route == "avoid"
    prompt = model.calls[-1].prompts[-1].content
    assert "Answer: 45 minutes.\nWhat was wrong: People say that it is outdated." in prompt
    assert f"Somebody wrote a better answer: {better}" in prompt


async def test_encoders_agree_that_the_two_questions_are_near() -> None:
    one, other = await FakeEncoder().encode([SAID, NEAR])
    assert 0.75 < float(one @ other) < 0.999
