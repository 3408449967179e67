"""In which words a remembered pair is asked: its own question and what people voted it good for (*ours*).

Votes on a reused answer are events that name the question; which phrasings a pair has follows from
them, as its score does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.domain import Vector, content_hash
from core.memory.decision import Decision
from core.memory.scoring import Thresholds, score, vouched
from core.memory.topics import Encoders, made
from core.ports import CorpusStore, MemoryStore, Remembered

UNDECIDED = 0.5
"""Prior of a phrasing: what people say of the answer to it decides."""


@dataclass(frozen=True, slots=True, eq=False)
class Phrasing:
    """A way in which a pair is asked: the topic of a question that its answer was voted good for."""

    topic: str
    vector: Vector


def spread(own: Vector, phrasings: Sequence[Phrasing], most: int) -> tuple[Phrasing, ...]:
    """Return at most so many phrasings, those that are farthest from each other and from the pair's own.

    The choice depends on which phrasings there are, never on the order in which they came.
    """
    waiting = sorted({p.topic: p for p in phrasings}.values(), key=lambda p: content_hash(p.topic))
    if not waiting:
        return ()
    table = np.stack([phrasing.vector for phrasing in waiting])
    nearest = table @ own
    chosen: list[Phrasing] = []
    while len(chosen) < min(most, len(waiting)):
        place = int(np.argmin(nearest))
        chosen.append(waiting[place])
        nearest = np.maximum(nearest, table @ waiting[place].vector)
        nearest[place] = np.inf
    return tuple(chosen)


class Phrasebook:
    """The phrasings of pairs, and for each pair the mean of all its vectors, to be searched."""

    def __init__(self, most: int, dimensions: int) -> None:
        self._most = most
        self._means = np.zeros((16, dimensions), np.float32)
        self._ids: list[str] = []
        self._row: dict[str, int] = {}
        self._phrasings: dict[str, tuple[Phrasing, ...]] = {}

    def __len__(self) -> int:
        """Return how many phrasings are kept."""
        return sum(map(len, self._phrasings.values()))

    def put(self, pair_id: str, own: Vector, phrasings: Sequence[Phrasing]) -> None:
        """Keep the phrasings of a pair instead of those there were; none at all takes it out."""
        kept = spread(own, phrasings, self._most)
        if not kept:
            self.remove(pair_id)
            return
        mean = np.mean([own, *(phrasing.vector for phrasing in kept)], axis=0)
        self._phrasings[pair_id] = kept
        self._means[self._place(pair_id)] = mean / (float(np.linalg.norm(mean)) or 1.0)

    def remove(self, pair_id: str) -> None:
        """Forget the phrasings of a pair; an unknown one is no error."""
        if pair_id not in self._row:
            return
        del self._phrasings[pair_id]
        row, last = self._row.pop(pair_id), self._ids[-1]
        if last != pair_id:
            self._means[row] = self._means[len(self._ids) - 1]
            self._ids[row] = last
            self._row[last] = row
        self._ids.pop()

    def nearest(self, vector: Vector, k: int) -> list[str]:
        """Return the pairs whose mean is nearest, best first."""
        if not self._ids:
            return []
        cosines = self._means[: len(self._ids)] @ vector
        top = np.argpartition(-cosines, min(k, len(cosines)) - 1)[:k]
        return [self._ids[row] for row in sorted(top, key=lambda row: (-cosines[row], self._ids[row]))]

    def closeness(self, pair_id: str, vector: Vector, own: float) -> float:
        """Return how close a question is to a pair, given the cosine with the pair's own question.

        It is half the cosine with the nearest phrasing and half that with the mean of them all.
        """
        row = self._row.get(pair_id)
        if row is None:
            return own
        nearest = max(own, *(float(p.vector @ vector) for p in self._phrasings[pair_id]))
        return (nearest + float(self._means[row] @ vector)) / 2

    def worded(self, pair_id: str, vector: Vector, own: float) -> str:
        """Return the phrasing nearest to a question, for the guard; empty where the pair's own is."""
        kept = self._phrasings.get(pair_id, ())
        nearest = max(kept, key=lambda p: float(p.vector @ vector), default=None)
        return nearest.topic if nearest is not None and float(nearest.vector @ vector) > own else ""

    def _place(self, pair_id: str) -> int:
        if pair_id not in self._row:
            if len(self._ids) == len(self._means):
                self._means = np.concatenate([self._means, np.zeros_like(self._means)])
            self._row[pair_id] = len(self._ids)
            self._ids.append(pair_id)
        return self._row[pair_id]


class Phrasebooks:
    """The phrasebook of each release and scope, kept up with the votes."""

    def __init__(
        self, store: MemoryStore, corpora: CorpusStore, decision: Decision, thresholds: Thresholds
    ) -> None:
        self._store = store
        self._corpora = corpora
        self._decision = decision
        self._thresholds = thresholds
        self._books: dict[tuple[str, str], Phrasebook] = {}

    def __len__(self) -> int:
        """Return how many phrasings are kept."""
        return sum(map(len, self._books.values()))

    def of(self, release: str, scope: str) -> Phrasebook | None:
        """Return the phrasebook of a partition; None where no phrasing is known, or none counts."""
        return self._books.get((release, scope))

    def clear(self) -> None:
        """Forget every phrasing, before they are learnt anew."""
        self._books = {}

    async def learn(
        self, pairs: Iterable[Remembered], vectors: Mapping[str, Vector], encoders: Encoders
    ) -> None:
        """Take over in which words questions were asked that people voted these pairs good for.

        `vectors` are the pairs' own by id. A pair whose questions were voted down again loses them.
        """
        if not self._decision.learns:
            return
        known = {pair.id: pair for pair in pairs if pair.id in vectors}
        asked = await self._store.rewordings(list(known))
        worded = [
            replace(known[pair_id], id=f"{pair_id} {reworded.topic}", topic=reworded.topic)
            for pair_id, all_ in asked.items()
            for reworded in all_
            if self._good(reworded.opinions)
        ]
        table = await made(self._corpora, encoders, worded)
        phrasings: dict[str, list[Phrasing]] = {}
        for one in worded:
            phrasings.setdefault(one.id.split(" ")[0], []).append(Phrasing(one.topic, table[one.id]))
        for pair_id, pair in known.items():
            own, mine = vectors[pair_id], phrasings.get(pair_id, [])
            key = (pair.release, pair.scope)
            if mine or key in self._books:
                book = self._books.setdefault(key, Phrasebook(self._decision.phrasings, len(own)))
                book.put(pair_id, own, mine)

    def _good(self, opinions: Sequence[tuple[int, float]]) -> bool:
        said = score(UNDECIDED, opinions, self._thresholds.prior_strength)
        return vouched(opinions) > 0 and said >= self._thresholds.gamma
