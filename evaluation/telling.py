"""Who hears a line on every step of a long measurement."""

from __future__ import annotations

from collections.abc import Callable

Tell = Callable[[str], None]


def silent(line: str) -> None:
    """Hear nothing."""
