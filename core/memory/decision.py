"""Decide whether a question was asked before: by ComRAG's δ, or learned from rewordings (*ours*).

ComRAG reuses from cosine δ on, however near other remembered questions are. The decision that learns
compares a question with the *centre* of all the ways in which a pair is known to be asked, and needs
the more the nearer the next pair on another topic is. Both leave the last word to guard and votes, and to
what people told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.domain import Vector, content_hash
from core.languages import _, ngettext
from core.memory.partitions.partition_index import Encoders, embedded
from core.ports import CorpusStore, Encoder, Matrix, Remembered
from core.ports.opinions import Distinction, DistinctionStore
from core.text.words import words

CANDIDATES = 8
"""Pairs looked at before one is reused, so that there is a next one to be ahead of."""
Guard = Callable[[str, str], str]
"""Says in what two topics differ so that they must not share an answer; "" where they may."""


@dataclass(frozen=True, slots=True)
class Decision:
    """How close a question must be for an answer to be reused.

    `paper`: the cosine with the pair's own question is at least δ. `learned`: the closeness to the ways in
    which it is asked is at least `reach`, and `slope` more for each 1.0 by which the next pair is nearer
    than `far`, the closeness of an unrelated one. The defaults suit all-MiniLM-L6-v2; docs/simulation.md
    says by which data.
    """

    kind: Literal["paper", "learned"] = "learned"
    reach: float = 0.674
    far: float = 0.52
    slope: float = 2 / 3
    rewordings: int = 8
    """Rewordings that move a pair's centre at most."""

    @property
    def learns(self) -> bool:
        """Return True if rewordings and the next pair count."""
        return self.kind == "learned"

    def needed(self, rival: float) -> float:
        """Return the closeness that is enough where the next pair with another answer is `rival` close."""
        return self.reach + self.slope * max(0.0, rival - self.far)


PAPER = Decision("paper")
LEARNED = Decision("learned")


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A pair of the high store that a question may be asking for again.

    `centre` is that of the ways in which it is asked, of which `rewordings` are others than its own.
    """

    pair: Remembered
    closeness: float
    centre: Vector
    rewordings: int = 0


@dataclass(frozen=True, slots=True)
class Chosen:
    """The decision: the candidate to reuse or None, and in plain words why (`said`).

    `blocked` says why a pair that was close enough is not reused; empty otherwise.
    """

    candidate: Candidate | None
    said: str
    blocked: str = ""


def choose(
    candidates: Sequence[Candidate],
    decision: Decision,
    delta: float,
    hindrance: Callable[[Candidate], str],
    guard: Guard,
) -> Chosen:
    """Decide whether one of the candidates, closest first, is reused.

    `hindrance` says what keeps a candidate that is close enough from being reused, or "".
    """
    said = blocked = ""
    topics = _topics(candidates, decision, guard) if decision.learns else {}
    for candidate in candidates:
        needed, next_one = delta, 0.0
        if decision.learns:
            rival = _rival(candidate, candidates, topics)
            needed = decision.needed(rival)
            next_one = rival if rival > decision.far else 0.0
        told = how_near(candidate.closeness, needed, next_one, candidate.rewordings)
        said = said or told
        if candidate.closeness < needed:
            break
        blocked = hindrance(candidate)
        if not blocked:
            return Chosen(candidate, told)
    return Chosen(None, said, blocked)


def _topics(candidates: Sequence[Candidate], decision: Decision, guard: Guard) -> dict[str, str]:
    """Return for each candidate's id that of the pair whose topic it shares, its own where it is alone.

    Two pairs are on one topic where the question of one would be recognised as the other's. Those that are
    asked in most ways come first, so that what is known well gathers what is known little.
    """
    heads: list[Candidate] = []
    topics: dict[str, str] = {}
    for one in sorted(candidates, key=lambda c: (-c.rewordings, c.pair.created_at, c.pair.id)):
        topics[one.pair.id] = one.pair.id
        near = sorted(((float(one.centre @ head.centre), place) for place, head in enumerate(heads)))
        if near:
            closeness, place = near[-1]
            rival = near[-2][0] if len(near) > 1 else 0.0
            head = heads[place].pair
            if closeness >= decision.needed(rival) and not guard(one.pair.topic, head.topic):
                topics[one.pair.id] = head.id
                continue
        heads.append(one)
    return topics


def _rival(candidate: Candidate, candidates: Sequence[Candidate], topics: Mapping[str, str]) -> float:
    """Return how close the closest pair is that would be a wrong answer if the candidate is the right one."""
    return max(
        (
            other.closeness
            for other in candidates
            if topics[other.pair.id] != topics[candidate.pair.id]
            and other.pair.answer != candidate.pair.answer
        ),
        default=0.0,
    )


def how_near(closeness: float, needed: float, next_one: float = 0.0, rewordings: int = 0) -> str:
    """Say how similar a question is to the nearest remembered one, and from what similarity it is reused.

    `next_one` is how close the next pair on another topic is, where that counts.
    """
    if rewordings:
        near = ngettext(
            "{close} similar to a remembered question and its rewording",
            "{close} similar to a remembered question and its {count} rewordings",
            rewordings,
        )
    else:
        near = _("{close} similar to a remembered question")
    near = near.format(close=f"{max(closeness, 0.0):.0%}", count=rewordings)
    enough = _("(reused from {needed}).")
    if next_one:
        enough = _("(reused from {needed}, as another remembered question is {rival} similar).")
    return f"{near} {enough.format(needed=f'{needed:.0%}', rival=f'{next_one:.0%}')}"


# --- what people told apart -------------------------------------------------------------------

Apart = Callable[[str, Vector], bool]
"""Tells for a pair's id and the vector of its question whether the question asked is another one."""


