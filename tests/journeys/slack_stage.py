"""Slack as a stage: the loopback server and the platform with the real slack-bolt."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from bot.platforms.slack import connect
from tests.journeys.house import Bot
from tests.journeys.stage import PATIENCE, PLAIN, Said, Seen, address
from tests.platforms.slack_bot import settings_for
from tests.platforms.slack_server import SlackServer

PEOPLE = {"ann": "U1", "bob": "U2", "boss": "UADMIN", "robot": "UROBOT"}
PLACES = {"public": "C1", "private": "G1", "direct": "D1"}
MENTIONS = {who: f"<@{user}>" for who, user in PEOPLE.items()} | {"bot": "<@UBOT>"}
EMOJI = {"👍": "+1", "👎": "-1", "👍🏽": "+1::skin-tone-4"}


class SlackStage:
    """People on Slack."""

    name = "slack"

    def __init__(self, bot: Bot | None, server: SlackServer | None = None) -> None:
        self.bot = bot
        self.server = server or SlackServer()
        self._own = server is None

    @classmethod
    def watching(cls, server: SlackServer) -> SlackStage:
        """Play people on a server that a bot in another process is connected to."""
        return cls(None, server)

    async def __aenter__(self) -> SlackStage:
        if self._own:
            await self.server.__aenter__()
        self.server.add_user("UROBOT", is_bot=True)
        self.server.channels["C1"]["members"].add("UROBOT")
        assert self.bot is not None
        platform = connect(settings_for(self.server), self.bot.dispatch)
        assert platform is not None
        self.platform = platform
        self._running = asyncio.create_task(platform.run())
        await self.server.until(lambda: self.server.connected or self._running.done(), PATIENCE)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.platform.stop()
        await self._running
        if self._own:
            await self.server.__aexit__()
        assert not self.server.problems

    async def say(
        self, who: str, text: str, place: str = "public", *, under: Said | None = None, to: str = ""
    ) -> Said:
        place = under.place if under else place
        written = address(MENTIONS, text, to)
        thread = under.root if under and place != "direct" else None
        more: dict[str, Any] = {"bot_id": "BROBOT"} if who == "robot" else {}
        ts = self.server.say(PEOPLE[who], PLACES[place], written, thread, **more)
        return Said(ts, place, thread or ts, written)

    async def edit(self, said: Said, text: str) -> None:
        mention = said.text.split(" ")[0] if said.text.startswith("<@") else ""
        self.server.edit(PLACES[said.place], said.id, f"{mention} {text}".strip())

    async def delete(self, said: Said) -> None:
        self.server.delete(PLACES[said.place], said.id)

    async def react(self, who: str, seen: Seen, emoji: str, added: bool = True) -> None:
        act = self.server.react if added else self.server.unreact
        act(PEOPLE[who], PLACES[seen.place], seen.id, EMOJI.get(emoji, emoji))
        await self.quiet()

    async def slash(self, who: str, command: str, text: str = "") -> None:
        self.server.slash(PEOPLE[who], "C1", f"/{command}", text)

    def heard(self, who: str) -> list[str]:
        return [w["text"] for w in self.server.whispers if w["user"] == PEOPLE[who]]

    def public(self) -> list[str]:
        return [m["text"] for m in self.server.said("C1") if not m.get("thread_ts")]

    def replies(self, said: Said) -> list[Seen]:
        channel = PLACES[said.place]
        found = self.server.said(channel) if said.place == "direct" else self.server.said(channel, said.root)
        return [replace(self._seen(m), place=said.place) for m in found]

    def _seen(self, message: dict[str, Any]) -> Seen:
        reactions = message.get("reactions", {})
        seeds = [PLAIN[name] for name, users in reactions.items() if self.server.bot_user in users]
        blocks = [b for b in message["blocks"] if b["type"] == "markdown"]
        text = "\n".join(b["text"] for b in blocks) or message["text"]
        return Seen(message["ts"], text, seeds=tuple(seeds))

    async def quiet(self) -> None:
        await self.server.settled()
