"""Who opened the bot's Home tab on Slack: kept in the home, so that tabs follow after a restart, too."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from core.languages import N_
from core.system.private_files import WRITING, write_whole

TABS = "slack-tabs.json"
FILES = (TABS,)
WHAT = N_("Home tab that you opened")
_PLATFORM = "slack:"


def users_of(accounts: Collection[str]) -> set[str]:
    """Return Slack's own ids of those among accounts that are Slack's."""
    return {one.removeprefix(_PLATFORM) for one in accounts if one.startswith(_PLATFORM)}


def read(home: Path) -> list[str]:
    """Return who opened a tab, those who did last at the end; nobody where the file cannot be read."""
    try:
        found = json.loads((home / TABS).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):  # it is made again as people open their tabs
        return []
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def write(home: Path, users: Sequence[str]) -> None:
    """Write down who opened a tab; blocking."""
    write_whole(home / TABS, json.dumps(list(users)))


def held(home: Path, accounts: Collection[str]) -> list[dict[str, Any]]:
    """Return the tabs that people among these accounts opened."""
    users = users_of(accounts)
    return [{"account": f"{_PLATFORM}{user}"} for user in read(home) if user in users]


def accounts(home: Path) -> frozenset[str]:
    """Return whose tabs are known."""
    return frozenset(f"{_PLATFORM}{user}" for user in read(home))


def forget(home: Path, accounts: Collection[str], ids: Collection[str]) -> None:
    """Take people out of the list; it names no answers."""
    known, users = read(home), users_of(accounts)
    if users.intersection(known):
        write(home, [user for user in known if user not in users])


def tidy(home: Path) -> None:
    """Remove what a process that died left half written."""
    (home / f"{TABS}{WRITING}").unlink(missing_ok=True)


def expire(home: Path, before: float, dry_run: bool) -> int:
    """Remove nothing: the list holds no words and no times."""
    return 0
