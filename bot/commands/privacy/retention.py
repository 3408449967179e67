"""`retention`: remove what is older than it may be, as happens daily."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Option, Result

if TYPE_CHECKING:
    from bot.operations.application import Application


@dataclass(frozen=True, slots=True)
class Removed:
    """How many of what was removed, or would be on a `dry_run`."""

    counts: dict[str, int]
    dry_run: bool

    def plain(self) -> dict[str, int]:
        """Return the counts."""
        return self.counts


async def run(app: Application, given: Given) -> Result:
    """Remove what is too old, or count it."""
    dry_run = bool(given.get("dry_run"))
    return Result(Removed(await app.retention.run(dry_run=dry_run), dry_run))


def text(result: Result) -> Sequence[str]:
    """Say what was removed, or would be."""
    counts = result.data.counts
    if not any(counts.values()):
        return ["Nothing is older than it may be."]
    told = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return [f"Would remove: {told}." if result.data.dry_run else f"Removed: {told}."]


COMMAND = Command(
    "retention",
    "admin",
    "delete what is older than RETENTION_…_DAYS (the bot does this daily)",
    run,
    text,
    (Option("dry-run", "Only say how much there is", kind="flag"),),
    who="owner",
    where="terminal",
    rank=66,
)
