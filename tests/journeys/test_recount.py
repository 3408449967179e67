"""Votes that were put or taken back while the bot was away are counted when it is back, once."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from bot.dispatch.dispatch import dispatch_of
from bot.interactions import recount
from bot.platforms.discord.standing import StandingReactions
from bot.platforms.slack.text.reading import Reader
from tests.journeys.discord_stage import DiscordStage
from tests.journeys.house import Bot, Kettle, house
from tests.journeys.slack_stage import SlackStage
from tests.journeys.stage import Seen, ask, open_stage, until
from tests.journeys.test_cleared import hands
from tests.patience import PATIENCE

PORT = "Which port does the dashboard listen on?"
WIRES = pytest.mark.parametrize("wire", ["slack", "discord"])


async def act(stage: Any, who: str, seen: Seen, emoji: str, added: bool = True) -> None:
    """React while no bot hears of it."""
    if isinstance(stage, SlackStage):
        # an event that no connection takes is not kept for ever
        told, stage.server.emit = stage.server.emit, lambda event: None  # type: ignore[method-assign]
        await stage.react(who, seen, emoji, added)
        stage.server.emit = told  # type: ignore[method-assign]
        return
    message = stage.stored(seen)
    stage.env.backend.set_reaction(message.channel_id, message.id, emoji, stage.people[who].id, added)


async def read(stage: Any, bot: Bot) -> None:
    """Wait until what stands is read."""
    await stage.quiet()
    await bot.dispatch.recount.done(stage.name)


async def settled(bot: Bot, wanted: tuple[int, int]) -> None:
    """Wait until so many say 👍 and 👎: a press is acknowledged before it is counted."""
    async with asyncio.timeout(PATIENCE):
        while await hands(bot) != wanted:
            await asyncio.sleep(0.02)


async def away(stage: Any) -> None:
    """Have the bot hear nothing more: on Discord's stage its connection ends when the next one begins."""
    if isinstance(stage, DiscordStage):
        await stage.quiet()
        client: Any = stage.platform and stage.platform.client
        client.dispatch = lambda *_, **__: None
    else:
        await stage.leave()


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read as fast as the machine can."""
    for reader in (Reader, StandingReactions):
        monkeypatch.setattr(reader, "read_seconds", 0.0)


@WIRES
async def test_votes_of_the_time_without_a_connection_are_counted_once(wire: str, kettle: Kettle) -> None:
    async with house(kettle) as bot, open_stage(wire, bot) as stage:
        seen = await ask(stage, PORT)
        await stage.react("ann", seen, "👍")
        await stage.react("bob", seen, "👍")
        await stage.press("boss", seen, "up")
        await settled(bot, (3, 0))
        await away(stage)
        await act(stage, "ann", seen, "👍", added=False)
        await act(stage, "ann", seen, "👎")
        await act(stage, "bob", seen, "👍", added=False)
        await act(stage, "hal", seen, "✅")
        await stage.join(bot)
        await read(stage, bot)
        assert await hands(bot) == (2, 1), "ann against it, bob silent, hal's ✅ and the boss's button for it"
        assert await bot.app.memory.verify() == []
        before = await events(kettle)
        await away(stage)
        await stage.join(bot)
        await read(stage, bot)
        assert await hands(bot) == (2, 1) and await events(kettle) == before


class SlowReader:
    """Reads what stands, and is told to others only after something else has happened."""

    read_seconds = 0.0
    reads_here = None

    def __init__(self, reader: Any, meanwhile: Callable[[], Awaitable[None]]) -> None:
        self.reader = reader
        self.meanwhile = meanwhile

    async def standing(self, ref: Any) -> Any:
        found = await self.reader.standing(ref)
        await self.meanwhile()
        return found

    async def somebody(self, account: str, ref: Any) -> Any:
        return await self.reader.somebody(account, ref)


async def test_a_vote_that_comes_while_the_emoji_are_read_stands(
    kettle: Kettle, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a process may be stopped before it reads once more and sees that it was wrong
    monkeypatch.setattr(recount, "PASSES", 1)
    async with house(kettle) as bot, open_stage("slack", bot) as stage:
        seen = await ask(stage, PORT)
        await stage.react("ann", seen, "👍")
        await stage.react("hal", seen, "👎")
        await settled(bot, (1, 1))

        async def meanwhile() -> None:
            await stage.react("bob", seen, "👍")
            await stage.react("hal", seen, "👎", added=False)
            await settled(bot, (2, 0))

        chat = stage.platform._chat
        await bot.dispatch.recount.done("slack")
        bot.dispatch.recount.begin(chat, SlowReader(chat.reader, meanwhile))
        await bot.dispatch.recount.done("slack")
        assert await hands(bot) == (2, 0), "bob's is not taken back, and hal's not put again"


async def test_a_vote_that_comes_after_the_emoji_were_compared_stands(
    kettle: Kettle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the reading found waits for its turn, in which another process may count a later event."""
    monkeypatch.setattr(recount, "PASSES", 1)
    async with house(kettle) as bot, open_stage("slack", bot) as stage:
        seen = await ask(stage, PORT)
        await stage.react("ann", seen, "👍")
        await settled(bot, (1, 0))
        await act(stage, "ann", seen, "👍", added=False)
        await act(stage, "hal", seen, "👎")
        chat, memories = stage.platform._chat, bot.app.engine._store
        await bot.dispatch.recount.done("slack")
        compared = memories.hands

        async def hands_then(*given: Any) -> Any:
            found = await compared(*given)
            if found:
                await stage.react("ann", seen, "👍")
                await settled(bot, (1, 0))
            return found

        class Late(SlowReader):
            async def somebody(self, account: str, ref: Any) -> Any:
                await self.meanwhile()
                return await super().somebody(account, ref)

            async def standing(self, ref: Any) -> Any:
                return await self.reader.standing(ref)

        async def meanwhile() -> None:
            await stage.react("hal", seen, "👎", added=False)
            await stage.react("hal", seen, "👍")
            await settled(bot, (2, 0))

        memories.hands = hands_then  # type: ignore[method-assign, assignment]
        bot.dispatch.recount.begin(chat, Late(chat.reader, meanwhile))
        await bot.dispatch.recount.done("slack")
        assert await hands(bot) == (2, 0), "ann's is not taken back, and hal's not put again"


