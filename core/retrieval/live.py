"""A live corpus as a search sees it: chunks that may be found, and pages as the second look reads them."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from core.domain import ContextChunk, Hit
from core.ports import Corpus, CorpusStore, Matrix, SearchRow
from core.retrieval.features import ABOVE, WINDOWS, Bits, PageView, is_name, number_of, packed
from core.retrieval.pregenerated import LivePairs, PairView
from core.retrieval.release_notes.index import NoteIndex
from core.retrieval.release_notes.notes import Note, Places, notes_of, once, version_of
from core.retrieval.unlearned import Unlearned
from core.text.version_order import version_key
from core.text.words import window_hashes

UNDER = 8
"""Sections inside of a section that are known of it at most."""
CACHED = 4096
"""Pages kept in memory."""
_MAKING = frozenset(
    {
        *("contribute", "contributing", "contributors", "dev", "development", "governance", "hacking"),
        *("code-of-conduct", "code_of_conduct", "internals", "issue-triage", "issue_triage", "maintainers"),
        *("release-process", "release_process", "releasing", "roadmap", "ux-research-design"),
    }
)
"""Folders and files on how a product is made."""


@dataclass(frozen=True, slots=True)
class Live:
    """A live corpus: context chunk, text and hash of each search chunk, the document of each
    context chunk.

    `reference` tells how far each document is an API reference: the share of its pages that are named
    after code. `notes` are the pages of release notes by version and by what they say. `parts` are all pages
    of the section that a page is only a part of, in order, `under` the first pages of the sections inside of
    it. `making` are documents on how the product is made. `title_of` has the title and headings of each page,
    `places` tells where names stand.
    """

    corpus: Corpus
    context_of: dict[str, str]
    text_of: dict[str, str]
    hash_of: dict[str, str]
    document_of: dict[str, str]
    reference: dict[str, float]
    notes: NoteIndex = field(default_factory=NoteIndex)
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    under: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    making: frozenset[str] = frozenset()
    title_of: Mapping[str, str] = field(default_factory=dict)
    ages: Mapping[str, float] = field(default_factory=dict)
    """How old the version is that each page of release notes is on (`ages_of`)."""
    places: Places = field(default_factory=Places)
    alike: frozenset[str] = frozenset()
    """Pages of sections whose innermost heading another section of their document has, too."""
    contents: tuple[str, ...] = ()
    """Titles of documents that are neither notes nor on how the product is made, long documents first."""

    def beside(self, page: str) -> tuple[str, ...]:
        """Return the other pages of its section, and the first ones of the sections inside of it."""
        return (*self.parts.get(page, ()), *self.under.get(page, ()))

    def only(self, hits: Sequence[Hit]) -> list[Hit]:
        """Leave out what is not live."""
        return [hit for hit in hits if hit.chunk_id in self.context_of]


def ages_of(release: str, notes: Iterable[Note]) -> dict[str, float]:
    """Return how old the version is that each page of a release's notes is on, by the page's id.

    0 is the release's own or a newer one, n / (n + 1) the n-th before it; patches are of their minor
    version.
    """
    pages = {note.context_id: note.version[:2] for note in notes}
    own = version_key(release)[0]
    versions = sorted({one for one in pages.values() if one[: len(own)] <= own}, reverse=True)
    aged = {version: place / (place + 1.0) for place, version in enumerate(versions)}
    return {page: aged.get(version, 0.0) for page, version in pages.items()}


def notes_in(rows: Iterable[SearchRow]) -> tuple[Note, ...]:
    """Return the pages of release notes among those of a corpus's search chunks, in reading order."""
    return notes_of({row.context_id: row.title for row in rows}.items())


def live_of(
    corpus: Corpus,
    rows: Sequence[SearchRow],
    notes: Sequence[Note] = (),
    pages: Mapping[str, ContextChunk] | None = None,
) -> Live:
    """Read what is live from a corpus's search chunks, its `notes` (`notes_in`) and their `pages`."""
    named: dict[str, dict[str, bool]] = {}
    sections: dict[tuple[str, str], dict[str, None]] = {}
    for row in rows:
        sections.setdefault((row.document_id, row.title), {})[row.context_id] = None
        named.setdefault(row.document_id, {})[row.context_id] = is_name(row.title)
    titles = {row.context_id: row.title for row in rows}
    texts = ((row.id, row.context_id, row.text) for row in rows)
    return Live(
        corpus,
        {row.id: row.context_id for row in rows},
        {row.id: row.text for row in rows},
        {row.id: row.text_hash for row in rows},
        {row.context_id: row.document_id for row in rows},
        {document: sum(pages.values()) / len(pages) for document, pages in named.items()},
        NoteIndex.of(notes, pages or {}),
        {page: tuple(pages) for pages in sections.values() if len(pages) > 1 for page in pages},
        _under(sections),
        frozenset(row.document_id for row in rows if is_of_making(row.path)),
        titles,
        ages_of(corpus.release, notes),
        Places.of(titles, texts, {note.context_id for note in notes}),
        _alike(sections),
        contents_of(rows, {note.context_id for note in notes}),
    )


