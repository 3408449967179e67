"""What the playground keeps of people in its journal, and how it is taken out while it does not run."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from bot.platforms.web import journal
from bot.platforms.web.journal import (
    BOT,
    JOURNAL,
    PLAYGROUND,
    players_of,
    read,
    standing,
    without,
    write,
)
from core.languages import N_

FILES = (JOURNAL, "playground.new")
WHAT = N_("messages in the playground")


def held(home: Path, accounts: Collection[str]) -> list[dict[str, Any]]:
    """Return what the playground's people among these accounts wrote, each message as it stands."""
    players = players_of(accounts)
    return [
        {"id": r.get("id"), "at": r.get("at"), "channel": r.get("channel"), "text": r.get("text")}
        for r in (standing(read(home / JOURNAL)) if players else ())
        if r.get("author") in players and not r.get("gone")
    ]


def accounts(home: Path) -> frozenset[str]:
    """Return who wrote, asked or voted in the playground."""
    names: set[str] = set()
    for record in read(home / JOURNAL):
        names |= {str(record.get(key) or "") for key in ("author", "asker", "only")}
        for said in ("votes", "marks"):
            names |= set(map(str, record[said])) if isinstance(record.get(said), dict) else set()
    return frozenset(f"{PLAYGROUND}{name}" for name in names - {"", BOT})


def forget(home: Path, accounts: Collection[str], ids: Collection[str]) -> None:
    """Take out of the journal what accounts wrote and voted, and answers and pairs by their ids."""
    journal = home / JOURNAL
    if journal.exists():
        write(journal, without(read(journal), players_of(accounts), ids))


def tidy(home: Path) -> None:
    """Remove what stands beside the journal: what a process that died left, and what nobody could read."""
    journal = home / JOURNAL
    for ending in (".fresh", ".new"):
        journal.with_suffix(ending).unlink(missing_ok=True)
    aside = journal.with_suffix(f".broken{journal.suffix}")
    if not aside.is_dir():  # a folder is nothing that Threadlore wrote
        aside.unlink(missing_ok=True)


def expire(home: Path, before: float, dry_run: bool) -> int:
    """Take conversations out of the journal in which nothing was said since `before`; count messages."""
    return journal.expire(home / JOURNAL, before, dry_run)
