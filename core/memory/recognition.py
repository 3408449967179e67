"""Find pairs that a question may repeat, and how close it is to the rewordings that votes taught.

If a pair was reused for another wording and voted good there, that wording is one of its rewordings
(*ours*). All of this is derived from kept answers and their votes, so a rebuild gives the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from core.domain import QAPair, Vector
from core.memory.decision import Decision, Distinctions
from core.memory.facts import facts
from core.memory.partitions.partition_index import Encoders, embedded
from core.memory.scoring import Thresholds, score
from core.ports import CorpusStore, Encoder, Matrix, Remembered, Reworded, RewordingStore
from core.text.words import one_line

SAME_ANSWER = 0.9
"""Cosine from which two answers may be one in other words. Of two people's answers to one question .1 %
reach it, of answers to two questions none reaches even .7 (StackFAQ, MiniLM)."""
LEARNT_AT_ONCE = 100
"""Pairs that are learned from before others are served."""


class Recognition:
    """Learns rewordings of pairs from votes on reused answers, which `store` holds."""

    def __init__(
        self,
        decision: Decision,
        store: RewordingStore | None,
        corpora: CorpusStore,
        distinctions: Distinctions,
    ) -> None:
        self.decision = decision
        self.distinctions = distinctions
        self._store = store if decision.learns else None
        self._corpora = corpora
        self._centres = Centres()

    @property
    def centres(self) -> int:
        """Return how many vectors are searched beside those of the pairs' own questions."""
        return self._centres.count

    def empty(self, decision: Decision | None = None) -> Recognition:
        """Return an empty copy to rebuild from scratch, with another decision where one is given."""
        return Recognition(decision or self.decision, self._store, self._corpora, self.distinctions)

    async def learn(
        self,
        pairs: Collection[Remembered],
        encoders: Encoders,
        thresholds: Thresholds,
        place: Callable[[Remembered], Place],
    ) -> None:
        """Learn the rewordings of these pairs again; `place` returns a pair's release and scope."""
        if self._store is None or not pairs:
            return
        reworded = await self._store.rewordings([pair.id for pair in pairs])
        for count, pair in enumerate(pairs):
            if count % LEARNT_AT_ONCE == 0:
                await asyncio.sleep(0)
            said = reworded.get(pair.id, ())
            own = [one for one in said if not self.distinctions.has(pair.id, one.topic)]
            good, bad = sorted_out(pair, own, thresholds, self.decision)
            known = None
            if good or bad:
                encoder = encoders.of(pair.release)
                vectors = await embedded(self._corpora, encoder, [pair.topic, *good, *bad])
                known = ways(
                    vectors[pair.topic], [vectors[topic] for topic in good], [vectors[topic] for topic in bad]
                )
            self._centres.put(pair.id, place(pair), known)

    def nearest(self, vector: Vector, place: Place, k: int) -> list[str]:
        """Return the ids of the k pairs of a place whose centres are nearest, in any order."""
        return self._centres.nearest(vector, place, k)

    def closeness(self, pair_id: str, vector: Vector, own: Vector, delta: float) -> tuple[float, Vector, int]:
        """Return a question's closeness to a pair, the centre of its rewordings, and their number.

        `own` is the vector of the pair's own question.
        """
        known = self._ways(pair_id)
        if known is None or not len(known.accepted):
            return float(own @ vector), own, 0
        return closeness(vector, known, delta), known.centre, len(known.accepted)

    def rejected(self, pair_id: str, vector: Vector, delta: float) -> bool:
        """Return True if people voted this pair's answer bad for the question that is asked."""
        known = self._ways(pair_id)
        return known is not None and is_rejected(vector, known, delta)

    async def repeated(
        self, encoder: Encoder, text: str, recalled: Sequence[tuple[QAPair, float]]
    ) -> list[QAPair]:
        """Return the recalled pairs whose answer a new answer repeats, nearest first."""
        if not self.decision.learns or not recalled:
            return []
        vector, *others = await encoder.encode([text, *(pair.answer for pair, _ in recalled)])
        return [
            pair
            for (pair, _), other in zip(recalled, others, strict=True)
            if same_answer(text, pair.answer, float(vector @ other))
        ]

    def _ways(self, pair_id: str) -> Ways | None:
        return self._centres.of(pair_id)


def same_answer(one: str, other: str, cosine: float) -> bool:
    """Return True if two answers say the same; `cosine` is that of their vectors.

    One may be less detailed, so its numbers and identifiers must be among the other's.
    """
    if one_line(one) == one_line(other):
        return True
    if cosine < SAME_ANSWER:
        return False
    ours, theirs = facts(one), facts(other)
    return ours <= theirs or theirs <= ours


PRIOR = 0.5
"""Score of a rewording before any vote: votes alone tell whether the answer was right for it."""
Place = tuple[str, str]
"""Release and scope of pairs."""


@dataclass(frozen=True, slots=True, eq=False)
class Ways:
    """How a pair is asked: vectors of shape (n, dimensions) of accepted and of rejected rewordings.

    `own` is the vector of its own question, `centre` the mean of that and the accepted ones, of unit length.
    """

    own: Vector
    centre: Vector
    accepted: Matrix
    rejected: Matrix


