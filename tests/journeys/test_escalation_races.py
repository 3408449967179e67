"""A person is just being told of a question when who asked it is forgotten, or takes it back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from bot.escalation.texts import TAKEN_BACK
from tests.journeys.fake_stage import FakeStage
from tests.journeys.house import Bot
from tests.journeys.stage import Said, answer
from tests.journeys.test_escalation import appoint, ticket
from tests.journeys.test_people import QUESTION

Happens = Callable[[FakeStage, Said], Awaitable[object]]


async def told_meanwhile(bot: Bot, happens: Happens) -> FakeStage:
    """Put a question to hal, and let something happen before the platform has answered."""
    async with FakeStage(bot) as stage:
        appoint(stage, bot, "hal")
        said = await stage.say("ann", QUESTION, to="bot")
        seen = await answer(stage, said)
        stage.chat.late = asyncio.Event()
        pressed = asyncio.create_task(stage.press("ann", seen, "person"))
        await ticket(stage)
        happening = asyncio.ensure_future(happens(stage, said))
        await asyncio.wait({happening}, timeout=0.2)
        stage.chat.late.set()
        await asyncio.gather(pressed, happening)
    return stage


async def test_the_words_of_who_is_forgotten_are_taken_back(bot: Bot) -> None:
    stage = await told_meanwhile(bot, lambda stage, _: bot.app.people.forget(stage.account("ann")))
    assert stage.inbox("hal") == []
    assert await bot.app.escalations.counts() == (0, 0)


async def test_a_question_that_is_deleted_is_taken_back(bot: Bot) -> None:
    stage = await told_meanwhile(bot, lambda stage, said: stage.delete(said))
    assert [seen.text for seen in stage.inbox("hal")] == [TAKEN_BACK]
    assert await bot.app.escalations.counts() == (0, 0)


async def test_a_question_that_is_edited_reads_as_it_is_now(bot: Bot) -> None:
    edited = "How do I bake rye bread with the kettle?"
    stage = await told_meanwhile(bot, lambda stage, said: stage.edit(said, edited))
    [seen] = stage.inbox("hal")
    assert edited in seen.text and QUESTION not in seen.text
