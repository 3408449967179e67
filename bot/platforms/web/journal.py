"""The playground's conversation in a file: JSON lines, written in order, and later where the disk is full."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import logging
import os
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

from core.system.json_parts import lines_of
from core.system.private_files import private, private_folder, set_aside

log = logging.getLogger(__name__)

AGAIN_SECONDS = 30.0
"""Time after which what could not be written is tried again, where nothing new is said."""
FULL = (errno.ENOSPC, errno.EDQUOT)


class Journal:
    """JSON lines in one file, written by one thread; what a full disk refuses is written later."""

    def __init__(self, path: Path, again: float = AGAIN_SECONDS) -> None:
        self.path = path
        self.skipped = 0
        self._again = again
        self._waiting: list[tuple[Literal["w", "a"], bytes]] = []
        self._is_behind = False
        self._timer: threading.Timer | None = None
        self._writer = ThreadPoolExecutor(1, "playground")

    async def read(self) -> list[dict[str, Any]]:
        """Return every line that is a JSON object; a missing file has none."""
        return await asyncio.get_running_loop().run_in_executor(self._writer, self._read)

    def start(self, records: Iterable[dict[str, Any]]) -> None:
        """Rewrite the file with just these records, soon: it never grows without end, nor keeps what is gone.

        They are made in the thread that writes: a thousand long ones take it a tenth of a second.
        """
        if self.skipped:
            log.warning("skipped %d unreadable lines of %s", self.skipped, self.path)
            self.skipped = 0
        try:
            self._writer.submit(self._begin, records)
        except RuntimeError:  # it is closed, as below
            self._begin(records)

    def append(self, record: dict[str, Any]) -> None:
        """Add one line, soon; once the journal is closed, at once: work that ends last says so last."""
        lines = _lines([record])
        try:
            self._writer.submit(self._write, "a", lines)
        except RuntimeError:
            self._write("a", lines)

    async def settled(self) -> None:
        """Wait until all that was handed over is written, as far as the disk takes it."""
        await asyncio.get_running_loop().run_in_executor(self._writer, self._catch_up)

    async def close(self) -> None:
        """Wait until everything is written, as far as the disk takes it."""
        await self.settled()
        if self._timer is not None:
            self._timer.cancel()
        await asyncio.get_running_loop().run_in_executor(None, self._writer.shutdown)

    # --- in the thread that writes ------------------------------------------------------------

    def _read(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return found
        except OSError as error:  # not to be written over: somebody may still read it
            aside = set_aside(self.path)
            log.warning(
                "the playground's conversation %s cannot be read (%s); it is set aside as %s",
                self.path,
                error.strerror or error,
                aside or "nothing, for it cannot be moved",
            )
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

    def _begin(self, records: Iterable[dict[str, Any]]) -> None:
        self._write("w", _lines(records))

    def _write(self, mode: Literal["w", "a"], lines: bytes) -> None:
        if mode == "w":
            self._waiting.clear()
        self._waiting.append((mode, lines))
        self._catch_up()

    def _catch_up(self) -> None:
        try:
            while self._waiting:
                mode, lines = self._waiting[0]
                self._renew(lines) if mode == "w" else self._add(lines)
                del self._waiting[0]
        except OSError as error:
            self._fall_behind(error)
            return
        if self._is_behind:
            self._is_behind = False
            log.info("the playground's conversation is written to %s again", self.path)

    def _add(self, lines: bytes) -> None:
        """Add lines, whole or not at all."""
        file = private(str(self.path), os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            size = os.fstat(file).st_size
            torn = self._is_behind and size and os.pread(file, 1, size - 1) != b"\n"
            try:
                _put(file, b"\n" + lines if torn else lines)
                os.fdatasync(file)  # a message that was acknowledged outlives a power cut
            except OSError:
                with contextlib.suppress(OSError):  # then the next line begins again, as above
                    os.ftruncate(file, size)
                raise
        finally:
            os.close(file)

    def _renew(self, lines: bytes) -> None:
        """Rewrite the file; where there is no room for a second one, in the place of the first."""
        private_folder(self.path.parent)
        fresh = self.path.with_suffix(".new")
        try:
            _write_file(fresh, lines, os.O_TRUNC)
            fresh.replace(self.path)
        except OSError as error:
            with contextlib.suppress(OSError):
                fresh.unlink()
            if error.errno not in FULL or not self.path.is_file() or self.path.stat().st_size < len(lines):
                raise
            # somebody may be forgotten by this: it takes no more room than there is
            _write_file(self.path, lines, 0)
            os.truncate(self.path, len(lines))

    def _fall_behind(self, error: OSError) -> None:
        if not self._is_behind:
            log.warning(
                "the playground's conversation will not survive a restart until %s can be written again (%s)",
                self.path,
                error.strerror or error,
            )
        self._is_behind = True
        if self._timer is None or not self._timer.is_alive():
            self._timer = threading.Timer(self._again, self._try_again)
            self._timer.daemon = True
            self._timer.start()

    def _try_again(self) -> None:
        self._timer = None
        with contextlib.suppress(RuntimeError):  # it was closed meanwhile
            self._writer.submit(self._catch_up)


def _lines(records: Iterable[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode("ascii")


def _write_file(path: Path, lines: bytes, flags: int) -> None:
    file = private(str(path), os.O_WRONLY | os.O_CREAT | flags)
    try:
        _put(file, lines)
        os.fdatasync(file)
    finally:
        os.close(file)


def _put(file: int, lines: bytes) -> None:
    left = memoryview(lines)
    while left:
        left = left[os.write(file, left) :]


JOURNAL = "playground.jsonl"
PLAYGROUND = "web:"
BOT = "threadlore"


def players_of(accounts: Collection[str]) -> set[str]:
    """Return the playground's names of those accounts that are the playground's."""
    return {account.removeprefix(PLAYGROUND) for account in accounts if account.startswith(PLAYGROUND)}


def read(journal: Path) -> list[dict[str, Any]]:
    """Return the records of a journal; lines that are none are left out, a missing file has none."""
    try:
        lines = lines_of(journal.read_text(encoding="utf-8", errors="replace"))
    except FileNotFoundError:
        return []
    return [record for line in lines if isinstance(record := _record(line), dict)]


def expire(journal: Path, before: float, dry_run: bool) -> int:
    """Take conversations out of a journal in which nothing was said since `before`; count messages.

    On a `dry_run` they are only counted.
    """
    written = read(journal)
    records = standing(written)
    latest: dict[Any, float] = {}
    for record in records:
        root, at = record.get("thread") or record.get("id"), record.get("at")
        latest[root] = max(latest.get(root, 0.0), float(at) if isinstance(at, int | float) else 0.0)
    kept = [record for record in records if latest[record.get("thread") or record.get("id")] >= before]
    if len(kept) < len(written) and not dry_run:
        write(journal, kept)
    return len(records) - len(kept)


def standing(records: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the last state of each message, without what was deleted and the notes that it was."""
    found: dict[str, Mapping[str, Any]] = {}
    for number, record in enumerate(records):
        if "gone_id" in record:
            found.pop(str(record["gone_id"]), None)
        else:
            found[str(record.get("id", f"line {number}"))] = record
    return list(found.values())


