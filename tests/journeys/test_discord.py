"""What only Discord has: a menu on messages, and channels that are closed by taking a permission."""

from __future__ import annotations

import pytest

from bot.dispatch.dispatch import dispatch_of
from bot.platforms.discord import responding
from bot.ports.chat import Chat, Command, Press, Responder
from tests.journeys.discord_stage import DiscordStage
from tests.journeys.house import Bot
from tests.journeys.kettle import PORTS
from tests.journeys.stage import Seen, answer, ask, squeezed, told

PORT = "Which port does the dashboard listen on?"
REWORDED = "On which port is the dashboard listening?"
REUSED = "from community memory"
NOWHERE = Seen("", "")
"""No message: what is pressed hangs under what a person alone was told."""


async def test_answer_this_on_a_message_is_shared_in_a_thread_on_it(bot: Bot) -> None:
    async with DiscordStage(bot) as stage:
        asked = await stage.say("bob", PORT)
        assert not stage.replies(asked)
        await stage.answer_this("ann", asked)
        await told(stage, "ann", PORTS["2.0"])
        assert not stage.replies(asked)
        await stage.press("ann", NOWHERE, "share")
        [shared] = [seen for seen in stage.replies(asked) if seen.finished]
        assert PORTS["2.0"] in shared.text and PORT not in squeezed(shared.text)
        assert shared.seeds == ("up", "down") and set(shared.controls) >= {"up", "down", "delete"}
        await stage.press("bob", shared, "up")
        assert (await bot.counts())["high"] == 1
        await stage.press("bob", shared, "delete")
        assert "Only" in stage.heard("bob")[-1]
        await stage.press("ann", shared, "delete")
        assert not stage.replies(asked)


async def test_a_mention_that_replies_to_a_question_answers_it(bot: Bot) -> None:
    async with DiscordStage(bot) as stage:
        asked = await stage.say("ann", PORT)
        called = await stage.reply("bob", asked, stage.mentions["bot"])
        assert PORTS["2.0"] in (await answer(stage, called)).text


async def test_a_question_that_is_forwarded_is_answered(bot: Bot) -> None:
    async with DiscordStage(bot) as stage:
        asked = await stage.say("hal", PORT, "private")
        assert PORTS["2.0"] in (await answer(stage, await stage.forward("ann", asked, "direct"))).text
        forwarded = await stage.forward("ann", asked)
        await stage.answer_this("bob", forwarded)
        await told(stage, "bob", PORTS["2.0"])
        called = await stage.reply("bob", forwarded, f"{stage.mentions['bot']} can you help here?")
        assert PORTS["2.0"] in (await answer(stage, called)).text


async def test_what_is_asked_directly_cannot_be_shared(bot: Bot) -> None:
    async with DiscordStage(bot) as stage:
        result = await stage.people["ann"].user.slash("ask", question=PORT)
        assert [part["custom_id"].split("|")[1] for part in stage.parts(result.response)] == [
            "up",
            "down",
            "why",
        ]


async def test_what_was_learnt_in_a_channel_is_not_told_elsewhere_once_it_is_closed(bot: Bot) -> None:
    async with DiscordStage(bot) as stage:
        await stage.react("ann", await ask(stage, PORT), "👍")
        assert REUSED in (await ask(stage, REWORDED, "private")).text
        await stage.close_public()
        assert REUSED not in (await ask(stage, REWORDED, "private")).text
        assert REUSED in (await ask(stage, REWORDED, "public")).text


async def test_what_was_learnt_in_a_channel_is_kept_inside_once_the_bot_does_not_see_it(bot: Bot) -> None:
    async with DiscordStage(bot) as stage:
        await stage.react("ann", await ask(stage, PORT), "👍")
        channel = stage.places["public"]
        assert REUSED in (await ask(stage, REWORDED, "private")).text
        await stage.world.hide(channel)
        assert REUSED not in (await ask(stage, REWORDED, "private")).text
        await stage.world.let(channel)
        assert REUSED not in (await ask(stage, REWORDED, "private")).text


async def test_a_reply_in_a_channel_is_accepted_as_the_answer_to_what_it_replies_to(bot: Bot) -> None:
    async with DiscordStage(bot) as stage:
        asked = await stage.say("ann", "How do I descale the kettle with citric acid?")
        reply = await stage.reply("bob", asked, "Two spoons of citric acid, boil, wait an hour.")
        await stage.react("hal", reply, "✅")
        again = await stage.say("ann", "How do I descale the kettle with citric acid?", to="bot")
        seen = await answer(stage, again)
        assert "Two spoons" in seen.text and REUSED in seen.text and reply.id in seen.text
        await stage.react("hal", reply, "✅", added=False)
        assert "Two spoons" not in (await ask(stage, asked.text)).text


async def test_presses_that_a_dead_process_left_are_dealt_with_by_the_next_one(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is said late goes through discord.py's own webhook, which says nothing privately but as an app."""
    monkeypatch.setattr(responding, "TOKEN_SECONDS", 10**9)  # the stage's clock stands in the past

    async def dies(chat: Chat, what: Command | Press, responder: Responder) -> None:
        monkeypatch.setattr(responder, "close", stays)

    async def stays() -> None:
        """Leave the interaction as it is."""

    async with DiscordStage(bot) as stage:
        seen = await ask(stage, PORT)
        with monkeypatch.context() as killed:
            killed.setattr(bot.dispatch, "press", dies)
            for control in ("why", "up"):
                await stage.press("bob", seen, control)
        await dispatch_of(bot.app).resume(stage.platform.chat)
        answer_id = await bot.app.conversations.answer_of(f"{stage.key()}:{seen.id}")
        assert await bot.app.engine.opinion(answer_id or "", stage.account("bob")) == 1
        lost, thanks = stage.heard("bob")
        assert lost == "I was restarted before I could do this. Please try again." and thanks
        assert not await bot.app.conversations.left("discord", messages=False)
