"""What community memory needs from its stores, in dictionaries: a simulation leaves nothing on disk."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Literal, cast

import numpy as np

from core.domain import Answer, Question, Vector, Vote
from core.ports import (
    CorpusStore,
    Encoder,
    Matrix,
    MemoryChange,
    MemoryStore,
    Placement,
    Remembered,
    Reworded,
    RewordingStore,
    TopicVector,
)


class Texts:
    """The `Encoder` port with a vector kept of every text; shared by the runs of a simulation."""

    def __init__(self, encoder: Encoder) -> None:
        self.name = encoder.name
        self.dimensions = encoder.dimensions
        self.max_tokens = encoder.max_tokens
        self.count_tokens = encoder.count_tokens
        self._encoder = encoder
        self._kept: dict[str, Vector] = {}

    async def encode(self, texts: Sequence[str]) -> Matrix:
        """Return float32 of shape (len(texts), dimensions), rows of unit length."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._kept]
        if missing:
            self._kept |= zip(missing, await self._encoder.encode(missing), strict=True)
        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        return np.stack([self._kept[text] for text in texts])

    async def one(self, text: str) -> Vector:
        """Return the vector of one text."""
        vector: Vector = (await self.encode([text]))[0]
        return vector

    def forget(self) -> None:
        """Keep everything: that is what this is for."""

    def close(self) -> None:
        """Leave the encoder to its owner."""


@dataclass(frozen=True, slots=True)
class Stores:
    """Where a simulated memory keeps what it knows."""

    memories: MemoryStore
    corpora: CorpusStore
    rewordings: RewordingStore


OpenStores = Callable[[], AbstractAsyncContextManager[Stores]]
"""Opens empty stores, which are gone when the run is over."""


class Vectors:
    """The part of the `CorpusStore` port that memory uses: vectors by the hash of their text."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Vector] = {}

    async def put_vectors(self, encoder: str, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors by the hash of their text."""
        self._kept |= {(encoder, key): vector for key, vector in vectors.items()}

    async def vectors(self, encoder: str, hashes: Sequence[str]) -> dict[str, Vector]:
        """Return the kept vectors of those text hashes."""
        return {key: self._kept[encoder, key] for key in hashes if (encoder, key) in self._kept}


class Memories:
    """The part of the `MemoryStore` and `RewordingStore` ports that memory and a simulation use.

    A vote is never taken back here, and a later one of the same person on the same pair replaces it.
    """

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._pairs: dict[str, Remembered] = {}
        self._answers: dict[str, tuple[str, Reworded]] = {}
        self._answers_of: dict[str, list[str]] = {}
        self._of_pair: dict[str, dict[str, tuple[int, float]]] = {}
        self._of_answer: dict[str, dict[str, tuple[int, float]]] = {}
        self._placements: dict[str, Placement] = {}

    async def save_answer(
        self, answer: Answer, question: Question, pair: Remembered | None, *, topic: TopicVector | None = None
    ) -> None:
        """Keep an answer, and the neutral pair it may become with the vector of its topic."""
        if pair is not None:
            self._pairs.setdefault(pair.id, pair)
        if topic is not None:
            await self._vectors.put_vectors(topic.encoder, {topic.text_hash: topic.vector})
        said = Reworded(answer.id, question.text, question.asker, float(len(self._answers)))
        self._answers[answer.id] = (answer.pair_id, said)
        self._answers_of.setdefault(answer.pair_id, []).append(answer.id)

    async def add(self, pairs: Sequence[Remembered]) -> set[str]:
        """Keep pairs that people brought; return the ids that were new."""
        new = {pair.id: pair for pair in pairs if pair.id not in self._pairs}
        self._pairs |= new
        return set(new)

    async def set_aside(self, ids: Sequence[str], why: Literal["", "retired", "evicted"]) -> None:
        """Write down why pairs are in no store."""
        self._pairs |= {key: replace(self._pairs[key], aside=why) for key in ids if key in self._pairs}

    async def pair(self, pair_id: str) -> Remembered | None:
        """Return a pair with its standing opinions, or None."""
        return self._voted(pair_id) if pair_id in self._pairs else None

    async def pairs(self, ids: Iterable[str]) -> dict[str, Remembered]:
        """Return pairs by id with their standing opinions."""
        return {key: self._voted(key) for key in ids if key in self._pairs}

    async def vote(self, vote: Vote, weight: float) -> Remembered | None:
        """Append a vote event; return the pair it counts for, with the opinions after it."""
        pair_id = self._answers[vote.answer_id][0] if vote.answer_id in self._answers else ""
        if pair_id not in self._pairs or vote.value is None:
            return None
        for kept, key in ((self._of_pair, pair_id), (self._of_answer, vote.answer_id)):
            kept.setdefault(key, {})[vote.voter] = (vote.value, weight)
        return self._voted(pair_id)

    async def rewordings(self, ids: Sequence[str]) -> dict[str, tuple[Reworded, ...]]:
        """Return by pair the questions that got its answer and a vote."""
        found = {}
        for pair_id in ids:
            voted = [key for key in self._answers_of.get(pair_id, ()) if key in self._of_answer]
            found[pair_id] = tuple(
                replace(self._answers[key][1], opinions=tuple(self._of_answer[key].values())) for key in voted
            )
        return found

    async def place(self, change: MemoryChange) -> None:
        """Write derived placements."""
        for pair_id in change.removed:
            self._placements.pop(pair_id, None)
        self._placements |= {placement.pair_id: placement for placement in change.placements}

    async def placements(self) -> tuple[tuple[Placement, Remembered], ...]:
        """Return every placed pair with its placement, in order of id."""
        return tuple((placement, self._voted(key)) for key, placement in sorted(self._placements.items()))

    async def voted(self) -> tuple[Remembered, ...]:
        """Return every pair that has a standing opinion or was brought by people, in order of id."""
        pairs = (self._voted(key) for key in sorted(self._pairs))
        return tuple(pair for pair in pairs if pair.opinions or pair.origin != "answer")

    async def clear_placements(self) -> None:
        """Forget every placement, before a rebuild."""
        self._placements.clear()

    def _voted(self, pair_id: str) -> Remembered:
        standing = self._of_pair.get(pair_id)
        pair = self._pairs[pair_id]
        return replace(pair, opinions=tuple(standing.values())) if standing else pair


@asynccontextmanager
async def in_memory() -> AsyncIterator[Stores]:
    """Open stores of dictionaries, which hold what memory asks for and no more."""
    vectors = Vectors()
    memories = Memories(vectors)
    yield Stores(cast(MemoryStore, memories), cast(CorpusStore, vectors), memories)
