"""What is done before anything is said: release, queries, recall, search, each with its trace."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from core.catalogue import Catalogue, ChannelSettings
from core.domain import Queries, Question, Recall, Resolution
from core.memory.community import CommunityMemory
from core.models.encoders import Encoders
from core.ports import Corpus, Matrix
from core.query.releases import resolve
from core.query.rewrite import queries as query_forms
from core.retrieval.search import Found, Searcher, merged

ENOUGH = 0.38
"""Least confidence in the evidence for an answer; see DECISIONS.md for how it was chosen."""
_NONE: Matrix = np.zeros((0, 0), np.float32)


@dataclass(slots=True)
class Asked:
    """A question on its way: what it means, and a trace of what was done."""

    question: Question
    resolution: Resolution
    queries: Queries
    releases: tuple[str, ...]
    vectors: Matrix
    trace: dict[str, Any]
    timings: dict[str, float] = field(default_factory=dict)
    at: float = field(default_factory=time.perf_counter)

    @property
    def topic(self) -> str:
        """Return the form of the question that memory compares and that is embedded."""
        return self.queries.topic or self.queries.base

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the parts of a composite question; empty where there is just one."""
        return self.queries.parts if len(self.queries.parts) > 1 else ()

    @property
    def partition(self) -> str:
        """Name the release, or the set of compared ones, that memory files this under."""
        return "+".join(self.releases)

    def lap(self, step: str) -> None:
        """Note the milliseconds since the step before."""
        now = time.perf_counter()
        self.timings[step] = round((now - self.at) * 1000, 3)
        self.at = now


class Research:
    """Finds out what a question means and what memory and documents hold on it."""

    def __init__(
        self, catalogue: Catalogue, memory: CommunityMemory, searcher: Searcher, encoders: Encoders
    ) -> None:
        self._catalogue = catalogue
        self._memory = memory
        self._searcher = searcher
        self._encoders = encoders

    @property
    def corpora(self) -> dict[str, Corpus]:
        """Return the corpora that answer now, by release."""
        return self._searcher.corpora

    async def understand(self, question: Question) -> Asked:
        """Resolve the release, write the queries, embed them."""
        began = time.perf_counter()
        product = self._catalogue.product
        default = self._catalogue.channels.get(question.channel, ChannelSettings()).release
        resolution = resolve(question, product, default)
        queries = query_forms(question, product, resolution)
        releases = resolution.named if resolution.comparison else (resolution.release,)
        trace = {
            "release_origin": resolution.origin,
            "resolution": asdict(resolution),
            "queries": asdict(queries),
            "rewritten": queries.rewritten,
        }
        asked = Asked(question, resolution, queries, releases, _NONE, trace, at=began)
        asked.lap("understand")
        if not resolution.unknown:
            corpus = self.corpora.get(releases[0])
            encoder = await (self._encoders.named(corpus.encoder) if corpus else self._encoders.current())
            asked.vectors = await encoder.encode([asked.topic, *asked.parts])
            asked.lap("embed")
        return asked

    async def recall(self, asked: Asked) -> Recall:
        """Ask community memory for the route and for what people voted good or bad."""
        recall = await self._memory.recall(
            asked.vectors[0], asked.topic, asked.partition, asked.question.scope
        )
        for kind in ("high", "low"):
            asked.trace[kind] = [
                {"pair": pair.id, "question": pair.question, "similarity": near, "score": pair.score}
                for pair, near in getattr(recall, kind)
            ]
        asked.trace["guard"] = recall.guard
        asked.lap("recall")
        return recall

    async def search(self, asked: Asked) -> Found:
        """Search every release and every part of the question; the best of each come first."""
        lists = []
        for release in asked.releases:
            if not asked.parts:
                lists.append(await self._searcher.search(asked.queries, asked.vectors, release))
            for place, part in enumerate(asked.parts, start=1):
                form = replace(asked.queries, base=part, filtered=part, versionless="")
                lists.append(await self._searcher.search(form, asked.vectors[place : place + 1], release))
        found = merged(lists)
        asked.trace |= {
            "confidence": found.confidence,
            "threshold": ENOUGH,
            "signs": asdict(found.signs),
            "evidence": [
                {
                    "title": f"{item.chunk.title}: {item.chunk.heading}",
                    "path": item.chunk.path,
                    "url": item.chunk.url,
                    "release": item.chunk.release,
                    "score": item.score,
                    "matched": list(item.matched),
                }
                for item in found.evidence
            ],
        }
        asked.lap("retrieve")
        return found