@WIRES
async def test_a_pair_moves_to_its_store_by_votes_that_nobody_heard_of(wire: str, kettle: Kettle) -> None:
    async with house(kettle) as bot, open_stage(wire, bot) as stage:
        good, bad = await ask(stage, PORT), await ask(stage, "How do I run a job every night?")
        await stage.react("ann", bad, "👍")
        await read(stage, bot)
        assert (await bot.counts())["high"] == 1
        await away(stage)
        await act(stage, "ann", good, "👍")
        await act(stage, "ann", bad, "👍", added=False)
        await act(stage, "ann", bad, "👎")
        await stage.join(bot)
        await read(stage, bot)
        counts = await bot.counts()
        assert (counts["high"], counts["low"]) == (1, 1), counts


@WIRES
async def test_a_button_that_takes_a_vote_back_holds_though_the_emoji_stands(
    wire: str, kettle: Kettle
) -> None:
    async with house(kettle) as bot, open_stage(wire, bot) as stage:
        seen = await ask(stage, PORT)
        await stage.react("ann", seen, "👍")
        await settled(bot, (1, 0))
        await stage.press("ann", seen, "up")
        await settled(bot, (0, 0))
        await away(stage)
        await stage.join(bot)
        await read(stage, bot)
        assert await hands(bot) == (0, 0)


