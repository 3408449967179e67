"""The `DistinctionStore` port over `FakeMemories`."""

from __future__ import annotations

from dataclasses import replace

from core.ports.opinions import Distinction
from tests.fakes import FakeMemories


class FakeDistinctions:
    """Questions told apart, in a dictionary; their words are those of the answers."""

    def __init__(self, memories: FakeMemories) -> None:
        self._memories = memories
        self._kept: dict[tuple[str, str], Distinction] = {}

    async def tell_apart(self, said: Distinction) -> bool:
        if await self._memories.pair(said.pair_id) is None or (said.pair_id, said.key) in self._kept:
            return False
        self._kept[said.pair_id, said.key] = said
        return True

    async def told_apart(self, pair_id: str = "") -> tuple[Distinction, ...]:
        found = []
        for said in sorted(self._kept.values(), key=lambda one: (one.at, one.key)):
            pair = await self._memories.pair(said.pair_id)
            if pair is not None and pair_id in ("", said.pair_id):
                of_pair = {"release": pair.release, "remembered": pair.topic}
                found.append(replace(said, **of_pair, **await self._words(said.answer_id)))
        return tuple(found)

    async def _words(self, answer_id: str) -> dict[str, str]:
        row = await self._memories.answer(answer_id)
        if row is None:
            return {}
        if row["scope"].startswith("direct:"):
            return {"scope": row["scope"]}
        queries = row["trace"].get("queries", {})
        topic = queries.get("topic") or queries.get("base") or row["question"]
        return {"topic": topic, "question": row["question"], "scope": row["scope"]}

    async def take_back(self, pair_id: str, key: str) -> bool:
        return self._kept.pop((pair_id, key), None) is not None
