"""The simplest platform: lists of messages, and people who call dispatch without a protocol between."""

from __future__ import annotations

import asyncio
import itertools
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bot.ports.chat import Command, Form, Message, Person, Press, Reaction, Reply, Responder, Stray
from core.domain import MessageRef, Scope, Turn
from core.errors import MessageGone, PlatformRejected
from tests.journeys.house import Bot
from tests.journeys.stage import Said, Seen, chosen, pressed

PLACES = ("public", "private", "direct", "desk")
"""Channels; `desk` is where people who help are asked."""


NAMES: dict[str, str] = {}
"""What people are called who have another name than the stage gives them."""


def person(who: str) -> Person:
    name = NAMES.get(who, who)
    return Person(f"fake:{who}", name, bot=who in ("robot", "bot"), admin=who == "boss", helper=who == "hal")


def scope(place: str) -> Scope:
    kind = place if place in ("private", "direct") else "public"
    return Scope() if kind == "public" else Scope(kind, f"fake:{place}")  # type: ignore[arg-type]


@dataclass
class FakeChat:
    """A platform of nothing but lists."""

    name: str = "fake"
    messages: list[dict[str, Any]] = field(default_factory=list)
    ids: Any = field(default_factory=lambda: itertools.count(1))
    posted: int = 0
    """Messages posted so far, deleted ones included."""
    told: dict[str, list[Reply]] = field(default_factory=dict)
    """What people were told alone."""
    taken_back: list[Reaction] = field(default_factory=list)
    stage: FakeStage | None = None
    late: asyncio.Event | None = None
    """Until it is set, what is sent to somebody stands there, but the platform has not answered yet."""

    async def history(self, before: MessageRef, limit: int) -> Sequence[Turn]:
        turns = [
            Turn("assistant", m["text"], message=f"fake:{m['place']}:{m['id']}")
            if m["who"] == "bot"
            else Turn("user", m["text"], f"fake:{m['who']}", at=m["at"])
            for m in self.messages
            if m["root"] == before.thread and m["place"] == before.channel and m["id"] < int(before.message)
        ]
        return turns[-limit:]

    async def post(self, where: MessageRef, reply: Reply) -> tuple[MessageRef, ...]:
        await asyncio.sleep(0)
        self.posted += 1
        kept = self.keep("bot", where.channel, where.thread, reply.markdown)
        kept["controls"] = reply.controls
        return (replace(where, message=str(kept["id"])),)

    async def send(self, to: str, reply: Reply) -> tuple[MessageRef, ...]:
        await asyncio.sleep(0)
        if to == "nobody":
            raise PlatformRejected("There is nobody of that name; name somebody who is here.")
        kept = self.keep("bot", to if to in PLACES else f"dm-{to}", "", reply.markdown)
        kept["controls"], kept["calls"] = reply.controls, reply.calls
        if self.late:
            await self.late.wait()
        return (MessageRef("fake", kept["place"], str(kept["id"])),)

    async def name_of(self, to: str) -> str:
        return f"#{to}" if to in PLACES else to

    async def edit(self, parts: tuple[MessageRef, ...], reply: Reply) -> tuple[MessageRef, ...]:
        await asyncio.sleep(0)
        if not any(m["id"] == int(parts[0].message) for m in self.messages):
            raise MessageGone("The reply was deleted; post a new one.")
        self.of(parts[0].message).update(text=reply.markdown, controls=reply.controls)
        return parts

    async def delete(self, parts: tuple[MessageRef, ...]) -> None:
        gone = {int(part.message) for part in parts}
        self.messages = [m for m in self.messages if m["id"] not in gone]

    async def seed_votes(self, ref: MessageRef) -> None:
        self.of(ref.message)["seeds"] = ("up", "down")

    async def solve(self, ref: MessageRef) -> None:
        if ref.thread:
            self.of(ref.thread)["solved"] = True

    async def take_back(self, reaction: Reaction) -> bool:
        self.taken_back.append(reaction)
        return True

    async def message(self, ref: MessageRef) -> Message | None:
        kept = next((m for m in self.messages if str(m["id"]) == ref.message), None)
        return self.shown(kept) if kept else None

    async def own_after(self, ref: MessageRef) -> Sequence[Stray]:
        later = [m for m in self.messages if m["who"] == "bot" and m["id"] > int(ref.message or 0)]
        there = [m for m in later if m["root"] == ref.thread and m["place"] == ref.channel]
        return [Stray(replace(ref, message=str(m["id"])), m["text"]) for m in there]

    async def question_of(self, ref: MessageRef) -> Message | None:
        kept = next((m for m in self.messages if str(m["id"]) == ref.message), None)
        return await self.message(replace(ref, message=kept["root"])) if kept and kept["root"] else None

    async def permalink(self, ref: MessageRef) -> str:
        return f"https://fake.example/{ref.channel}/{ref.message}"

    async def linked(self, link: str) -> MessageRef | None:
        place, _, message = link.removeprefix("https://fake.example/").partition("/")
        return MessageRef("fake", place, message) if message.isdigit() else None

    def responder(self, address: Mapping[str, Any]) -> Responder | None:
        return FakeResponder(self.stage, address["who"]) if self.stage else None

    async def whisper(self, where: MessageRef, person: Person, reply: Reply) -> bool:
        self.told.setdefault(person.id.partition(":")[2], []).append(reply)
        return True

    def keep(self, who: str, place: str, root: str, text: str) -> dict[str, Any]:
        number = next(self.ids)
        kept = {"id": number, "who": who, "place": place, "root": root, "text": text, "seeds": (), "to": ""}
        kept |= {"controls": (), "at": time.time()}
        self.messages.append(kept)
        return kept

    def of(self, key: str) -> dict[str, Any]:
        return next(m for m in self.messages if m["id"] == int(key))

    def shown(self, kept: dict[str, Any]) -> Message:
        return Message(
            MessageRef("fake", kept["place"], str(kept["id"]), kept["root"]),
            person(kept["who"]),
            kept["text"],
            scope(kept["place"]),
            mentions_bot=kept["to"] == "bot",
            mentions_others=kept["to"] not in ("", "bot"),
        )


