"""The playground as a stage, played over its HTTP API."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

from tests.journeys.house import Bot
from tests.journeys.stage import Said, Seen, address
from tests.platforms.web_client import Client, serving

PEOPLE = {"ann": "ada", "bob": "ben", "boss": "chloe"}
MENTIONS = {who: f"@{player}" for who, player in PEOPLE.items()} | {"bot": "@threadlore"}
PLACES = {"public": "general", "private": "maintainers", "direct": "dm-ada"}
EMOJI = {"thumbsup": "👍", "+1": "👍", "-1": "👎", "thumbsdown": "👎"}


class WebStage:
    """People in the playground."""

    name = "web"

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self._stack = AsyncExitStack()
        self._state: dict[str, list[dict[str, Any]]] = {}

    async def __aenter__(self) -> WebStage:
        settings = self.bot.settings.model_copy(update={"playground": True, "port": 0})
        given: Any = self.bot.dispatch
        self.client: Client = await self._stack.enter_async_context(serving(settings, given))
        self._polling = asyncio.create_task(self._poll())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._polling.cancel()
        await asyncio.gather(self._polling, return_exceptions=True)
        await self._stack.aclose()

    async def _poll(self) -> None:
        while True:
            await self._look()
            await asyncio.sleep(0.02)

    async def _look(self) -> None:
        for who, player in PEOPLE.items():
            self._state[who] = await self.client.messages(player)

    async def say(
        self, who: str, text: str, place: str = "public", *, under: Said | None = None, to: str = ""
    ) -> Said:
        place = under.place if under else place
        written = address(MENTIONS, text, to)
        root = under.root if under and place != "direct" else ""
        made = await self.client.say(written, PEOPLE[who], PLACES[place], root)
        return Said(made, place, "" if place == "direct" else root or made, written)

    async def edit(self, said: Said, text: str) -> None:
        mention = f"{MENTIONS['bot']} " if said.text.startswith(MENTIONS["bot"]) else ""
        await self._own("PATCH", said, text=mention + text)

    async def delete(self, said: Said) -> None:
        await self._own("DELETE", said)

    async def _own(self, method: str, said: Said, **body: str) -> None:
        """Do something to a message as the person who wrote it."""
        posts = [post for posts in self._state.values() for post in posts]
        author = next((p["author"] for p in posts if p["id"] == said.id), "ada")
        path = f"/api/messages/{said.id}"
        status, told = await self.client.call(method, path, json={"person": author, **body})
        assert status == 200, told

    async def react(self, who: str, seen: Seen, emoji: str, added: bool = True) -> None:
        body = {"person": PEOPLE[who], "message": seen.id, "emoji": EMOJI.get(emoji, emoji), "added": added}
        status, told = await self.client.post("/api/reactions", **body)
        assert status == 200, told

    async def slash(self, who: str, command: str, text: str = "") -> None:
        line = f"/{command} {text}".strip()
        body = {"person": PEOPLE[who], "channel": PLACES["public"], "text": line}
        status, told = await self.client.post("/api/commands", **body)
        assert status == 202, told

    def heard(self, who: str) -> list[str]:
        return [m["text"] for m in self._state.get(who, []) if m["only"]]

    def public(self) -> list[str]:
        return [
            m["text"]
            for m in self._state.get("ann", [])
            if m["author"] == "threadlore" and m["channel"] == "general" and not (m["thread"] or m["only"])
        ]

    def replies(self, said: Said) -> list[Seen]:
        return [
            Seen(m["id"], m["text"], said.place, ("up", "down") if m["votable"] else ())
            for m in self._state.get("ann", [])
            if m["author"] == "threadlore"
            and m["channel"] == PLACES[said.place]
            and m["thread"] == said.root
            and not m["only"]
        ]

    async def quiet(self) -> None:
        await asyncio.sleep(0.05)
        await self._look()
