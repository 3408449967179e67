"""People talk in a channel; what they worked out answers the next one, and goes when they want it to."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from bot.commands.command_line import handle
from bot.operations.scheduler import Clock
from bot.rendering.sources import plan_lines, plans
from core.domain import Question, Scope
from tests.journeys.discord_stage import DiscordStage
from tests.journeys.house import Bot, Kettle, house
from tests.journeys.slack_stage import SlackStage
from tests.journeys.stage import PATIENCE, Said, ask, told
from tests.journeys.test_forgetting import files_with, rows_with
from tests.platforms.discord_rest import discord_rest
from tests.platforms.discord_server import TOKEN
from tests.platforms.slack_server import SlackServer

EVERYWHERE = pytest.mark.parametrize("platform", ["slack", "discord"])
QUESTION = "How do I bake sourdough bread with the kettle?"
AGAIN = "How can I bake sourdough bread with the kettle?"
ADVICE = "Put the dough quizzaciously into the lid and press the red button for an hour."
MARK = "quizzaciously"
SOURCE = """
[[unversioned.source]]
kind = "history"
channel = "{channel}"
quiet_hours = 0
"""


@dataclass
class Scene:
    """A platform with people, a bot that reads its public channel as a source, and how often it asks."""

    stage: Any
    bot: Bot
    link: Callable[[Said], str]
    calls: Callable[[], list[Any]]

    async def worked_out(self, helper: str = "bob") -> tuple[Said, Said]:
        """Let people ask each other, without the bot, and settle it."""
        said = await self.stage.say("ann", QUESTION)
        reply = await self.replied(helper, said, ADVICE)
        await self.stage.react("ann", reply, "✅")
        await self.stage.quiet()
        return said, reply

    async def replied(self, who: str, to: Said, text: str) -> Said:
        """Answer a message as people do there: in its thread, or by Discord's reply."""
        if isinstance(self.stage, DiscordStage):
            return await self.stage.reply(who, to, text)
        return await self.stage.say(who, text, under=to)

    async def index(self) -> None:
        await self.bot.app.corpus_manager.reindex()

    async def tomorrow(self) -> None:
        """Let people write from now on after the moment that this machine's clock shows."""
        ahead = time.time() + 86_400
        if isinstance(self.stage, DiscordStage):
            await self.stage.env.advance_time(ahead - self.stage.env.now().timestamp())
        else:
            self.stage.server.epoch = int(ahead)

    def traces(self, words: str = MARK) -> list[str]:
        """Return tables and files of the home that hold the words."""
        home = self.bot.kettle.home
        return rows_with(f"sqlite:///{home / 'threadlore.sqlite3'}", words) + files_with(home, words)


@asynccontextmanager
async def scene(platform: str, kettle: Kettle, other: Kettle) -> AsyncIterator[Scene]:
    """Open a platform, and the bot with its public channel among the sources."""

    def read(channel: str) -> None:
        kettle.config.write_text(kettle.config.read_text() + SOURCE.format(channel=channel))

    async with AsyncExitStack() as stack:
        if platform == "slack":
            server = await stack.enter_async_context(SlackServer())
            read("slack:C1")
            given = {"slack_bot_token": server.bot_token, "slack_api_url": server.url}
            bot = await stack.enter_async_context(house(kettle, helpers="slack:UHAL", **given))
            stage: Any = await stack.enter_async_context(SlackStage(bot, server))
            base = "https://fake.slack.com/archives/C1/p"
            yield Scene(stage, bot, lambda said: base + said.id.replace(".", ""), lambda: server.calls)
            return
        first = await stack.enter_async_context(house(other))
        stage = await stack.enter_async_context(DiscordStage(first))
        rest = await stack.enter_async_context(discord_rest(stage.env.backend))
        channel = stage.key()
        read(channel)
        given = {"discord_token": TOKEN, "discord_api_url": rest.url}
        bot = await stack.enter_async_context(house(kettle, **given))
        await stage.join(bot)
        base = f"https://discord.com/channels/{stage.world.guild.id}/{channel.partition(':')[2]}/"
        yield Scene(stage, bot, lambda said: base + said.id, lambda: rest.calls)


