"""One way to play people on any platform, so that a journey is written once.

People: `ann` asks, `bob` is somebody else, `boss` is an admin. Places: `public`; `private`, which
ann and the bot are in; `direct`, between ann and the bot.
"""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from bot.chat import Command, Message, Person, Reaction, Reply
from core.domain import MessageRef, Scope, Turn
from tests.journeys.house import Bot

PATIENCE = 15.0
"""Seconds after which something has not happened; long, because the machine may be busy."""


@dataclass(frozen=True)
class Said:
    """A person's message; `root` is the id of the message that opened its thread."""

    id: str
    place: str
    root: str
    text: str = ""


@dataclass(frozen=True)
class Seen:
    """A message of the bot as people see it; `seeds` are the emoji that it put under it itself."""

    id: str
    text: str
    place: str = "public"
    seeds: tuple[str, ...] = ()

    @property
    def finished(self) -> bool:
        """Tell whether this is an answer, not a sign of work or a part of one."""
        growing = self.text.startswith(("Looking it up", "Reading the")) or self.text.endswith("…")
        return bool(self.text) and not growing


class Stage(Protocol):
    """A platform with people on it."""

    name: str

    async def say(
        self, who: str, text: str, place: str = "public", *, under: Said | None = None, to: str = ""
    ) -> Said:
        """Write a message: `to` is `bot` or a person; `under` is what it stands in the thread of."""

    async def edit(self, said: Said, text: str) -> None:
        """Change one's message; the mention of the bot stays if there was one."""

    async def delete(self, said: Said) -> None:
        """Delete one's message."""

    async def react(self, who: str, seen: Seen, emoji: str, added: bool = True) -> None:
        """Put an emoji under a message of the bot, or take it off."""

    async def slash(self, who: str, command: str, text: str = "") -> None:
        """Use a slash command in the public channel."""

    def heard(self, who: str) -> list[str]:
        """Return what slash commands told that person alone."""

    def public(self) -> list[str]:
        """Return the texts of the bot that stand in the public channel outside of threads."""

    def replies(self, said: Said) -> list[Seen]:
        """Return the bot's messages in that conversation, oldest first."""

    async def quiet(self) -> None:
        """Wait until nothing is under way."""


async def until(condition: Callable[[], Any], what: str = "") -> Any:
    """Wait until a condition holds and return its value."""
    end = asyncio.get_running_loop().time() + PATIENCE
    while not (value := condition()):
        assert asyncio.get_running_loop().time() < end, f"this did not happen: {what or condition}"
        await asyncio.sleep(0.01)
    return value


async def answer(stage: Stage, said: Said, count: int = 1) -> Seen:
    """Wait for the `count`th finished answer in a conversation, with its seeds, and return it."""

    def found() -> Seen | None:
        done = [seen for seen in stage.replies(said) if seen.finished]
        return done[count - 1] if len(done) >= count and len(done[count - 1].seeds) == 2 else None

    return await until(found, f"{count} finished in {stage.replies(said)}")


async def ask(stage: Stage, text: str, place: str = "public", who: str = "ann") -> Seen:
    """Mention the bot in a new message and return the answer."""
    return await answer(stage, await stage.say(who, text, place, to="bot"))


def address(mentions: dict[str, str], text: str, to: str) -> str:
    """Put the mention of whom a message is for before it."""
    return f"{mentions[to]} {text}" if to else text


PLAIN = {"👍": "up", "👎": "down", "+1": "up", "-1": "down"}


# --- the simplest platform --------------------------------------------------------------------


@dataclass
class FakeChat:
    """A platform of nothing but lists."""

    name: str = "fake"
    messages: list[dict[str, Any]] = field(default_factory=list)
    ids: Any = field(default_factory=lambda: itertools.count(1))
    posted: int = 0
    """Messages posted so far, deleted ones included."""

    async def history(self, before: MessageRef, limit: int) -> Sequence[Turn]:
        turns = [
            Turn("assistant", m["text"]) if m["who"] == "bot" else Turn("user", m["text"], f"fake:{m['who']}")
            for m in self.messages
            if m["root"] == before.thread and m["place"] == before.channel and m["id"] < int(before.message)
        ]
        return turns[-limit:]

    async def post(self, where: MessageRef, reply: Reply) -> tuple[MessageRef, ...]:
        await asyncio.sleep(0)
        self.posted += 1
        kept = self.keep("bot", where.channel, where.thread, reply.markdown)
        return (replace(where, message=str(kept["id"])),)

    async def edit(self, parts: tuple[MessageRef, ...], reply: Reply) -> tuple[MessageRef, ...]:
        await asyncio.sleep(0)
        self.of(parts[0].message)["text"] = reply.markdown
        return parts

    async def delete(self, parts: tuple[MessageRef, ...]) -> None:
        gone = {int(part.message) for part in parts}
        self.messages = [m for m in self.messages if m["id"] not in gone]

    async def seed_votes(self, ref: MessageRef) -> None:
        self.of(ref.message)["seeds"] = ("up", "down")

    def keep(self, who: str, place: str, root: str, text: str) -> dict[str, Any]:
        number = next(self.ids)
        kept = {"id": number, "who": who, "place": place, "root": root, "text": text, "seeds": ()}
        self.messages.append(kept)
        return kept

    def of(self, key: str) -> dict[str, Any]:
        return next(m for m in self.messages if m["id"] == int(key))


