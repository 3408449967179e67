"""Find release notes by the version that their headings name, which a search by words does not.

A heading names a version where it is hardly anything else (`Version 3.1.0`, `[2.3.2] - 2023-05-01`), or where
it or one above it speaks of changes (`What's new in 3.1`, `Release notes › Kettle 3.1`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.domain import begins
from core.text.words import unindexed
from core.vocabulary import in_english

_LEVELS = re.compile(r"(?<!\s)\s+>\s+")
_BARE = re.compile(
    r"[\[(]?(?:(?:version|release|ver\.|rel\.)\s*v?|v\.?\s?)(?P<prefixed>\d+(?:\.\d+)*)(?!\.?\d)(?:[^\w\s].*|\w{1,6}\d*|\.?(?:rc|alpha|beta|pre|dev|post|[abc])\d*\s.*|\s.*)?"
    r"|[\[(]?(?P<plain>\d+(?:\.\d+)+)(?:[.-]?(?:rc|a|b|alpha|beta|dev|post)[.\d]*)?[\])]?"
    r"(?:\s*+(?:[-–—/:,(]++\s*+)?(?:released\s++)?(?:unreleased|.{0,16}\b(?:19|20)\d\d\b.*))?",
    re.IGNORECASE,
)
"""A heading that is a version, with its date or what it is called."""
_ANNOUNCED = re.compile(
    r"(?:[A-Za-z][\w.+-]{0,40}+\s+){1,2}(?:v(?=\d++\.\d)|(?=\d++\.\d++\.\d))(\d++(?:\.\d++)++)"
)
"""The title of a page that makes a release known: `Kettle v3.1.0`."""
_CHANGES = re.compile(
    r"\bchange(?:s|log|-log|\s+log|\s+history)\b|\brelease(?:s|\s+notes?|\s+history)?\b|\bwhat['’]?s\s+new\b|\bnew\s+in\b"
    r"|\bnews\b|\bhistory\b",
    re.IGNORECASE,
)
_GUIDE = re.compile(r"\b(?:upgrad|migrat|updat|port)(?:e|ing|ion)\b|\bmoving\s+(?:to|from)\b", re.IGNORECASE)
_DATE = re.compile(r"\b\d{4}-\d{1,2}-\d{1,2}\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b")
_YEAR = re.compile(r"(?:19|20)\d\d\b")
_NUMBER = re.compile(r"(?<![\w.])v?(\d+(?:\.\d+)+)|\b(?:version|release|v)\s*(\d+)\b(?!\.\d)", re.IGNORECASE)
_MOVE = re.compile(
    r"(?<![\w.])v?\d++(?:\.\d++|\.x)*+\s+(?:to|-+>|→|⟶)\s+(?:[a-z]\w*\s+)?(?=v?\d)", re.IGNORECASE
)
"""What moves to the version behind it: `borg 1.1.x to 1.2.x`."""
_SPELLED = re.compile(r"(?<![\w.])v?(\d{1,9}(?:\.\d{1,9})*+)(?![\w.]*\d)")
_ONE_WORD = re.compile(r"\w+")
HOLDING = 500
"""Passages, and pages, that are looked at for a name; ours."""


@dataclass(frozen=True, slots=True)
class Note:
    """A page of release notes; a `guide` tells how to move to the version."""

    context_id: str
    version: tuple[int, ...]
    guide: bool = False


def notes_of(pages: Iterable[tuple[str, str]]) -> tuple[Note, ...]:
    """Return the pages that are release notes of (id, title and headings), in that order."""
    found: list[Note] = []
    for context_id, headings in pages:
        if version := version_of(headings):
            title = headings.partition(" > ")[0]
            found.append(Note(context_id, version, bool(_GUIDE.search(title) or _MOVE.search(headings))))
    return tuple(found)


def version_of(headings: str) -> tuple[int, ...]:
    """Return the version whose notes stand under title and headings, parted by `>`; () for other pages."""
    levels = [in_english(once(level.strip(" `*#"))) for level in _LEVELS.split(headings)]
    levels[0] = _under_title(levels[0])
    for level in reversed(levels):
        if bare := _BARE.fullmatch(level):
            return _parsed(bare["prefixed"] or bare["plain"])
    if announced := _ANNOUNCED.fullmatch(levels[0]):
        return _parsed(announced[1])
    about = False
    for level in levels:
        about = about or any(sign.search(level) for sign in (_CHANGES, _GUIDE, _MOVE))
        if about and (number := _NUMBER.search(_MOVE.sub(" version ", _DATE.sub(" ", level)))):
            return _parsed(number[1] or number[2])
    return ()


def once(level: str) -> str:
    """Return a page's title and first heading without one of them where they are the same."""
    half = len(level) // 2
    return level[:half] if level[:half] == level[half + 1 :] and level[half : half + 1] == " " else level


