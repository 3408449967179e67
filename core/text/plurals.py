"""English words for one and for many, in texts that have no translations; others go through `ngettext`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction


def plural(count: int | Fraction, one: str, many: str = "") -> str:
    """Return the word for so many: `page` for 1, else `pages` or what `many` says."""
    return one if count == 1 else many or f"{one}s"


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with the word for so many: `1 page`, `3 pages`."""
    return f"{count} {plural(count, one, many)}"
