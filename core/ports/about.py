"""What a database knows about itself, by name."""

from __future__ import annotations

from typing import Protocol

KEY_CHECK = "privacy key"
"""A keyed hash that only the key of its one-way names gives."""
HOLDER = "holder"
"""Who has the database, where several processes could reach it."""
RETENTION = "retention"
"""When what is old was removed last, in seconds since the epoch."""


class AboutStore(Protocol):
    """Keeps what a database knows about itself."""

    async def told(self, name: str) -> str:
        """Return what is known under a name, empty for nothing."""

    async def tell(self, name: str, value: str) -> None:
        """Keep something in place of what was known under that name."""

    async def has_one_way_names(self, lists_alone: bool = False) -> bool:
        """Return True if anybody stands in the database under a one-way name; with `lists_alone`, on the
        lists of those who opted out or were forgotten.
        """

    async def newest(self, before: float) -> float:
        """Return when the newest question or vote before a time was, in seconds since the epoch, or 0."""
