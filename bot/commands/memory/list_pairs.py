"""`memory list`: list answers that people voted on or imported."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.commands.command import Command, Given, Option, Result

if TYPE_CHECKING:
    from bot.operations.application import Application

AT_ONCE = 100
"""Pairs that are told of before others are served."""


@dataclass(frozen=True, slots=True)
class Row:
    """A pair in a list: what is written of it, and how it is told to who asked."""

    written: dict[str, Any]
    named: str
    meant_for: str
    flags: str
    question: str

    def plain(self) -> dict[str, Any]:
        """Return what `memory export` writes of it."""
        return self.written


async def run(app: Application, given: Given) -> Result:
    """Return every pair of a release and a store, or all of them. Raises UsageError for no such release."""
    from bot.commands.importing import release_of
    from bot.privacy.visibility import heard
    from bot.rendering.pairs import flags, meant_for, named, shortened
    from core.memory.exchange import written

    release, store = given.get("release") or "", given.get("store") or ""
    if release:
        release = release_of(app.engine.product, release)
    rows = []
    for count, pair in enumerate(await app.memory.everything()):
        if count % AT_ONCE == 0:
            await asyncio.sleep(0)
        row = written(pair, app.memory.thresholds)
        if (not release or pair.release == release) and (not store or row["store"] == store):
            asked = heard(given.audience, pair.scope, shortened(pair.question))
            rows.append(Row(row, named(pair), meant_for(pair), flags(app.memory, pair), asked))
    fill = f"votes and `{given.program} memory import` fill it."
    return Result(rows, () if rows else (f"Nothing is remembered here yet; {fill}",))


def text(result: Result) -> Sequence[str]:
    """Say each in a line."""
    return [
        f"{row.named}  {row.written['store']} {row.written['score']:.2f}  {row.written['up']}👍 "
        f"{row.written['down']}👎  used {row.written['uses']}x  {row.meant_for}{row.flags}  {row.question}"
        for row in result.data
    ]


COMMAND = Command(
    "memory list",
    "admin",
    "list answers that people voted on or imported",
    run,
    text,
    (
        Option("release", "Only this release", where="chat"),
        Option(
            "release",
            "Only this release; * for pairs that hold for all of them",
            named=True,
            where="terminal",
        ),
        Option("store", "Only this store", choices=("high", "low", "retired", "evicted"), named=True),
    ),
    is_list=True,
    rank=30,
)