def contents_of(rows: Sequence[SearchRow], notes: Collection[str]) -> tuple[str, ...]:
    """Return the titles of the documents, those with most sections first; ids of `notes` are left out."""
    sections: dict[str, dict[str, None]] = {}
    for row in rows:
        if row.context_id not in notes and not is_of_making(row.path):
            sections.setdefault(row.document_id, {})[row.title] = None
    by_length = sorted(sections.values(), key=len, reverse=True)
    return tuple(dict.fromkeys(filter(None, map(_title_of, by_length))))


def _title_of(sections: Collection[str]) -> str:
    """Return the title of a document, which its sections' titles begin with, before their first heading."""
    first = [section.partition(" > ")[0].split() for section in sections]
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(min(first), max(first), strict=False))
    return once(" ".join(word for word, _ in alike)) or once(" ".join(first[0]))


def is_of_making(path: str) -> bool:
    """Return True if a document is on how the product is made, by the names in its path."""
    *folders, file = path.lower().split("/")
    return not _MAKING.isdisjoint([*folders, file.partition(".")[0]])


def _alike(sections: Mapping[tuple[str, str], Iterable[str]]) -> frozenset[str]:
    """Return the pages of sections that have the innermost heading of another one of their document.

    Not those that are told apart by the version that they are on, or that are named after a thing in code.
    """
    named: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for document, title in sections:
        named.setdefault((document, title.rpartition(" > ")[2].casefold()), []).append((document, title))
    found: set[str] = set()
    for some in (some for some in named.values() if len(some) > 1 and not is_name(some[0][1])):
        versions = Counter(version_of(title) for _document, title in some)
        twice = (one for one in some if versions[version_of(one[1])] > 1)
        found.update(page for one in twice for page in sections[one])
    return frozenset(found)


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