@pytest.fixture
def other(indexed: Kettle, tmp_path: Any) -> Kettle:
    """Another copy of Kettle, for the bot that Discord's stage begins with."""
    return indexed.copy(tmp_path / "other")


@EVERYWHERE
async def test_what_people_worked_out_answers_with_its_link(platform: str, kettle, other) -> None:
    async with scene(platform, kettle, other) as there:
        stage, app = there.stage, there.bot.app
        before = await ask(stage, AGAIN)
        assert MARK not in before.text
        said, _ = await there.worked_out()
        await stage.say("robot", "How do I sell more kettles? Ask robot-words!")
        [plan] = [p for p in await plans(app.corpus_manager, app.memory) if p.release == "2.0"]
        assert [line for line in plan_lines(plan) if "added: history:" in line], plan_lines(plan)
        assert there.traces() == [f for f in there.traces() if f.endswith(".json")], (
            "a dry run indexes nothing"
        )
        await there.index()
        seen = await ask(stage, AGAIN, who="bob")
        assert MARK in seen.text and there.link(said) in seen.text
        assert there.traces("robot-words") == [], "other bots are left out"
        assert there.traces("I have not found") == [], "and so is what the bot says itself"
        there.calls().clear()
        await there.index()
        paths = [getattr(call, "method", call) for call in there.calls()]
        assert len(paths) <= 12, paths


@EVERYWHERE
async def test_edits_and_deletions_are_followed(platform: str, kettle, other) -> None:
    async with scene(platform, kettle, other) as there:
        said, reply = await there.worked_out()
        await there.index()
        assert MARK in (await ask(there.stage, AGAIN)).text
        await there.stage.edit(
            reply, "Put the dough flabbergastingly into the lid and press the green button."
        )
        await there.stage.quiet()
        await there.index()
        seen = await ask(there.stage, AGAIN, who="bob")
        assert "flabbergastingly" in seen.text and MARK not in seen.text
        await there.stage.delete(said)
        await there.stage.quiet()
        await there.index()
        await no_longer(there, "flabbergastingly")


async def gone(there: Scene) -> None:
    """Wait until what was begun is done: nothing of the mark is in the home."""
    await there.stage.quiet()
    await there.bot.app.history.close(PATIENCE)
    assert there.traces() == []


async def no_longer(there: Scene, words: str) -> None:
    """Ask again: the words are in no answer that is made now."""
    seen = await ask(there.stage, "Can I bake sourdough bread in the kettle, and how?", who="hal")
    assert words not in seen.text


@EVERYWHERE
@pytest.mark.parametrize("way", ["opt-out", "forget me"])
async def test_who_leaves_takes_their_words_along_at_once(platform: str, way: str, kettle, other) -> None:
    async with scene(platform, kettle, other) as there:
        stage, app = there.stage, there.bot.app
        await there.worked_out()
        await there.index()
        assert there.traces()
        account = stage.account("bob")
        [held] = (await app.my_data.of(account))["read in channels"]
        assert held["text"] == ADVICE and held["url"].startswith("https://")
        calls = len(there.calls())
        await stage.slash("bob", "threadlore", f"{way} confirm")
        await told(stage, "bob", "Forgotten" if way == "forget me" else "You have opted out")
        await gone(there)
        reads = [c for c in there.calls()[calls:] if "history" in getattr(c, "method", "")]
        assert reads == [], "the platform is not asked for that"
        await no_longer(there, MARK)
        await there.index()
        assert there.traces() == [], "and it does not come back"
        assert "read in channels" not in await app.my_data.of(account)
        if way == "opt-out":
            await stage.slash("bob", "threadlore", "opt-in")
            await told(stage, "bob", "Welcome back")
        await there.tomorrow()
        later = await stage.say("ann", "How do I toast bagels with the kettle?")
        reply = await there.replied("bob", later, "Toast them zestfully on the hob.")
        await stage.react("ann", reply, "✅")
        await stage.quiet()
        await there.index()
        assert there.traces("zestfully") and there.traces() == [], "what they say from then on is read"


