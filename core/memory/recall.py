"""Recall for one question: the route and its pairs, by our decision or by the paper (ComRAG §4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core import prompts
from core.domain import QAPair, Recall, Scope, Store, Vector
from core.errors import ModelMalformed
from core.languages import N_, _
from core.memory.decision import CANDIDATES, Apart, Candidate, Guard, choose, how_near
from core.memory.partitions.arrivals import Replayed
from core.memory.partitions.partition import Partition
from core.memory.partitions.partition_index import EVERY_RELEASE, Key, PartitionIndex, scope_of
from core.memory.recognition import Recognition
from core.memory.scoring import Thresholds, liked, score_of, vouched
from core.ports import LanguageModel, MemoryStore, Prompt, Remembered
from core.text.words import words

APART = N_("Somebody said that the nearest remembered question is a different one.")
LONGEST = 1500
"""Characters of each question that are shown."""
_TOKENS = 120
_NOBODY: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """A question as memory looks it up; `vector` is that of `topic`.

    Pairs in another `language` are not reused; empty for any. With `literal` a pair must have been asked in
    the same words.
    """

    vector: Vector
    topic: str
    release: str
    scope: Scope
    language: str = ""
    literal: bool = False


class Recaller:
    """Finds pairs for questions; `guard` returns how two topics differ, "" if they do not."""

    def __init__(
        self, store: MemoryStore, places: PartitionIndex, recognition: Recognition, guard: Guard
    ) -> None:
        self._store = store
        self._places = places
        self._recognition = recognition
        self._guard = guard

    async def recall(self, lookup: Lookup) -> Recall:
        """Choose the route of a question and the pairs that go with it."""
        low = [self._shown(*found, lookup) for found in await self._bad(lookup)]
        candidates, is_apart = await self._candidates(lookup)
        foreign: list[Candidate] = []

        def hindrance(candidate: Candidate) -> str:
            if hindered := self._hindrance(candidate.pair, lookup):
                return hindered
            if lookup.language and candidate.pair.language != lookup.language:
                foreign.append(candidate)
                return _("Its answer is in another language than the question.")
            return ""

        limits, decision = self._thresholds, self._recognition.decision
        same = [pair for pair, near in low if near >= self._enough]
        denied = frozenset(pair.id for pair in same if not self._guard(lookup.topic, pair.topic))
        chosen = choose(candidates, decision, limits.delta, hindrance, self._guard)
        if chosen.candidate is not None:
            reused = self._candidate_shown(chosen.candidate, lookup)
            return Recall("reuse", (reused,), tuple(low), decided=chosen.said, denied=denied)
        near = [candidate for candidate in candidates if candidate.closeness >= limits.tau]
        high = [self._candidate_shown(candidate, lookup) for candidate in near[: limits.recalled]]
        other = self._candidate_shown(foreign[0], lookup) if foreign else None
        nearly = self._nearly(near, hindrance)
        return Recall(
            "reference" if high else "avoid",
            tuple(high),
            tuple(low),
            guard=chosen.blocked or (_(APART) if is_apart else ""),
            decided=chosen.said,
            foreign=other,
            nearly=self._candidate_shown(nearly, lookup) if nearly else None,
            denied=denied,
        )

    def _nearly(self, near: Sequence[Candidate], hindrance: Callable[[Candidate], str]) -> Candidate | None:
        """Return the nearest pair if people brought it, and it is nearer to reuse than to τ."""
        first, least = next(iter(near), None), (self._thresholds.tau + self._enough) / 2
        if first is None or first.pair.origin == "answer" or first.closeness < least:
            return None
        return None if hindrance(first) else first

    @property
    def _enough(self) -> float:
        """Return how close a question must be to a pair's, where no other one is near, to be the same."""
        decision, delta = self._recognition.decision, self._thresholds.delta
        return min(decision.reach, delta) if decision.learns else delta

    @property
    def _thresholds(self) -> Thresholds:
        return self._places.thresholds

    # --- what is near -----------------------------------------------------------------------------

    async def _bad(self, lookup: Lookup) -> list[tuple[Remembered, float]]:
        """Return the pairs of the low store from τ on with their cosine, nearest first."""
        limits = self._thresholds
        near: dict[str, float] = {}
        behind: dict[str, str] = {}
        for _key, partition in self.visible(lookup, "low"):
            waiting = partition.waiting(lookup.vector, limits.recalled, limits.tau)
            behind |= waiting
            near |= partition.nearest(lookup.vector, limits.recalled)
            near |= {key: float(partition.vector_of(key) @ lookup.vector) for key in waiting}
        pairs = await self._heard([key for key in near if near[key] >= limits.tau], lookup.scope, behind)
        best = sorted(pairs, key=lambda key: (-near[key], key))
        return [(pairs[key], near[key]) for key in best[: limits.recalled]]

    async def _candidates(self, lookup: Lookup) -> tuple[list[Candidate], bool]:
        """Return the pairs of the high store that a question is closest to, closest first.

        Left out are those that it was told apart from; returns True if there were any.
        """
        known, limits = self._recognition, self._thresholds
        wanted = max(CANDIDATES, limits.recalled)
        near: dict[str, tuple[float, Vector, int]] = {}
        behind: dict[str, str] = {}
        apart, left_out = self._apart(lookup), False
        for (release, heard, _store), partition in self.visible(lookup, "high"):
            by_question = [pair_id for pair_id, _cosine in partition.nearest(lookup.vector, wanted)]
            by_rewordings = [
                pair_id
                for pair_id in known.nearest(lookup.vector, (release, heard), wanted)
                if partition.cluster_of(pair_id) is not None
            ]
            waiting = partition.waiting(lookup.vector, wanted, limits.tau)
            behind |= waiting
            for pair_id in dict.fromkeys((*by_question, *by_rewordings, *waiting)):
                own = partition.vector_of(pair_id)
                if apart(pair_id, own):
                    left_out = True
                    continue
                near[pair_id] = known.closeness(pair_id, lookup.vector, own, limits.delta)
        pairs = await self._heard(list(near), lookup.scope, behind)
        best = sorted(pairs, key=lambda pair_id: (-near[pair_id][0], pair_id))[:wanted]
        return [Candidate(pairs[pair_id], *near[pair_id]) for pair_id in best], left_out

    def _apart(self, lookup: Lookup) -> Apart:
        """Return what tells which pairs people said the question is not for."""
        encoder = self._places.encoders.of(lookup.release)
        known = self._recognition.distinctions
        return known.of(lookup.topic, lookup.vector, encoder, self._thresholds.delta)

    async def _heard(
        self, pair_ids: Sequence[str], scope: Scope, behind: Mapping[str, str] = _NOBODY
    ) -> dict[str, Remembered]:
        """Return those of the pairs, by id, that are still there and may be told in this scope.

        One that waits `behind` a better one is told where the guard takes theirs for two questions.
        """
        better = [behind[key] for key in pair_ids if key in behind]
        pairs = await self._store.pairs(list(dict.fromkeys((*pair_ids, *better)))) if pair_ids else {}

        def stands(pair: Remembered) -> bool:
            first = pairs.get(behind[pair.id]) if pair.id in behind else None
            return pair.id not in behind or bool(first and self._guard(pair.topic, first.topic))

        told = (pairs[key] for key in pair_ids if key in pairs)
        return {pair.id: pair for pair in told if scope.hears(pair.scope) and stands(pair)}

    def visible(self, lookup: Lookup, store: Store) -> Iterator[tuple[Key, Partition]]:
        """Yield the partitions that a question of this release and scope may be answered from."""
        encoders = self._places.encoders
        encoder = encoders.of(lookup.release).name
        for key, partition in self._places.partitions.items():
            release, heard, kind = key
            if kind != store or release not in (lookup.release, EVERY_RELEASE):
                continue
            if not lookup.scope.hears(scope_of(heard)):
                continue
            # while a corpus gets another encoder, vectors of two kinds may meet
            if encoders.of(release).name == encoder and partition.dimensions == len(lookup.vector):
                yield key, partition

    # --- what keeps a pair from being reused ------------------------------------------------------

    def _hindrance(self, pair: Remembered, lookup: Lookup) -> str:
        """Return why a close enough pair is not reused, apart from its language; empty if it may be."""
        if pair.stale:
            return _("The pages it cites have changed since.")
        voices, needed = vouched(pair), self._thresholds.min_voters
        if lookup.scope.kind == "public" and pair.origin == "answer" and voices < needed:
            told = _("Voted up by {voices} of the {needed} people needed.")
            return told.format(voices=voices, needed=needed)
        if self._recognition.rejected(pair.id, lookup.vector, self._thresholds.delta):
            return _("People voted that answer down for a question like this one.")
        if lookup.literal and words(lookup.topic) != words(pair.topic):
            return _("Without a model a question in this language is only recognised word for word.")
        return self._guard(lookup.topic, pair.topic)

    # --- what is shown of a pair ------------------------------------------------------------------

    def _candidate_shown(self, candidate: Candidate, lookup: Lookup) -> tuple[QAPair, float]:
        return self._shown(candidate.pair, candidate.closeness, lookup)

    def _shown(self, pair: Remembered, near: float, lookup: Lookup) -> tuple[QAPair, float]:
        return shown(pair, self._thresholds), near


