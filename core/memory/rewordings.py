"""The rewordings of a remembered question, learned from votes on its reused answer (*ours*).

If a pair was reused for another wording and voted good there, that wording is one of its rewordings.
All of this is derived from kept answers and their votes, so a rebuild gives the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from core.domain import Vector
from core.memory.decision import Decision
from core.memory.scoring.score import Thresholds, score
from core.ports import Matrix, Remembered, Reworded

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
