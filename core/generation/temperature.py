"""How freely the model may write, from how much the remembered answers' scores differ."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise

SCALE = 250.0
"""k of ComRAG section 4.4."""
LOWEST = 0.7
"""T_min of ComRAG section 4.4."""
HIGHEST = 1.2
"""T_max of ComRAG section 4.4; out of reach, since the exponential is at most 1."""


def adaptive(
    scores: Iterable[float], *, scale: float = SCALE, lowest: float = LOWEST, highest: float = HIGHEST
) -> float:
    """Return clamp(exp(-k · min gap of the sorted scores)) (ComRAG section 4.4).

    Fewer than two scores have no gap and give the lowest temperature (ours).
    """
    ordered = sorted(scores)
    if len(ordered) < 2:
        return lowest
    gap = min(after - before for before, after in pairwise(ordered))
    return min(max(math.exp(-scale * gap), lowest), highest)
