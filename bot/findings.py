"""What an examination found: how one thing is, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["good", "unsure", "bad"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `advice` says what to do where it is not good."""

    what: str
    state: State
    said: str
    advice: str = ""


def good(what: str, said: str) -> Finding:
    """Return that a thing is as it should be."""
    return Finding(what, "good", said)


def unsure(what: str, said: str, advice: str) -> Finding:
    """Return that a thing works but not well, or cannot be seen from here."""
    return Finding(what, "unsure", said, advice)


def bad(what: str, said: str, advice: str) -> Finding:
    """Return that a thing does not work."""
    return Finding(what, "bad", said, advice)
