"""A community that asks, a model that answers, people who vote: one run of ComRAG's real-time setting.

Memory, its guard and its decision are the real ones; only people and the model are drawn by lot, and
that alike in every run of one seed, so that runs differ by memory alone.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from core.domain import Answer, Question, Recall, Route, Scope, Vector, Vote, content_hash
from core.memory.community import CommunityMemory
from core.memory.decision import LEARNED, Decision, Guard
from core.memory.partitions.arrivals import Replayed
from core.memory.partitions.partition_index import EVERY_RELEASE
from core.memory.scoring import Thresholds
from core.ports import Remembered
from core.text.words import sentences
from evaluation.simulation.data import Line, Topic
from evaluation.simulation.stores import Stores, Texts

SEED_PRIOR = 0.9
"""Score of an original question's answer, as of an imported pair."""
DRAWN_PRIOR = 0.5
"""Score of an answer before its votes: the simulated scorer knows nothing of right and wrong."""


@dataclass(frozen=True, slots=True)
class People:
    """Who votes. Of every answer the asker and others, `readers` in all, may vote.

    Each does with probability `turnout`. An honest one errs with probability `error`, an adversary
    votes against the truth.
    """

    readers: int = 3
    turnout: float = 0.6
    error: float = 0.05
    adversaries: float = 0.0
    population: int = 300


