"""Remembered pairs in words: their name, whom they are for, and how they stand."""

from __future__ import annotations

from collections.abc import Iterable

from core.domain import Scope
from core.memory.community import CommunityMemory
from core.memory.import_export import written
from core.memory.partitions.partition_index import EVERY_RELEASE
from core.ports import Remembered
from core.text import words as text
from core.text.markup import inert
from core.text.plurals import counted

SHOWN = 90
"""Characters of a question in a list."""


def named(pair: Remembered) -> str:
    """Return the pair's id with the one it was imported under, if it was."""
    return f"{pair.id} ({pair.label})" if pair.label else pair.id


def meant_for(pair: Remembered) -> str:
    """Say for which release and which channel a pair is."""
    release = "every release" if pair.release == EVERY_RELEASE else pair.release.replace("+", " and ")
    if pair.scope == "public":
        return release
    channel, platform = Scope.parse(pair.scope).channel, pair.scope.partition("@")[2]
    return f"{release}, only in {channel}" if channel else f"{release}, only on {platform}"


def flags(memory: CommunityMemory, pair: Remembered) -> str:
    """Say in brackets what keeps a pair from being recalled; empty where nothing does."""
    partition = next((p for p in memory.partitions().values() if pair.id in p), None)
    behind = partition.shadowed_by(pair.id) if partition else ""
    said: Iterable[str] = (
        "what it cites has changed" if pair.stale else "",
        f"merged into {behind}" if behind else "",
    )
    return "".join(f"  ({flag})" for flag in said if flag)


def standing(memory: CommunityMemory, pair: Remembered) -> str:
    """Say how a pair stands by its votes."""
    row = written(pair, memory.thresholds)
    where = {
        "retired": "an admin has taken it out",
        "evicted": "it has made room for others",
        "high": "it counts as good",
        "low": "it counts as bad",
    }[row["store"]]
    if not pair.aside and not pair.opinions and pair.origin == "answer":
        where = "nobody's vote stands on it"
    return (
        f"{where}: score {row['score']:.2f} from a prior of {pair.prior:.2f} and "
        f"{counted(row['up'], 'vote')} for and {row['down']} against it, "
        f"reused {counted(pair.uses, 'time')}{flags(memory, pair)}"
    )


def shortened(question: str) -> str:
    """Return the beginning of a question on one line."""
    return inert(text.shortened(question, SHOWN))
