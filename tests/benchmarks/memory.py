"""`make bench`: memory with 100,000 pairs, against one exact scan of their vectors in the same run."""

from __future__ import annotations

import argparse
import asyncio
import itertools
import logging
import random
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bot.app.bootstrap import build
from bot.app.builders.storage import open_memory
from bot.operations.application import Application
from core.domain import Answer, Question, Scope, Vector, Vote, content_hash
from core.ports import Matrix, MemoryChange, MemoryStore, Placement, Remembered
from core.settings import load_settings
from core.vocabulary import word_list
from tests.benchmarks.reports import quantile

PAIRS = 100_000
TOPICS = 5_000
"""Clusters of the synthetic vectors; cosine is about .7 within one and about 0 between two."""
WITHIN = 0.7
LOW = 5
"""Every how many-th pair was voted down."""
ASKED = 300
"""Questions asked, and votes put."""
RELEASE = "3.1"
VERBS = word_list(
    """archive build check clear copy create delete disable enable export find format import limit list
    move open print read rename reset save send show sort start stop test update write"""
)
THINGS = word_list(
    """address archive badge banner button calendar card chart comment cookie coupon cursor dialog
    digest document draft email event field file filter folder font footer form gallery grid header icon
    image invoice item job journal label ledger line link list log map menu message model note order page
    panel password path payment photo plan player point policy post profile project prompt query queue
    receipt record region reminder report request response role route row rule schema search section
    session setting sheet signal slide snapshot source survey table tag task team template theme thread
    ticket timer token toolbar topic upload user value view voucher widget window worker"""
)


@dataclass(frozen=True)
class World:
    """Vectors of unit length, and the question each stands for."""

    vectors: Matrix
    questions: list[str]


