"""When to say "I don't know": fit confidence to labelled questions and choose the threshold (*ours*)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import UsageError

Numbers = NDArray[np.float64]

REGULARISATION = 0.02
"""L2 weight on standardised signs; ours, from cross-validation on the `tune` halves."""
MOST_LOST = 0.03
"""Share of the answerable that may fall below the threshold. In cross-validation on the `tune` halves .03
abstains from as many of the others (.913) as .05 does, and loses fewer (.035 against .053)."""
ANSWERABLE = 0.83
"""Share of a channel's questions that have an answer; unknown beforehand, so that of the golden sets."""
_STEPS = 50
_SETTLED = 1e-9
_MARGIN = 1e-6


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic regression of signs, and the threshold on its probability."""

    coefficients: Mapping[str, float]
    bias: float
    threshold: float
    answerable_lost: float
    abstained: float

    def as_dict(self) -> dict[str, Any]:
        """Return what a report shows."""
        return {
            "coefficients": {name: round(value, 3) for name, value in self.coefficients.items()},
            "bias": round(self.bias, 3),
            "threshold": round(self.threshold, 3),
            "answerable_lost": round(self.answerable_lost, 4),
            "abstained": round(self.abstained, 4),
        }


def calibrate(
    labelled: Sequence[tuple[Mapping[str, float], bool]],
    most_lost: float = MOST_LOST,
    answerable_share: float = ANSWERABLE,
) -> Calibration:
    """Fit (signs, answerable) pairs; both kinds count alike, however many there are of each.

    The probability is that of a question of a channel in which `answerable_share` have an answer.

    The threshold loses at most `most_lost` of the answerable and abstains from as many of the others
    as that allows. Raises UsageError where one kind is missing or signs differ from pair to pair.
    """
    names = sorted(labelled[0][0]) if labelled else []
    answerable = np.array([label for _, label in labelled], bool)
    if not names or answerable.all() or not answerable.any():
        raise UsageError(
            "Calibration needs answerable and out_of_scope questions; add the kind that is missing."
        )
    if any(sorted(signs) != names for signs, _ in labelled):
        raise UsageError("The questions were measured with different signs; evaluate them anew.")
    table = np.array([[signs[name] for name in names] for signs, _ in labelled], np.float64)
    weights, bias = fit(table, answerable)
    bias += float(np.log(answerable_share / (1.0 - answerable_share)))
    scores = 1.0 / (1.0 + np.exp(-(table @ weights + bias)))
    threshold = choose(scores[answerable], most_lost)
    return Calibration(
        dict(zip(names, map(float, weights), strict=True)),
        bias,
        threshold,
        float((scores[answerable] < threshold).mean()),
        float((scores[~answerable] < threshold).mean()),
    )


def fit(
    table: Numbers,
    labels: NDArray[np.bool_],
    strength: float = REGULARISATION,
    balanced: bool = True,
    weights: Numbers | None = None,
) -> tuple[Numbers, float]:
    """Fit a logistic regression by Newton's method; L2 on standardised columns.

    `table` has shape (n, d), `labels` (n,); both classes weigh the same where it is `balanced`, or
    each row what `weights` of shape (n,) say. Returns the weights of the unstandardised columns and the bias.
    """
    mean, spread = table.mean(axis=0), table.std(axis=0)
    spread = np.where(spread < _SETTLED, 1.0, spread)
    columns = np.column_stack([(table - mean) / spread, np.ones(len(table))])
    share = np.full(len(labels), 1.0 / len(labels))
    if balanced:
        share = np.where(labels, 0.5 / labels.sum(), 0.5 / (~labels).sum())
    if weights is not None:
        share = weights / weights.sum()
    penalty = np.append(np.full(table.shape[1], strength), 0.0)
    found = np.zeros(columns.shape[1])
    for _ in range(_STEPS):
        said = 1.0 / (1.0 + np.exp(-(columns @ found)))
        slope = columns.T @ (share * (said - labels)) + penalty * found
        bend = (columns * (share * said * (1.0 - said))[:, None]).T @ columns + np.diag(penalty)
        step = np.linalg.solve(bend + _SETTLED * np.eye(len(found)), slope)
        found = found - step
        if np.abs(step).max() < _SETTLED:
            break
    scaled = found[:-1] / spread
    return scaled, float(found[-1] - scaled @ mean)


def choose(answerable: Numbers, most_lost: float) -> float:
    """Return the highest threshold that loses at most that share of the answerable's scores."""
    ordered = np.sort(answerable)
    allowed = int(np.floor(most_lost * len(ordered) + _SETTLED))
    if allowed >= len(ordered):
        return 1.0
    # A little lower, so that the same question does not fall by a rounding error.
    return float(ordered[allowed] - _MARGIN)