def write(journal: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Rewrite a journal, for nobody else on the machine to read."""
    fresh = journal.with_suffix(".fresh")
    with open(fresh, "w", encoding="ascii", opener=private) as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    fresh.replace(journal)


def _record(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def without(
    records: Sequence[Mapping[str, Any]], players: Collection[str], answers: Collection[str]
) -> list[dict[str, Any]]:
    """Return the records without what players wrote and voted, and what tells of `answers` (or pairs, by id).

    What the bot said in a thread that a player began goes as well, and what it told them alone, but for
    what is said to an admin's command, such as the one that is being carried out. Where an answer goes from a
    conversation of others, a line says so.
    """
    asked = {record.get("id") for record in records if record.get("author") in players}
    kept: list[dict[str, Any]] = []
    for record in records:
        command = str(record.get("command"))
        told_again = command.startswith("/threadlore") and "my-data" not in command
        alone = record.get("only") in players and not told_again
        told_of = set(str(record.get("concerns") or "").split())
        told = record.get("author") == BOT and (
            alone
            or record.get("thread") in asked
            or record.get("answer") in answers
            or not told_of.isdisjoint(answers)
        )
        if told and not alone and _is_of_others(record, players, asked):
            kept.append(_EMPTIED | {key: record[key] for key in ("id", "channel", "author", "at", "thread")})
            continue
        if told or record.get("id") in asked:
            continue
        left = dict(record)
        if left.get("asker") in players:
            left["asker"] = ""
        for said in ("votes", "marks"):
            if isinstance(left.get(said), Mapping):
                left[said] = {who: emoji for who, emoji in left[said].items() if who not in players}
        kept.append(left)
    return kept


_EMPTIED = {
    "text": "This answer repeated words of somebody who asked to be forgotten, so it is gone. Ask again.",
    "gone": True,
}
"""What stands in place of an answer that others were given."""


def _is_of_others(record: Mapping[str, Any], players: Collection[str], asked: Collection[Any]) -> bool:
    """Return True if a message stands in a thread, or in direct messages, that others began."""
    thread, channel = record.get("thread"), str(record.get("channel"))
    whose = channel.removeprefix("dm-") if channel.startswith("dm-") else ""
    is_others = (bool(thread) and thread not in asked) or (bool(whose) and whose not in players)
    return is_others and bool(record.get("at"))
