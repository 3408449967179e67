"""The `OpinionStore` port in memory, beside the pairs of a `FakeMemories`."""

from __future__ import annotations

from dataclasses import replace

from core.ports.opinions import Correction, Mark
from tests.fake_stores import FakeMemories


class FakeOpinions:
    """Marks, authors and corrections in dictionaries."""

    def __init__(self, memories: FakeMemories) -> None:
        self._memories = memories
        self._marks: set[tuple[str, str, str]] = set()
        self._authors: dict[str, str] = {}
        self._corrections = memories.corrections

    async def mark(self, message: str, person: str, kind: Mark) -> None:
        self._marks.add((message, person, kind))

    async def unmark(self, message: str, person: str, kind: Mark) -> bool:
        was_there = (message, person, kind) in self._marks
        self._marks.discard((message, person, kind))
        return was_there

    async def marked(self, message: str, kind: Mark) -> frozenset[str]:
        return frozenset(person for at, person, what in self._marks if (at, what) == (message, kind))

    async def wrote(self, pair_id: str, author: str) -> None:
        self._authors.setdefault(pair_id, author)

    async def author(self, pair_id: str) -> str:
        return self._authors.get(pair_id, "")

    async def former(self, pair_id: str) -> str:
        return ""

    async def reword(self, pair_id: str, answer: str) -> None:
        self._memories.reword(pair_id, answer)

    async def discard(self, pair_id: str) -> None:
        self._authors.pop(pair_id, None)
        self._memories.discard(pair_id)

    async def correct(self, correction: Correction) -> None:
        self._corrections[correction.answer_id, correction.person] = correction

    async def corrections(self, answer_id: str = "", limit: int = 50) -> tuple[Correction, ...]:
        found = []
        for correction in self._corrections.values():
            answer = await self._memories.answer(correction.answer_id)
            if answer and answer_id in ("", correction.answer_id):
                pair = await self._memories.pair(correction.pair_id)
                remembered = correction.pair_id if pair and pair.aside != "retired" else ""
                scope = answer["scope"] if correction.scope in ("", "public") else correction.scope
                of_answer = {name: answer[name] for name in ("question", "release")}
                found.append(replace(correction, **of_answer, scope=scope, pair_id=remembered))
        return tuple(sorted(found, key=lambda c: -c.at)[:limit])