@dataclass(frozen=True, slots=True)
class SeenPage:
    """A page with the pairs `made` of it: the numbers of its terms, part by part, and where each part ends.

    `rows` has a vector for each window, of numbers of 16 bits, `tokens` the bits of each one's tokens; None
    where not all are kept.
    """

    numbers: NDArray[np.uint64]
    ends: NDArray[np.int64]
    rows: NDArray[np.float16] | None
    tokens: tuple[Bits, ...] | None
    made: PairView | None

    @property
    def vectors(self) -> Matrix | None:
        """Return the vectors of its windows, a row each."""
        return None if self.rows is None else self.rows.astype(np.float32)

    @classmethod
    def read(cls, kept: bytes, made: PairView | None = None) -> SeenPage:
        """Read what `packed` wrote."""
        parts, dimensions, windows = np.frombuffer(kept, np.uint64, 3).tolist()
        lengths = np.frombuffer(kept, np.uint64, parts + windows, 24).astype(np.int64)
        ends = np.cumsum(lengths[:parts])
        begin = 8 * (3 + parts + windows)
        end = begin + 8 * int(ends[-1])
        numbers = np.frombuffer(kept, np.uint64, int(ends[-1]), begin)
        if not dimensions:
            return cls(numbers, ends, None, None, made)
        rows = np.frombuffer(kept, np.float16, (parts - WINDOWS) * dimensions, end)
        bits = np.frombuffer(kept, np.uint8, offset=end + 2 * len(rows))
        cuts = np.cumsum(lengths[parts:])[:-1]
        tokens = (
            tuple(some.reshape(-1, -(-dimensions // 8)) for some in np.split(bits, cuts)) if windows else None
        )
        return cls(numbers, ends, rows.reshape(-1, dimensions), tokens, made)


def views_of(pages: Sequence[SeenPage], terms: Iterable[str]) -> list[PageView]:
    """Return the views of pages, a column for each of these terms; what else stands there is left out."""
    if not pages:
        return []
    names = sorted(dict.fromkeys(terms), key=number_of)
    columns = {name: column for column, name in enumerate(names)}
    wanted = np.array([number_of(name) for name in names] or [0], np.uint64)
    every = np.concatenate([page.numbers for page in pages])
    which = np.minimum(np.searchsorted(wanted, every), len(wanted) - 1)
    places = np.flatnonzero(wanted[which] == every) if names else np.zeros(0, np.int64)
    told = which[places]
    bounds = np.cumsum([0, *(len(page.numbers) for page in pages)])
    rows = np.cumsum([0, *(len(page.ends) for page in pages)])
    of = np.searchsorted(bounds, places, "right") - 1
    ends = np.concatenate([page.ends + bound for page, bound in zip(pages, bounds.tolist(), strict=False)])
    parts = np.searchsorted(ends, places, "right")
    held = np.zeros((len(ends), len(names)), np.bool_)
    held[parts, told] = True
    is_text = parts - rows[of] >= WINDOWS
    cells = (of * len(names) + told)[is_text]
    counts = np.bincount(cells, minlength=len(pages) * len(names)).reshape(len(pages), len(names))
    beside = (np.diff(places) == 1) & (of[1:] == of[:-1]) & is_text[1:] & is_text[:-1]
    pairs: list[set[tuple[str, str]]] = [set() for _ in pages]
    for at in np.flatnonzero(beside).tolist():
        pairs[of[at]].add((names[told[at]], names[told[at + 1]]))
    return [
        PageView(
            columns,
            held[rows[n] : rows[n + 1]],
            counts[n],
            frozenset(pairs[n]),
            int(page.ends[-1] - page.ends[ABOVE]),
        )
        for n, page in enumerate(pages)
    ]


class PageViews:
    """Looks pages up in the store; what was looked up is remembered until a corpus changes."""

    def __init__(self, store: CorpusStore, unlearned: Unlearned | None = None) -> None:
        self._store = store
        self._unlearned = unlearned
        self._seen: OrderedDict[str, SeenPage] = OrderedDict()
        self._chunks: OrderedDict[str, ContextChunk] = OrderedDict()
        self._alike: frozenset[str] = frozenset()
        self._changes = 0

    def clear(self, live: Iterable[Live] = ()) -> None:
        """Forget all pages; of those that are `live` it is known which have a heading that others have."""
        self._alike = frozenset(page for one in live for page in one.alike)
        self._seen.clear()
        self._chunks.clear()
        self._changes += 1

    async def of(self, ids: Sequence[str], corpus: Corpus, pairs: LivePairs | None) -> dict[str, SeenPage]:
        """Return the pages of these ids that there are, in that order."""
        missing, changes = [key for key in ids if key not in self._seen], self._changes
        found = {key: self._seen[key] for key in ids if key in self._seen}
        if missing:
            kept = await self._store.views(corpus.views, missing)
            kept |= await self._made_now([key for key in missing if key not in kept], corpus)
            made = await pairs.views(self._store, corpus.encoder, missing) if pairs else {}
            found |= {key: SeenPage.read(view, made.get(key)) for key, view in kept.items()}
            if self._changes == changes:  # else what was read may be of before
                self._seen |= {key: found[key] for key in kept}
        while len(self._seen) > CACHED:
            self._seen.popitem(last=False)
        return {key: found[key] for key in ids if key in found}

    async def learn(self, pages: Collection[ContextChunk], corpus: Corpus) -> list[str]:
        """Embed the sentences of a corpus' pages; return the first pages, by id, all of whose are then."""
        read = await self._unlearned.read(pages, corpus.encoder) if self._unlearned else []
        for page in read:
            self._seen.pop(page.id, None)
        self._changes += bool(read)
        return [page.id for page in read]

    async def _made_now(self, ids: Sequence[str], corpus: Corpus) -> dict[str, bytes]:
        """Make views that are not kept (yet), as of a corpus whose windows are still being embedded."""
        if not ids:
            return {}
        chunks = await self._store.contexts(ids)
        hashes = [key for c in chunks.values() for key in window_hashes(c.title, c.heading, c.page)]
        vectors = await self._store.vectors(corpus.encoder, hashes)
        tokens = await self._store.tokens(corpus.encoder, hashes)
        # some milliseconds a page: others are served meanwhile
        return await asyncio.to_thread(lambda: {key: packed(c, vectors, tokens) for key, c in chunks.items()})

    async def chunks(self, ids: Sequence[str]) -> dict[str, ContextChunk]:
        """Return what the pages of these ids say, of those that there are, in that order."""
        missing = [key for key in ids if key not in self._chunks]
        if missing:
            pages = await self._store.contexts(missing)
            self._chunks |= {
                key: replace(page, is_alike=True) if key in self._alike else page
                for key, page in pages.items()
            }
        found = {key: self._chunks[key] for key in ids if key in self._chunks}
        while len(self._chunks) > CACHED:
            self._chunks.popitem(last=False)
        return found
