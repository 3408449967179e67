"""Slack, Discord and the playground as the bench sees them: people ask, and what is shown is timed.

Each is reached over its wire on 127.0.0.1: Slack's and Discord's by the loopback servers with the real
slack-bolt and discord.py, the playground by its HTTP API and its stream of events.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.platforms.discord import platform as discord_platform
from bot.platforms.slack import platform as slack_platform
from bot.platforms.web.people import BOT as PLAYGROUND_BOT
from core.settings import load_settings
from tests.bench.laps import Laps
from tests.platforms.discord_server import BOT, CHANNEL, DiscordServer, discord_server
from tests.platforms.discord_server import _thread as discord_thread
from tests.platforms.discord_server import user_payload as discord_user
from tests.platforms.discord_world import settings as discord_settings
from tests.platforms.slack_bot import settings_for
from tests.platforms.slack_server import SlackServer
from tests.platforms.web_client import serving as playground

PLAYERS = ("ada", "ben", "chloe", "hana")
"""People of the playground; with more askers some ask in several threads at once."""


@dataclass
class Stand:
    """Where people ask: `ask` sends a message that mentions the bot, and returns its thread."""

    laps: Laps
    ask: Callable[[int, str], Awaitable[str]]


class Slack(SlackServer):
    """A loopback Slack that notes what threads show."""

    def __init__(self, laps: Laps) -> None:
        super().__init__()
        self.laps = laps
        self.limits.enforced = False  # the bot is timed, not Slack's minutes

    def tick(self) -> str:
        """Return a timestamp that no earlier run on the same home has given."""
        return f"{int(time.time())}.{next(self._numbers):06d}"

    def store(self, channel: str, user: str, text: str, thread: str | None, **more: Any) -> dict[str, Any]:
        kept = super().store(channel, user, text, thread, **more)
        if more.get("bot_id") == self.bot_id and thread:
            self.laps.shown(thread, text)
        return kept

    def changed(self, channel: str, message: dict[str, Any], before: dict[str, Any]) -> None:
        if message.get("bot_id") == self.bot_id:
            note = self.laps.streamed if message.get("streaming_state") == "in_progress" else self.laps.shown
            note(str(message.get("thread_ts")), str(message["text"]))
        super().changed(channel, message, before)


@asynccontextmanager
async def slack(dispatch: Any, people: int, home: Path) -> AsyncIterator[Stand]:
    """Connect a dispatch to a loopback Slack of its own."""
    laps = Laps()
    async with Slack(laps) as server:
        for person in range(people):
            server.add_user(f"P{person}")
            server.channels["C1"]["members"].add(f"P{person}")

        async def ask(person: int, text: str) -> str:
            began = time.perf_counter()
            thread = server.say(f"P{person}", "C1", f"<@{server.bot_user}> {text}")
            laps.asked(thread, began)
            return thread

        platform = slack_platform.connect(settings_for(server), dispatch)
        async with _running(platform, lambda: server.connected):
            yield Stand(laps, ask)


class Discord(DiscordServer):
    """A loopback Discord that knows edits and notes what threads show."""

    laps: Laps

    def _answer(self, method: str, path: list[str], body: Any) -> Any:
        match (method, *path):
            case ("PATCH", "channels", thread, "messages", message):
                self.laps.shown(thread, body.get("content") or "")
                return self._message(message, thread, BOT, body.get("content") or "")
            case ("GET", "channels", thread, "messages"):
                return []
            case ("GET", "channels", channel, "messages", message):
                return self._message(message, channel, "7000", "A question.")
            case ("POST", "channels", thread, "typing"):
                return None
        answer = super()._answer(method, path, body)
        match (method, *path):
            case ("POST", "channels", thread, "messages"):
                self.laps.shown(thread, body["content"])
            case ("POST", "channels", _, "messages", root, "threads"):
                return discord_thread(root, CHANNEL, body["name"])
        return answer


@asynccontextmanager
async def discord(dispatch: Any, people: int, home: Path) -> AsyncIterator[Stand]:
    """Connect a dispatch to a loopback Discord of its own."""
    laps = Laps()
    async with discord_server(Discord) as server:
        server.laps = laps
        server._ids = itertools.count(time.time_ns())  # ids that no earlier run on the same home has given

        async def ask(person: int, text: str) -> str:
            began = time.perf_counter()
            author = discord_user(str(7000 + person), f"p{person}")
            thread = await server.says(f"<@{BOT}> {text}", author=author)
            laps.asked(thread, began)
            return thread

        addresses = {"discord_api_url": f"{server.url}/api/v10/", "discord_gateway_url": server.gateway}
        platform = discord_platform.connect(discord_settings(**addresses), dispatch)
        platform.client._connection.guild_ready_timeout = 0.02
        async with _running(platform, lambda: server.commands and platform.client.is_ready()):
            yield Stand(laps, ask)


@asynccontextmanager
async def web_page(dispatch: Any, people: int, home: Path) -> AsyncIterator[Stand]:
    """Serve a dispatch as the playground, and read its events as a page does."""
    laps, roots = Laps(), set[str]()
    settings = load_settings(None, home=home, port=0)
    async with playground(settings, dispatch) as client:

        async def ask(person: int, text: str) -> str:
            began = time.perf_counter()
            player = PLAYERS[person % len(PLAYERS)]
            thread = await client.say(f"@threadlore {text}", person=player, channel="general")
            laps.asked(thread, began)
            roots.add(thread)
            return thread

        async def hear() -> None:
            url = f"{client.playground.url}/api/events"
            async with client.session.get(url, params={"person": PLAYERS[0]}, timeout=None) as events:
                async for line in events.content:
                    if line.startswith(b"data: "):
                        data = json.loads(line[6:])
                        if (
                            isinstance(data, dict)
                            and data.get("thread")
                            and data.get("author") == PLAYGROUND_BOT
                        ):
                            laps.shown(str(data["thread"]), str(data["text"]))

        hearing = asyncio.create_task(hear())
        try:
            yield Stand(laps, ask)
        finally:
            hearing.cancel()
            await asyncio.gather(hearing, return_exceptions=True)


@asynccontextmanager
async def _running(platform: Any, ready: Callable[[], object]) -> AsyncIterator[None]:
    running = asyncio.create_task(platform.run())
    async with asyncio.timeout(30):
        while not ready():
            assert not running.done(), running
            await asyncio.sleep(0.01)
    try:
        yield
    finally:
        await platform.stop()
        await running


STANDS = {"Slack": slack, "Discord": discord, "playground": web_page}
