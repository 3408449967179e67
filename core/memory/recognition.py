"""Find pairs that a question may repeat, and how close it is to their known rewordings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence

from core.domain import QAPair, Vector
from core.memory.decision import Decision
from core.memory.facts import facts
from core.memory.partitions.topics import Encoders, embedded
from core.memory.rewordings import Centres, Place, Ways, closeness, is_rejected, sorted_out, ways
from core.memory.scoring.score import Thresholds
from core.ports import CorpusStore, Encoder, Remembered, RewordingStore
from core.text.words import one_line

SAME_ANSWER = 0.9
"""Cosine from which two answers may be one in other words. Of two people's answers to one question .1 %
reach it, of answers to two questions none reaches even .7 (StackFAQ, MiniLM)."""
LEARNT_AT_ONCE = 100
"""Pairs that are learnt from before others are served."""


class Recognition:
    """Learns rewordings of pairs from votes on reused answers, which `store` holds."""

    def __init__(
        self,
        decision: Decision,
        store: RewordingStore | None,
        corpora: CorpusStore,
    ) -> None:
        self.decision = decision
        self._store = store if decision.learns else None
        self._corpora = corpora
        self._centres = Centres()

    @property
    def centres(self) -> int:
        """Return how many vectors are searched beside those of the pairs' own questions."""
        return self._centres.count

    def empty(self) -> Recognition:
        """Return an empty copy to rebuild from scratch."""
        return Recognition(self.decision, self._store, self._corpora)

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
            good, bad = sorted_out(pair, reworded.get(pair.id, ()), thresholds, self.decision)
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
