"""How the playground's changes reach its pages (a numbered feed) and its file (a journal)."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.files import private, private_folder

log = logging.getLogger(__name__)

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
        """Wait up to `timeout` seconds for a change after that number; tell whether one came."""
        if self._number == number and not self.closed:
            try:
                await asyncio.wait_for(self._news.wait(), timeout)
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


class Journal:
    """JSON lines in one file, written in order by one thread; a failing disk costs the file only."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.skipped = 0
        self._failed = False
        self._writer = ThreadPoolExecutor(1, "playground")

    async def read(self) -> list[dict[str, Any]]:
        """Return every line that is a JSON object; a missing file has none."""
        return await asyncio.get_running_loop().run_in_executor(self._writer, self._read)

    def start(self, records: Sequence[dict[str, Any]]) -> None:
        """Write the file anew with just these records, so that it never grows without end."""
        if self.skipped:
            log.warning("skipped %d unreadable lines of %s", self.skipped, self.path)
        self._submit("w", records)

    def append(self, record: dict[str, Any]) -> None:
        """Add one line, soon."""
        self._submit("a", [record])

    async def settled(self) -> None:
        """Wait until all that was handed over is written."""
        await asyncio.get_running_loop().run_in_executor(self._writer, lambda: None)

    async def close(self) -> None:
        """Wait until everything is written."""
        await asyncio.get_running_loop().run_in_executor(None, self._writer.shutdown)

    def _read(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return found
        except OSError as error:
            self._fail(error)
            return found
        for line in lines:
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                record = None
            if isinstance(record, dict):
                found.append(record)
            elif line.strip():
                self.skipped += 1
        return found

    def _submit(self, mode: str, records: Sequence[dict[str, Any]]) -> None:
        if not self._failed:
            lines = "".join(json.dumps(record) + "\n" for record in records)
            self._writer.submit(self._write, mode, lines)

    def _write(self, mode: str, lines: str) -> None:
        if self._failed:
            return
        try:
            if mode == "a":
                with open(self.path, "a", encoding="ascii", opener=private) as file:
                    file.write(lines)
                return
            private_folder(self.path.parent)
            fresh = self.path.with_suffix(".new")
            with open(fresh, "w", encoding="ascii", opener=private) as file:
                file.write(lines)
            fresh.replace(self.path)
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        self._failed = True
        log.warning(
            "the playground's conversation will not survive a restart: %s cannot be used (%s)",
            self.path,
            error.strerror or error,
        )