def make_world(count: int) -> World:
    """Make clustered vectors of 384 dimensions and as many different questions."""
    chance = np.random.default_rng(7)
    centres = unit(chance.normal(size=(max(1, count * TOPICS // PAIRS), 384)))
    noise = unit(chance.normal(size=(count, 384)))
    vectors = unit(np.sqrt(WITHIN) * centres[np.arange(count) % len(centres)] + np.sqrt(1 - WITHIN) * noise)
    spoken = (
        f"How do I {verb} the {one} of a {other}?"
        for verb, one, other in itertools.product(VERBS, THINGS, THINGS)
        if one != other
    )
    questions = list(itertools.islice(spoken, count))
    random.Random(7).shuffle(questions)
    return World(vectors, questions)


def asked(world: World, chance: np.random.Generator) -> tuple[str, Vector]:
    """Return a question: a third each means a pair, is near one, or is about something else."""
    row = int(chance.integers(len(world.vectors)))
    nearness = (0.92, 0.7, 0.1)[int(chance.integers(3))]
    noise = unit(chance.normal(size=(1, 384)))[0]
    vector: Vector = unit(np.sqrt(nearness) * world.vectors[row] + np.sqrt(1 - nearness) * noise)
    return world.questions[row].replace("How do I", "How can I"), vector


async def main() -> None:
    """Fill a home where there is none yet, then measure load, recall and votes."""
    options = argparse.ArgumentParser(prog="python -m tests.benchmarks.memory", description=__doc__)
    options.add_argument("home", type=Path, nargs="?", default=Path(".threadlore/bench-memory"))
    options.add_argument("--pairs", type=int, default=PAIRS)
    given = options.parse_args()
    logging.disable(logging.WARNING)
    world = make_world(given.pairs)
    settings = load_settings(home=given.home, ollama_host="off")
    filled = given.home / f"filled-{given.pairs}"
    if not filled.exists():
        shutil.rmtree(given.home, ignore_errors=True)
        began = time.perf_counter()
        async with build(settings, "bench") as app:
            await fill(app, given.home, world)
        filled.touch()
        print(f"filled a home with {given.pairs} pairs in {time.perf_counter() - began:.0f} s")
    async with build(settings, "bench") as app:
        await measure(app, world)


async def fill(app: Application, home: Path, world: World) -> None:
    """Write pairs, their vectors, placements, and an answer for each that can be voted on."""
    async with open_memory(home) as kept:
        await _fill(app, kept.memories, world)


async def _fill(app: Application, store: MemoryStore, world: World) -> None:
    encoder = (await app.corpus_manager.encoders.current()).name
    now = time.time()
    clusters = max(1, len(world.vectors) * TOPICS // PAIRS)
    for start in range(0, len(world.questions), 2000):
        rows = range(start, min(start + 2000, len(world.questions)))
        pairs = [_pair(row, world.questions[row], now) for row in rows]
        await app.corpora.put_vectors(
            encoder, {content_hash(p.topic): world.vectors[row] for p, row in zip(pairs, rows, strict=True)}
        )
        await store.add(pairs)
        placements = [
            Placement(
                pair.id,
                app.memory.thresholds.store(app.memory.score(pair)),
                app.memory.score(pair),
                1 + row % clusters,
            )
            for pair, row in zip(pairs, rows, strict=True)
        ]
        await store.place(MemoryChange(tuple(placements)))
    for row in range(0, len(world.questions), max(1, len(world.questions) // ASKED)):
        await store.save_answer(_answer(row), Question(world.questions[row], release=RELEASE), None)


async def measure(app: Application, world: World) -> None:
    """Print times and ratios."""
    encoder = await app.corpus_manager.encoders.current()
    before = resident_mb()
    began = time.perf_counter()
    await app.memory.load(encoder, {})
    seconds = time.perf_counter() - began
    sizes = ", ".join(f"{len(p)} {key[2]}" for key, p in sorted(app.memory.partitions().items()))
    print(f"{sizes}: loaded anew in {seconds:.1f} s, {resident_mb():.0f} MB resident ({before:.0f} before)")

    chance = np.random.default_rng(8)
    scans, recalls, routes = [], [], []
    for turn in range(ASKED + 20):
        question, vector = asked(world, chance)
        began = time.perf_counter()
        similarities = world.vectors @ vector
        top = np.argpartition(-similarities, 3)[:3]
        top[np.argsort(-similarities[top])]
        scanned = time.perf_counter()
        recall = await app.memory.recall(vector, question, RELEASE, Scope())
        recalled = time.perf_counter()
        if turn >= 20:  # the first ones warm up
            scans.append((scanned - began) * 1000)
            recalls.append((recalled - scanned) * 1000)
            routes.append(recall.route)
    told = ", ".join(f"{routes.count(route)} {route}" for route in sorted(set(routes)))
    print(f"{len(routes)} questions ({told}), ms:")
    _line("one exact scan", scans)
    _line("recall and route", recalls)
    ratio = quantile(recalls, 95) / quantile(scans, 95)
    print(f"  ratio of both p95: {ratio:.2f} (aim: at most 2)")

    voted = []
    rows = list(range(0, len(world.questions), max(1, len(world.questions) // ASKED)))
    for row in rows * 2:
        vote = Vote(_answer(row).id, f"bench:{time.time_ns()}", 1 if chance.random() < 0.5 else 0)
        began = time.perf_counter()
        assert await app.engine.feedback(vote)
        voted.append((time.perf_counter() - began) * 1000)
    print(f"{len(voted)} votes, ms from the vote to the placement written:")
    _line("on a pair first", voted[: len(rows)])
    _line("on it again", voted[len(rows) :])
    print(f"  p95 of all: {quantile(voted, 95):.1f} (aim: at most 50)")


def _line(name: str, ms: list[float]) -> None:
    print(f"  {name:<20} p50 {quantile(ms, 50):7.2f}   p95 {quantile(ms, 95):7.2f}   max {max(ms):7.2f}")


def _pair(row: int, question: str, now: float) -> Remembered:
    return Remembered(
        id=f"i{row:08}",
        question=question,
        topic=question,
        answer=f"Open the settings and look for entry {row}.",
        release=RELEASE,
        scope="public",
        prior=0.2 if row % LOW == 0 else 0.9,
        created_at=now + row * 1e-6,
        origin="import",
        label=f"entry {row}",
    )


def _answer(row: int) -> Answer:
    """Return an answer that reuses a pair, so that a vote on it counts for the pair."""
    return Answer(f"a{row:08}", "…", "reuse", RELEASE, pair_id=f"i{row:08}")


def unit(vectors: np.ndarray) -> Matrix:
    """Scale vectors to the length 1."""
    scaled: Matrix = (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)
    return scaled


def resident_mb() -> float:
    """Return the memory that this process holds, in MB."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


if __name__ == "__main__":
    asyncio.run(main())
