"""GraphContextGen's context variants on reworded questions: what two questions bring, with no model to write.

Half of the questions are the pool, each with an answer of its thread that is not the first; the others are
asked, and the first answer is the reference.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.generation import triplets
from core.memory.question_graph import QuestionGraph
from evaluation.answers.overlap import overlap
from evaluation.metrics import likeness
from evaluation.papers.tables import MODEL, NONE, Section, Table, printed, share
from evaluation.simulation.data import Topic
from evaluation.simulation.stores import Texts

_PRINTED = printed("graph")

TOP = 2
EDGES = (0.8, 0.6)
"""The paper's threshold (for bge-large), and one that leaves fewer of MiniLM's questions without an edge."""
TABLE_3 = _PRINTED["table_3"]
"""BERTScore, ROUGE-L and FactSumm without fine-tuning on AskUbuntu, Unix and ServerFault (table 3)."""
OTHERS = _PRINTED["others"]
COLUMNS = (
    "variant", "paper BERTScore", "paper ROUGE-L", "paper FactSumm", "right thread first", "among two",
    "SIM of the first", "ROUGE-L of the first", "entities of both", "triplets added a question",
    "in this row",
)  # fmt: skip


async def measure(topics: Sequence[Topic], texts: Texts, told: str) -> Section:
    """Build the graph, ask, and put what comes of it beside tables 2 to 4."""
    pool = await pool_of(topics, texts)
    topics, asked, new, known = pool.topics, pool.asked, pool.new, pool.known
    ranked = {("TextGen", "TextContextGen"): (pool.dense, "")}
    for edge in EDGES:
        found, note = walked(pool, edge)
        suffix = "" if edge == EDGES[0] else f", edges over {edge:g}"
        ranked[(f"GraphGen{suffix}", f"GraphContextGen{suffix}")] = (found, note)
    published = {name: figures for name, *figures in TABLE_3}
    made: list[tuple[str, ...]] = []
    for (plain, enhanced), (lists, note) in ranked.items():
        cells, added = await _figures(topics, asked, new, lists, texts)
        for name, count in ((plain, NONE), (enhanced, f"{added:.2f}")):
            made.append((name, *published.get(name, [NONE] * 3), *cells, count, note))
    made += [(name, *figures, *[NONE] * 6, MODEL) for name, *figures in OTHERS]
    return Section(
        "graphcontextgen",
        "GraphContextGen: tables 2 to 4, the context variants (sections 5 and 6)",
        f"{told} {len(known)} questions in the pool, {len(new)} asked.",
        (
            Table(
                "Contexts of two questions (the paper's on AskUbuntu / Unix / ServerFault)",
                COLUMNS,
                tuple(made),
            ),
        ),
        DIFFERS,
    )


@dataclass(frozen=True, slots=True)
class Pool:
    """Questions of topics: those in the pool and those that are asked, by their place, with their vectors.

    `dense` has the nearest of the pool for each asked one.
    """

    topics: Sequence[Topic]
    asked: Sequence[tuple[int, str]]
    vectors: np.ndarray
    known: Sequence[int]
    new: Sequence[int]
    dense: Sequence[Sequence[int]]

    def gold(self, at: int) -> str:
        """Return the first answer of a question's thread."""
        return self.topics[self.asked[at][0]].answers[0]

    def answer(self, at: int) -> str:
        """Return the answer that a question of the pool has."""
        return _answer(self.topics, self.asked, at)


async def pool_of(topics: Sequence[Topic], texts: Texts) -> Pool:
    """Draw half of the questions for the pool; only topics with a second answer are taken."""
    topics = [topic for topic in topics if len(topic.answers) > 1]
    asked = [(at, text) for at, topic in enumerate(topics) for text in (topic.question, *topic.rewordings)]
    vectors = await texts.encode([text for _, text in asked])
    order = np.random.default_rng(1).permutation(len(asked)).tolist()
    known, new = order[: len(order) // 2], order[len(order) // 2 :]
    near = np.argsort(-(vectors[new] @ vectors[known].T), axis=1, kind="stable")[:, :TOP].tolist()
    return Pool(topics, asked, vectors, known, new, [[known[at] for at in row] for row in near])


def walked(pool: Pool, edge: float) -> tuple[list[list[int]], str]:
    """Rank the pool for every new question by the graph; say how many questions have no edge."""
    graph = QuestionGraph(pool.vectors.shape[1], edge)
    graph.put({f"{at:05}": pool.vectors[at] for at in pool.known})
    found = [graph.nearest(pool.vectors[at], TOP) for at in pool.new]
    out = sum(not ranks[0][1] for ranks in found)
    note = f"{graph.edges:,} edges, {out} questions without: dense"
    return [[int(key) for key, _ in ranks] for ranks in found], note


async def _figures(
    topics: Sequence[Topic],
    asked: Sequence[tuple[int, str]],
    new: Sequence[int],
    lists: Sequence[Sequence[int]],
    texts: Texts,
) -> tuple[tuple[str, ...], float]:
    """Compare what was found with the asked thread's first answer."""
    right = [[asked[at][0] == asked[key][0] for key in keys] for at, keys in zip(new, lists, strict=True)]
    gold = [topics[asked[at][0]].answers[0] for at in new]
    contexts = [[_answer(topics, asked, key) for key in keys] for keys in lists]
    first = [some[0] for some in contexts]
    table, true = await texts.encode(first), await texts.encode(gold)
    words = await asyncio.to_thread(likeness, first, gold, with_bert=False)
    both = await asyncio.to_thread(overlap, ["\n".join(some) for some in contexts], gold)
    added = [
        len(triplets.within([one for text in some for one in triplets.by_rule(text)], "\n".join(some)))
        for some in contexts
    ]
    cells = (
        share(float(np.mean([some[0] for some in right]))),
        share(float(np.mean([any(some) for some in right]))),
        share(float(np.mean(np.sum(table * true, axis=1)))),
        share(words.get("rougeL")),
        share(both.get("entities")),
    )
    return cells, float(np.mean(added))


def _answer(topics: Sequence[Topic], asked: Sequence[tuple[int, str]], at: int) -> str:
    """Return the answer that a question of the pool has: one of its thread's, never the first."""
    answers = topics[asked[at][0]].answers[1:]
    return answers[at % len(answers)]


DIFFERS = _PRINTED["differs"]
