"""The `RewordingStore` port over `FakeMemories`."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain import READER, STRANGERS
from core.ports import Reworded
from tests.fakes import FakeMemories


class FakeRewordings:
    """Reads the answers and votes that a `FakeMemories` keeps."""

    def __init__(self, memories: FakeMemories) -> None:
        self._memories = memories

    async def rewordings(self, ids: Sequence[str]) -> dict[str, tuple[Reworded, ...]]:
        found: dict[str, list[Reworded]] = {}
        pairs = await self._memories.pairs(ids)
        voted = {vote.answer_id for vote, pair_id, _ in self._memories.votes if pair_id in pairs}
        for answer_id in sorted(voted):
            row = await self._memories.answer(answer_id)
            if row is None or pairs[row["pair_id"]].scope != row["scope"]:
                continue
            queries = row["trace"].get("queries", {})
            topic = queries.get("topic") or queries.get("base") or row["question"]
            entry = Reworded(answer_id, topic, row["asker"], row["at"], self._standing(answer_id))
            if not entry.opinions:
                continue
            found.setdefault(row["pair_id"], []).append(entry)
        return {pair_id: tuple(sorted(some, key=lambda e: e.at)) for pair_id, some in found.items()}

    def _standing(self, answer_id: str) -> tuple[tuple[int, float], ...]:
        """Return what each known person holds up last on this one answer."""
        hands: dict[str, dict[int, tuple[int, float, str]]] = {}
        for number, (vote, _, weight) in enumerate(self._memories.votes):
            if vote.answer_id != answer_id or vote.standing == READER:
                continue
            held = hands.setdefault(vote.voter, {})
            if vote.value is not None:
                held[vote.value] = (number, weight, vote.standing)
            elif vote.withdraws is None:
                held.clear()
            else:
                held.pop(vote.withdraws, None)
        last = [
            max((n, v, w, s) for v, (n, w, s) in held.items()) for _, held in sorted(hands.items()) if held
        ]
        return tuple((value, weight) for _, value, weight, standing in last if standing not in STRANGERS)
