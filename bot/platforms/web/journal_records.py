"""The playground's messages as records, and what is left of them when somebody is forgotten."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.system.private_files import private

JOURNAL = "playground.jsonl"
PLAYGROUND = "web:"
BOT = "threadlore"


def players_of(accounts: Collection[str]) -> set[str]:
    """Return the playground's names of those accounts that are the playground's."""
    return {account.removeprefix(PLAYGROUND) for account in accounts if account.startswith(PLAYGROUND)}


def read(journal: Path) -> list[dict[str, Any]]:
    """Return the records of a journal; lines that are none are left out, a missing file has none."""
    try:
        lines = journal.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    return [record for line in lines if isinstance(record := _record(line), dict)]


def expire(journal: Path, before: float) -> int:
    """Take conversations out of a journal in which nothing was said since `before`; count messages."""
    records = read(journal)
    latest: dict[Any, float] = {}
    for record in records:
        root, at = record.get("thread") or record.get("id"), record.get("at")
        latest[root] = max(latest.get(root, 0.0), float(at) if isinstance(at, int | float) else 0.0)
    kept = [record for record in records if latest[record.get("thread") or record.get("id")] >= before]
    if len(kept) < len(records):
        write(journal, kept)
    return len(records) - len(kept)


def write(journal: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Write a journal anew, for nobody else on the machine to read."""
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
    what is said to an admin's command, such as the one that is being carried out.
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
        if told or record.get("id") in asked:
            continue
        left = dict(record)
        for said in ("votes", "marks"):
            if isinstance(left.get(said), Mapping):
                left[said] = {who: emoji for who, emoji in left[said].items() if who not in players}
        kept.append(left)
    return kept
