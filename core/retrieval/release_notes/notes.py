"""Find release notes by the version that their headings name, which a search by words does not.

A heading names a version where it is hardly anything else (`Version 3.1.0`, `[2.3.2] - 2023-05-01`), or where
it or one above it speaks of changes (`What's new in 3.1`, `Release notes › Kettle 3.1`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.domain import ContextChunk, News, Span, begins
from core.text.version_order import version_key
from core.vocabulary import tells

_LEVELS = re.compile(r"(?<!\s)\s+>\s+")
_BARE = re.compile(
    r"[\[(]?(?:(?:version|release|ver\.|rel\.)\s*v?|v\.?\s?)(?P<prefixed>\d+(?:\.\d+)*)(?!\.?\d)(?:[^\w\s].*|\w{1,6}\d*|\s.*)?"
    r"|[\[(]?(?P<plain>\d+(?:\.\d+)+)(?:[.-]?(?:rc|a|b|alpha|beta|dev|post)[.\d]*)?[\])]?"
    r"(?:\s*+(?:[-–—/:,(]++\s*+)?(?:released\s++)?(?:unreleased|.{0,16}\b(?:19|20)\d\d\b.*))?",
    re.IGNORECASE,
)
"""A heading that is a version, with its date or what it is called."""
_CHANGES = re.compile(
    r"\bchange(?:s|log|-log|\s+log|\s+history)\b|\brelease(?:s|\s+notes?|\s+history)?\b|\bwhat['’]?s\s+new\b|\bnew\s+in\b"
    r"|\bnews\b|\bhistory\b",
    re.IGNORECASE,
)
_GUIDE = re.compile(r"\b(?:upgrad|migrat|updat|port)(?:e|ing|ion)\b|\bmoving\s+(?:to|from)\b", re.IGNORECASE)
_DATE = re.compile(r"\b\d{4}-\d{1,2}-\d{1,2}\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b")
_YEAR = re.compile(r"(?:19|20)\d\d\b")
_NUMBER = re.compile(r"(?<![\w.])v?(\d+(?:\.\d+)+)|\b(?:version|release|v)\s*(\d+)\b", re.IGNORECASE)


_FIXES = re.compile(
    r"^\W*(?:bug|bugs|bugfix\w*|fix|fixes|fixed)\b|\b(?:bug\s?fix\w*|fixes)\W*$", re.IGNORECASE
)
_INSIDE = re.compile(
    r"\b(?:documentation|docs|internal|miscellaneous|misc|contributors?|packaging|trivial|downstream)\b",
    re.IGNORECASE,
)

_ONE_WORD = re.compile(r"\w+")


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
            found.append(Note(context_id, version, bool(_GUIDE.search(headings.partition(" > ")[0]))))
    return tuple(found)


def version_of(headings: str) -> tuple[int, ...]:
    """Return the version whose notes stand under title and headings, parted by `>`; () for other pages."""
    levels = [once(level.strip(" `*#")) for level in _LEVELS.split(headings)]
    levels[0] = _under_title(levels[0])
    for level in reversed(levels):
        if bare := _BARE.fullmatch(level):
            return _parsed(bare["prefixed"] or bare["plain"])
    about = False
    for level in levels:
        about = about or bool(_CHANGES.search(level) or _GUIDE.search(level))
        if about and (number := _NUMBER.search(_DATE.sub(" ", level))):
            return _parsed(number[1] or number[2])
    return ()


def chosen(notes: Sequence[Note], span: Span) -> list[str]:
    """Return the pages on a span's versions, in the order in which people want to read them.

    What a release itself brought comes before its patches, the newest version first in both; guides
    come after notes.
    """
    asked = [note for note in notes if span.covers(note.version)]
    newest = sorted(asked, key=lambda note: _padded(note.version), reverse=True)
    return [note.context_id for note in sorted(newest, key=lambda note: (note.guide, any(note.version[2:])))]


def by_version(notes: Sequence[Note], oldest_first: bool) -> list[str]:
    """Return all pages in the order of their versions."""
    return [n.context_id for n in sorted(notes, key=lambda n: _padded(n.version), reverse=not oldest_first)]


def _padded(version: tuple[int, ...]) -> tuple[int, ...]:
    return (*version, *[0] * (6 - len(version)))


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


def is_version(heading: str) -> bool:
    """Return True for a heading that is just a version, with its date or what it is called."""
    return _BARE.fullmatch(heading.strip()) is not None


def _parsed(number: str) -> tuple[int, ...]:
    return tuple(map(int, number.split(".")))


def settled(news: News, notes: Mapping[str, Sequence[Note]]) -> News | None:
    """Fill in whose pages tell of spans without a release: of the oldest release that is newer.

    `notes` has those of each release. None where there are no notes on a span, or none on the unknown
    version that it ends with.
    """
    found: list[Span] = []
    for span in news.spans:
        newer = sorted((name for name in notes if version_key(name)[0] > span.until), key=version_key)
        here = (
            name
            for name in ([span.release] if span.release else newer)
            if any(span.covers(note.version) for note in notes.get(name, ()))
            and (span.release or any(begins(note.version, span.until) for note in notes[name]))
        )
        if (release := next(here, "")) == "":
            return None
        found.append(replace(span, release=release))
    return replace(news, spans=tuple(found))


def sorted_by_kind(pages: Sequence[ContextChunk], kind: str) -> list[ContextChunk]:
    """Put the pages first that tell of a kind of change, in the order they come in.

    What is new, changed and removed comes before what was mended and what happened inside, unless fixes are
    asked for. They are left out where one of the other kinds is asked for and told.
    """
    if kind != "fixed":
        told = [page for page in pages if not _rank(page)] if kind else []
        pages = told or sorted(pages, key=_rank)
    return sorted(pages, key=lambda page: not tells(kind, f"{page.heading}\n{page.page}"))


def _rank(page: ContextChunk) -> int:
    """Return 2 for a section on what was mended, 1 for one on what only those notice who make it, else 0."""
    heading = page.heading.rpartition(" > ")[2]
    return 2 if _FIXES.search(heading) else 1 if _INSIDE.search(heading) else 0


@dataclass(frozen=True, slots=True)
class Places:
    """Pages by the words that they have: `notes` those of release notes by all of theirs, `headed` the others
    by those of the innermost heading, in reading order. `first` is the first of these under each title.
    """

    notes: Mapping[str, Collection[str]] = field(default_factory=dict)
    headed: Mapping[str, Collection[str]] = field(default_factory=dict)
    first: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, titles: Mapping[str, str], texts: Iterable[tuple[str, str]], notes: Collection[str]
    ) -> Places:
        """Note the words of `texts`, each with its page, and of the `titles` of pages that are no `notes`."""
        said: dict[str, dict[str, None]] = {}
        headed: dict[str, dict[str, None]] = {}
        first: dict[str, str] = {}
        for page, text in texts:
            for word in _ONE_WORD.findall(text) if page in notes else ():
                said.setdefault(word, {})[page] = None
        for page, title in titles.items():
            if page not in notes:
                first.setdefault(title, page)
                for word in _ONE_WORD.findall(title.rpartition(" > ")[2]):
                    headed.setdefault(word, {})[page] = None
        return cls(said, headed, first)

    def noting(self, name: str) -> Collection[str]:
        """Return the pages of release notes that may have a name, and all that do, whatever owns it there.

        Of an option they are those with its plural, too.
        """
        last = name.removesuffix("()").rpartition(".")[2]
        if not name.startswith("--"):
            return _rarest(self.notes, last)
        one = last.removesuffix("s")
        return {**dict.fromkeys(_rarest(self.notes, one)), **dict.fromkeys(_rarest(self.notes, f"{one}s"))}

    def headed_by(self, name: str) -> Collection[str]:
        """Return the pages whose heading may be a name, and all whose heading is."""
        return _rarest(self.headed, name)


def _rarest(pages: Mapping[str, Collection[str]], name: str) -> Collection[str]:
    return min((pages.get(word, ()) for word in _ONE_WORD.findall(name)), key=len, default=())
