"""ComRAG's search by centroids beside exact search: what it finds of the nearest pairs, and how fast.

    python -m evaluation.benchmarks.centroids QUESTIONS.txt --queries REWORDINGS.txt

Both files hold a question a line, or are `.npy` matrices of vectors. The first questions are taken;
where there are fewer than a size asks for, noisy copies of them (cosine about .8) fill it up.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from core.domain import Vector
from core.memory.partitions.partition import Member, Partition
from core.memory.scoring import Thresholds
from core.models.embedding.encoder import load_encoder
from core.ports import Matrix

SIZES = (1_000, 10_000, 100_000)
PROBES = (1, 2, 4, 8, 16, 32, 64)
QUERIES = 400
NEARNESS = 0.8
"""Cosine of a copy with the question it was made of: below δ, so that both are kept."""
AT_ONCE = 2_000
Found = list[tuple[str, float]]
Search = Callable[[Vector], Found]


async def main() -> None:
    """Print a table for each size."""
    options = argparse.ArgumentParser(prog="python -m evaluation.benchmarks.centroids", description=__doc__)
    options.add_argument("questions", type=Path)
    options.add_argument("--queries", type=Path, required=True)
    options.add_argument("--models", type=Path, default=Path(".threadlore/models"))
    options.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    given = options.parse_args()
    chance = np.random.default_rng(1)
    memory = await vectors(given.questions, given.models)
    asked = chance.permutation(await vectors(given.queries, given.models))[:QUERIES]
    for size in given.sizes:
        compare(memory, asked, size, chance)


async def vectors(path: Path, models: Path) -> Matrix:
    """Read vectors, or embed the lines of a text."""
    if path.suffix == ".npy":
        kept: Matrix = await asyncio.to_thread(np.load, path)
        return kept
    text = await asyncio.to_thread(path.read_text, "utf-8")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    encoder = await asyncio.to_thread(load_encoder, "all-MiniLM-L6-v2", models)
    made = [await encoder.encode(lines[start : start + AT_ONCE]) for start in range(0, len(lines), AT_ONCE)]
    return np.concatenate(made)


def build(memory: Matrix, size: int, chance: np.random.Generator) -> Partition:
    """Place questions as algorithm 2 does; noisy copies join the cluster of their question."""
    limits = Thresholds()
    partition = Partition(limits.delta, limits.tau, memory.shape[1])
    real = memory[:size]
    for start in range(0, len(real), AT_ONCE):
        rows = range(start, min(start + AT_ONCE, len(real)))
        partition.put_all(Member(f"{row:06}", 0.9, float(row), real[row]) for row in rows)
    for row in range(len(real), size):
        origin = row % len(real)
        key = partition.shadowed_by(f"{origin:06}") or f"{origin:06}"
        noise = chance.normal(size=memory.shape[1])
        noise -= (noise @ real[origin]) * real[origin]
        vector = NEARNESS * real[origin] + np.sqrt(1 - NEARNESS**2) * noise / np.linalg.norm(noise)
        copy = Member(f"{row:06}", 0.9, float(row), vector.astype(np.float32))
        partition.load(copy, partition.cluster_of(key), "")
    return partition


def compare(memory: Matrix, asked: Matrix, size: int, chance: np.random.Generator) -> None:
    """Print what probing finds of the nearest pairs, and both times."""
    limits = Thresholds()
    partition = build(memory, size, chance)
    sizes = [len(members) for members in partition.clustered.values()]
    exact, ms = _asked(asked, lambda vector: partition.nearest(vector, limits.recalled))
    reused = [number for number, found in enumerate(exact) if found[0][1] >= limits.delta]
    print(
        f"\n{len(partition)} pairs, {len(partition.kept)} kept in {len(sizes)} clusters (the largest of "
        f"{max(sizes)}); exact search {ms:.2f} ms; {len(reused)} of {len(asked)} have a pair from δ on"
    )
    print(f"| clusters searched | of the {limits.recalled} nearest | of the nearest from δ on | ms |")
    print("|---:|---:|---:|---:|")
    for probed in PROBES:
        by_centroid = partial(_by_centroid, partition, limits.recalled, probed)
        found, ms = _asked(asked, by_centroid)
        shares = [
            len({key for key, _ in a} & {key for key, _ in b}) / len(a)
            for a, b in zip(exact, found, strict=True)
        ]
        hits = [bool(found[n]) and found[n][0][0] == exact[n][0][0] for n in reused]
        print(f"| {probed} | {np.mean(shares):.3f} | {np.mean(hits) if hits else 1.0:.3f} | {ms:.2f} |")


def _by_centroid(partition: Partition, k: int, probed: int, vector: Vector) -> Found:
    return partition.nearest_by_centroid(vector, k, probed)


def _asked(asked: Matrix, search: Search) -> tuple[list[Found], float]:
    """Search for each question; return what was found and the median processor time in milliseconds."""
    found, times = [], []
    for vector in asked:
        began = time.thread_time()
        found.append(search(vector))
        times.append((time.thread_time() - began) * 1000)
    return found, float(np.median(times))


if __name__ == "__main__":
    asyncio.run(main())
