"""A dispatch for the playground's tests: it streams answers like the real one, from a fixed text."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bot.ports.chat import (
    Chat,
    Choice,
    Command,
    Control,
    Field,
    Form,
    Message,
    Person,
    Press,
    Reaction,
    Reply,
    Responder,
    unheard,
)
from bot.privacy.exports import Holders
from core.domain import MessageRef, Turn

ANSWER = """\
Call `app.test_client()` and use it as a context manager, so that the session and `request` stay \
open after the call [1].

```python
@pytest.fixture()
def client(app):
    return app.test_client()

def test_home(client):
    response = client.get("/")
    assert b"<h2>Hello" in response.data  # bytes, not str
```

- `follow_redirects=True` follows redirects; the steps are in `response.history` [2].
- Since **2.2** `response.json` raises for a body that is not JSON [2]."""
SOURCES = """\
**Sources**
[1] [Testing Flask Applications › Sending Requests](https://flask.palletsprojects.com/en/2.3.x/testing/#sending-requests)
[2] [API › Test Client](https://flask.palletsprojects.com/en/2.3.x/api/#test-client)

*Flask {release} · quoted from the documentation*"""
ANSWER_ID = "a{:07d}"
WRONG = Form(
    "wrong",
    "What was wrong?",
    "",
    (
        Field(
            "what",
            "What is wrong with it?",
            (
                Choice("release", "It speaks for another release"),
                Choice("wrong", "It is not right"),
                Choice("outdated", "It is out of date"),
                Choice("other", "It is not what I asked"),
            ),
            required=True,
        ),
        Field("better", "A better answer"),
    ),
)


COMMANDS = (
    ("/ask", "/ask QUESTION", "ask without anybody seeing it", (), True),
    ("/threadlore status", "/threadlore status", "what is indexed, and what is wrong", (), True),
    ("/threadlore releases", "/threadlore releases", "list the releases", (), True),
    ("/threadlore mode", "/threadlore mode [off|forum]", "serve", ("off", "forum"), False),
    ("/threadlore help", "/threadlore help", "list these commands", (), True),
)


class FakePages:
    """What pages ask: a few commands, modes that a test sets, one source with its words."""

    privacy = "I keep what you ask. `/threadlore help` says more."

    def __init__(self) -> None:
        self.served: dict[str, str] = {}
        self.asked: tuple[str, ...] = ()

    def commands(self, person: Person) -> list[dict[str, Any]]:
        return [
            {
                "line": line,
                "usage": usage,
                "help": help_,
                "options": [
                    {"name": "value", "kind": "text", "help": "", "choices": list(choices), "named": False}
                ]
                if choices
                else [],
                "everybody": everybody,
            }
            for line, usage, help_, choices, everybody in COMMANDS
            if everybody or person.admin
        ]

    def suppose(self, channel: str, mode: str) -> None:
        self.served.setdefault(channel, mode)

    async def modes(self, channels: Sequence[str]) -> dict[str, str]:
        return {channel: self.served.get(channel, "mentions") for channel in channels}

    async def examples(self, channel: str) -> tuple[str, ...]:
        return self.asked

    async def source(self, answer_id: str, number: int) -> dict[str, Any]:
        if number > 2:
            raise KeyError(number)
        known = {"title": "Testing > Sending Requests", "release": "2.3", "path": "testing.rst"}
        url = "https://flask.palletsprojects.com/en/2.3.x/testing/"
        text = f"The test client makes **requests**.\n\n{ANSWER.partition(' [1]')[0]}.\n\nIt closes the rest."
        return {"number": number, "url": url, "text": text, **known}


class FakeDispatch:
    """Keeps what it was told in lists; `pace` is the time between two states of an answer."""

    product = "Flask"
    overview = None

    def __init__(self, pace: float = 0.0) -> None:
        self.pace = pace
        self.open = asyncio.Event()
        self.open.set()
        self.claims = asyncio.Event()
        """Set while messages can be claimed."""
        self.claims.set()
        self.waiting: set[str] = set()
        self.messages: list[Message] = []
        self.noted: list[tuple[str, str, str, str]] = []
        self.typed: list[str] = []
        self.edits: list[Message] = []
        self.deletions: list[MessageRef] = []
        self.reactions: list[Reaction] = []
        self.commands: list[Command] = []
        self.presses: list[Press] = []
        self.holders = Holders(Path(), {})
        self.pages = FakePages()
        self.histories: list[list[Turn]] = []
        self.running: list[dict[str, Any]] = []
        self.is_read = True
        self.is_learning = False
        """Whether any release is indexed."""
        self.answers: dict[str, dict[str, Any]] = {}
        self.says: tuple[str, str] | None = None
        """The release and the text of every answer, in place of the usual one."""
        self._parts: dict[str, tuple[MessageRef, ...]] = {}
        self._askers: dict[str, str] = {}

    def is_out(self, account: str) -> bool:
        return False

    async def paused(self) -> bool:
        return False

    async def take(
        self,
        platform: str,
        kind: str,
        event: str,
        account: str,
        to: Mapping[str, Any],
        press: Press | None = None,
    ) -> bool:
        self.noted.append((platform, kind, event, account))
        self.typed.append(str(to.get("command", "")))
        return True

    @property
    def recount(self) -> Any:
        return self

    def begin(self, chat: Chat, reader: Any) -> None:
        """Count nothing."""

    async def resume(self, chat: Chat) -> None:
        self.resumed = chat.name

    async def message(self, chat: Chat, message: Message, taken: Callable[[], None] = unheard) -> None:
        self.messages.append(message)
        await self.claims.wait()
        taken()
        follows = (
            self._askers.get(message.ref.conversation) == message.author.id and not message.mentions_others
        )
        if not (message.mentions_bot or follows):
            return
        self._askers[message.ref.conversation] = message.author.id
        self.histories.append(list(await chat.history(message.ref, 12)))
        parts = await chat.post(message.ref, Reply("Looking it up …", final=False))
        await self._write(chat, message, parts)

    def waits(self, key: str) -> bool:
        return key in self.waiting

    async def edited(self, chat: Chat, message: Message, taken: Callable[[], None] = unheard) -> None:
        self.edits.append(message)
        taken()
        if message.ref.key in self._parts:
            await self._write(chat, message, self._parts[message.ref.key])

    async def deleted(self, chat: Chat, ref: MessageRef, links: str = "") -> None:
        self.deletions.append(ref)
        await chat.delete(self._parts.pop(ref.key, ()))

    async def reaction(self, chat: Chat, reaction: Reaction) -> None:
        self.reactions.append(reaction)

    async def press(self, chat: Chat, press: Press, responder: Responder) -> None:
        self.presses.append(press)
        if press.fields:
            await responder.reply(Reply(f"Noted: {press.fields['what']}."))
        elif press.again:
            await responder.reply(Reply("It is taken back."))
        elif press.name in ("down", "wrong"):
            await responder.ask(replace(WRONG, value=press.value))
        elif press.name == "release":
            release = press.value.split(" ")[1]
            await chat.post(press.ref, Reply(f"For {release} it is the same.", release=release))
        elif press.name == "why":
            await responder.reply(Reply("Because."))
            await responder.reply(Reply("Because the pages say so."))
        elif press.name == "delete" and press.person.id == "web:ada":
            await chat.delete((press.ref,))
        elif press.name == "delete":
            await responder.reply(Reply("Only Ada or an admin may delete this."))

    async def command(self, chat: Chat, command: Command, responder: Responder) -> None:
        self.commands.append(command)
        if command.text == "fail":
            raise RuntimeError("the command broke")
        if command.text.startswith("reindex"):
            await responder.reply(Reply("Reindexing."))
            await responder.progress(Reply("412 of 900 passages", final=False))
            await responder.progress(Reply("900 of 900 passages"))
            return
        await responder.reply(Reply("Looking it up …", final=False))
        await responder.reply(Reply(f"You asked for **{command.text}**."))

    async def releases(self) -> list[dict[str, Any]]:
        ready = {"ready": self.is_read, "built_at": "2026-11-20T09:30:00+00:00" if self.is_read else None}
        return [
            {"name": "2.0", "latest": False, "documents": 0, "chunks": 0, "ready": False, "built_at": None},
            {"name": "2.3", "latest": False, "documents": 76, "chunks": 900, **ready},
            {"name": "3.1", "latest": True, "documents": 80, "chunks": 951, "learning": self.is_learning}
            | ready,
        ]

    def progress(self) -> list[dict[str, Any]]:
        return self.running

    async def why(self, answer_id: str) -> dict[str, Any]:
        return self.answers[answer_id]

    async def _write(self, chat: Chat, message: Message, parts: tuple[MessageRef, ...]) -> None:
        release, answer = self.says or ("3.1" if "3.1" in message.text else "2.3", ANSWER)
        text = ""
        for word in answer.split(" "):
            text += f"{word} "
            parts = await chat.edit(parts, Reply(f"{text.rstrip()} …", final=False, release=release))
            await asyncio.sleep(self.pace)
        await self.open.wait()
        answer_id = ANSWER_ID.format(len(self.answers) + 1)
        self.answers[answer_id] = {
            "answer_id": answer_id,
            "route": "quote",
            "release": release,
            "sentences": [
                f"The question names {release}, so only its pages were searched.",
                "42 passages were found by meaning and 37 by words; 8 pages were read.",
                "No language model is connected, so the best sentences are quoted.",
            ],
        }
        done = f"{answer}\n\n{SOURCES.format(release=release)}"
        controls = controls_for(answer_id, release)
        parts = await chat.edit(parts, Reply(done, release=release, answer_id=answer_id, controls=controls))
        self._parts[message.ref.key] = parts
        await chat.seed_votes(parts[-1])


def controls_for(answer_id: str, release: str) -> tuple[Control, ...]:
    """Return what hangs under an answer."""
    others = [name for name in ("3.1", "2.3") if name != release]
    return (
        Control("up", "👍", answer_id),
        Control("down", "👎", answer_id),
        Control(
            "release",
            "Another release",
            choices=tuple(Choice(f"{answer_id} {name}", f"Flask {name}") for name in others),
        ),
        Control("why", "Why?", answer_id),
        Control("delete", "Delete", answer_id),
    )
