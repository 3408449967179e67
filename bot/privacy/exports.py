"""What is kept of people outside of the database: by platforms, and in files that commands wrote."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bot.ports.platforms import PersonalData
from core.system.private_files import private, write_whole

WRITTEN = "exports.txt"
"""File of the home that lists them, one absolute path a line, and ids after it, apart by tabs."""
_KEYS = ("id", "pair_id", "answer_id", "Path")
"""Keys of a line that name an answer, a pair or a page."""


def note(home: Path, path: Path, ids: Iterable[str] = ()) -> None:
    """Remember that a file holds what people said; `ids` are answers and pairs that a report shortens."""
    with open(home / WRITTEN, "a", encoding="utf-8", opener=private) as file:
        file.write("\t".join([str(path.absolute()), *ids]) + "\n")


def noted(home: Path) -> dict[Path, set[str]]:
    """Return the files that were written and are still there, with the answers and pairs in them."""
    try:
        lines = (home / WRITTEN).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    found: dict[Path, set[str]] = {}
    for line in lines:
        name, *ids = line.split("\t")
        if Path(name).is_file():
            found.setdefault(Path(name), set()).update(ids)
    return found


def clean(
    home: Path, ids: Collection[str], forms: Sequence[bytes], name_of: Callable[[str], str] = str
) -> list[str]:
    """Take out of the exported JSONL files answers and pairs, by id, what is made of pages, by their paths or
    what `name_of` makes of these, and texts; return other files that hold any of them. Those in the home are
    removed: they are reports, which can be rewritten.
    """
    left: list[str] = []
    for path, told in noted(home).items():
        try:
            if _has_lines(path):
                _clean_lines(path, ids, forms, name_of)
            elif not told.isdisjoint(ids) or any(form in path.read_bytes() for form in forms):
                if path.resolve().is_relative_to(home.resolve()):
                    path.unlink()
                else:
                    left.append(str(path))
        except OSError:  # on a disk that may only be read: named, so that somebody does it
            left.append(str(path))
    return left


def _has_lines(path: Path) -> bool:
    """Return True if a file is a JSON object a line, whatever it is called."""
    if path.suffix in (".jsonl", ".json"):
        return path.suffix == ".jsonl"
    with open(path, "rb") as file:
        return file.read(1) == b"{"


def _clean_lines(
    path: Path, ids: Collection[str], forms: Sequence[bytes], name_of: Callable[[str], str]
) -> None:
    def stays(line: bytes) -> bool:
        named = _ids(line)
        return {*named, *map(name_of, named)}.isdisjoint(ids)

    lines = path.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if stays(line) and not any(form in line for form in forms)]
    if len(kept) < len(lines):
        write_whole(path, kept)


def _ids(line: bytes) -> set[str]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return set()
    if not isinstance(row, dict):
        return set()
    pages = row.get("retrieved") or ()
    paths = [p.get("path", "") if isinstance(p, dict) else str(p).partition(": ")[2] for p in pages]
    return {str(name) for name in (*(row.get(key, "") for key in _KEYS), *paths)} - {""}


Forget = Callable[[Collection[str], Collection[str]], Awaitable[None]]
"""Forgets accounts, and answers and pairs by their ids, wherever something of them is held in memory."""
Expire = Callable[[float, bool], Awaitable[int]]
"""Removes conversations that ended before a time, or only counts them; tells how many messages they have."""


@dataclass(frozen=True, slots=True)
class _Running:
    forget: Forget
    expire: Expire


class Holders:
    """Knows what platforms keep in a home, and which of them run and have it in memory."""

    def __init__(self, home: Path, at_rest: Mapping[str, PersonalData]) -> None:
        """`at_rest` has the platforms that keep something, by their names."""
        self._home = home
        self._at_rest = at_rest
        self._running: dict[str, _Running] = {}
        self._written = {platform: self._written_at(kept) for platform, kept in at_rest.items()}

    @contextmanager
    def running(self, platform: str, *, forget: Forget, expire: Expire) -> Iterator[None]:
        """Ask a platform itself for as long as it runs: what lies in the home is its own then."""
        self._running[platform] = _Running(forget, expire)
        try:
            yield
        finally:
            self._running.pop(platform, None)

    async def forget(self, accounts: Collection[str], ids: Collection[str]) -> None:
        """Take out what is kept of people, and of answers and pairs by their ids."""
        told = dict(self._running)
        for running in told.values():
            await running.forget(accounts, ids)
        for platform, kept in self._at_rest.items():
            if platform not in told:
                await asyncio.to_thread(kept.forget, self._home, accounts, ids)
                if platform in self._running:  # it read its files meanwhile
                    await self._running[platform].forget(accounts, ids)
            await asyncio.to_thread(kept.tidy, self._home)

    async def known(self) -> dict[str, float]:
        """Return whose accounts files of the home hold, and when an earlier run wrote these last.

        Platforms may write theirs again as soon as they start. What no earlier run wrote is of this one.
        """
        found: dict[str, float] = {}
        for platform, kept in self._at_rest.items():
            there = await asyncio.to_thread(kept.accounts, self._home)
            found |= dict.fromkeys(there, self._written[platform])
        return found

    def _written_at(self, kept: PersonalData) -> float:
        files = [self._home / name for name in kept.FILES]
        return min((file.stat().st_mtime for file in files if file.is_file()), default=time.time())

    async def expire(self, before: float, dry_run: bool) -> dict[str, int]:
        """Remove conversations that ended before a time; return how many messages, by what they are.

        On a `dry_run` they are only counted.
        """
        gone: dict[str, int] = {}
        for platform, kept in self._at_rest.items():
            if platform in self._running:
                gone[kept.WHAT] = await self._running[platform].expire(before, dry_run)
            else:
                gone[kept.WHAT] = await asyncio.to_thread(kept.expire, self._home, before, dry_run)
        return gone

    def held(self) -> dict[str, Callable[[Collection[str]], list[dict[str, Any]]]]:
        """Return who tells what is held of a person, by what it is; blocking."""
        return {kept.WHAT: partial(kept.held, self._home) for kept in self._at_rest.values()}