@EVERYWHERE
async def test_a_channel_that_becomes_private_is_not_told_of_at_once(platform: str, kettle, other) -> None:
    async with scene(platform, kettle, other) as there:
        await there.worked_out()
        await there.index()
        assert there.traces()
        await there.stage.close_public()
        await gone(there)
        runs = [run for run in await there.bot.app.corpora.runs() if run.source.startswith("history:")]
        assert runs and all("private" in run.error for run in runs)
        status = await there.bot.app.corpus_manager.status()
        assert any("private" in problem for problem in status["problems"])


async def test_a_private_question_tells_that_a_channel_of_a_source_is_closed(
    kettle: Kettle, other: Kettle
) -> None:
    async with scene("slack", kettle, other) as there:
        await there.worked_out()
        await there.index()
        there.stage.server.channels["C1"]["kind"] = "group"  # and no event says so
        inside = Scope("private", "slack:C1")
        await there.bot.app.engine.answer(Question("Which port is it?", "slack:U1", "slack:C1", inside))
        await there.bot.dispatch.channel_became_private("slack:C1", now=False)
        await gone(there)


async def test_it_is_read_by_the_command_line_and_listed(kettle: Kettle) -> None:
    """`threadlore index`, with a bot token alone: no socket; without one the other sources go on."""
    async with SlackServer() as server:
        asked = server.say("U1", "C1", QUESTION)
        server.react("U1", "C1", server.say("U2", "C1", ADVICE, asked), "white_check_mark")
        kettle.config.write_text(kettle.config.read_text() + SOURCE.format(channel="slack:C1"))
        given = {"slack_bot_token": server.bot_token, "slack_api_url": server.url}
        async with house(kettle, **given) as bot:
            lines = await commanded(bot, {"command": "index", "release": "2.0"})
            assert lines[-1] == {"code": 0}
            assert server.connections == 0
            listed = str(await commanded(bot, {"command": "sources"}))
            assert "history `slack:C1`: 1 page," in listed
        async with house(kettle) as bot:
            with pytest.raises(Exception, match="SLACK_BOT_TOKEN is missing"):
                await commanded(bot, {"command": "index", "release": "2.0"})
            assert rows_with(f"sqlite:///{kettle.home / 'threadlore.sqlite3'}", MARK), "what was read stays"
            status = await bot.app.corpus_manager.status()
            failed = [entry["source"] for entry in status["sources"] if entry["failures"]]
            assert failed == ["history:slack:C1"]


async def test_the_clock_reads_it_again_when_it_is_due(kettle: Kettle, other: Kettle) -> None:
    async with scene("slack", kettle, other) as there:
        app = there.bot.app
        await there.index()
        ahead = 0.0

        async def reindex(release: str, sources: Any) -> None:
            assert sources
            await app.corpus_manager.reindex(release, only=sources)

        clock = Clock(app.corpora, app.schedules, reindex, now=lambda: time.time() + ahead)
        await there.worked_out()
        await clock.tick()
        assert not there.traces(), "nothing is due"
        ahead = 3 * 86_400
        await clock.tick()
        assert MARK in (await ask(there.stage, AGAIN)).text


async def commanded(bot: Bot, request: dict[str, Any]) -> list[dict[str, Any]]:
    """Carry out a command of the command line and return what it sends."""
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await handle(bot.app, request, send)
    return sent


async def test_the_copy_of_a_channel_goes_where_another_process_knows_that_it_is_private(
    kettle: Kettle, other: Kettle
) -> None:
    async with scene("slack", kettle, other) as there:
        await there.worked_out()
        await there.index()
        copies = there.bot.kettle.home / "sources" / "history"
        assert any(MARK in copy.read_text() for copy in copies.iterdir())
        await there.bot.app.history.closed_elsewhere("slack:C1")
        assert not list(copies.iterdir())


async def test_the_copy_of_a_channel_loses_whom_another_process_has_forgotten(
    kettle: Kettle, other: Kettle
) -> None:
    async with scene("slack", kettle, other) as there:
        await there.worked_out()
        await there.index()
        [copy] = (there.bot.kettle.home / "sources" / "history").iterdir()
        calls = len(there.calls())
        await there.bot.app.privacy.forget(there.stage.account("bob"))
        await there.bot.app.history.gone_elsewhere()
        assert MARK not in copy.read_text() and "sourdough" in copy.read_text()
        assert len(there.calls()) == calls, "the platform is not asked"