def shown(pair: Remembered, thresholds: Thresholds) -> QAPair:
    """Return a remembered pair as it is told."""
    return QAPair(
        id=pair.id,
        question=pair.question,
        answer=pair.answer,
        release=pair.release,
        scope=pair.scope,
        score=score_of(pair, thresholds),
        citations=pair.citations,
        stale=pair.stale,
        topic=pair.topic,
        label=pair.label,
        origin=pair.origin,
        language=pair.language,
        voices=liked(pair),
    )


class PaperRecaller(Recaller):
    """Finds pairs among those that algorithm 2 keeps (`replayed`), by the nearest centroids."""

    def __init__(
        self,
        store: MemoryStore,
        places: PartitionIndex,
        recognition: Recognition,
        guard: Guard,
        replayed: Replayed,
    ) -> None:
        super().__init__(store, places, recognition, guard)
        self._replayed = replayed

    async def recall(self, lookup: Lookup) -> Recall:
        """Choose the route of a question and the pairs that go with it: good ones, else bad ones.

        A stale pair is for reference at most.
        """
        limits = self._thresholds
        high = await self._nearest("high", lookup)
        best = high[0][1] if high else 0.0
        said = how_near(best, limits.delta) if high else ""
        again = [near for near in high if near[1] >= limits.delta]
        if current := [near for near in again if not near[0].stale]:
            return Recall("reuse", tuple(current[:1]), decided=said)
        if high and best >= limits.tau:
            near = tuple(near for near in high if near[1] >= limits.tau)
            stale = _("The pages it cites have changed since.") if again else ""
            return Recall("reference", near, guard=stale, decided=said)
        low = await self._nearest("low", lookup)
        return Recall("avoid", low=low, decided=said, denied=frozenset(pair.id for pair, _near in low))

    async def _nearest(self, store: Store, lookup: Lookup) -> tuple[tuple[QAPair, float], ...]:
        """Return the k pairs of a store that are nearest among the members of the k nearest centroids."""
        limits = self._thresholds
        near: list[tuple[str, float]] = []
        apart = self._apart(lookup)
        for key, partition in list(self.visible(lookup, store)):  # a vote may open one meanwhile
            arrivals = await self._replayed.of(key, partition, limits.delta, limits.tau)
            found = arrivals.nearest(lookup.vector, limits.recalled)
            near += [one for one in found if not apart(one[0], partition.vector_of(one[0]))]
        near.sort(key=lambda found: (-found[1], found[0]))
        pairs = await self._heard([pair_id for pair_id, _ in near], lookup.scope)
        told = [(pairs[pair_id], cosine) for pair_id, cosine in near if pair_id in pairs]
        return tuple(
            self._shown(pair, cosine, lookup)
            for pair, cosine in told
            if (not lookup.language or pair.language == lookup.language)
            and (not lookup.literal or words(pair.topic) == words(lookup.topic))
        )[: limits.recalled]


async def same_question(model: LanguageModel, asked: str, remembered: str) -> bool:
    """Return True if the answer to one question answers the other; raises the ModelErrors."""
    system, user = prompts.same(asked[:LONGEST], remembered[:LONGEST])
    output = await model.structured(
        (Prompt("system", system), Prompt("user", user)), prompts.SAME_SCHEMA, max_tokens=_TOKENS
    )
    if not isinstance(output.get("same"), bool):
        raise ModelMalformed("The model did not say whether two questions are the same; try another model.")
    return bool(output["same"])
