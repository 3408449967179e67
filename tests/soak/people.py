"""People on the loopback Slack who ask at a rate, ask again what was answered well, and vote."""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from dataclasses import dataclass
from typing import Any

from tests.benchmarks.fresh import Questions
from tests.soak.slack import Slack

PEOPLE, CHANNELS = 300, 40
VOTES = 0.3
"""Share of the answers that somebody votes on."""
UP = 0.7
REPEATED = 0.15
"""Share of questions that are asked again in the same words."""
WELL_ANSWERED = 20
"""Questions whose answers three people find good before the others ask."""
SEEN = 300
"""Answers that may still get a vote; older ones are dropped."""
DEADLINE = 120.0


@dataclass(frozen=True)
class Answered:
    """When an answer was there, how many ms it took, and whether the question was a repeated one."""

    at: float
    ms: float
    repeated: bool


class People:
    """Everybody who asks and votes."""

    def __init__(self, questions: Questions, chance: random.Random) -> None:
        self.slack = Slack(self._heard)
        self.answered: list[Answered] = []
        self.votes = 0
        self.known: list[str] = []
        """Questions with answers that were found good."""
        self._questions, self._chance = questions, chance
        self._open: dict[str, tuple[float, bool]] = {}
        self._seen: deque[tuple[str, str, str]] = deque()
        self._news = asyncio.Event()
        self._everybody = [f"P{number}" for number in range(PEOPLE)]
        for person in self._everybody:
            self.slack.add_user(person)
        for number in range(CHANNELS):
            self.slack.add_channel(f"C{100 + number}", "channel", *self._everybody, self.slack.bot_user)

    @property
    def waiting(self) -> int:
        """Return how many questions are not answered yet."""
        return len(self._open)

    def ask(self, text: str = "") -> str:
        """Ask something, new unless said; return the message's ts."""
        repeated = bool(text)
        if not text and self.known and self._chance.random() < REPEATED:
            text, repeated = self._chance.choice(self.known), True
        text = text or self._questions.fresh()
        channel = f"C{100 + self._chance.randrange(CHANNELS)}"
        began = time.perf_counter()
        person = self._chance.choice(self._everybody)
        ts = self.slack.say(person, channel, f"<@{self.slack.bot_user}> {text}")
        self._open[ts] = began, repeated
        return ts

    def _heard(self, channel: str, thread: str, message: dict[str, Any]) -> None:
        began, repeated = self._open.pop(thread, (0.0, False))
        if not began:
            return
        now = time.perf_counter()
        self.answered.append(Answered(now, (now - began) * 1000, repeated))
        self._seen.append((channel, thread, str(message["ts"])))
        self._news.set()

    def vote(self, number: int = 1, up: bool | None = None) -> None:
        """Have people vote on the answer that came last, or on one of the last for a single vote."""
        place = self._seen[-1] if number > 1 else self._chance.choice(self._seen)
        for person in self._chance.sample(self._everybody, number):
            good = self._chance.random() < UP if up is None else up
            self.votes += self.slack.react(person, place[0], place[2], "+1" if good else "-1")

    async def agree(self) -> None:
        """Ask some questions whose answers three people find good; they are asked again from then on."""
        for _ in range(WELL_ANSWERED):
            text = self._questions.fresh()
            self.ask(text)
            await self.nothing_waits()
            self.vote(3, True)
            self.known.append(text)
        await asyncio.sleep(1.0)

    async def nothing_waits(self, seconds: float = DEADLINE) -> bool:
        """Wait until everything is answered; return False if it is not in time."""
        end = time.monotonic() + seconds
        while self._open and time.monotonic() < end:
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), 0.5)
            except TimeoutError:
                continue
        return not self._open

    async def at_rate(self, rate: float, seconds: float) -> list[Answered]:
        """Ask at random moments, so many times a second on average, and vote; return what was answered."""
        first, at = len(self.answered), time.monotonic()
        end = at + seconds
        while (at := at + self._chance.expovariate(rate)) < end:
            await asyncio.sleep(max(0.0, at - time.monotonic()))
            self.ask()
            if self._seen and self._chance.random() < VOTES:
                self.vote()
            self._drop()
        return self.answered[first:]

    async def at_once(self, people: int, seconds: float) -> float:
        """Let so many ask all the time, each as soon as there is an answer; return answers a second."""
        began, first = time.monotonic(), len(self.answered)
        while (now := time.monotonic()) < began + seconds:
            while len(self._open) < people:
                self.ask()
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), DEADLINE)
            self._drop()
        return (len(self.answered) - first) / (now - began)

    def _drop(self) -> None:
        while len(self._seen) > SEEN:
            channel, thread, _ = self._seen.popleft()
            self.slack.drop_thread(channel, thread)
        if len(self.slack.envelopes) > 4000:
            self.slack.trim()
