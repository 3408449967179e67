"""What ranking by the question graph finds, beside cosine, on questions whose topics are known.

    python -m evaluation.simulation.graph_ranking FOLDER    # with stackfaq.xml

Half of the questions are in the graph and the others are asked; what is on the same topic is right.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from core.domain import Hit
from core.models.embedding.encoder import load_encoder
from core.ports import Encoder
from core.retrieval.fusion import reciprocal_rank
from core.retrieval.question_graph import QuestionGraph
from evaluation.simulation.data import Topic, read_topics

EDGES = (0.8, 0.7, 0.6)
TOP = 2


def main() -> None:
    """Print mean average precision and the share with the right topic among two, for each way to rank."""
    options = argparse.ArgumentParser(prog="python -m evaluation.simulation.graph_ranking")
    options.add_argument("questions", type=Path)
    options.add_argument("--models", type=Path, default=Path(".threadlore/models"))
    given = options.parse_args()
    encoder = load_encoder("all-MiniLM-L6-v2", given.models)
    for name, value in asyncio.run(found(read_topics(given.questions), encoder)).items():
        print(f"  {name:<44} {value}")


async def found(topics: Sequence[Topic], encoder: Encoder) -> dict[str, str]:
    """Return the table's rows by name."""
    asked = [(topic.name, text) for topic in topics for text in (topic.question, *topic.rewordings)]
    vectors = await encoder.encode([text for _, text in asked])
    order = np.random.default_rng(1).permutation(len(asked))
    known, new = order[: len(order) // 2].tolist(), order[len(order) // 2 :].tolist()
    rows: dict[str, str] = {}
    for edge in EDGES:
        graph = QuestionGraph(encoder.dimensions, edge)
        graph.put({f"{row:05}": vectors[row] for row in known})
        lists: dict[str, list[list[str]]] = {"dense": [], "PageRank": [], "fused": []}
        out = 0
        for row in new:
            near = [f"{known[at]:05}" for at in np.argsort(-(vectors[known] @ vectors[row]), kind="stable")]
            walked = graph.nearest(vectors[row], len(known))
            out += not walked[0][1]
            both = [[Hit(key, 0.0) for key in keys] for keys in (near, [key for key, _ in walked])]
            fused = [hit.chunk_id for hit in reciprocal_rank([(1.0, hits) for hits in both])]
            for name, keys in zip(lists, (near, [key for key, _ in walked], fused), strict=True):
                lists[name].append(keys)
        rows[f"edges over {edge}"] = f"{graph.edges:,}, {out} of {len(new)} questions without"
        for name, ranked in lists.items():
            right = [{f"{at:05}" for at in known if asked[at][0] == asked[row][0]} for row in new]
            told = [(keys, some) for keys, some in zip(ranked, right, strict=True) if some]
            mean = sum(average_precision(keys, some) for keys, some in told) / len(told)
            first = sum(bool(some & set(keys[:TOP])) for keys, some in told) / len(told)
            rows[f"  {name} at {edge}: MAP, topic among two"] = f"{mean:.3f} {first:.3f}"
    return rows


def average_precision(ranked: Sequence[str], right: Collection[str]) -> float:
    """Return the mean, over the right ones, of the share of right ones up to each."""
    hits, total = 0, 0.0
    for place, key in enumerate(ranked, start=1):
        if key in right:
            hits += 1
            total += hits / place
    return total / len(right)


if __name__ == "__main__":
    main()
