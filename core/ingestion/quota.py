"""How large a corpus may grow, and how much of the disk an index leaves free."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.errors import OverQuota


@dataclass(frozen=True, slots=True)
class Quota:
    """Limits of a reindex, and of pairs made of documents, looked at before each batch; 0 is no limit.

    `max_passages` is of one release, `reserve_bytes` what stays free where `free` looks.
    """

    max_passages: int = 0
    reserve_bytes: int = 0
    free: Callable[[], int] = lambda: 0

    def is_over(self, count: int) -> bool:
        """Return True if these are more passages than one release may have."""
        return bool(self.max_passages) and count > self.max_passages

    def check_passages(self, release: str, count: int) -> None:
        """Raise OverQuota where a corpus would have too many passages."""
        if self.is_over(count):
            raise OverQuota(
                f"The pages of {release} have {count:,} passages and more may come, MAX_PASSAGES allows "
                f"{self.max_passages:,}; leave pages out (`exclude`, `max_pages`), or raise it. What was "
                f"indexed before goes on answering, and the next run goes on where this one stopped."
            )

    def check_pairs(self, release: str, count: int) -> None:
        """Raise OverQuota where more pairs were made of a release's pages than it may have passages."""
        if self.is_over(count):
            raise OverQuota(
                f"{count:,} pairs were made of the pages of {release} and more may come, MAX_PASSAGES allows "
                f"{self.max_passages:,}; raise it, leave pages out (`exclude`, `max_pages`), or make no more "
                f"pairs (PREGENERATE=off). What was made is searched, and the next run goes on where this "
                f"one stopped."
            )

    def check_disk(self) -> None:
        """Raise OverQuota where too little of the disk is left."""
        if self.reserve_bytes and (free := self.free()) < self.reserve_bytes:
            raise OverQuota(
                f"The disk of the home folder has {free / 1e6:,.0f} MB left, an index leaves "
                f"{self.reserve_bytes / 1e6:,.0f} MB free (DISK_RESERVE_MB); free some space. What was "
                f"indexed before goes on answering, and the next run goes on where this one stopped."
            )


UNLIMITED = Quota()
