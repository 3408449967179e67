"""GraphContextGen's context variants with a model that writes, on a few questions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import numpy as np

from core.domain import ContextChunk, Evidence
from core.errors import ModelMalformed
from core.generation import triplets
from core.generation.citations import uncited
from core.prompts import DONT_KNOW
from evaluation.answers.overlap import overlap
from evaluation.metrics import likeness
from evaluation.papers.graph import EDGES, OTHERS, TABLE_3, Pool, pool_of, walked
from evaluation.papers.kept_model import KeptModel, all_of, by_itself, from_evidence
from evaluation.papers.tables import Section, Table, printed, share
from evaluation.simulation.data import Topic
from evaluation.simulation.stores import Texts

_PRINTED = printed("graph")
COLUMNS = (
    "variant", "paper BERTScore", "paper ROUGE-L", "paper FactSumm",
    "answered", "SIM", "ROUGE-L", "entities", "triplets", "triplets added a question",
)  # fmt: skip
Said = tuple[str, int]
"""An answer, and how many triplets it had beside its context."""


async def measure(topics: Sequence[Topic], texts: Texts, model: KeptModel, count: int, told: str) -> Section:
    """Have each variant written for `count` questions, half of them such that cosine and graph differ on."""
    pool = await pool_of(topics, texts)
    by_graph, _ = walked(pool, EDGES[0])
    places = _chosen(pool.dense, by_graph, count)
    ways: dict[str, Callable[[int], Awaitable[Said]]] = {
        "Zero-shot": lambda at: _alone(pool, model, at),
        "OnlyContextGen, from text": lambda at: _only(pool, model, at, pool.dense[at]),
        "OnlyContextGen, from graph": lambda at: _only(pool, model, at, by_graph[at]),
        "TextGen": lambda at: _pairs(pool, model, at, pool.dense[at], False),
        "TextContextGen": lambda at: _pairs(pool, model, at, pool.dense[at], True),
        "GraphGen": lambda at: _pairs(pool, model, at, by_graph[at], False),
        "GraphContextGen": lambda at: _pairs(pool, model, at, by_graph[at], True),
    }
    said = await all_of(model, [[way(at) for at in places] for way in ways.values()])
    gold = [pool.gold(pool.new[at]) for at in places]
    published = {name: figures for name, *figures in (*TABLE_3, *OTHERS)}
    rows = [
        (
            name,
            *published[name],
            *await _figures(some, gold, texts),
        )
        for name, some in zip(ways, said, strict=True)
    ]
    differ = sum(list(pool.dense[at]) != list(by_graph[at]) for at in places)
    title = (
        f"Written ({model.name}, n = {len(places)}, of which cosine and graph find other pairs for {differ})"
    )
    return Section(
        "graphcontextgen-written",
        "",
        told,
        (Table(title, COLUMNS, tuple(rows)),),
        _PRINTED["written_differs"],
    )


def _chosen(dense: Sequence[Sequence[int]], by_graph: Sequence[Sequence[int]], count: int) -> list[int]:
    """Return the places of the first questions of either kind, at most half where the two lists differ."""
    differs = [list(one) != list(other) for one, other in zip(dense, by_graph, strict=True)]
    other = [at for at, is_other in enumerate(differs) if is_other][: count // 2]
    alike = [at for at, is_other in enumerate(differs) if not is_other]
    return sorted([*other, *alike[: count - len(other)]])


async def _alone(pool: Pool, model: KeptModel, at: int) -> Said:
    return await by_itself(model, pool.asked[pool.new[at]][1]), 0


async def _only(pool: Pool, model: KeptModel, at: int, keys: Sequence[int]) -> Said:
    """Write from the triplets of the pairs alone."""
    found = await _triplets(pool, model, keys)
    if not found:
        return "", 0
    page = "\n".join(one.sentence for one in found)
    evidence = (Evidence(1, ContextChunk("facts", "facts", "Facts", "", "", page), 1.0),)
    return await from_evidence(model, pool.asked[pool.new[at]][1], evidence), len(found)


async def _pairs(pool: Pool, model: KeptModel, at: int, keys: Sequence[int], enhanced: bool) -> Said:
    """Write from the pairs, and from their triplets too where the context is `enhanced`."""
    found = await _triplets(pool, model, keys) if enhanced else []
    evidence = [
        Evidence(
            number, ContextChunk(f"q{key}", f"q{key}", pool.asked[key][1], "", "", pool.answer(key)), 1.0
        )
        for number, key in enumerate(keys, start=1)
    ]
    texts = {item.number: item.chunk.page for item in evidence}
    if found:
        texts[len(evidence)] += "\n" + "\n".join(one.sentence for one in found)
    return await from_evidence(model, pool.asked[pool.new[at]][1], evidence, texts), len(found)


async def _triplets(pool: Pool, model: KeptModel, keys: Sequence[int]) -> list[triplets.Triplet]:
    """Read the triplets of two pairs, by rule and by the model; both ends stand in them."""
    texts = [f"{pool.asked[key][1]}\n{pool.answer(key)}" for key in keys]
    by_rule = [one for text in texts for one in triplets.by_rule(text)]
    try:
        by_model = await triplets.by_model(model, texts)
    except ModelMalformed:
        by_model = []
    return triplets.within([*by_rule, *by_model], "\n".join(texts))


async def _figures(said: Sequence[Said], gold: Sequence[str], texts: Texts) -> tuple[str, ...]:
    """Compare what was written with the threads' first answers."""
    answers = [uncited(text) for text, _ in said]
    table, true = await texts.encode(answers), await texts.encode([*gold])
    words = await asyncio.to_thread(likeness, answers, gold, with_bert=False)
    both = await asyncio.to_thread(overlap, answers, gold)
    return (
        share(float(np.mean([bool(text) and text != DONT_KNOW for text in answers]))),
        share(float(np.mean(np.sum(table * true, axis=1)))),
        share(words.get("rougeL")),
        share(both.get("entities")),
        share(both.get("triplets")),
        f"{np.mean([count for _, count in said]):.2f}",
    )