class FakeResponder:
    """Answers a slash command or a press: to one person, or by one message in the channel."""

    def __init__(self, stage: FakeStage, who: str) -> None:
        self._stage, self._who = stage, who
        self.address = {"who": who}
        self._said = self._shown = -1

    async def reply(self, reply: Reply) -> None:
        told = self._stage.chat.told.setdefault(self._who, [])
        if self._said < 0:
            self._said = len(told)
            told.append(reply)
        told[self._said] = reply

    async def ask(self, form: Form) -> None:
        assert self._said < 0, "a form opens only as the first thing"
        self._stage.forms[self._who] = form

    async def progress(self, reply: Reply) -> None:
        shown = self._stage.shown
        if self._shown < 0:
            self._shown = len(shown)
            shown.append("")
        shown[self._shown] = reply.markdown


class FakeStage:
    """Calls dispatch as a platform's file does, without a protocol between them."""

    name = "fake"

    may_write = True
    """Whether those who press may write where they do."""

    def __init__(self, bot: Bot, chat: FakeChat | None = None) -> None:
        self.bot = bot
        self.chat = chat or FakeChat()
        self.chat.stage = self
        self.shown: list[str] = []
        self.forms: dict[str, Form] = {}

    async def __aenter__(self) -> FakeStage:
        self.bot.dispatch.meet(self.chat)
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def say(
        self, who: str, text: str, place: str = "public", *, under: Said | None = None, to: str = ""
    ) -> Said:
        place = under.place if under else place
        kept = self.chat.keep(who, place, "", text)
        kept["root"] = "" if place == "direct" else under.root if under else str(kept["id"])
        kept["to"] = to
        await self.bot.dispatch.message(self.chat, self.chat.shown(kept))
        return Said(str(kept["id"]), place, kept["root"], text)

    async def edit(self, said: Said, text: str) -> None:
        kept = self.chat.of(said.id)
        kept["text"] = text
        await self.bot.dispatch.edited(self.chat, self.chat.shown(kept))

    async def delete(self, said: Said) -> None:
        self.chat.messages.remove(self.chat.of(said.id))
        await self.bot.dispatch.deleted(self.chat, MessageRef("fake", said.place, said.id, said.root))

    async def react(self, who: str, on: Seen | Said, emoji: str, added: bool = True) -> None:
        ref = MessageRef("fake", on.place, on.id)
        event = f"reaction-{uuid.uuid4()}"
        await self.bot.dispatch.reaction(self.chat, Reaction(ref, person(who), emoji, added, event))

    async def press(self, who: str, seen: Seen, name: str, value: str = "") -> None:
        under = [self.chat.of(seen.id)["controls"]] if self._stands(seen) else []
        under += [reply.controls for reply in reversed(self.chat.told.get(who, []))]
        controls = next(c for c in under if name in [control.name for control in c])
        await self._send(who, name, pressed(controls, name, value), self._ref(seen))

    def _stands(self, seen: Seen) -> bool:
        return any(str(m["id"]) == seen.id for m in self.chat.messages)

    def _ref(self, seen: Seen) -> MessageRef:
        root = self.chat.of(seen.id)["root"] if self._stands(seen) else ""
        return MessageRef("fake", seen.place, seen.id, root)

    async def _send(self, who: str, name: str, value: str, ref: MessageRef, **fields: str) -> None:
        event = f"press-{uuid.uuid4()}"
        where = scope(ref.channel)
        press = Press(name, value, ref, person(who), where, fields, event, may_write=self.may_write)
        self._pressed = ref
        await self.bot.dispatch.press(self.chat, press, FakeResponder(self, who))

    def form(self, who: str) -> tuple[str, tuple[str, ...]] | None:
        form = self.forms.get(who)
        return (form.title, tuple(entry.name for entry in form.fields)) if form else None

    async def fill(self, who: str, **fields: str) -> None:
        form = self.forms.pop(who)
        given = {
            entry.name: chosen(entry.choices, fields[entry.name]) if entry.choices else fields[entry.name]
            for entry in form.fields
            if entry.name in fields
        }
        assert given.keys() == fields.keys(), f"{fields} in {form}"
        await self._send(who, form.name, form.value, self._pressed, **given)

    async def slash(self, who: str, command: str, text: str = "", place: str = "public") -> None:
        where = MessageRef("fake", place, "")
        event = f"command-{uuid.uuid4()}"
        given = Command(command, text, person(who), where, scope(place), event)
        await self.bot.dispatch.command(self.chat, given, FakeResponder(self, who))

    def account(self, who: str) -> str:
        return f"fake:{who}"

    def key(self, place: str = "public") -> str:
        return f"fake:{place}"

    def inbox(self, who: str) -> list[Seen]:
        return self.replies(Said("", f"dm-{who}", ""))

    def desk(self) -> list[Seen]:
        return self.replies(Said("", "desk", ""))

    def heard(self, who: str) -> list[str]:
        return [reply.markdown for reply in self.chat.told.get(who, [])]

    def public(self) -> list[str]:
        posted = [m for m in self.chat.messages if m["who"] == "bot" and not m["root"]]
        return self.shown + [m["text"] for m in posted if m["place"] == "public"]

    def replies(self, said: Said) -> list[Seen]:
        return [
            Seen(str(m["id"]), m["text"], m["place"], m["seeds"], tuple(c.name for c in m["controls"]))
            for m in self.chat.messages
            if m["who"] == "bot" and m["place"] == said.place and m["root"] == said.root
        ]

    async def quiet(self) -> None:
        await asyncio.sleep(0.02)
