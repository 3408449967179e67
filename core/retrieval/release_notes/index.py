"""Release notes by version, by their words and by what their lines tell: worked out as a corpus goes live.

No question looks at all notes of a release: versions are found by bisection, and pages by words that stand in
lines of the kind that is asked for.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from core.domain import ContextChunk, Dated, News, Span
from core.retrieval.release_notes.notes import Note
from core.text.postings import Places, Postings, common, nowhere
from core.text.version_order import version_key
from core.text.words import stem, terms_inside
from core.vocabulary import CHANGES, in_english, languages_of_changes, tells

Version = tuple[int, ...]
NEEDED = "needed"
"""What lines tell that say which version of other software is needed, beside the kinds of change."""
_WIDTH = 6
"""Numbers that every version is compared by at least: 3.1 is 3.1.0.0.0.0."""
_NEEDED = re.compile(r"\b(?:drop|remov|requir|minimum)|no\slonger\ssupported", re.IGNORECASE)
"""What every line has that `requirements.dropped` or `drops` finds."""
_ONE_WORD = re.compile(r"\w+")
_FIXES = re.compile(
    r"^\W*(?:bug|bugs|bugfix\w*|fix|fixes|fixed)\b|\b(?:bug\s?fix\w*|fixes)\W*$", re.IGNORECASE
)
_INSIDE = re.compile(
    r"\b(?:documentation|docs|internal|miscellaneous|misc|contributors?|packaging|trivial|downstream)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Group:
    """What notes have in common that a list shows in one order: guides or on patches, and what they tell."""

    guide: bool
    patch: bool
    rank: int
    kinds: frozenset[str]


@dataclass(frozen=True, slots=True)
class NoteIndex:
    """The notes of a release by version, the oldest first and those of one version in reading order.

    A place is that of a note among them. `place_of` has the place of each page, `reading` when each note
    comes in reading order, `versions` what each is on, filled up with zeros, `first` the first place of
    that version. `words` are those of the pages, `told` those of the lines that tell a kind of change, and
    `groups` the places of notes that a list shows alike.
    """

    notes: tuple[Note, ...] = ()
    place_of: Mapping[str, int] = field(default_factory=dict)
    reading: Places = field(default_factory=nowhere)
    versions: Sequence[Version] = ()
    first: Places = field(default_factory=nowhere)
    words: Postings = field(default_factory=Postings)
    told: Mapping[str, Postings] = field(default_factory=dict)
    groups: Mapping[_Group, Places] = field(default_factory=dict)
    known: frozenset[Version] = frozenset()
    """The versions that there are notes on."""

    @classmethod
    def of(cls, notes: Sequence[Note], pages: Mapping[str, ContextChunk]) -> NoteIndex:
        """Read notes, which come in reading order, and their pages; one without its page has no words."""
        width = max([_WIDTH, *(len(note.version) for note in notes)])
        same = {note.version: (*note.version, *[0] * (width - len(note.version))) for note in notes}
        filled = [same[note.version] for note in notes]
        reading = sorted(range(len(notes)), key=lambda at: filled[at])
        versions = [filled[at] for at in reading]
        first: list[int] = []
        words: dict[str, list[int]] = {}
        told: dict[str, dict[str, list[int]]] = {kind: {} for kind in (*CHANGES, NEEDED)}
        groups: dict[_Group, list[int]] = {}
        for place, at in enumerate(reading):
            first.append(first[-1] if place and versions[place - 1] == versions[place] else place)
            page = pages.get(notes[at].context_id)
            lines = _said_of(page.page) if page else {}
            groups.setdefault(_group_of(notes[at], page, lines), []).append(place)
            for word in set(_ONE_WORD.findall(page.page)) if page else ():
                words.setdefault(word, []).append(place)
            for kind, said in lines.items():
                for term in {term for word in said for term in _terms(kind, word)}:
                    told[kind].setdefault(term, []).append(place)
        return cls(
            tuple(notes[at] for at in reading),
            {notes[at].context_id: place for place, at in enumerate(reading)},
            np.array(reading, np.int32),
            versions,
            np.array(first, np.int32),
            Postings.of(words),
            {kind: Postings.of(said) for kind, said in told.items()},
            {group: np.array(places, np.int32) for group, places in groups.items()},
            frozenset(note.version for note in notes),
        )

    def __len__(self) -> int:
        return len(self.notes)

    def behind(self, version: Version) -> int:
        """Return the place behind the notes of a version and all its patches; of none behind all notes."""
        return self._at((*version[:-1], version[-1] + 1)) if version else len(self)

    def covered(self, span: Span) -> range:
        """Return the places of the notes that a span covers (`Span.covers`)."""
        if not span.until:
            return range(0)
        begin = self.behind(span.after) if span.after else self._at(span.until)
        return range(begin, max(begin, self.behind(span.until)))

    def _at(self, version: Version) -> int:
        """Return the first place of a version, or of one after it."""
        width = len(self.versions[0]) if self.versions else 0
        return bisect_left(self.versions, version if any(version[width:]) else version[:width])

    def best(self, span: Span, kind: str, keep: int) -> list[str]:
        """Return up to `keep` pages on a span's versions, those that tell a kind of change first.

        What a release itself brought comes before its patches, the newest version first in both; guides come
        after notes. What is new, changed and removed comes before what was mended and what happened inside,
        unless fixes are asked for; those are left out where another kind is asked for and any page is left.
        """
        span_of = self.covered(span)
        inside = {group: _between(places, span_of) for group, places in self.groups.items()}
        there = [group for group, places in inside.items() if len(places)]
        if kind not in ("", "fixed"):
            there = [group for group in there if not group.rank] or there
        found: list[tuple[bool, int, bool, bool, int, int]] = []
        for group in there:
            rank = 0 if kind == "fixed" else group.rank
            told = not kind or kind in group.kinds
            found += [
                (not told, rank, group.guide, group.patch, -int(self.first[place]), place)
                for place in islice(self.newest(inside[group]), keep)
            ]
        return [self.notes[place].context_id for *_, place in sorted(found)[:keep]]

    def newest(self, places: Places) -> Iterator[int]:
        """Yield places by version, the newest first, those of one version in reading order."""
        end = len(places)
        while end:
            begin = int(np.searchsorted(places[:end], self.first[places[end - 1]]))
            yield from (int(places[at]) for at in range(begin, end))
            end = begin

    def oldest(self, places: Places) -> Iterator[int]:
        """Yield places by version, the oldest first."""
        return (int(place) for place in places)

    def versions_of(self, pages: Iterable[str]) -> dict[str, Version]:
        """Return the versions that those of these pages are on which are notes, by the page."""
        return {key: self.notes[self.place_of[key]].version for key in pages if key in self.place_of}

    def up_to(self, places: Places, release: Version) -> Places:
        """Leave out what is on versions after a release and all its patches; of none nothing."""
        return places[: int(np.searchsorted(places, self.behind(release)))]

    def read_in_order(self, places: Iterable[int]) -> list[Note]:
        """Return the notes at places, each once, in reading order."""
        return [
            self.notes[place] for place in sorted(set(places), key=lambda place: int(self.reading[place]))
        ]

    def noting(self, name: str) -> Places:
        """Return the notes that may have a name, and all that do, whatever owns it there.

        Of an option they are those with its plural, too.
        """
        last = name.removesuffix("()").rpartition(".")[2]
        if not name.startswith("--"):
            return self._with_name(last)
        one = last.removesuffix("s")
        return np.union1d(self._with_name(one), self._with_name(f"{one}s"))

    def _with_name(self, name: str) -> Places:
        """Return the notes that have the rarest word of a name."""
        return min((self.words.of_word(word) for word in _ONE_WORD.findall(name)), key=len, default=nowhere())

    def telling(self, asked: Dated) -> Places:
        """Return the notes that may have a line which tells the kind of change and names the subject."""
        if (told := self.told.get(asked.kind)) is None:
            return np.arange(len(self), dtype=np.int32)
        keys = [key for word in asked.subject for key in _wanted(word)]
        return common(told.of_word(key) for key in dict.fromkeys(keys))

    def needing(self, name: str) -> Places:
        """Return the notes that may have a line which tells from which version of a software on it runs.

        A version may stand right behind the name there: "Python3.9".
        """
        told = self.told.get(NEEDED, Postings())
        *whole, last = _ONE_WORD.findall(name.casefold()) or [""]
        end = told.beginning(last) if not last or name.casefold().endswith(last) else told.of_word(last)
        return common([*map(told.of_word, whole), end])

    def dropping(self, names: Iterable[str], number: str) -> Places:
        """Return the notes that may have a line which tells that a version of a software is dropped."""
        told = self.told.get(NEEDED, Postings())
        found = [
            common(told.of_word(word) for word in _ONE_WORD.findall(f"{name} {number}".casefold()))
            for name in names
        ]
        return np.unique(np.concatenate([nowhere(), *found]))


def settled(news: News, notes: Mapping[str, NoteIndex]) -> News | None:
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
            if name in notes
            and notes[name].covered(span)
            and (span.release or notes[name].covered(Span(name, span.until)))
        )
        if (release := next(here, "")) == "":
            return None
        found.append(replace(span, release=release))
    return replace(news, spans=tuple(found))


def _between(places: Places, covered: range) -> Places:
    begin, end = np.searchsorted(places, [covered.start, covered.stop]).tolist()
    return places[begin:end]


def _group_of(note: Note, page: ContextChunk | None, told: Collection[str]) -> _Group:
    """Return what a note has in common with others; its lines tell the kinds `told`, its heading may more."""
    heading = page.heading if page else ""
    kinds = frozenset(kind for kind in CHANGES if kind in told or tells(kind, heading))
    return _Group(note.guide, any(note.version[2:]), rank_of(page) if page else 0, kinds)


def rank_of(page: ContextChunk) -> int:
    """Return 2 for a section on what was mended, 1 for one on what only those notice who make it, else 0."""
    heading = in_english(page.heading.rpartition(" > ")[2])
    return 2 if _FIXES.search(heading) else 1 if _INSIDE.search(heading) else 0


def _said_of(page: str) -> dict[str, set[str]]:
    """Return the words of the lines of a page that tell a kind of change, or what is needed, by the kind."""
    found: dict[str, set[str]] = {}
    is_foreign = bool(languages_of_changes(page))
    for line in page.split("\n"):
        plain = in_english(line) if is_foreign else line
        kinds = [kind for kind, change in CHANGES.items() if change.told.search(plain)]
        if _NEEDED.search(plain):
            kinds.append(NEEDED)
        if kinds:
            words = _ONE_WORD.findall(line)
            for kind in kinds:
                found.setdefault(kind, set()).update(words)
    return found


def _terms(kind: str, word: str) -> Iterable[str]:
    """Return under what a word of a line is looked up: its stems, or for what is needed as it is."""
    return (word.casefold(),) if kind == NEEDED else terms_inside(word)


def _wanted(word: str) -> list[str]:
    """Return what a line stands under that names a word of a subject, as `dated.entries_on` reads it."""
    if word.isalpha():
        return [stem(word)]
    last = word.removesuffix("()").rpartition(".")[2]
    return [stem(one.lower()) if one.lower().isalpha() else one.casefold() for one in _ONE_WORD.findall(last)]
