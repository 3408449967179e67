"""What a release brought: the notes of a release or a range, and in which version something came or went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from core.domain import Dated, Evidence, News, Span
from core.ports import CorpusStore
from core.retrieval.found import KEPT, Found
from core.retrieval.live import Live
from core.retrieval.release_notes.dated import dated
from core.retrieval.release_notes.notes import by_version, chosen, settled, sorted_by_kind
from core.system.offload import aside

NOTES = 10
"""Pages of release notes that are looked through at once: each takes half a millisecond."""


class ReleaseNotes:
    """Reads the release notes of the live corpora, by the versions that their headings name."""

    def __init__(self, live: Mapping[str, Live], store: CorpusStore) -> None:
        self._live = live
        self._store = store

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
            pages = await self._store.contexts(ids)
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
        pages = await self._store.contexts(ids)
        notes = [pages[key] for key in ids if key in pages]
        first = await aside(len(notes), dated, asked, found.evidence, notes, few=NOTES)
        told = {item.chunk.id for item in first}
        rest = [replace(item, matched=()) for item in found.evidence if item.chunk.id not in told]
        evidence = tuple(replace(item, number=n) for n, item in enumerate([*first, *rest][:KEPT], start=1))
        return replace(found, evidence=evidence, named=True) if first else found