class FakeStage:
    """Calls dispatch as a platform's file does, without a protocol between them."""

    name = "fake"

    def __init__(self, bot: Bot, chat: FakeChat | None = None) -> None:
        self.bot = bot
        self.chat = chat or FakeChat()
        self._told: dict[str, list[str]] = {}
        self._shown: list[str] = []
        self._events = itertools.count(1)

    async def __aenter__(self) -> FakeStage:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    def person(self, who: str) -> Person:
        return Person(f"fake:{who}", who, bot=who == "robot", admin=who == "boss")

    def scope(self, place: str) -> Scope:
        kind = place if place in ("private", "direct") else "public"
        return Scope() if kind == "public" else Scope(kind, f"fake:{place}")  # type: ignore[arg-type]

    def message(self, who: str, said: Said, to: str) -> Message:
        thread = "" if said.place == "direct" else said.root
        return Message(
            MessageRef("fake", said.place, said.id, thread),
            self.person(who),
            said.text,
            self.scope(said.place),
            mentions_bot=to == "bot",
            mentions_others=to not in ("", "bot"),
        )

    async def say(
        self, who: str, text: str, place: str = "public", *, under: Said | None = None, to: str = ""
    ) -> Said:
        place = under.place if under else place
        kept = self.chat.keep(who, place, "", text)
        root = "" if place == "direct" else under.root if under else str(kept["id"])
        kept["root"] = root
        kept["to"] = to
        said = Said(str(kept["id"]), place, root, text)
        await self.bot.dispatch.message(self.chat, self.message(who, said, to))
        return said

    async def edit(self, said: Said, text: str) -> None:
        kept = self.chat.of(said.id)
        kept["text"] = text
        await self.bot.dispatch.edited(
            self.chat, self.message(kept["who"], replace(said, text=text), kept["to"])
        )

    async def delete(self, said: Said) -> None:
        self.chat.messages.remove(self.chat.of(said.id))
        await self.bot.dispatch.deleted(self.chat, MessageRef("fake", said.place, said.id, said.root))

    async def react(self, who: str, seen: Seen, emoji: str, added: bool = True) -> None:
        ref = MessageRef("fake", seen.place, seen.id)
        await self.bot.dispatch.reaction(self.chat, Reaction(ref, self.person(who), emoji, added))

    async def slash(self, who: str, command: str, text: str = "") -> None:
        told, shown = self._told.setdefault(who, []), self._shown

        class Responder:
            said = shown_at = -1

            async def reply(self, reply: Reply) -> None:
                if self.said < 0:
                    self.said = len(told)
                    told.append("")
                told[self.said] = reply.markdown

            async def progress(self, reply: Reply) -> None:
                if self.shown_at < 0:
                    self.shown_at = len(shown)
                    shown.append("")
                shown[self.shown_at] = reply.markdown

        where = MessageRef("fake", "public", "")
        event = f"command-{next(self._events)}"
        given = Command(command, text, self.person(who), where, Scope(), event)
        await self.bot.dispatch.command(self.chat, given, Responder())

    def heard(self, who: str) -> list[str]:
        return self._told.get(who, [])

    def public(self) -> list[str]:
        return self._shown

    def replies(self, said: Said) -> list[Seen]:
        return [
            Seen(str(m["id"]), m["text"], m["place"], m["seeds"])
            for m in self.chat.messages
            if m["who"] == "bot" and m["place"] == said.place and m["root"] == said.root
        ]

    async def quiet(self) -> None:
        await asyncio.sleep(0.02)


def open_stage(name: str, bot: Bot) -> AbstractAsyncContextManager[Any]:
    """Open a platform by its name, connected to that bot."""
    from tests.journeys.discord_stage import DiscordStage
    from tests.journeys.slack_stage import SlackStage
    from tests.journeys.web_stage import WebStage

    stages = {"fake": FakeStage, "slack": SlackStage, "discord": DiscordStage, "web": WebStage}
    return stages[name](bot)


def squeezed(text: str) -> str:
    """Return a text without marks of emphasis, so that it compares over platforms."""
    return re.sub(r"[*_`>]", "", text)
