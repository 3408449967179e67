"""Large corpora for measurements: another corpus's paragraphs dealt anew, put straight into the stores.

Nothing is parsed, and nothing is embedded by a model: vectors are made of words. So half a million passages
take minutes beyond what the two indexes take. What a question meets is as large as it would be: passages,
pages, what the second look reads of them, and both indexes.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from bot.operations.application import Application
from core.domain import ChunkedDocument, ContextChunk, SearchChunk, Vector, content_hash
from core.models.embedding.encoder import PACKAGED, load_encoder
from core.ports import Corpus, Encoder, Matrix, TokenEncoder
from core.retrieval.features import bits_of, number_of, view_bytes
from core.text.words import index_terms, query_terms, windows

RELEASE = "1.0"
SECTIONS, PARAGRAPHS = 50, (1, 6)
"""Sections of a dealt page, and from and to how many paragraphs one has."""
AT_ONCE = 100
"""Documents that are put into the stores at once."""
FEW = 4
"""Texts up to which a call is a question's."""


class ByWords:
    """An encoder for large corpora: a text's vector is the sum of its terms', and each term is a token.

    A question is embedded by the model, too, which is what that takes; what comes of it is left out.
    """

    name = "by-words@256"
    dimensions = 384
    max_tokens = 256

    def __init__(self, models: Path) -> None:
        self._model: Encoder = load_encoder(PACKAGED, models)
        self.count_tokens = self._model.count_tokens

    async def encode(self, texts: Sequence[str]) -> Matrix:
        """Return unit vectors; few texts are taken for a question."""
        if len(texts) <= FEW:
            await self._model.encode(texts)
        rows = [_unit(vector_of(text)) for text in texts]
        return np.array(rows, np.float32).reshape(len(texts), self.dimensions)

    async def encode_tokens(self, texts: Sequence[str]) -> tuple[Matrix, list[Matrix]]:
        """Return the same, and the unit vectors of each text's terms."""
        if len(texts) <= FEW and isinstance(self._model, TokenEncoder):
            await self._model.encode_tokens(texts)
        tokens = [tokens_of(text) for text in texts]
        rows = [_unit(vector_of(text)) for text in texts]
        return np.array(rows, np.float32).reshape(len(texts), self.dimensions), tokens

    def forget(self) -> None:
        """Drop what the model remembers."""
        self._model.forget()

    def close(self) -> None:
        """Close the model."""
        self._model.close()


@lru_cache(maxsize=1 << 16)
def _of_term(term: str) -> Vector:
    vector = np.random.default_rng(list(term.encode())).standard_normal(ByWords.dimensions)
    return vector.astype(np.float32)


def _terms(text: str) -> list[str]:
    return query_terms(text) or index_terms(text) or [text]


def tokens_of(text: str) -> Matrix:
    """Return the unit vectors of a text's terms, shape (terms, dimensions)."""
    return np.stack([_unit(_of_term(term)) for term in _terms(text)])


@lru_cache(maxsize=1 << 16)
def vector_of(text: str) -> Vector:
    """Return the sum of the vectors of a text's terms."""
    total: Vector = np.sum([_of_term(term) for term in _terms(text)], axis=0)
    return total


def _unit(vector: Vector) -> Vector:
    unit: Vector = vector / np.linalg.norm(vector)
    return unit


async def deal(app: Application, sections: Sequence[tuple[str, str]], passages: int) -> Corpus:
    """Put a corpus of so many passages into a home, and let it answer.

    `sections` are headings and pages of another corpus. A passage is a section of its own, with a heading
    and paragraphs of others.
    """
    chance = random.Random(passages)
    headings = [heading.rpartition(" > ")[2] for heading, _ in sections if heading]
    paragraphs = [
        part for _, page in sections for part in page.split("\n\n") if part.strip() and "```" not in part
    ]
    corpus = Corpus(RELEASE, ByWords.name, 0, 0.0, 0, 0)
    ids: list[str] = []
    left = passages
    while left:
        some: list[ChunkedDocument] = []
        while left and len(some) < AT_ONCE:
            count = min(SECTIONS, left)
            title = f"{chance.choice(headings)} {len(ids) + len(some)}"
            some.append(_document(title, [_dealt(headings, paragraphs, chance) for _ in range(count)]))
            left -= count
        await _put(app, corpus, some)
        ids += [document.id for document in some]
    live = await app.corpora.swap(RELEASE, ids, ByWords.name)
    await app.searcher.load(RELEASE)
    return live


@dataclass(frozen=True, slots=True)
class _Dealt:
    """A section: its heading and its paragraphs."""

    heading: str
    paragraphs: tuple[str, ...]


def _dealt(headings: Sequence[str], paragraphs: Sequence[str], chance: random.Random) -> _Dealt:
    heading = f"{chance.choice(headings)}, {chance.choice(headings)}"
    return _Dealt(heading, tuple(chance.choices(paragraphs, k=chance.randint(*PARAGRAPHS))))


def _document(title: str, sections: Sequence[_Dealt]) -> ChunkedDocument:
    key = content_hash(RELEASE, title)
    path = f"{key}.md"
    contexts, searches = [], []
    for number, section in enumerate(sections):
        own = content_hash(key, str(number))
        page = "\n\n".join(section.paragraphs)
        contexts.append(ContextChunk(own, path, title, section.heading, "", page, release=RELEASE))
        searches.append(SearchChunk(own, own, page, f"{title}: {section.heading}\n{page}"))
    return ChunkedDocument(key, key, "dealt", path, title, "", tuple(contexts), tuple(searches))


async def _put(app: Application, corpus: Corpus, documents: Sequence[ChunkedDocument]) -> None:
    """Put documents into the store and both indexes."""
    views: dict[str, bytes] = {}
    vectors: list[Vector] = []
    entries: list[tuple[str, str, str]] = []
    for document in documents:
        await app.corpora.put(corpus.release, document)
        for page in document.contexts:
            views[page.id] = view_of(page)
            parts = [page.heading, *page.page.split("\n\n")]
            vectors.append(_unit(np.sum([vector_of(part) for part in parts], axis=0)))
            entries.append((page.id, f"{page.title} {page.heading}", page.page))
    await app.corpora.put_views(corpus.views, views)
    await app.vectors.upsert(corpus.collection, [key for key, *_ in entries], np.stack(vectors))
    await app.words.upsert(corpus.collection, entries)


def view_of(page: ContextChunk) -> bytes:
    """Return what the second look reads of a page, as it is kept."""
    cut = [window for part in page.page.split("\n\n") for window in _windows(part)]
    parts = [_numbers(page.title), _numbers(page.heading), _numbers(page.heading), *map(_numbers, cut)]
    above = vector_of(page.heading)
    rows = np.stack([_unit(above + vector_of(window)) for window in cut])
    return view_bytes(parts, rows, [_bits(page.heading) + _bits(window) for window in cut])


@lru_cache(maxsize=1 << 16)
def _windows(paragraph: str) -> tuple[str, ...]:
    return tuple(windows(paragraph))


@lru_cache(maxsize=1 << 16)
def _numbers(text: str) -> Sequence[int]:
    return [number_of(term) for term in index_terms(text)]


@lru_cache(maxsize=1 << 16)
def _bits(text: str) -> bytes:
    return bits_of(tokens_of(text))
