"""What readers asked and were answered: in memory alone, for those who have its key, and not for long."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.conversation.readers import PLATFORM, Exchange
from bot.rendering.answers import growing
from core.domain import Evidence

KEY_BYTES = 24
IDLE_SECONDS = 2 * 3600.0
"""Time without a word after which a conversation is forgotten."""
MOST = 2_000
"""Conversations that are kept; the longest unused go first."""
LONGEST = 30
"""Questions of a conversation that are kept; the oldest go first."""


@dataclass(slots=True)
class Told:
    """A question and its answer as shown; `vote` is the reader's own: `up`, `down` or empty."""

    question: str
    markdown: str
    answer: str = ""
    release: str = ""
    remembered: str = ""
    vote: str = ""

    def shown(self) -> dict[str, Any]:
        """Return what the page is told."""
        return {
            "question": self.question,
            "markdown": self.markdown,
            "answer": self.answer,
            "release": self.release,
            "remembered": self.remembered,
            "vote": self.vote,
        }


class Growing:
    """An answer that is being written: hears the engine, and tells every page that shows it."""

    def __init__(self, question: str, product: str) -> None:
        self.question = question
        self.reading = ""
        self.written = ""
        self.told: Told | None = None
        self.failed = ""
        self.number = 0
        self._product = product
        self._news = asyncio.Event()

    @property
    def is_over(self) -> bool:
        """Return True once there is an answer, or none will come."""
        return self.told is not None or bool(self.failed)

    async def sources(self, release: str, evidence: Sequence[Evidence]) -> None:
        """Show which pages are being read."""
        self.reading = growing("", self._product, release, evidence).markdown
        self._tell()

    async def text(self, markdown: str) -> None:
        """Show the text so far."""
        self.written = markdown
        self._tell()

    def end(self, told: Told | None, failed: str = "") -> None:
        """Show the answer, or why there is none."""
        if not self.is_over:
            self.told, self.failed = told, failed
            self._tell()

    async def wait(self, number: int, seconds: float) -> bool:
        """Wait for news after that number; False where there are none within so many seconds."""
        if number == self.number:
            news = self._news
            try:
                async with asyncio.timeout(seconds):
                    await news.wait()
            except TimeoutError:
                return False
        return True

    def _tell(self) -> None:
        self.number += 1
        self._news.set()
        self._news = asyncio.Event()


@dataclass(slots=True)
class Conversation:
    """What one reader asked on one site. A person who has the `key` may read it; nobody can guess one."""

    key: str
    origin: str
    at: float
    reader: str = field(default_factory=lambda: f"{PLATFORM}:{secrets.token_hex(8)}")
    """The account that its votes are kept under."""
    told: list[Told] = field(default_factory=list)
    growing: Growing | None = None
    release: str = ""
    """The release that its last question was asked for."""
    task: asyncio.Task[None] | None = None

    @property
    def earlier(self) -> tuple[Exchange, ...]:
        """Return what was said, as follow-ups are understood by it."""
        return tuple(Exchange(one.question, one.markdown, one.answer, one.release) for one in self.told)

    def add(self, told: Told) -> None:
        """Keep an answered question."""
        self.told.append(told)
        del self.told[:-LONGEST]

    def with_answer(self, answer: str) -> Told | None:
        """Return the question that got an answer; None for an answer that was given elsewhere."""
        return next((one for one in self.told if answer and one.answer == answer), None)

    def shown(self) -> dict[str, Any]:
        """Return what the page is told."""
        asked = self.growing.question if self.growing and not self.growing.is_over else ""
        return {"id": self.key, "told": [one.shown() for one in self.told], "asked": asked}


class Conversations:
    """All conversations that somebody may go on with."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, most: int = MOST) -> None:
        self._clock = clock
        self._most = most
        self._kept: OrderedDict[str, Conversation] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, key: object, origin: str) -> Conversation | None:
        """Return the conversation of that key on that site; None for one that is not there any more."""
        self._sweep()
        found = self._kept.get(key) if isinstance(key, str) else None
        if found is None or found.origin != origin:
            return None
        found.at = self._clock()
        self._kept.move_to_end(found.key)
        return found

    def begin(self, origin: str) -> Conversation:
        """Begin a conversation."""
        self._sweep()
        made = Conversation(secrets.token_urlsafe(KEY_BYTES), origin, self._clock())
        self._kept[made.key] = made
        while len(self._kept) > self._most:
            self.end(next(iter(self._kept.values())))
        return made

    def end(self, conversation: Conversation) -> None:
        """Forget a conversation, and stop what is being answered in it."""
        self._kept.pop(conversation.key, None)
        if conversation.task is not None:
            conversation.task.cancel()

    def forget(self, answers: Collection[str]) -> None:
        """Take out answers that hold the words of somebody who was forgotten."""
        for conversation in self._kept.values():
            conversation.told = [one for one in conversation.told if one.answer not in answers]

    def clear(self) -> set[asyncio.Task[None]]:
        """Forget everything; return what is being stopped."""
        tasks = {one.task for one in self._kept.values() if one.task is not None}
        for conversation in list(self._kept.values()):
            self.end(conversation)
        return tasks

    @property
    def running(self) -> int:
        """Return how many answers are being written."""
        return sum(1 for one in self._kept.values() if one.growing is not None and not one.growing.is_over)

    def _sweep(self) -> None:
        old = self._clock() - IDLE_SECONDS
        while self._kept and (first := next(iter(self._kept.values()))).at < old:
            self.end(first)