def key_of(topic: str) -> str:
    """Return the fingerprint of a question's words, by which it is known once they are gone."""
    return content_hash("apart", " ".join(words(topic)))


class Distinctions:
    """Questions that people told apart from remembered ones: neither gets the other's answer (*ours*).

    What somebody said of one question holds for what is the same question by δ, as long as it is nearer to
    that than to the one it was told apart from. Votes and scores know nothing of it.
    """

    def __init__(self, store: DistinctionStore | None, corpora: CorpusStore) -> None:
        self._store = store
        self._corpora = corpora
        self._tables: dict[str, _Table] = {}
        self._keys: dict[str, frozenset[str]] = {}

    async def load(self, encoders: Encoders) -> None:
        """Read all of them again; what was read before holds until this is done."""
        if self._store is None:
            return
        by_encoder: dict[str, tuple[Encoder, list[Distinction]]] = {}
        keys: dict[str, set[str]] = {}
        for said in await self._store.told_apart():
            encoder = encoders.of(said.release)
            by_encoder.setdefault(encoder.name, (encoder, []))[1].append(said)
            keys.setdefault(said.pair_id, set()).add(said.key)
        tables = {name: await self._table(encoder, told) for name, (encoder, told) in by_encoder.items()}
        self._tables = tables
        self._keys = {pair_id: frozenset(theirs) for pair_id, theirs in keys.items()}

    async def _table(self, encoder: Encoder, told: list[Distinction]) -> _Table:
        texts = {text for one in told for text in (one.topic, one.remembered) if text}
        vectors = await embedded(self._corpora, encoder, texts)
        nothing = np.zeros_like(next(iter(vectors.values())))
        return _Table(
            tuple(one.pair_id for one in told),
            np.array([one.key for one in told]),
            np.stack([vectors.get(one.topic, nothing) for one in told]),
            np.stack([vectors.get(one.remembered, nothing) for one in told]),
        )

    def has(self, pair_id: str, topic: str) -> bool:
        """Return True if somebody told this very question apart from a pair."""
        return pair_id in self._keys and key_of(topic) in self._keys[pair_id]

    def of(self, topic: str, vector: Vector, encoder: Encoder, delta: float) -> Apart:
        """Return what tells of a question, by its topic and that one's vector, which pairs it is not for."""
        table = self._tables.get(encoder.name)
        if table is None or table.asked.shape[1] != len(vector):
            return _none
        return table.of(key_of(topic), vector, delta)


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Row by row the pair, the fingerprint, and the vectors of the question asked and of the pair's own."""

    pairs: tuple[str, ...]
    keys: NDArray[np.str_]
    asked: Matrix
    remembered: Matrix

    def of(self, key: str, vector: Vector, delta: float) -> Apart:
        to_asked, to_remembered = self.asked @ vector, self.remembered @ vector
        is_asked = (self.keys == key) | _nearer(to_asked, to_remembered, delta)
        is_remembered = ~is_asked & _nearer(to_remembered, to_asked, delta)
        if not (is_asked.any() or is_remembered.any()):
            return _none
        named = {self.pairs[row] for row in np.flatnonzero(is_asked)}

        def apart(pair_id: str, own: Vector) -> bool:
            # what waits behind a pair, or takes its place, is as much its question as the pair itself
            own_asked, own_remembered = self.asked @ own, self.remembered @ own
            theirs = is_asked & _nearer(own_remembered, own_asked, delta)
            ours = is_remembered & _nearer(own_asked, own_remembered, delta)
            return pair_id in named or bool(theirs.any() or ours.any())

        return apart


def _nearer(to: Vector, than: Vector, delta: float) -> NDArray[np.bool_]:
    """Return of which rows a vector is the same question by δ, and nearer than to the other one."""
    return (to >= delta) & (to > than)


def _none(pair_id: str, own: Vector) -> bool:
    """Say that nobody told anything apart."""
    return False
