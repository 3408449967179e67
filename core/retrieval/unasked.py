"""When to speak although nobody asked: only where what was found is surer than what an asked bot needs."""

from __future__ import annotations

from collections.abc import Sequence

from core.retrieval.confidence import Judgement
from core.retrieval.found import Found

JUDGEMENT = Judgement({"sentence": 9.71, "joint": 8.01, "extension": -4.57}, -6.93)
"""By single windows alone: what many pages have in common ("it doesn't work") is a question put to the bot,
and nothing to speak up for. Fitted on the `tune` halves of both golden sets."""
ENOUGH = 0.95
"""Least confidence; chosen on the tune half of `tests/golden/unasked.jsonl` (docs/evaluation.md)."""
UNKNOWN = 0.35
"""Share of a post's terms, by rarity, that no page may have: beyond it, it is about something else."""


def confidence(found: Found) -> float:
    """Estimate how likely the evidence answers a post that nobody put to the bot, 0..1."""
    return 1.0 if found.named else JUDGEMENT.confidence(found.signs)


def is_sure(found: Found, open_parts: Sequence[str] = ()) -> bool:
    """Return True if pages answer a post so surely, in all of its parts, that they may be told unasked."""
    return confidence(found) >= ENOUGH and found.signs.unknown <= UNKNOWN and not open_parts
