"""Tell apart questions with near vectors that must not share an answer.

Embeddings put opposites side by side (enable/disable .96, 10/100 MB .94). Reuse therefore needs the
same numbers, identifiers, names, polarity and direction, and no lone word replaced by another.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.memory.guard.meaning import negation, opposites, reversal
from core.memory.guard.naming import capitals, code, counts, numbers, software
from core.memory.guard.purpose import amount, circumstance, place, purpose
from core.memory.guard.replaced import deeds, kinds, replaced, unjudged
from core.memory.guard.roles import direction, swapped
from core.memory.guard.sense import sense


def guard(
    asked: str, remembered: str, product_names: Sequence[str] = (), release_names: Sequence[str] = ()
) -> str:
    """Return "" where two questions may share an answer, else one sentence that names the difference.

    `product_names` never tell questions apart; neither does a release that just one of them names,
    for memory is kept by release. An addition to ComRAG, which reuses by similarity alone.
    """
    names, releases = tuple(product_names), tuple(release_names)
    left, right = sense(asked, names, releases), sense(remembered, names, releases)
    for check in (
        numbers,
        counts,
        code,
        software,
        capitals,
        opposites,
        reversal,
        negation,
        direction,
        purpose,
        amount,
        place,
        circumstance,
        swapped,
        deeds,
        kinds,
        replaced,
        unjudged,
    ):
        if difference := check(left, right):
            return difference
    return ""