async def test_an_emoji_on_an_earlier_answer_is_no_vote_on_the_next_one(kettle: Kettle) -> None:
    async with house(kettle) as bot, open_stage("slack", bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        seen = await until(lambda: [s for s in stage.replies(said) if s.finished and s.seeds])
        await stage.react("bob", seen[0], "👎")
        await stage.edit(said, "How do I run a job every night?")
        await until(lambda: "Every night" in stage.replies(said)[0].text)
        await read(stage, bot)
        await away(stage)
        await stage.join(bot)
        await read(stage, bot)
        assert len(await events(kettle)) == 1


async def test_who_opted_out_or_was_forgotten_is_not_counted(kettle: Kettle) -> None:
    async with house(kettle) as bot, open_stage("slack", bot) as stage:
        seen = await ask(stage, PORT, who="bob")
        await stage.react("hal", seen, "👎")
        await read(stage, bot)
        assert await hands(bot) == (0, 1)
        await away(stage)
        for who in ("ann", "bob"):
            await act(stage, who, seen, "👍")
        await bot.app.people.opt_out(stage.account("ann"))
        await bot.app.people.forget(stage.account("hal"))
        await stage.join(bot)
        await read(stage, bot)
        assert await hands(bot) == (1, 0)


async def test_zero_hours_switch_it_off(kettle: Kettle) -> None:
    async with house(kettle, recount_hours=0.0) as bot, open_stage("slack", bot) as stage:
        seen = await ask(stage, PORT)
        await read(stage, bot)
        await away(stage)
        await act(stage, "ann", seen, "👍")
        await stage.join(bot)
        await read(stage, bot)
        assert await hands(bot) == (0, 0) and not stage.server.called("reactions.get")


TROUBLES = {
    "a message that is gone": ("message_not_found", logging.INFO),
    "a channel that the bot was removed from": ("not_in_channel", logging.WARNING),
    "a scope that is missing": ("missing_scope", logging.WARNING),
}


@pytest.mark.parametrize("trouble", sorted(TROUBLES))
async def test_what_cannot_be_read_is_told_once(
    trouble: str, kettle: Kettle, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, recount.__name__)
    code, level = TROUBLES[trouble]
    async with house(kettle) as bot, open_stage("slack", bot) as stage:
        seen = await ask(stage, PORT)
        await read(stage, bot)
        if code == "missing_scope":
            stage.server.scopes = stage.server.scopes.replace("reactions:read,", "")
        elif code == "not_in_channel":
            stage.server.channels["C1"]["members"].remove(stage.server.bot_user)
        else:
            del stage.server.messages["C1"][seen.id]
        for _ in range(2):
            await away(stage)
            await stage.join(bot)
            await read(stage, bot)
        told = [entry for entry in caplog.records if code in entry.getMessage()]
        assert [entry.levelno for entry in told] == [level]


async def test_of_one_message_that_slack_denies_the_others_are_counted(kettle: Kettle) -> None:
    async with house(kettle) as bot, open_stage("slack", bot) as stage:
        seen = await ask(stage, PORT)
        await ask(stage, "How often is a failed job tried again?")
        await read(stage, bot)
        await away(stage)
        await act(stage, "bob", seen, "👍")
        stage.server.fail("reactions.get", "access_denied")
        await stage.join(bot)
        await read(stage, bot)
        assert await hands(bot) == (1, 0)


async def test_a_rate_limit_is_waited_out(kettle: Kettle) -> None:
    async with house(kettle) as bot, open_stage("slack", bot) as stage:
        seen = await ask(stage, PORT)
        await read(stage, bot)
        await away(stage)
        await act(stage, "ann", seen, "👍")
        stage.server.fail("reactions.get", "ratelimited", status=429, retry_after=1)
        await stage.join(bot)
        await read(stage, bot)
        assert await hands(bot) == (1, 0)


async def test_a_connection_that_is_lost_and_comes_back_reads_what_stands(kettle: Kettle) -> None:
    async with house(kettle) as bot, open_stage("slack", bot) as stage:
        seen = await ask(stage, PORT)
        await read(stage, bot)
        await act(stage, "ann", seen, "👍")
        assert await hands(bot) == (0, 0)
        await stage.server.drop()
        await until(lambda: stage.server.called("reactions.get"))
        await read(stage, bot)
        assert await hands(bot) == (1, 0)


async def events(kettle: Kettle) -> list[Any]:
    """Return everything that was counted as a vote."""
    with sqlite3.connect(f"file:{kettle.home / 'threadlore.sqlite3'}?mode=ro", uri=True) as database:
        return database.execute("SELECT answer_id, voter, value FROM votes ORDER BY number").fetchall()


async def test_a_button_on_discord_counts_though_the_process_died_before_it_looked_at_it(
    kettle: Kettle,
) -> None:
    async with house(kettle) as bot, open_stage("discord", bot) as stage:
        assert isinstance(stage, DiscordStage)
        seen = await ask(stage, PORT)

        async def dead(*_: Any) -> None:
            """Do nothing more: the press was noted, and the process died."""

        stage._dispatch.press = dead  # type: ignore[attr-defined]
        await stage.press("bob", seen, "up")
        await stage.quiet()
        assert await events(kettle) == []
        for _ in range(2):
            await stage.join(replace(bot, dispatch=dispatch_of(bot.app)))
            await stage.quiet()
            assert await hands(bot) == (1, 0) and len(await events(kettle)) == 1


async def test_an_emoji_of_the_playground_that_was_shown_and_not_counted_is_counted(kettle: Kettle) -> None:
    async with house(kettle) as bot, open_stage("web", bot) as stage:
        seen = await ask(stage, PORT)
        alive = bot.dispatch.reaction

        async def dead(*_: Any) -> None:
            raise RuntimeError("the process died")

        bot.dispatch.reaction = dead  # type: ignore[method-assign, assignment]
        await stage.react("bob", seen, "👎")
        assert await hands(bot) == (0, 0)
        await stage.leave()
        bot.dispatch.reaction = alive  # type: ignore[method-assign]
        for _ in range(2):
            await stage.join(bot)
            await bot.dispatch.recount.done("web")
            assert await hands(bot) == (0, 1)
            await stage.leave()
        await stage.join(bot)
        bot.dispatch.reaction = dead  # type: ignore[method-assign, assignment]
        await stage.react("bob", seen, "👎", added=False)
        await stage.leave()
        await stage.join(bot)
        await bot.dispatch.recount.done("web")
        assert await hands(bot) == (0, 0)
