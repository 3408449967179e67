"""The product, its releases, and which of them a question is about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Release:
    """One release of the product; `order` counts from the oldest."""

    name: str
    aliases: tuple[str, ...] = ()
    latest: bool = False
    order: int = 0
    lts: bool = False


@dataclass(frozen=True, slots=True)
class Product:
    """What the community talks about: its name, other names for it, and its releases, oldest first."""

    name: str
    aliases: tuple[str, ...] = ()
    releases: tuple[Release, ...] = ()
    glossary: dict[str, tuple[str, ...]] = field(default_factory=dict)
    language: str = "en"
    """The language that the documentation is written in."""

    @property
    def latest(self) -> Release:
        """Return the release that is marked latest, or the newest one."""
        return next((r for r in self.releases if r.latest), self.releases[-1])

    def release(self, name: str) -> Release | None:
        """Return the release of exactly that name, if there is one."""
        return next((r for r in self.releases if r.name == name), None)


@dataclass(frozen=True, slots=True)
class Resolution:
    """Which release a question is about and how that was found.

    `named` holds every known release the question names, in its order; `unknown` the spellings
    that look like a release of this product but are none; `spans` the character ranges of all of
    them in the question's text.
    """

    release: str
    origin: Literal["given", "question", "thread", "channel", "latest"]
    named: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    comparison: bool = False
