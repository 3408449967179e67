"""What a release brought: the notes of a release or a range, and in which version something came or went."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np

from core.domain import ContextChunk, Dated, Evidence, News, Span
from core.ports import WordIndex
from core.retrieval.found import KEPT, Found
from core.retrieval.live import Live, PageViews
from core.retrieval.release_notes.dated import MAX_PAGES, Came, came, entries_on, marked
from core.retrieval.release_notes.gone import Told, ended, fates, spelled_in_pages, stays
from core.retrieval.release_notes.headed import SAYS, documents, headed, sections_of, told_by_marks
from core.retrieval.release_notes.index import NoteIndex, settled
from core.retrieval.release_notes.names import named
from core.retrieval.release_notes.notes import HOLDING, Note, later, numbers
from core.retrieval.release_notes.requirements import dropped, drops, named_in, spelled
from core.retrieval.release_notes.turned import turning
from core.retrieval.release_notes.verdict import last_of
from core.system.offload import aside
from core.text.version_order import version_key
from core.text.words import index_terms, parts_indexed
from core.vocabulary import in_english

DROPPED = 2
"""Pages of release notes that tell what the product needs; ours."""
TURNED = 3
"""Pages of release notes that say what is otherwise than it was; ours."""
NOTES = 10
"""Pages of release notes that are looked through at once: each takes half a millisecond."""
MORE = 50
"""Pages that are looked through in a thread where the first ones do not tell enough."""


class ReleaseNotes:
    """Reads the release notes of the live corpora, by the versions that their headings name."""

    def __init__(self, live: Mapping[str, Live], pages: PageViews, words: WordIndex) -> None:
        self._live = live
        self._pages = pages
        self._words = words

    def _own(self, release: str = "") -> list[str]:
        """Return the releases of one product: what an admin added by its address stands alone."""
        if stands_alone(release):
            return [release] if release in self._live else []
        return [name for name in self._live if not stands_alone(name)]

    def settled(self, news: News) -> News | None:
        """Say in which release's pages the notes stand that are asked for; None where there are none."""
        return settled(news, {release: self._live[release].notes for release in self._own()})

    async def of(self, span: Span, kind: str, keep: int = KEPT) -> Found:
        """Return up to `keep` pages of release notes of a span of versions, those that tell the kind first.

        Of a range there are twice as many.
        """
        keep = keep * 2 if span.after else keep
        while (live := self._live.get(span.release)) is not None:
            ids = live.notes.best(span, kind, keep)
            pages = await self._pages.chunks(ids)
            if self._live.get(span.release) is live:
                best = [pages[key] for key in ids if key in pages]
                evidence = tuple(Evidence(n, page, 1.0 / n) for n, page in enumerate(best, start=1))
                return Found(evidence, named=bool(evidence))
        return Found()

    async def _telling(
        self, live: Live, places: Iterable[int], look: Callable[[ContextChunk], Sequence[str]], most: int
    ) -> list[tuple[Note, ContextChunk, tuple[str, ...]]]:
        """Return the first notes of these places that tell something, with the lines that do; `most` at most.

        Pages are read a few at once until there are enough, and no more than `HOLDING`.
        """
        told: list[tuple[Note, ContextChunk, tuple[str, ...]]] = []
        left, step = islice((live.notes.notes[place] for place in places), HOLDING), NOTES
        while len(told) < most and (some := list(islice(left, step))):
            pages = await self._pages.chunks([note.context_id for note in some])
            there = [(note, page) for note in some if (page := pages.get(note.context_id))]
            lines = await aside(len(there), lambda there=there: [look(page) for _, page in there], few=NOTES)
            told += [(*one, tuple(some)) for one, some in zip(there, lines, strict=True) if some]
            step = MORE
        return told[:most]

    async def dated(self, asked: Dated, release: str, found: Found) -> Found:
        """Put the pages first that say in which version something came or went; as it was where none do."""
        live = self._live.get(release)
        if live is None or not live.notes:
            return found
        first = await aside(len(found.evidence), marked, asked, found.evidence, few=KEPT * 2)
        known = {item.chunk.id for item in first}
        places = live.notes.telling(asked)
        some = live.notes.newest(places) if asked.kind == "removed" else live.notes.oldest(places)
        new = (place for place in some if live.notes.notes[place].context_id not in known)
        told = await self._telling(live, new, partial(entries_on, asked), MAX_PAGES - len(first))
        first = [*first, *(Evidence(0, page, 0.0, lines) for _, page, lines in told)][:MAX_PAGES]
        first = [replace(item, score=1.0 / n) for n, item in enumerate(first, start=1)]
        known = {item.chunk.id for item in first}
        rest = [replace(item, matched=()) for item in found.evidence if item.chunk.id not in known]
        evidence = tuple(replace(item, number=n) for n, item in enumerate([*first, *rest][:KEPT], start=1))
        return replace(found, evidence=evidence, named=True) if first else found

    async def needing(self, name: str, release: str) -> Found:
        """Return the newest notes up to a release that tell which versions of a software are needed."""
        live = self._live.get(release)
        if live is None:
            return Found()
        places = live.notes.newest(live.notes.up_to(live.notes.needing(name), numbers(release)))
        told = await self._telling(live, places, lambda page: dropped(name, page.page), DROPPED)
        pages = enumerate(told, start=1)
        evidence = tuple(Evidence(n, page, 1.0 / n, lines) for n, (_, page, lines) in pages)
        return Found(evidence, named=bool(evidence))

    async def dropping(self, name: str, number: str, release: str) -> Told | None:
        """Return the first notes up to a release that tell that a version of other software was dropped."""
        live, until = self._live.get(release), numbers(release)
        if live is None or not until or not name:
            return None
        known = drops(name, number)
        places = live.notes.up_to(live.notes.dropping(spelled(name), number), until)

        def look(page: ContextChunk) -> list[str]:
            return [line for line in page.page.split("\n") if known.search(in_english(line))]

        for note, page, (line, *_) in await self._telling(live, live.notes.oldest(places), look, 1):
            said = named_in(in_english(line), name)
            return Told(f"{said} {number}", "removed", note.version, page, line.strip(" -*+"))
        return None

    async def turned(self, names: Sequence[str], shares: Mapping[str, float], release: str) -> list[Evidence]:
        """Return the newest notes up to a release that say what is otherwise of a name (`turning`)."""
        live = self._live.get(release)
        if live is None or not names:
            return []
        noted = np.unique(np.concatenate([live.notes.noting(name) for name in names]))
        places = live.notes.newest(live.notes.up_to(noted, numbers(release)))
        told = await self._telling(live, places, partial(turning, names, shares), TURNED)
        return [Evidence(0, page, 0.0) for _, page, _lines in told]

    def newer(self, found: Found, release: str) -> Found:
        """Leave out what older notes tell where the first page says what a version up to the release brought.

        Lists of changes have a version for each patch: the first of them is not the one that tells most.
        """
        live, until = self._live.get(release), numbers(release)
        ids = [item.chunk.id for item in found.evidence]
        of = live.notes.versions_of(ids) if live else {}
        first = of.get(ids[0], ()) if ids else ()
        if not first or len(first) > 2 or (until and later(first, until)):
            return found
        left = [item for item in found.evidence if of.get(item.chunk.id, first) >= first]
        return replace(found, evidence=tuple(replace(item, number=n) for n, item in enumerate(left, start=1)))

    async def gone(self, names: Sequence[str], release: str) -> tuple[Told, ...]:
        """Return what the notes of all releases tell of names that are gone, those up to a release first.

        Newest first. What several releases' notes say of a version is taken from those of `release`, else of
        the newest.
        """
        if not names:
            return ()
        notes = await self._noted(release, names)
        told = await aside(
            len(notes), lambda: [one for name in names for one in fates(name, notes)], few=NOTES
        )
        until = numbers(release)
        told = await self._checked(told, names, release)
        return tuple(sorted(told, key=lambda one: bool(until) and later(one.version, until)))

    async def _noted(
        self, release: str, names: Sequence[str], oldest: bool = False
    ) -> list[tuple[tuple[int, ...], ContextChunk]]:
        """Return the notes of all releases that may have any of the names, with their versions.

        Those of a version are taken from one release: from this one, else from the newest. Of too many for a
        name the newest count, or the `oldest`.
        """
        others = sorted(
            (name for name in self._own(release) if name != release), key=version_key, reverse=True
        )
        ids: dict[str, tuple[int, ...]] = {}
        before: list[NoteIndex] = []
        for noted in (self._live[name].notes for name in (release, *others) if name in self._live):
            found = [noted.noting(name) for name in names]
            kept = [places[:HOLDING] if oldest else places[-HOLDING:] for places in found]
            for note in noted.read_in_order(place for some in kept for place in some.tolist()):
                if not any(note.version in one.known for one in before):
                    ids[note.context_id] = note.version
            before.append(noted)
        pages = await self._pages.chunks(list(ids))
        return [(version, pages[key]) for key, version in ids.items() if key in pages]

    async def came(self, names: Sequence[str], release: str, only_later: bool) -> tuple[Came, ...]:
        """Return in which version names came, by the notes and the newest entries of all releases.

        With `only_later` those alone that the pages of the release do not have, and a later one does.
        """
        until, found = numbers(release), list[Came]()
        newest = max(self._own(release), key=version_key, default="")
        for name in names:
            if only_later and (not until or await self._has(name, release)):
                continue
            notes = await self._noted(release, [name], oldest=True)
            one = came(name, notes, (await self.entries([name], newest)).get(name, []))
            if one and not (only_later and not later(one.version, until)):
                found.append(one)
        return tuple(found)

    async def _has(self, name: str, release: str) -> bool:
        """Return True if a release's pages hold a name, in text or title."""
        known, live = named(name), self._live.get(release)
        if live is None:
            return False
        held = await self._holding(live, name)
        texts = (text for key in held if (text := live.text_of.get(key)))
        titles = (live.title_of.get(live.context_of.get(key, ""), "") for key in held)
        return any(map(known.search, (*texts, *titles)))

    async def _holding(self, live: Live, name: str) -> list[str]:
        """Return passages that may have a name in text or title, by its words.

        Where no part of it is a word for the index it is looked for as a whole, and inside of dotted names.
        """
        spelled, collection = spelled_in_pages(name), live.corpus.collection
        if terms := parts_indexed(spelled):
            return await self._words.holding(collection, terms, HOLDING)
        alone = await self._words.holding(collection, index_terms(spelled), HOLDING)
        return list(dict.fromkeys([*alone, *live.places.saying(spelled)]))[:HOLDING]

    async def _stays(self, name: str, end: tuple[int, ...], live: Live) -> bool:
        """Return True if pages that are no notes speak of a name otherwise than of its past and its end."""
        held = await self._holding(live, name)
        pages = dict.fromkeys(live.context_of[key] for key in held if key in live.context_of)
        ids = [key for key in pages if key not in live.ages]
        for start in range(0, len(ids), NOTES):
            some = await self._pages.chunks(ids[start : start + NOTES])
            if stays(name, some.values(), end):
                return True
        return False

    async def elsewhere(self, name: str, release: str) -> tuple[str, ...]:
        """Return the releases that have an entry of a name which a release's pages never say, in order."""
        others = sorted((one for one in self._own() if one != release), key=version_key)
        there = tuple(one for one in others if self._headed([name], one))
        return there if there and release in self._live and not await self._has(name, release) else ()

    def release_with(self, version: tuple[int, ...]) -> str:
        """Return the oldest live release that is a version or came after it; "" where none is."""
        names = sorted(self._own(), key=version_key)
        return next((name for name in names if numbers(name)[:2] >= version[:2]), "")

    async def _checked(self, told: Sequence[Told], names: Sequence[str], release: str) -> list[Told]:
        """Put what a release's own pages tell of names first; drop the end of what they document."""
        until, kept = numbers(release), list(told)
        marked: list[Told] = []
        for name, entries in (await self.entries(names, release)).items():
            marked += told_by_marks(name, entries)
            if documents(entries):
                kept = [one for one in kept if one.name != name or not _has_ended(one, until)]
                if not any(one.name == name and one.fate for one in (*marked, *kept)):
                    kept = [one for one in kept if one.name != name]  # parts of it, which is there
        return [*sorted(marked, key=lambda one: one.version, reverse=True), *kept]

    async def ended(self, names: Sequence[str], release: str) -> tuple[Told, ...]:
        """Return what notes tell of those of the names that ended by a release, and name nothing that stays.

        What the release's other pages still speak of has not ended, whatever else bore its name.
        """
        until = numbers(release)
        own = [self._live[one].notes for one in self._own(release)]
        noted = any(len(notes.noting(name)) for notes in own for name in names)
        if not (until and noted):
            return ()
        told = await self.gone(names, release)
        ends = {name: ended([one for one in told if one.name == name], until) for name in names}
        live = self._live.get(release)
        left = [n for n, end in ends.items() if end and not (live and await self._stays(n, end, live))]
        return tuple(one for one in told if one.name in left)

    async def entries(self, names: Sequence[str], release: str) -> dict[str, list[ContextChunk]]:
        """Return the pages of a release, notes left out, whose own heading is a name, by the name."""
        of = self._headed(names, release)
        pages = await self._pages.chunks([key for some in of.values() for key in some])
        return {name: [pages[key] for key in keys if key in pages] for name, keys in of.items()}

    def _headed(self, names: Sequence[str], release: str) -> dict[str, list[str]]:
        """Return the ids of such pages."""
        live, found = self._live.get(release), dict[str, list[str]]()
        for name in names if live else ():
            assert live is not None
            keys = live.places.headed_by(last_of(name))
            found |= headed([name], {key: live.title_of[key] for key in keys})
        return found

    async def marked(
        self, names: Sequence[str], page: ContextChunk, words: Collection[str], release: str
    ) -> tuple[Told, ...]:
        """Return what marks tell of the section that a page is of, or of one around it that names a word.

        It is named by its heading: "Support for tests written for nose" was removed in 8.0. Nothing is told
        of parts of `names` that are documented.
        """
        live = self._live.get(release)
        keys = sections_of(live.title_of.get(page.id, ""), live.places.first) if live else []
        own = [key for some in self._headed(names, release).values() for key in some]
        pages = await self._pages.chunks([*keys, *own])
        if documents(pages[key] for key in own if key in pages):
            return ()
        for section in (pages[key] for key in keys if key in pages):
            heading = section.heading.rpartition(" > ")[2]
            told = told_by_marks(heading, [section])
            if told and set(index_terms(heading)) & set(words) and not SAYS.search(heading):
                return tuple(sorted(told, key=lambda one: one.version, reverse=True))
        return ()


def _has_ended(told: Told, until: tuple[int, ...]) -> bool:
    """Return True for what ended a name up to a release."""
    return told.fate not in ("", "deprecated") and not (until and later(told.version, until))


def stands_alone(release: str) -> bool:
    """Return True for what an admin added, which is called by its address (`core.catalogue.added`)."""
    return "/" in release or "==" in release
