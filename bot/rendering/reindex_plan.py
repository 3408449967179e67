"""What a reindex would change, and which remembered answers it would touch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.privacy.visibility import heard
from core.corpora.manager import CorpusManager
from core.ingestion.reading import Reading
from core.memory.community import CommunityMemory
from core.ports import Remembered

SHOWN = 10
"""Pages and answers of one kind that a chat message lists."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a reindex of one release would do; `touched` cite pages that it would change or remove."""

    release: str
    reading: Reading
    touched: tuple[Remembered, ...]


async def plans(corpus_manager: CorpusManager, memory: CommunityMemory, release: str = "") -> list[Plan]:
    """Read the sources of a release, or of all, and tell what would change; nothing is written."""
    found = await corpus_manager.plan(release)
    pairs = await memory.everything()
    return [Plan(name, reading, _touched(pairs, name, reading)) for name, reading in found.items()]


def _touched(pairs: tuple[Remembered, ...], release: str, reading: Reading) -> tuple[Remembered, ...]:
    paths = {entry.partition(": ")[2] for entry in (*reading.changed, *reading.removed)}
    return tuple(
        pair
        for pair in pairs
        if not pair.aside and any(c.release == release and c.path in paths for c in pair.citations)
    )


def plan_lines(plan: Plan, request: Mapping[str, Any] | None = None, shown: int = 0) -> list[str]:
    """Say it in lines, at most `shown` of each kind (0 for all)."""
    reading = plan.reading
    lines = [
        f"{plan.release}: {len(reading.added)} to add, {len(reading.changed)} changed, "
        f"{len(reading.removed)} to remove, {reading.unchanged} unchanged"
    ]
    for word in ("added", "changed", "removed"):
        lines += _cut([f"  {word}: {entry}" for entry in getattr(reading, word)], shown)
    lines += [f"  failed: {source}: {error}" for source, error in reading.failed]
    touched = [
        f"  remembered answer to look at again: {pair.id} {heard(request or {}, pair.scope, pair.question)}"
        for pair in plan.touched
    ]
    return lines + _cut(touched, shown)


def plan_text(found: list[Plan], request: Mapping[str, Any]) -> str:
    """Say it as a message of a chat."""
    lines = []
    for plan in found:
        first, *rest = plan_lines(plan, request, SHOWN)
        lines += [f"**{first}**", *(f"- {line.strip()}" for line in rest)]
    return "\n".join([*lines, "Nothing has been changed."])


def _cut(lines: list[str], shown: int) -> list[str]:
    more = len(lines) - shown if shown else 0
    return [*lines[:shown], f"  … and {more} more"] if more > 0 else lines
