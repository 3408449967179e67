"""Fit and measure the predictor of dynamic questions, and of domains where a file has them.

`python -m evaluation.tuning.attributes` makes the shipped weights; `threadlore train-attributes` others.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    kept = _read(path)
    static, dynamic = (_questions(kept.get(kind)) for kind in ("static", "dynamic"))
    if min(len(static), len(dynamic)) < FOLDS:
        raise UsageError(f"{path} needs lists `static` and `dynamic` of at least {FOLDS} questions each.")
    return [*static, *dynamic], np.array([0] * len(static) + [1] * len(dynamic))


def labelled_by_domain(path: Path) -> tuple[list[str], list[str]]:
    """Return questions and the domain of each; blocking. Both are empty where the file has no `domains`.

    `domains` is a table of lists. Raises UsageError where it is not, has a single one, or one of them fewer
    than a question a fold.
    """
    kept = _read(path).get("domains")
    if kept is None:
        return [], []
    lists = kept if isinstance(kept, dict) else {}
    counts = [len(_questions(questions)) for questions in lists.values()]
    if len(counts) < 2 or min(counts) < FOLDS:
        raise UsageError(
            f"{path}: `domains` needs at least two lists of at least {FOLDS} questions each, by the name of "
            "the domain; remove it to learn none."
        )
    pairs = [(question, name) for name, questions in lists.items() for question in questions]
    return [question for question, _ in pairs], [name for _, name in pairs]


def _questions(listed: Any) -> list[str]:
    """Return a list of texts, empty for what is none."""
    is_list = isinstance(listed, list) and all(isinstance(one, str) for one in listed)
    return listed if is_list else []


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    except RecursionError:
        raise UsageError(f"{path} cannot be read: it is nested too deep") from None


def fitted(vectors: Matrix, labels: NDArray[np.int64]) -> dict[str, Any]:
    """Return weights and bias of a linear SVM, rounded."""
    from sklearn.svm import LinearSVC  # more than a second; so are the others

    machine = LinearSVC(C=1.0, random_state=0).fit(vectors, labels)
    return _rounded(machine.coef_[0], machine.intercept_[0])


def fitted_domains(vectors: Matrix, domains: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return weights and bias of a linear SVM for each domain against the others, rounded."""
    names = np.array(domains)
    return {name: fitted(vectors, (names == name).astype(np.int64)) for name in dict.fromkeys(domains)}


def measured(vectors: Matrix, labels: NDArray[np.int64]) -> tuple[float, float]:
    """Return accuracy and F1 of dynamic questions, cross-validated."""
    said = _cross_validated(vectors, labels)
    from sklearn.metrics import f1_score

    return float((said == labels).mean()), float(f1_score(labels, said))


def measured_domains(vectors: Matrix, domains: Sequence[str]) -> tuple[float, float]:
    """Return accuracy and the mean F1 of all domains (macro), cross-validated."""
    names = np.array(domains)
    said = _cross_validated(vectors, names)
    from sklearn.metrics import f1_score

    return float((said == names).mean()), float(f1_score(names, said, average="macro"))


def _cross_validated(vectors: Matrix, labels: NDArray[Any]) -> NDArray[Any]:
    """Return what is said of each vector by a machine that did not see it; labels one against all."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.svm import LinearSVC

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    said: NDArray[Any] = cross_val_predict(LinearSVC(C=1.0, random_state=0), vectors, labels, cv=folds)
    return said


def _rounded(weights: Sequence[float], bias: float) -> dict[str, Any]:
    return {"bias": round(float(bias), DIGITS), "weights": [round(float(one), DIGITS) for one in weights]}


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
