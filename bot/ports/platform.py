"""The port of a running platform: built from settings, serves until it is stopped.

`bot/platforms/__init__.py` says which modules of a platform's package the bot asks for.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, Protocol


class Platform(Protocol):
    """A running connection to a chat platform."""

    name: str

    async def run(self) -> None:
        """Serve until `stop`; raises `PlatformRejected` when the token is refused."""

    async def stop(self) -> None:
        """Close the connection."""


class PersonalData(Protocol):
    """What a platform keeps of people in files of the home: its module `personal_data`; blocking."""

    FILES: tuple[str, ...]
    """Their names; whatever begins as one of them does up to its dot is the platform's, too."""
    WHAT: str
    """What it is, such as "messages in the playground", to be put into people's languages."""

    def held(self, home: Path, accounts: Collection[str]) -> list[dict[str, Any]]:
        """Return what is held of accounts."""

    def forget(self, home: Path, accounts: Collection[str], ids: Collection[str]) -> None:
        """Take out what is held of accounts, and of answers and pairs by their ids."""

    def tidy(self, home: Path) -> None:
        """Remove halves of files that a process which died left behind."""

    def expire(self, home: Path, before: float) -> int:
        """Remove conversations that ended before a time; return how many messages went."""
