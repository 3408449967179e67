"""The product, its releases, and which of them a question is about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Release:
    """One release of the product."""

    name: str
    aliases: tuple[str, ...] = ()
    latest: bool = False
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
    questions: tuple[str, ...] = ()
    """Questions to show to people who do not know what to ask."""

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


@dataclass(frozen=True, slots=True)
class Span:
    """Versions whose release notes are asked for, and the release whose pages are to tell them.

    `until` is a version as numbers and stands for all that begin so: (3, 1) for 3.1.0 and 3.1.2. With
    `after` it is the end of a range that begins behind that version. `release` is empty where none of
    that name is known: a newer one's pages may still tell of it.
    """

    release: str
    until: tuple[int, ...]
    after: tuple[int, ...] = ()

    def covers(self, version: tuple[int, ...]) -> bool:
        """Return True if the notes of a version are asked for."""
        if not self.after:
            return begins(version, self.until)
        newer = version > self.after and not begins(version, self.after)
        return newer and (version <= self.until or begins(version, self.until))


@dataclass(frozen=True, slots=True)
class News:
    """A question about what releases bring: of which versions, and which kind of change ("" for all)."""

    spans: tuple[Span, ...]
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Dated:
    """A question for the version in which something came or went: the kind of change, and words for what."""

    kind: str
    subject: tuple[str, ...]


def begins(version: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Return True if a version is the wanted one or a patch of it: 3.1.2 is of 3.1, and 3.1 is 3.1.0."""
    shared = min(len(version), len(wanted))
    return bool(wanted) and version[:shared] == wanted[:shared] and not any(wanted[shared:])
