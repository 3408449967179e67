"""The playground as a stage, played over its HTTP API."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

from bot.platforms.web.chat import message_of
from bot.platforms.web.people import BOT, CHANNELS
from tests.journeys.house import Bot
from tests.journeys.stage import Said, Seen, address, chosen, pressed
from tests.patience import PATIENCE
from tests.platforms.web_client import Client, choices_of, controls_of, serving

PEOPLE = {"ann": "ada", "bob": "ben", "hal": "hana", "boss": "chloe"}
MENTIONS = {who: f"@{player}" for who, player in PEOPLE.items()} | {"bot": "@threadlore"}
PLACES = {"public": "general", "private": "maintainers", "direct": "dm-ada", "desk": "help", "hal": "dm-hana"}
EMOJI = {"thumbsup": "👍", "+1": "👍", "-1": "👎", "thumbsdown": "👎"}
QUIET_SECONDS = 2.0
"""Longest wait for what is under way: a model may hang on purpose."""


class WebStage:
    """People in the playground."""

    name = "web"

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self._stack = AsyncExitStack()
        self._state: dict[str, list[dict[str, Any]]] = {}
        self._heard: dict[str, dict[tuple[str, str], None]] = {who: {} for who in PEOPLE}
        self._forms: dict[str, tuple[str, dict[str, Any]]] = {}
        self._channels = dict(CHANNELS)

    async def __aenter__(self) -> WebStage:
        await self.join(self.bot)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.leave()
        CHANNELS.update(self._channels)

    async def join(self, bot: Bot) -> None:
        """Serve the playground of a bot."""
        self.bot = bot
        settings = bot.settings.model_copy(update={"playground": True, "port": 0})
        given: Any = bot.dispatch
        self.client: Client = await self._stack.enter_async_context(serving(settings, given))
        self._polling = asyncio.create_task(self._poll())

    async def leave(self) -> None:
        """Close the playground; what was said is kept in its journal."""
        self._polling.cancel()
        await asyncio.gather(self._polling, return_exceptions=True)
        await self._stack.aclose()

    async def disturb(self, trouble: str) -> None:
        """Let something go wrong; here every look is a request of its own, so there is nothing to lose."""

    def key(self, place: str = "public") -> str:
        """Return how the bot names a channel."""
        return f"web:{PLACES[place]}"

    def _post(self, said: Said) -> Any:
        return self.client.playground.chat._posts.get(said.id)

    async def repeat(self, said: Said) -> None:
        """Tell the bot of a message once more; the playground itself never does."""
        heard = message_of(self._post(said), self.bot.settings)
        await self.bot.dispatch.message(self.client.playground.chat, heard)

    async def close_public(self) -> None:
        """Let only some people into the public channel; in the playground an admin tells the bot so."""
        CHANNELS["general"] = replace(CHANNELS["general"], kind="private")
        await self.bot.dispatch.channel_became_private("web:general")

    async def answer_this(self, who: str, said: Said) -> None:
        """Choose "Answer this" under a message."""
        path = f"/api/messages/{said.id}/answer"
        status, told = await self.client.post(path, person=PEOPLE[who])
        assert status == 202, told

    def texts(self) -> list[str]:
        """Return all that the bot says in the public channel and its threads now."""
        found = [m for m in self._state.get("ann", []) if m["author"] == BOT and not m["only"]]
        return [m["text"] for m in found if m["channel"] == "general"]

    def pings(self, said: Said) -> list[str]:
        """Return whom the bot's messages call by sound: the playground has none."""
        return []

    async def _poll(self) -> None:
        """Look whenever the playground has something new for its pages."""
        feed, clock = self.client.playground._feed, asyncio.get_running_loop().time
        while True:
            number, began = feed.number, clock()
            await self._look()
            took = clock() - began
            await feed.wait(number, PATIENCE)
            await asyncio.sleep(min(max(3 * took, 0.01), 0.25))  # a quarter of the time goes into looking

    async def _look(self) -> None:
        for who, player in PEOPLE.items():
            self._state[who] = await self.client.messages(player)
            self._heard[who] |= {
                (m["id"], m["text"]): None for m in self._state[who] if m["only"] and m["final"]
            }

    async def say(
        self, who: str, text: str, place: str = "public", *, under: Said | None = None, to: str = ""
    ) -> Said:
        place = under.place if under else place
        written = address(MENTIONS, text, to)
        root = under.root if under and place != "direct" else ""
        if who == "robot":  # nobody but the bot itself is a program here
            post = self.client.playground.chat._posts.add(PLACES[place], BOT, written, thread=root)
            said = Said(post.id, place, root or post.id, written)
            await self.repeat(said)
            return said
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

    async def react(self, who: str, on: Seen | Said, emoji: str, added: bool = True) -> None:
        body = {"person": PEOPLE[who], "message": on.id, "emoji": EMOJI.get(emoji, emoji), "added": added}
        status, told = await self.client.post("/api/reactions", **body)
        assert status == 200, told

    async def press(self, who: str, seen: Seen, name: str, value: str = "") -> None:
        await self._look()
        posts = [m for m in self._state[who] if m["id"] == seen.id]
        posts += [m for m in reversed(self._state[who]) if m["only"]]
        post = next(m for m in posts if name in [control["name"] for control in m["controls"]])
        await self._send(who, post["id"], name, pressed(controls_of(post), name, value))

    async def _send(self, who: str, message: str, name: str, value: str, **fields: str) -> None:
        body = {"person": PEOPLE[who], "message": message, "name": name, "value": value, "fields": fields}
        status, told = await self.client.post("/api/presses", **body)
        assert status == 200, told
        if told["form"]:
            self._forms[who] = (message, told["form"])

    def form(self, who: str) -> tuple[str, tuple[str, ...]] | None:
        _, form = self._forms.get(who, ("", None))
        return (form["title"], tuple(entry["name"] for entry in form["fields"])) if form else None

    async def fill(self, who: str, **fields: str) -> None:
        message, form = self._forms.pop(who)
        given = {
            entry["name"]: chosen(choices_of(entry), fields[entry["name"]])
            if entry["choices"]
            else fields[entry["name"]]
            for entry in form["fields"]
            if entry["name"] in fields
        }
        assert given.keys() == fields.keys(), f"{fields} in {form}"
        await self._send(who, message, form["name"], form["value"], **given)

    async def slash(self, who: str, command: str, text: str = "", place: str = "public") -> None:
        line = f"/{command} {text}".strip()
        body = {"person": PEOPLE[who], "channel": PLACES[place], "text": line}
        status, told = await self.client.post("/api/commands", **body)
        assert status == 202, told

    def account(self, who: str) -> str:
        return f"web:{PEOPLE[who]}"

    def heard(self, who: str) -> list[str]:
        if self._polling.done() and not self._polling.cancelled():
            self._polling.result()  # raises what ended it: nobody hears anything any more
        return [text for _, text in self._heard[who]]

    def public(self) -> list[str]:
        return [
            m["text"]
            for m in self._state.get("ann", [])
            if m["author"] == "threadlore" and m["channel"] == "general" and not (m["thread"] or m["only"])
        ]

    def replies(self, said: Said) -> list[Seen]:
        return self._said("ann", said.place, said.root)

    def inbox(self, who: str) -> list[Seen]:
        return self._said(who, who, "")

    def desk(self) -> list[Seen]:
        return self._said("hal", "desk", "")

    def _said(self, reader: str, place: str, root: str) -> list[Seen]:
        """Return what the bot says to everybody in a thread or a channel, as somebody there reads it."""
        return [
            Seen(
                m["id"],
                m["text"],
                place,
                ("up", "down") if m["votable"] else (),
                tuple(control["name"] for control in m["controls"]),
            )
            for m in self._state.get(reader, [])
            if m["author"] == BOT and m["channel"] == PLACES[place] and m["thread"] == root and not m["only"]
        ]

    async def quiet(self) -> None:
        await asyncio.sleep(0)
        if under_way := set(self.client.playground._room._tasks):
            await asyncio.wait(under_way, timeout=QUIET_SECONDS)
        await self._look()