def sorted_out(
    pair: Remembered, reworded: Iterable[Reworded], thresholds: Thresholds, decision: Decision
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the topics of accepted and of rejected rewordings, best and oldest first.

    Accepted are those that people voted as good as the high store needs (γ), rejected those that they voted
    as bad as that. Of one person one counts, and no more in all than the decision takes, so that nobody
    pulls the centre away.
    """
    accepted: dict[str, None] = {}
    rejected: dict[str, None] = {}
    askers: set[str] = set()
    scored = [(score(PRIOR, one.opinions, thresholds.prior_strength), one) for one in reworded]
    for value, one in sorted(scored, key=lambda item: (-item[0], item[1].at, item[1].answer_id)):
        if one.topic == pair.topic or not one.opinions:
            continue  # nothing new, or nobody who is known has voted
        if value < 1 - thresholds.gamma:
            rejected[one.topic] = None
        elif value >= thresholds.gamma and (not one.asker or one.asker not in askers):
            askers.add(one.asker)
            accepted[one.topic] = None
    # what some voted good and some bad is neither
    doubtful = accepted.keys() & rejected.keys()
    good = [topic for topic in accepted if topic not in doubtful][: decision.rewordings]
    return tuple(good), tuple(topic for topic in rejected if topic not in doubtful)[: decision.rewordings]


def ways(own: Vector, accepted: Sequence[Vector], rejected: Sequence[Vector]) -> Ways:
    """Return a pair's `Ways`, from the vectors of its own question and of its rewordings."""
    mean = np.mean([own, *accepted], axis=0, dtype=np.float64)
    norm = float(np.linalg.norm(mean))
    centre: Vector = np.asarray(mean / norm if norm else own, np.float32)
    return Ways(own, centre, _stacked(accepted, len(own)), _stacked(rejected, len(own)))


def closeness(vector: Vector, known: Ways, delta: float) -> float:
    """Return how close a question is to a pair's wordings.

    That is the cosine with their centre; where one of them is the same question by δ, that one's if higher.
    """
    centre = float(known.centre @ vector)
    one = max([float(known.own @ vector), *(known.accepted @ vector).tolist()])
    return max(centre, one) if one >= delta else centre


def is_rejected(vector: Vector, known: Ways, delta: float) -> bool:
    """Return True if people voted the answer bad for the same question, by δ, and no way to ask is nearer."""
    bad = max((known.rejected @ vector).tolist(), default=-1.0)
    good = max([float(known.own @ vector), *(known.accepted @ vector).tolist()])
    return bad >= delta and bad > good


class Centres:
    """The `Ways` of pairs with rewordings; their centres form one matrix per release and scope."""

    def __init__(self) -> None:
        self._ways: dict[str, Ways] = {}
        self._place: dict[str, Place] = {}
        self._tables: dict[Place, _Table] = {}

    @property
    def count(self) -> int:
        """Return how many pairs have accepted rewordings."""
        return len(self._place)

    def of(self, pair_id: str) -> Ways | None:
        """Return the ways to ask for a pair that has rewordings."""
        return self._ways.get(pair_id)

    def put(self, pair_id: str, place: Place, known: Ways | None) -> None:
        """Set the ways of a pair; None where it has no rewordings."""
        before = self._place.pop(pair_id, None)
        if before is not None:
            self._tables[before].remove(pair_id)
        self._ways.pop(pair_id, None)
        if known is None:
            return
        self._ways[pair_id] = known
        if len(known.accepted):
            self._place[pair_id] = place
            self._tables.setdefault(place, _Table(len(known.centre))).put(pair_id, known.centre)

    def nearest(self, vector: Vector, place: Place, k: int) -> list[str]:
        """Return the ids of the k pairs of a release and scope whose centres are nearest, in any order."""
        table = self._tables.get(place)
        return table.nearest(vector, k) if table is not None else []


class _Table:
    """Vectors under ids in one growing matrix."""

    def __init__(self, dimensions: int) -> None:
        self._ids: list[str] = []
        self._row: dict[str, int] = {}
        self._vectors = np.zeros((16, dimensions), np.float32)

    def put(self, pair_id: str, vector: Vector) -> None:
        if len(self._ids) == len(self._vectors):
            self._vectors = np.concatenate([self._vectors, np.zeros_like(self._vectors)])
        self._row[pair_id] = len(self._ids)
        self._vectors[len(self._ids)] = vector
        self._ids.append(pair_id)

    def remove(self, pair_id: str) -> None:
        row, last = self._row.pop(pair_id), self._ids.pop()
        if last != pair_id:
            self._vectors[row] = self._vectors[len(self._ids)]
            self._ids[row] = last
            self._row[last] = row

    def nearest(self, vector: Vector, k: int) -> list[str]:
        similarities = self._vectors[: len(self._ids)] @ vector
        k = min(k, len(self._ids))
        if not k:
            return []
        top = np.argpartition(-similarities, k - 1)[:k]
        return [self._ids[row] for row in top]


def _stacked(rows: Sequence[Vector], dimensions: int) -> Matrix:
    return np.stack(rows).astype(np.float32) if len(rows) else np.zeros((0, dimensions), np.float32)
