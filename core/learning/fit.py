"""Learn to rank: fit the weights of the second look to pages that are known to be right or wrong (*ours*)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.retrieval.features import Numbers

Marks = NDArray[np.bool_]
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
    from scipy.optimize import minimize  # half a second, for what happens once a day

    worths = list(worth) or [1.0] * len(tables)
    kept = [entry for entry in zip(tables, right, worths, strict=True) if entry[1].any() and entry[2]]
    if not kept:
        return start
    spread = np.concatenate([table for table, *_ in kept]).std(axis=0)
    spread = np.where(spread < _SETTLED, 1.0, spread)
    total = sum(abs(own) for *_, own in kept)
    scaled = [(table / spread, marks, own / total) for table, marks, own in kept]
    origin = start * spread
    found = minimize(
        lambda weights: _loss(scaled, weights, origin, strength),
        origin,
        jac=True,
        method="L-BFGS-B",
        options={"ftol": _SETTLED**2},
    )
    return np.asarray(found.x, np.float64) / spread


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
