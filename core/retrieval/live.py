"""What is live of a corpus: which chunks may be found, whatever the indexes hold, and where they belong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.domain import Hit
from core.ports import Corpus, SearchRow
from core.retrieval.features import is_name, is_of_making
from core.retrieval.release_notes.notes import Note, notes_of
from core.text.said import Said
from core.text.version_order import version_key

UNDER = 8
"""Sections inside of a section that are known of it at most."""


@dataclass(frozen=True, slots=True)
class Live:
    """A live corpus: context chunk, text and hash of each search chunk, the document of each
    context chunk.

    `reference` tells how far each document is an API reference: the share of its pages that are named
    after code. `notes` are the pages of release notes, in reading order. `parts` are all pages of the section
    that a page is only a part of, in order, `under` the first pages of the sections inside of it. `making`
    are documents on how the product is made. `title_of` has the title and headings of each page, `said` all
    that it says, to be compared with other releases.
    """

    corpus: Corpus
    context_of: dict[str, str]
    text_of: dict[str, str]
    hash_of: dict[str, str]
    document_of: dict[str, str]
    reference: dict[str, float]
    notes: tuple[Note, ...] = ()
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    under: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    making: frozenset[str] = frozenset()
    title_of: Mapping[str, str] = field(default_factory=dict)
    said: Said = field(default_factory=Said.nothing)

    def only(self, hits: Sequence[Hit]) -> list[Hit]:
        """Leave out what is not live."""
        return [hit for hit in hits if hit.chunk_id in self.context_of]

    def ages(self) -> dict[str, float]:
        """Return how old the version is that each page of release notes is on, by the page's id.

        0 is the release's own or a newer one, n / (n + 1) the n-th before it; patches are of their minor
        version.
        """
        pages = {note.context_id: note.version[:2] for note in self.notes}
        own = version_key(self.corpus.release)[0]
        versions = sorted({one for one in pages.values() if one[: len(own)] <= own}, reverse=True)
        aged = {version: place / (place + 1.0) for place, version in enumerate(versions)}
        return {page: aged.get(version, 0.0) for page, version in pages.items()}


def live_of(corpus: Corpus, rows: Sequence[SearchRow], product: str = "") -> Live:
    """Read what is live from a corpus's search chunks; `product` is the name of what they are about."""
    named: dict[str, dict[str, bool]] = {}
    sections: dict[tuple[str, str], dict[str, None]] = {}
    for row in rows:
        sections.setdefault((row.document_id, row.title), {})[row.context_id] = None
        named.setdefault(row.document_id, {})[row.context_id] = is_name(row.title)
    return Live(
        corpus,
        {row.id: row.context_id for row in rows},
        {row.id: row.text for row in rows},
        {row.id: row.text_hash for row in rows},
        {row.context_id: row.document_id for row in rows},
        {document: sum(pages.values()) / len(pages) for document, pages in named.items()},
        notes_of({row.context_id: row.title for row in rows}.items()),
        {page: tuple(pages) for pages in sections.values() if len(pages) > 1 for page in pages},
        _under(sections),
        frozenset(row.document_id for row in rows if is_of_making(row.path)),
        {row.context_id: row.title for row in rows},
        Said.of((row.text for row in rows), product),
    )


def _under(sections: Mapping[tuple[str, str], Mapping[str, None]]) -> dict[str, tuple[str, ...]]:
    """Return the first pages of the sections inside of the one that a page is of, in reading order."""
    told = list(sections.items())
    found: dict[str, tuple[str, ...]] = {}
    for at, ((document, title), pages) in enumerate(told):
        inside: list[str] = []
        for (other, below), more in told[at + 1 : at + 1 + UNDER]:
            if other != document or not below.startswith(f"{title} > "):
                break
            inside.append(next(iter(more)))
        if inside:
            found |= dict.fromkeys(pages, tuple(inside))
    return found