@dataclass(frozen=True, slots=True)
class Model:
    """How the model answers: the probability of a right answer from documents alone, and with a right
    pair for reference; how often it then repeats that pair's answer; seconds a call."""

    right: float = 0.85
    right_referred: float = 0.95
    repeats: float = 0.9
    seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class Memory:
    """How memory is set up in a run. Without `partitioned` it knows nothing of releases; `by_paper` it is
    ComRAG's algorithms alone that decide and keep."""

    thresholds: Thresholds = field(default_factory=Thresholds)
    decision: Decision = LEARNED
    guard: Guard = lambda asked, remembered: ""
    partitioned: bool = True
    used: bool = True
    by_paper: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one question went.

    `known` says whether memory held a right answer to it, `across` whether the answer was another
    release's, `other` whether it is a question that nobody asks in other words. `text` is the answer.
    """

    route: Route
    right: bool
    known: bool
    across: bool
    other: bool
    ms: float
    text: str = ""


@dataclass(slots=True)
class Round:
    """A round's outcomes, and how many vectors memory searched before and after it, be they of pairs
    (`pairs`, in both stores) or of the centres of their rewordings."""

    outcomes: list[Outcome] = field(default_factory=list)
    before: int = 0
    stored: int = 0
    pairs_before: int = 0
    pairs: int = 0


class World:
    """One community with its memory."""

    def __init__(
        self, stores: Stores, texts: Texts, memory: Memory, model: Model, people: People, seed: int
    ) -> None:
        self._texts = texts
        self._setup = memory
        self._model = model
        self._people = people
        self._seed = seed
        self._store = stores.memories
        self.memory = CommunityMemory(
            stores.memories,
            stores.corpora,
            memory.thresholds,
            memory.guard,
            decision=memory.decision,
            rewordings=stores.rewordings,
        )
        self.topics: dict[tuple[str, str], Topic] = {}
        self.truth: dict[str, tuple[str, str, bool]] = {}
        """Topic and release of each pair, and whether its answer is right."""
        self._right: dict[tuple[str, str], set[str]] = {}
        self._wrong: list[str] = []
        self._arrived = Replayed()
        self._asked = 0

    async def found(self, topics: Sequence[Topic], seeded: Sequence[Topic]) -> None:
        """Begin with the original questions and answers of some topics in the high store."""
        await self.memory.load(self._texts, {})
        self.topics = {(topic.name, topic.release): topic for topic in topics}
        self._wrong = sorted({topic.answers[0] for topic in topics if not topic.is_other})
        if not self._setup.used:
            return
        pairs = []
        for topic in seeded:
            pair = self._pair(topic.question, topic.answers[0], topic.release, SEED_PRIOR)
            pairs.append(replace(pair, origin="import"))
            self._judge(pair, topic.name, topic.release, True)
        await self.memory.seed(pairs)

    async def play(self, rounds: Sequence[Sequence[Line]]) -> list[Round]:
        """Ask round after round, with votes on every answer."""
        played = []
        for lines in rounds:
            pairs, centres = await self.stored()
            this = Round(before=pairs + centres, pairs_before=pairs)
            this.outcomes = [await self.ask(line) for line in lines]
            this.pairs, centres = await self.stored()
            this.stored = this.pairs + centres
            played.append(this)
        return played

    async def ask(self, line: Line) -> Outcome:
        """Answer one question as the engine does, and let people vote."""
        lot = random.Random(f"{self._seed}/{line.release}/{line.question}")
        # the first of those who read an answer is who asked for it
        readers = lot.sample(range(self._people.population), self._people.readers)
        question = Question(line.question, asker=f"sim:{readers[0]}")
        known, other = self._known(line), self.topics[line.topic, line.release].is_other
        vector = await self._texts.one(line.question)
        began = time.perf_counter()
        recall = Recall("avoid")
        if self._setup.used:
            release, by_paper = self._partition(line.release), self._setup.by_paper
            recall = await self.memory.recall(vector, line.question, release, Scope(), by_paper=by_paper)
        ms = (time.perf_counter() - began) * 1000
        self._asked += 1
        route: Route = "reference" if recall.high else "avoid" if recall.denied else "documents"
        answer = Answer(f"a{self._asked:06d}", "", route, line.release)
        answer = replace(answer, trace={"queries": {"topic": line.question}})
        if recall.route == "reuse":
            pair, _ = recall.high[0]
            truth = self.truth[pair.id]
            right, across = truth == (line.topic, line.release, True), truth[1] != line.release
            answer = replace(answer, route="reuse", text=pair.answer, pair_id=pair.id)
            await self._store.save_answer(answer, question, None)
            await self._vote(answer.id, right, readers, lot)
            return Outcome("reuse", right, known, across, other, ms, pair.answer)
        text, right = self.written(line, recall, lot)
        if self._setup.used:
            await self._keep(replace(answer, text=text), question, line, right, recall, vector)
            await self._vote(answer.id, right, readers, lot)
        return Outcome(route, right, known, False, other, ms + self._model.seconds * 1000, text)

    def written(self, line: Line, recall: Recall, lot: random.Random) -> tuple[str, bool]:
        """Draw what the model answers, and whether it is right."""
        model, topic = self._model, self.topics[line.topic, line.release]
        truth = (line.topic, line.release, True)
        helpful = [pair for pair, _ in recall.high if self.truth[pair.id] == truth]
        right = lot.random() < (model.right_referred if helpful else model.right)
        repeats, place = lot.random() < model.repeats, lot.randrange(1 << 30)
        if right and helpful and repeats:
            return _reworded(helpful[0].answer, place), True
        if right:
            return topic.answers[place % len(topic.answers)], True
        if recall.high and not helpful and repeats:  # led astray by what it was shown
            return recall.high[0][0].answer, False
        others = [text for text in self._wrong if text not in topic.answers] or ["Something else."]
        return others[place % len(others)], False

    async def _keep(
        self, answer: Answer, question: Question, line: Line, right: bool, recall: Recall, vector: Vector
    ) -> None:
        """Save an answer as the engine does: as that of the pair it repeats, else as a new neutral pair."""
        by_paper = self._setup.by_paper  # every answer is a pair of its own
        repeated = "" if by_paper else await self.memory.repeated(answer.text, line.question, recall)
        if repeated:
            await self._store.save_answer(replace(answer, pair_id=repeated), question, None)
            return
        pair = self._pair(line.question, answer.text, line.release, DRAWN_PRIOR)
        pair = replace(pair, asker=question.asker)
        self._judge(pair, line.topic, line.release, right)
        answer, topic = replace(answer, pair_id=pair.id), self.memory.topic_of(pair, vector)
        await self._store.save_answer(answer, question, pair, topic=topic)

    async def _vote(self, answer_id: str, right: bool, readers: Sequence[int], lot: random.Random) -> None:
        people, weights = self._people, self._setup.thresholds
        adversaries = int(people.adversaries * people.population)
        for place, voter in enumerate(readers):
            turns_out, errs = lot.random() < people.turnout, lot.random() < people.error
            if turns_out:
                good = right != (voter < adversaries or errs)
                weight = weights.voter_weight if place else weights.asker_weight
                await self.memory.vote(Vote(answer_id, f"sim:{voter}", 1 if good else 0), weight)

    def _judge(self, pair: Remembered, topic: str, release: str, right: bool) -> None:
        self.truth[pair.id] = (topic, release, right)
        if right:
            self._right.setdefault((topic, release), set()).add(pair.id)

    def _pair(self, question: str, answer: str, release: str, prior: float) -> Remembered:
        number = len(self.truth)
        return Remembered(
            id=f"p{number:06d}{content_hash(question)[:6]}",
            question=question,
            topic=question,
            answer=answer,
            release=self._partition(release),
            scope="public",
            prior=prior,
            created_at=float(number),
        )

    def _partition(self, release: str) -> str:
        return release if self._setup.partitioned else EVERY_RELEASE

    def _known(self, line: Line) -> bool:
        stores = self.memory.stores()
        return any(
            stores.get(key) == ("high", True) for key in self._right.get((line.topic, line.release), ())
        )

    async def stored(self) -> tuple[int, int]:
        """Count the vectors that are searched: of pairs, and of centres."""
        if not self._setup.by_paper:
            return sum(1 for _, kept in self.memory.stores().values() if kept), self.memory.centres
        limits = self._setup.thresholds
        arrived = [
            await self._arrived.of(key, partition, limits.delta, limits.tau)
            for key, partition in self.memory.partitions().items()
        ]
        return sum(len(one.kept) for one in arrived), 0


def _reworded(text: str, place: int) -> str:
    """Say an answer again as a model does: as it was, with a beginning, or without its end."""
    if place % 3 == 0:
        return text
    if place % 3 == 1:
        return f"As was answered before: {text}"
    parts = sentences(text)
    return " ".join(parts[:-1]) if len(parts) > 2 else text
