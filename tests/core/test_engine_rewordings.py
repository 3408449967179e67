"""The journey of a reworded question: referred to, recognised as an answer again, learnt, reused."""

from __future__ import annotations

from core.domain import Answer, Vote
from core.memory.decision import Decision
from tests.core.test_engine import TIMER, House, house
from tests.fakes import FakeModel

LEARNED = Decision("learned", reach=0.72, far=0.5)
REWORDED = "How many minutes is water warm by the timer, usually and normally?"
"""As near to `TIMER` as .71."""
AGAIN = "Minutes the timer holds water warm usually?"
"""As near to `TIMER` as .62, to the centre of the two as .75."""
SAID = "It keeps the water warm for 45 minutes by default [1]."


async def bot(decision: Decision = LEARNED) -> House:
    # rare words of a rewording are on no page: how sure that is is no matter of memory
    return await house(FakeModel(lambda prompts: SAID), only=(), decision=decision, enough=0.3)


async def asked_and_liked(bot: House, text: str) -> Answer:
    answer = await bot.ask(text)
    assert await bot.engine.feedback(Vote(answer.id, "cli:ada", 1))
    return answer


async def test_an_answer_that_says_the_same_again_teaches_a_way_to_ask_instead_of_a_pair() -> None:
    house = await bot()
    first = await asked_and_liked(house, TIMER)
    before = await house.memories.counts()
    assert (await house.ask(AGAIN)).route == "reference"
    second = await asked_and_liked(house, REWORDED)
    assert (second.route, second.pair_id) == ("reference", first.pair_id)
    third = await house.ask(AGAIN)
    assert (third.route, third.pair_id, third.text) == ("reuse", first.pair_id, first.text)
    after = await house.memories.counts()
    assert (after["pairs"], after["high"]) == (before["pairs"], 1)


async def test_a_vote_on_such_an_answer_counts_for_the_pair() -> None:
    house = await bot()
    first = await asked_and_liked(house, TIMER)
    second = await house.ask(REWORDED)
    for person in ("cli:bob", "cli:cyd", "cli:ada"):
        assert await house.engine.feedback(Vote(second.id, person, 0))
    pair = await house.memories.pair(first.pair_id)
    assert pair is not None
    assert (await house.ask(TIMER)).route != "reuse"


async def test_why_tells_how_near_it_was_and_how_near_it_had_to_be() -> None:
    house = await bot()
    await asked_and_liked(house, TIMER)
    second = await asked_and_liked(house, REWORDED)
    third = await house.ask(AGAIN)
    told = [(await house.engine.answer_log.why(answer.id))["sentences"] for answer in (second, third)]
    assert "71% similar to a remembered question (reused from 72%)." in told[0]
    assert any("and its rewording (reused from 72%)" in line for line in told[1])


async def test_the_paper_makes_a_pair_of_every_answer() -> None:
    house = await bot(Decision("paper"))
    first = await asked_and_liked(house, TIMER)
    second = await asked_and_liked(house, REWORDED)
    assert second.route == "reference"
    assert second.pair_id != first.pair_id
    assert (await house.memories.counts())["high"] == 2
