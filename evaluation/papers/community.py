"""A community on reworded questions whose answers are what a system reads first: no model writes.

That is the answer of a remembered pair, or a page. People vote on it.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.domain import Recall, Vector
from core.ports import Matrix
from core.text.words import index_terms
from evaluation.metrics import likeness
from evaluation.simulation.data import Line, Topic, stream
from evaluation.simulation.stores import Texts, in_memory
from evaluation.simulation.world import Memory, Model, People, Round, World

ROUNDS = 10
SEED = 2000
KNOWN = 0.5
"""Share of the topics whose question and answer are known at the start, as a training set is."""
CONTEXT = 3
"""Pairs or pages that a system reads."""
Found = tuple[str, str, float]
"""What was found: its topic, its text, its cosine with the question."""
Read = Callable[[str, Vector], list[Found]]


@dataclass(frozen=True, slots=True)
class Told:
    """What a system answered: topic of its first text, topics of all it read, that text, milliseconds."""

    topic: str
    read: tuple[str, ...]
    text: str
    ms: float


class Extracting(World):
    """A community whose answers are what is found: the best good pair's, else the nearest page.

    Pages that a bad pair repeats are passed over, as the paper's third path wants.
    """

    def __init__(
        self, *given: object, pages: Mapping[str, Sequence[tuple[str, str]]], **more: object
    ) -> None:
        super().__init__(*given, **more)  # type: ignore[arg-type]
        self._pages = pages

    def written(self, line: Line, recall: Recall, lot: random.Random) -> tuple[str, bool]:
        """Return the best pair's answer, or the nearest page that is not known to be bad."""
        if recall.high:
            pair, _ = recall.high[0]
            return pair.answer, self.truth[pair.id] == (line.topic, line.release, True)
        bad = {pair.answer for pair, _ in recall.low}
        ranked = self._pages[line.question]
        topic, text = next((page for page in ranked if page[1] not in bad), ranked[0])
        return text, topic == line.topic


class Community:
    """The topics, what is known of them at the start, and the pages about them."""

    def __init__(self, topics: Sequence[Topic], texts: Texts) -> None:
        self.topics = topics
        self._texts = texts
        names = sorted(topic.name for topic in topics)
        held = set(random.Random(SEED).sample(names, round(KNOWN * len(names))))
        self.known = [topic for topic in topics if topic.name in held]
        self.pages = [(topic.name, "\n\n".join(topic.answers[1:] or topic.answers)) for topic in topics]
        self.reference = {topic.name: topic.answers[0] for topic in topics}
        self.lines = stream(topics, ROUNDS, SEED)
        self._ranked: dict[str, list[tuple[str, str]]] = {}

    async def ready(self) -> None:
        """Embed everything, and rank the pages for every question."""
        asked = [line.question for lines in self.lines for line in lines]
        vectors = await self._texts.encode(asked)
        table = await self._texts.encode([text for _, text in self.pages])
        for question, row in zip(asked, np.argsort(-(vectors @ table.T), axis=1, kind="stable"), strict=True):
            self._ranked[question] = [self.pages[at] for at in row.tolist()[: CONTEXT * 4]]

    def ranked(self, question: str) -> Sequence[tuple[str, str]]:
        """Return the pages for a question of the rounds, by topic and text, nearest first."""
        return self._ranked[question]

    async def play(self, memory: Memory) -> list[Round]:
        """Play all rounds with a memory; its stores are dictionaries."""
        async with in_memory() as opened:
            model, people = Model(seconds=0.0), People()
            world = Extracting(opened, self._texts, memory, model, people, SEED, pages=self._ranked)
            await world.found(self.topics, self.known)
            return await world.play(self.lines)

    async def baselines(self, number: int = 0) -> dict[str, list[Told]]:
        """Ask a round, the first unless told, of each way to read: known pairs, pages, and both."""
        pairs = [(topic.name, topic.question, topic.answers[0]) for topic in self.known]
        of_pairs = await self._texts.encode([question for _, question, _ in pairs])
        of_pages = await self._texts.encode([text for _, text in self.pages])
        words = Words([f"{question} {answer}" for _, question, answer in pairs])

        def by_words(text: str, vector: Vector) -> list[Found]:
            return [(*pairs[at][::2], float(of_pairs[at] @ vector)) for at in words.best(text)]

        def dense(text: str, vector: Vector) -> list[Found]:
            return _nearest([(name, answer) for name, _, answer in pairs], of_pairs, vector)

        def pages(text: str, vector: Vector) -> list[Found]:
            return _nearest(self.pages, of_pages, vector)

        def both(one: Callable[[str, Vector], list[Found]]) -> Read:
            return lambda text, vector: sorted(
                [*one(text, vector), *pages(text, vector)], key=lambda found: -found[2]
            )

        ways: dict[str, Read] = {"BM25": by_words, "DPR": dense, "Vanilla RAG": pages}
        ways |= {"RAG+BM25": both(by_words), "RAG+DPR": both(dense)}
        told: dict[str, list[Told]] = {}
        for name, way in ways.items():
            told[name] = []
            for line in self.lines[number]:
                vector = await self._texts.one(line.question)
                began = time.perf_counter()
                found = way(line.question, vector)
                ms = (time.perf_counter() - began) * 1000
                read = tuple(topic for topic, _, _ in found)
                told[name].append(Told(read[0] if read else "", read, found[0][1] if found else "", ms))
        return told

    async def quality(self, lines: Sequence[Line], answers: Sequence[str]) -> dict[str, float]:
        """Compare answers with the threads' first answers: SIM, BLEU, ROUGE-L, each from 0 to 100."""
        gold = [self.reference[line.topic] for line in lines]
        table, true = await self._texts.encode([*answers]), await self._texts.encode(gold)
        words = await asyncio.to_thread(likeness, answers, gold, with_bert=False)
        return {
            "SIM": float(np.mean(np.sum(table * true, axis=1))) * 100,
            "BLEU": words.get("bleu", float("nan")),
            "ROUGE-L": words.get("rougeL", float("nan")) * 100,
        }


class Words:
    """BM25 (k1 1.2, b .75) over a few texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        cut = [index_terms(text) for text in texts]
        terms = sorted({term for some in cut for term in some})
        self._column = {term: at for at, term in enumerate(terms)}
        counts = np.zeros((len(texts), len(terms)))
        for row, some in enumerate(cut):
            for term in some:
                counts[row, self._column[term]] += 1
        has, lengths = (counts > 0).sum(axis=0), counts.sum(axis=1, keepdims=True)
        rarity = np.log(1 + (len(texts) - has + 0.5) / (has + 0.5))
        self._table = rarity * counts * 2.2 / (counts + 1.2 * (0.25 + 0.75 * lengths / lengths.mean()))

    def best(self, text: str) -> list[int]:
        """Return the rows of the best texts, without those that share no term."""
        columns = [self._column[term] for term in set(index_terms(text)) if term in self._column]
        scores = self._table[:, columns].sum(axis=1)
        return [at for at in np.argsort(-scores, kind="stable").tolist()[:CONTEXT] if scores[at] > 0]


def _nearest(texts: Sequence[tuple[str, str]], table: Matrix, vector: Vector) -> list[Found]:
    cosines = table @ vector
    order = np.argsort(-cosines, kind="stable").tolist()[:CONTEXT]
    return [(*texts[at], float(cosines[at])) for at in order]
