"""The sentences that name a difference."""

from __future__ import annotations

from core.languages import _


def said(one: str, other: str) -> str:
    """Say that the two ask about different things."""
    return _("One asks about {one}, the other about {other}.").format(one=one, other=other)


def only(one: str) -> str:
    """Say that just one of the two speaks of something."""
    return _("Only one of them speaks of {one}.").format(one=one)
