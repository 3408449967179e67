"""Learn to rank: fit the weights of the second look to pages that are known to be right or wrong (*ours*)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.retrieval.features import Numbers

Marks = NDArray[np.bool_]
_STEPS = 400
_SETTLED = 1e-7
_LEAST = 1e-9


def fit_weights(
    tables: Sequence[Numbers],
    right: Sequence[Marks],
    start: Numbers,
    strength: float,
    worth: Sequence[float] = (),
) -> Numbers:
    """Fit weights by listwise softmax: the marked pages of a question together against all of its pages.

    `tables` are (pages, d), `right` (pages,) each; lists without a marked page teach nothing and are left
    out. `worth` says what each list counts for, 1 where it is empty; a negative one says that the marked
    pages are wrong. `strength` is an L2 pull towards `start`, shape (d,), on standardised columns.
    """
    worths = list(worth) or [1.0] * len(tables)
    kept = [entry for entry in zip(tables, right, worths, strict=True) if entry[1].any() and entry[2]]
    if not kept:
        return start
    spread = np.concatenate([table for table, *_ in kept]).std(axis=0)
    spread = np.where(spread < _SETTLED, 1.0, spread)
    total = sum(abs(own) for *_, own in kept)
    scaled = [(table / spread, marks, own / total) for table, marks, own in kept]
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
    lists: Sequence[tuple[Numbers, Marks, float]], weights: Numbers, origin: Numbers, strength: float
) -> tuple[float, Numbers]:
    pull = weights - origin
    loss = strength * float(pull @ pull) / 2.0
    slope = strength * pull
    for table, marks, worth in lists:
        scores = table @ weights
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        # what the votes say is likely: the marked pages together, or all the others
        meant = marks if worth > 0.0 else ~marks
        held = float(shares[meant].sum()) + _LEAST
        loss -= float(np.log(held)) * abs(worth)
        slope = slope + table.T @ (shares - np.where(meant, shares / held, 0.0)) * abs(worth)
    return loss, slope
