"""The playground's messages as records, and what is left of them when somebody is forgotten."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

JOURNAL = "playground.jsonl"
PLAYGROUND = "web:"
BOT = "threadlore"


def players_of(accounts: Collection[str]) -> set[str]:
    """Return the playground's names of those accounts that are the playground's."""
    return {account.removeprefix(PLAYGROUND) for account in accounts if account.startswith(PLAYGROUND)}


def without(
    records: Sequence[Mapping[str, Any]], players: Collection[str], answers: Collection[str]
) -> list[dict[str, Any]]:
    """Return the records without what players wrote and voted, and without those answers.

    What the bot said in a thread that a player began goes as well, and what it told them alone, but for
    what is said to an admin's command, such as the one that is being carried out.
    """
    asked = {record.get("id") for record in records if record.get("author") in players}
    kept: list[dict[str, Any]] = []
    for record in records:
        alone = record.get("only") in players and not str(record.get("command")).startswith("/threadlore")
        told = record.get("author") == BOT and (
            alone or record.get("thread") in asked or record.get("answer") in answers
        )
        if told or record.get("id") in asked:
            continue
        left = dict(record)
        for said in ("votes", "marks"):
            if isinstance(left.get(said), Mapping):
                left[said] = {who: emoji for who, emoji in left[said].items() if who not in players}
        kept.append(left)
    return kept
