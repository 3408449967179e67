"""Fit and measure the predictor of dynamic questions.

`python -m evaluation.tuning.attributes` makes the shipped weights; `threadlore train-attributes` others.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import LinearSVC

from core.errors import UsageError
from core.models.embedding.encoder import Encoders
from core.ports import Matrix
from core.query.attributes import ENCODER, QUESTIONS, WEIGHTS

FOLDS = 10
DIGITS = 5
"""Decimals of a weight that are kept."""


def labelled(path: Path = QUESTIONS) -> tuple[list[str], NDArray[np.int64]]:
    """Return the questions, and 1 for each that is dynamic; blocking.

    The file is TOML with the lists `static` and `dynamic`. Raises UsageError where it is not, or has fewer
    than a question a fold of either.
    """
    try:
        kept = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    static, dynamic = ([str(one) for one in kept.get(kind) or ()] for kind in ("static", "dynamic"))
    if min(len(static), len(dynamic)) < FOLDS:
        raise UsageError(f"{path} needs lists `static` and `dynamic` of at least {FOLDS} questions each.")
    return [*static, *dynamic], np.array([0] * len(static) + [1] * len(dynamic))


def fitted(vectors: Matrix, labels: NDArray[np.int64]) -> dict[str, Any]:
    """Return weights and bias of a linear SVM, rounded."""
    machine = LinearSVC(C=1.0, random_state=0).fit(vectors, labels)
    weights = [round(float(weight), DIGITS) for weight in machine.coef_[0]]
    return {"bias": round(float(machine.intercept_[0]), DIGITS), "weights": weights}


def measured(vectors: Matrix, labels: NDArray[np.int64]) -> tuple[float, float]:
    """Return accuracy and F1 of dynamic questions, cross-validated."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    said = cross_val_predict(LinearSVC(C=1.0, random_state=0), vectors, labels, cv=folds)
    return float((said == labels).mean()), float(f1_score(labels, said))


async def main() -> None:
    """Write the weights anew and print the figures."""
    questions, labels = labelled()
    with tempfile.TemporaryDirectory() as cache:
        encoder = await Encoders(ENCODER, Path(cache)).current()
        vectors = await encoder.encode(questions)
    WEIGHTS.write_text(json.dumps(fitted(vectors, labels)) + "\n", "utf-8")
    accuracy, f1 = measured(vectors, labels)
    print(f"{len(questions)} questions, {FOLDS} folds: accuracy {accuracy:.3f}, F1 {f1:.3f}")


if __name__ == "__main__":
    asyncio.run(main())