def _under_title(level: str) -> str:
    """Return a first heading without the page's title before it, where that is a version as well.

    Release notes without a title of their own are named after their newest version.
    """
    for gap in re.finditer(r"\s+", level):
        title, heading = level[: gap.start()], level[gap.end() :]
        dated = _YEAR.match(heading) and not _YEAR.match(title)
        if _BARE.fullmatch(title) and _BARE.fullmatch(heading) and not dated:
            return heading
    return level


def as_written(version: tuple[int, ...], texts: Iterable[str]) -> str:
    """Return a version as people say it: 2.3 for 2.3.0, `v2024.07.0` where no text has 2024.7.

    That is then the first spelling in the texts.
    """
    spelled = (one for text in texts for one in _SPELLED.finditer(text))
    first = next((one[0] for one in spelled if _parsed(one[1]) == version), "")
    while len(version) > 2 and not version[-1]:
        version = version[:-1]
    said = ".".join(map(str, version))
    return first if first and said not in first else said


def later(version: tuple[int, ...], until: tuple[int, ...]) -> bool:
    """Return True if a version comes after a release and all its patches."""
    return version > until and not begins(version, until)


def numbers(release: str) -> tuple[int, ...]:
    """Return the version in a release's name; () where it has none."""
    found = re.search(r"\d+(?:\.\d+)*", release)
    return tuple(map(int, found[0].split("."))) if found else ()


def is_version(heading: str) -> bool:
    """Return True for a heading that is just a version, with its date or what it is called."""
    return _BARE.fullmatch(heading.strip()) is not None


def _parsed(number: str) -> tuple[int, ...]:
    return tuple(map(int, number.split(".")))


@dataclass(frozen=True, slots=True)
class Places:
    """Where names stand: `headed` are pages that are no notes by the words of the innermost heading, in
    reading order, `first` is the first page under each title, and `inside` has all passages by the pieces of
    dotted names that no index term tells.
    """

    headed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    first: Mapping[str, str] = field(default_factory=dict)
    inside: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, titles: Mapping[str, str], texts: Iterable[tuple[str, str, str]], notes: Collection[str]
    ) -> Places:
        """Note the words of the `titles` of pages that are no `notes`; `texts` are passages with their pages.

        Of too many pages for a word the shortest headings are kept: a name alone is a short one.
        """
        headed: dict[str, dict[str, None]] = {}
        first: dict[str, str] = {}
        inside: dict[str, dict[str, None]] = {}
        for page, title in titles.items():
            if page not in notes:
                first.setdefault(title, page)
                for word in _ONE_WORD.findall(title.rpartition(" > ")[2]):
                    headed.setdefault(word, {})[page] = None
        for passage, page, text in texts:
            for piece in unindexed(f"{titles[page]}\n{text}"):
                inside.setdefault(piece, {})[passage] = None
        kept = {word: _shortest(list(pages), titles) for word, pages in headed.items()}
        return cls(kept, first, {piece: list(some)[:HOLDING] for piece, some in inside.items()})

    def headed_by(self, name: str) -> Sequence[str]:
        """Return the pages whose heading may be a name, and all whose heading is."""
        return _rarest(self.headed, name)

    def saying(self, name: str) -> Sequence[str]:
        """Return passages that may say a name inside of a dotted one, where no index term tells it."""
        return _rarest(self.inside, name)


def _shortest(pages: list[str], titles: Mapping[str, str]) -> list[str]:
    """Return the pages with the shortest headings, in their order."""
    if len(pages) <= HOLDING:
        return pages
    kept = set(sorted(pages, key=lambda page: len(titles[page].rpartition(" > ")[2]))[:HOLDING])
    return [page for page in pages if page in kept]


def _rarest(pages: Mapping[str, Sequence[str]], name: str) -> Sequence[str]:
    return min((pages.get(word, ()) for word in _ONE_WORD.findall(name)), key=len, default=())
