"""How the playground's changes reach its pages: a numbered feed."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass
from typing import Any

LONGEST_NUMBER = 20
"""Digits from which a number is none of ours; Python refuses to read thousands of them."""


@dataclass(frozen=True, slots=True)
class Event:
    """A change; `channel` and `only` narrow down who is told."""

    number: int
    kind: str
    data: dict[str, Any]
    channel: str = ""
    only: str = ""


class Feed:
    """The latest changes in order, at most one of each kind per message.

    Readers keep a number and ask what came after it, so a slow page holds up nobody and one that
    was away for a while catches up by the same call.
    """

    def __init__(self, limit: int = 2000) -> None:
        self.closed = False
        self.readers = 0
        self._run = secrets.token_hex(4)  # numbers of an earlier run mean nothing here
        self._limit = limit
        self._events: dict[tuple[str, str], Event] = {}
        self._number = 0
        self._floor = 0
        self._news = asyncio.Event()

    @property
    def number(self) -> int:
        """Return the number of the latest change."""
        return self._number

    def mark(self, number: int) -> str:
        """Return the id under which a page resumes after that change."""
        return f"{self._run}-{number}"

    def resume(self, mark: str) -> int | None:
        """Read an id back to its number; None where it is not of this run."""
        run, _, number = mark.partition("-")
        is_number = number.isascii() and number.isdigit() and len(number) < LONGEST_NUMBER
        return int(number) if run == self._run and is_number and int(number) <= self._number else None

    def publish(
        self, kind: str, data: dict[str, Any], *, key: str = "", channel: str = "", only: str = ""
    ) -> None:
        """Tell everybody whom it concerns; an older change of the same kind and key is forgotten."""
        self._number += 1
        self._events.pop((kind, key), None)
        self._events[kind, key] = Event(self._number, kind, data, channel, only)
        if len(self._events) > self._limit:
            oldest = next(iter(self._events))
            self._floor = self._events.pop(oldest).number
        self._wake()

    def forget(self) -> None:
        """Drop every change that is kept, so that pages fetch the state again."""
        self._number += 1
        self._events.clear()
        self._floor = self._number
        self._wake()

    def since(self, number: int) -> list[Event] | None:
        """Return what came after that number, oldest first; None where some of it is forgotten."""
        if number < self._floor:
            return None
        newer: list[Event] = []
        for event in reversed(self._events.values()):
            if event.number <= number:
                break
            newer.append(event)
        return newer[::-1]

    async def wait(self, number: int, timeout: float) -> bool:
        """Wait up to `timeout` seconds for a change after that number; return True if one came."""
        if self._number == number and not self.closed:
            try:
                async with asyncio.timeout(timeout):
                    await self._news.wait()
            except TimeoutError:
                return False
        return True

    def close(self) -> None:
        """Let every reader go."""
        self.closed = True
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()
