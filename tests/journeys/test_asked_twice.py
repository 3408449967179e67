"""The same thing asked by several people, or by one of them twice: who gets what, and what is left of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from bot.ports.chat import Chat
from core.domain import MessageRef, Turn
from core.errors import PlatformRejected
from tests.journeys.fake_stage import FakeStage
from tests.journeys.house import Bot
from tests.journeys.kettle import PORTS
from tests.journeys.stage import answer

PORT = "Which port does the dashboard listen on?"


async def test_two_who_press_a_release_at_once_whose_answer_was_deleted_get_one_answer(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        first = await answer(stage, said)
        await stage.press("bob", first, "release", "1.5")
        await stage.press("bob", await answer(stage, said, 2), "delete")
        assert len(stage.replies(said)) == 1
        await asyncio.gather(*(stage.press(who, first, "release", "1.5") for who in ("ann", "hal")))
        await stage.quiet()
        assert [PORTS["1.5"] in seen.text for seen in stage.replies(said)] == [False, True]


async def test_an_answer_that_is_asked_for_again_after_it_was_deleted_is_whose_press_it_is(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        first = await answer(stage, said)
        await stage.press("bob", first, "release", "1.5")
        await stage.press("bob", await answer(stage, said, 2), "delete")
        await stage.press("hal", first, "release", "1.5")
        again = await answer(stage, said, 2)
        await stage.press("bob", again, "delete")
        assert len(stage.replies(said)) == 2, "it is hal's"
        await stage.press("hal", again, "delete")
        assert len(stage.replies(said)) == 1


async def test_what_the_platform_does_not_let_the_bot_delete_says_nothing_and_the_rest_goes(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        first = await answer(stage, said)
        await stage.press("bob", first, "release", "1.5")
        second = await answer(stage, said, 2)
        delete, refused = stage.chat.delete, {first.id}

        async def picky(parts: tuple[MessageRef, ...]) -> None:
            if refused & {part.message for part in parts}:
                raise PlatformRejected("The bot may not delete messages here.")
            await delete(parts)

        stage.chat.delete = picky  # type: ignore[method-assign]
        await stage.delete(said)
        [left] = [m for m in stage.chat.messages if m["who"] == "bot"]
        assert str(left["id"]) == first.id != second.id and left["text"] == "The answer is deleted."
        assert not left["controls"]
        refused.clear()
        await bot.dispatch.deleted(stage.chat, MessageRef("fake", said.place, said.id, said.root))
        assert not stage.replies(said), "told once more, it is tried again"


async def test_the_question_of_an_accepted_message_is_read_as_its_asker_means_it(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        marks, read = bot.dispatch._reactions._marks, []
        history = marks._history

        async def heard(chat: Chat, ref: MessageRef, asker: str = "") -> Sequence[Turn]:
            read.append(asker)
            return await history(chat, ref, asker)

        marks._history = heard
        said = await stage.say("ann", PORT)
        advice = await stage.say("bob", "It is the one that your admin chose.", under=said)
        await stage.react("hal", advice, "✅")
        await stage.quiet()
        assert read == ["fake:ann"], "what others asked for by a press says nothing of her release"
