"""Learn to rank: fit the weights of the second look to pages that are known to be right (*ours*)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.retrieval.features import Numbers

Marks = NDArray[np.bool_]
_STEPS = 400
_SETTLED = 1e-7


def fit_weights(
    tables: Sequence[Numbers], right: Sequence[Marks], start: Numbers, strength: float
) -> Numbers:
    """Fit weights by listwise softmax: the right pages of a question together against all of its pages.

    `tables` are (pages, d), `right` (pages,) each; lists without a right page teach nothing and are left
    out. `strength` is an L2 pull towards `start`, shape (d,), on standardised columns.
    """
    kept = [(table, marks) for table, marks in zip(tables, right, strict=True) if marks.any()]
    if not kept:
        return start
    spread = np.concatenate([table for table, _ in kept]).std(axis=0)
    spread = np.where(spread < _SETTLED, 1.0, spread)
    scaled = [(table / spread, marks) for table, marks in kept]
    origin = start * spread
    weights = origin.copy()
    loss, slope = _loss(scaled, weights, origin, strength)
    step = 1.0
    for _ in range(_STEPS):
        tried = weights - step * slope
        new, new_slope = _loss(scaled, tried, origin, strength)
        if new > loss - 0.5 * step * float(slope @ slope):  # too far (Armijo)
            step /= 2.0
            if step < _SETTLED:
                break
            continue
        gained, weights, loss, slope = loss - new, tried, new, new_slope
        step *= 1.5
        if gained < _SETTLED:
            break
    return weights / spread


def _loss(
    lists: Sequence[tuple[Numbers, Marks]], weights: Numbers, origin: Numbers, strength: float
) -> tuple[float, Numbers]:
    pull = weights - origin
    loss = strength * float(pull @ pull) / 2.0
    slope = strength * pull
    for table, marks in lists:
        scores = table @ weights
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        held = float(shares[marks].sum()) + 1e-12
        loss -= float(np.log(held)) / len(lists)
        slope = slope + table.T @ (shares - np.where(marks, shares / held, 0.0)) / len(lists)
    return loss, slope
