"""Claims: whatever order events come in, and wherever the process dies, each question has one answer.

The model is `Expected`. People ask, edit and delete; the platform tells every event at least once, several at
a time, and again after a crash where it was not acknowledged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, precondition, rule

from bot.conversation.resumption import TOO_OFTEN
from bot.ports.chat import Message
from core.domain import MessageRef
from tests.journeys.kettle import PORTS
from tests.proofs.world import Fuse, World

ASKED = {
    "Which port does the dashboard listen on?": PORTS["2.0"],
    "How often is a failed job tried again?": "8 times",
    "Which file does Kettle read its configuration from?": "kettle.toml",
}
"""Questions, and what their answers say."""
SLOW = 60.0
"""Seconds after which a bot that is still at work hangs."""


@dataclass
class Expected:
    """What people may see under their questions: the whole model."""

    words: dict[str, list[str]] = field(default_factory=dict)
    """By question: its texts that may be answered, the last one surely where no crash came between."""
    gone: set[str] = field(default_factory=set)
    deaths: int = 0

    def wrong(self, question: str, replies: list[str], settled: bool) -> str:
        """Say what is wrong with what stands under a question; empty where nothing is."""
        if question in self.gone:
            return f"there are replies to a deleted question: {replies}" if replies else ""
        if len(replies) != 1:
            return f"{len(replies)} replies: {replies}"
        given_up = self.deaths >= 2 and TOO_OFTEN in replies[0]
        if not given_up and not any(ASKED[text] in replies[0] for text in self.words[question]):
            return f"the reply to {self.words[question]} is {replies[0]!r}"
        return "" if settled else "its claim is still open"


class Claims(RuleBasedStateMachine):
    """People ask, edit and delete while processes come and go."""

    questions = Bundle("questions")

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world, self.expected = world, Expected()
        self.chat = world.chat()
        self.fuse = Fuse()
        self.dispatch = world.process()
        self.dispatch.meet(self.chat)
        self.refs: dict[str, MessageRef] = {}
        self.untold: list[tuple[str, Message | MessageRef]] = []
        """Events that no process acknowledged, oldest first."""

    def teardown(self) -> None:
        try:
            self.restart()
            self.look()
        finally:
            self.world.reset()

    # --- what happens ---------------------------------------------------------------------------------

    @rule(target=questions, text=st.sampled_from(sorted(ASKED)), times=st.integers(1, 2))
    def ask(self, text: str, times: int) -> str:
        """Somebody asks; the platform may tell it twice at once."""
        question = self.written(text)
        self.tell([("message", self.shown(question))] * times)
        return question

    @rule(question=questions)
    def tell_again(self, question: str) -> None:
        """The platform tells a message once more, long after."""
        if question not in self.expected.gone:
            self.tell([("message", self.shown(question))])

    @rule(question=questions, text=st.sampled_from(sorted(ASKED)))
    def edit(self, question: str, text: str) -> None:
        if question not in self.expected.gone:
            self.tell([self.edited(question, text)])

    @rule(question=questions)
    def delete(self, question: str) -> None:
        if question not in self.expected.gone:
            self.tell([self.deleted(question)])

    @rule(
        target=questions,
        text=st.sampled_from(sorted(ASKED)),
        other=st.sampled_from(sorted(ASKED)),
        end=st.sampled_from(["edit", "delete", "edit and delete", "again"]),
    )
    def ask_and_change_at_once(self, text: str, other: str, end: str) -> str:
        """A question is edited or deleted while it is being answered."""
        question = self.written(text)
        events: list[Any] = [("message", self.shown(question))]
        if "again" in end:
            events += events
        if "edit" in end:
            events.append(self.edited(question, other))
        if "delete" in end:
            events.append(self.deleted(question))
        self.tell(events)
        return question

    @rule(
        target=questions,
        text=st.sampled_from(sorted(ASKED)),
        calls=st.integers(1, 14),
        is_done_first=st.booleans(),
        end=st.sampled_from(["", "", "edit", "delete"]),
    )
    def die_while_answering(self, text: str, calls: int, is_done_first: bool, end: str) -> str:
        """The process is killed at one of its calls, and another one takes over."""
        self.another(Fuse(calls, is_done_first))
        question = self.written(text)
        events: list[Any] = [("message", self.shown(question))]
        if end:
            events.append(self.edited(question, text) if end == "edit" else self.deleted(question))
        self.tell(events)
        self.restart()
        return question

    @rule(calls=st.integers(1, 10), is_done_first=st.booleans())
    @precondition(lambda self: self.refs)
    def die_while_resuming(self, calls: int, is_done_first: bool) -> None:
        """A process dies while it takes up what another one left."""
        self.another(Fuse(4, True))
        question = self.written(min(ASKED))
        self.tell([("message", self.shown(question))])
        self.another(Fuse(calls, is_done_first))
        self.until_dead(self.dispatch.resume(self.chat))
        self.restart()
        self.look()

    @rule()
    def restart(self) -> None:
        """Another process starts, takes up what was left, and is told what nobody acknowledged."""
        self.another(Fuse())
        self.until_dead(self.dispatch.resume(self.chat))
        left, self.untold = self.untold, []
        for event in left:
            self.tell([event])

    # --- how it is done -------------------------------------------------------------------------------

    def written(self, text: str) -> str:
        kept = self.chat.keep("ann", "public", "", text)
        kept["root"], kept["to"] = str(kept["id"]), "bot"
        message = self.chat.shown(kept)
        self.refs[message.key] = message.ref
        self.expected.words[message.key] = [text]
        return message.key

    def shown(self, question: str) -> Message:
        return self.chat.shown(self.chat.of(self.refs[question].message))

    def edited(self, question: str, text: str) -> tuple[str, Message]:
        self.chat.of(self.refs[question].message)["text"] = text
        # a message that is told again after its edit has the old words
        self.expected.words[question].append(text)
        return "edited", self.shown(question)

    def deleted(self, question: str) -> tuple[str, MessageRef]:
        self.expected.gone.add(question)
        self.chat.messages.remove(self.chat.of(self.refs[question].message))
        return "deleted", self.refs[question]

    def tell(self, events: list[Any]) -> None:
        """Tell a process several events at once; those that it does not acknowledge are told the next one."""
        taken = [asyncio.Event() for _ in events]
        self.until_dead(self.told(events, taken))
        self.untold += [event for event, known in zip(events, taken, strict=True) if not known.is_set()]

    async def told(self, events: list[Any], taken: list[asyncio.Event]) -> None:
        await asyncio.gather(*(self.one(*event, known) for event, known in zip(events, taken, strict=True)))

    async def one(self, kind: str, what: Any, known: asyncio.Event) -> None:
        if kind == "deleted":
            await self.dispatch.deleted(self.chat, what)
        else:
            await getattr(self.dispatch, "message" if kind == "message" else kind)(self.chat, what, known.set)
        known.set()

    def another(self, fuse: Fuse) -> None:
        """Let the process be killed, and start another one."""
        self.fuse.blown.set()
        self.world.abandon()
        self.fuse, self.dispatch = fuse, self.world.process(fuse)
        self.chat.stage = None
        self.dispatch.meet(self.chat)

    def until_dead(self, work: Coroutine[Any, Any, None]) -> None:
        async def both() -> None:
            doing = asyncio.ensure_future(work)
            dead = asyncio.ensure_future(self.fuse.blown.wait())
            await asyncio.wait({doing, dead}, return_when=asyncio.FIRST_COMPLETED, timeout=SLOW)
            assert doing.done() or dead.done(), "the bot hangs"
            dead.cancel()
            if self.fuse.blown.is_set():
                self.expected.deaths += 1
            else:
                await doing

        self.world.run(both())
        if self.fuse.blown.is_set():
            self.world.abandon()

    def look(self) -> None:
        """Compare what stands on the platform with what may stand there."""
        opened = {c.message for c in self.world.run(self.world.bot.app.conversations.unanswered(0.0))}
        for question, ref in self.refs.items():
            said = [m["text"] for m in self.chat.messages if m["who"] == "bot" and m["root"] == ref.message]
            wrong = self.expected.wrong(question, said, question not in opened)
            assert not wrong, f"{question}: {wrong}"
