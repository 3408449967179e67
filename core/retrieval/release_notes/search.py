"""What a release brought: the notes of a release or a range, and in which version something came or went."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from core.domain import ContextChunk, Dated, Evidence, News, Span, begins
from core.ports import WordIndex
from core.retrieval.found import KEPT, Found
from core.retrieval.live import Live, PageViews
from core.retrieval.release_notes.dated import Came, came, dated
from core.retrieval.release_notes.gone import Told, ended, fates, named, spelled_in_pages, stays
from core.retrieval.release_notes.headed import SAYS, documents, headed, sections_of, told_by_marks
from core.retrieval.release_notes.notes import by_version, chosen, settled, sorted_by_kind
from core.retrieval.release_notes.requirements import dropped, drops, named_in
from core.retrieval.release_notes.verdict import last_of
from core.system.offload import aside
from core.text.version_order import version_key
from core.text.words import index_terms, parts_indexed

DROPPED = 2
"""Pages of release notes that tell what the product needs; ours."""
NOTES = 10
"""Pages of release notes that are looked through at once: each takes half a millisecond."""
HOLDING = 500
"""Passages, and pages of a release's notes, that are looked at for a name; ours."""


class ReleaseNotes:
    """Reads the release notes of the live corpora, by the versions that their headings name."""

    def __init__(self, live: Mapping[str, Live], pages: PageViews, words: WordIndex) -> None:
        self._live = live
        self._pages = pages
        self._words = words

    def settled(self, news: News) -> News | None:
        """Say in which release's pages the notes stand that are asked for; None where there are none."""
        return settled(news, {release: live.notes for release, live in self._live.items()})

    async def of(self, span: Span, kind: str, keep: int = KEPT) -> Found:
        """Return up to `keep` pages of release notes of a span of versions, those that tell the kind first.

        Of a range there are twice as many.
        """
        keep = keep * 2 if span.after else keep
        while (live := self._live.get(span.release)) is not None:
            ids = chosen(live.notes, span)
            pages = await self._pages.chunks(ids)
            if self._live.get(span.release) is live:
                best = sorted_by_kind([pages[key] for key in ids if key in pages], kind)[:keep]
                evidence = tuple(Evidence(n, page, 1.0 / n) for n, page in enumerate(best, start=1))
                return Found(evidence, named=bool(evidence))
        return Found()

    async def dated(self, asked: Dated, release: str, found: Found) -> Found:
        """Put the pages first that say in which version something came or went; as it was where none do."""
        live = self._live.get(release)
        if live is None or not live.notes:
            return found
        ids = by_version(live.notes, oldest_first=asked.kind != "removed")
        pages = await self._pages.chunks(ids)
        notes = [pages[key] for key in ids if key in pages]
        first = await aside(len(notes), dated, asked, found.evidence, notes, few=NOTES)
        told = {item.chunk.id for item in first}
        rest = [replace(item, matched=()) for item in found.evidence if item.chunk.id not in told]
        evidence = tuple(replace(item, number=n) for n, item in enumerate([*first, *rest][:KEPT], start=1))
        return replace(found, evidence=evidence, named=True) if first else found

    async def needing(self, name: str, release: str) -> Found:
        """Return the newest notes up to a release that tell which versions of a software are needed."""
        live, until = self._live.get(release), numbers(release)
        past = [note for note in live.notes if not (until and later(note.version, until))] if live else []
        ids = by_version(past, oldest_first=False)
        pages = await self._pages.chunks(ids)
        notes = [pages[key] for key in ids if key in pages]
        lines = await aside(len(notes), lambda: [dropped(name, page.page) for page in notes], few=NOTES)
        told = [(page, tuple(some)) for page, some in zip(notes, lines, strict=True) if some][:DROPPED]
        evidence = tuple(Evidence(n, page, 1.0 / n, some) for n, (page, some) in enumerate(told, start=1))
        return Found(evidence, named=bool(evidence))

    async def dropping(self, name: str, number: str, release: str) -> Told | None:
        """Return the notes up to a release that tell that a version of other software was dropped."""
        live, until = self._live.get(release), numbers(release)
        if live is None or not until or not name:
            return None
        past = [note for note in live.notes if not later(note.version, until)]
        pages = await self._pages.chunks(by_version(past, oldest_first=False))
        known = drops(name, number)
        for note in sorted(past, key=lambda one: one.version, reverse=True):
            for line in pages[note.context_id].page.split("\n") if note.context_id in pages else ():
                if found := known.search(line):
                    said = named_in(found[0], name)
                    page = pages[note.context_id]
                    return Told(f"{said} {number}", "removed", note.version, page, line.strip(" -*+"))
        return None

    def newer(self, found: Found, release: str) -> Found:
        """Leave out what older notes tell where the first page says what a version up to the release brought.

        Lists of changes have a version for each patch: the first of them is not the one that tells most.
        """
        live, until = self._live.get(release), numbers(release)
        of = {note.context_id: note.version for note in live.notes} if live else {}
        first = of.get(found.evidence[0].chunk.id, ()) if found.evidence else ()
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
        others = sorted((name for name in self._live if name != release), key=version_key, reverse=True)
        ids: dict[str, tuple[int, ...]] = {}
        known: set[tuple[int, ...]] = set()
        for live in (self._live[name] for name in (release, *others) if name in self._live):
            by_age = [
                sorted((live.notes[live.note_at[page]].version, live.note_at[page]) for page in places)
                for places in (live.places.noting(name) for name in names)
            ]
            kept = {at for some in by_age for _, at in (some[:HOLDING] if oldest else some[-HOLDING:])}
            for note in (live.notes[at] for at in sorted(kept)):
                if note.version not in known:
                    ids[note.context_id] = note.version
            known |= live.versions
        pages = await self._pages.chunks(list(ids))
        return [(version, pages[key]) for key, version in ids.items() if key in pages]

    async def came(self, names: Sequence[str], release: str, only_later: bool) -> tuple[Came, ...]:
        """Return in which version names came, by the notes and the newest entries of all releases.

        With `only_later` those alone that the pages of the release do not have, and a later one does.
        """
        until, found = numbers(release), list[Came]()
        newest = max(self._live, key=version_key, default="")
        for name in names:
            if only_later and (not until or await self._has(name, release)):
                continue
            notes = await self._noted(release, [name], oldest=True)
            keys = self._headed([name], newest).get(name, [])
            pages = await self._pages.chunks(keys)
            one = came(name, notes, [pages[key] for key in keys if key in pages])
            if one and not (only_later and not later(one.version, until)):
                found.append(one)
        return tuple(found)

    async def _has(self, name: str, release: str) -> bool:
        """Return True if a release's pages hold a name."""
        known, live = named(name), self._live.get(release)
        if live is None:
            return False
        held = await self._holding(live, name)
        return any(known.search(live.text_of[key]) for key in held if key in live.text_of)

    async def _holding(self, live: Live, name: str) -> list[str]:
        """Return passages that may have a name in text or title: by its words, or by looking at all."""
        if terms := parts_indexed(spelled_in_pages(name)):
            return await self._words.holding(live.corpus.collection, terms, HOLDING)
        known = named(name)

        def look() -> list[str]:
            titles = {page for page, title in live.title_of.items() if known.search(title)}
            texts = live.text_of.items()
            return [key for key, text in texts if live.context_of.get(key) in titles or known.search(text)]

        return (await aside(len(live.text_of), look))[:HOLDING]

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

    def release_with(self, version: tuple[int, ...]) -> str:
        """Return the oldest live release that is a version or came after it; "" where none is."""
        names = sorted(self._live, key=version_key)
        return next((name for name in names if numbers(name)[:2] >= version[:2]), "")

    async def _checked(self, told: Sequence[Told], names: Sequence[str], release: str) -> list[Told]:
        """Put what a release's own pages tell of names first; drop the end of what they document."""
        of = self._headed(names, release)
        pages = await self._pages.chunks([key for some in of.values() for key in some])
        until, kept = numbers(release), list(told)
        marked: list[Told] = []
        for name, keys in of.items():
            entries = [pages[key] for key in keys if key in pages]
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
        noted = any(live.places.noting(name) for live in self._live.values() for name in names)
        if not (until and noted):
            return ()
        told = await self.gone(names, release)
        ends = {name: ended([one for one in told if one.name == name], until) for name in names}
        live = self._live.get(release)
        left = [n for n, end in ends.items() if end and not (live and await self._stays(n, end, live))]
        return tuple(one for one in told if one.name in left)

    def _headed(self, names: Sequence[str], release: str) -> dict[str, list[str]]:
        """Return the pages of a release, notes left out, whose own heading is a name, by the name."""
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


def later(version: tuple[int, ...], until: tuple[int, ...]) -> bool:
    """Return True if a version comes after a release and all its patches."""
    return version > until and not begins(version, until)


def numbers(release: str) -> tuple[int, ...]:
    """Return the version in a release's name; () where it has none."""
    found = re.search(r"\d+(?:\.\d+)*", release)
    return tuple(map(int, found[0].split("."))) if found else ()
