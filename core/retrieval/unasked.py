"""When to speak although nobody asked: only where what was found is surer than what an asked bot needs."""

from __future__ import annotations

from collections.abc import Sequence

from core.retrieval.found import Found

ENOUGH = 0.95
"""Least confidence; chosen on the tune half of `tests/golden/unasked.jsonl` (docs/evaluation.md)."""
UNKNOWN = 0.35
"""Share of a post's terms, by rarity, that no page may have: beyond it, it is about something else."""


def is_sure(found: Found, open_parts: Sequence[str] = ()) -> bool:
    """Return True if pages answer a post so surely, in all of its parts, that they may be told unasked."""
    return found.confidence >= ENOUGH and found.signs.unknown <= UNKNOWN and not open_parts
