"""The attribute predictor's other form, measured: a model asked by examples, five samples, the majority.

Hybrid CRAG, section 4.2. It is not fitted to anything, so nothing has to be cross-validated; questions that
are shown as examples are not asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.ports import LanguageModel
from core.query.attributes import few_shot

TOLD = 50
"""Questions after which it is told how far it is."""


class Sampled(NamedTuple):
    """What came of asking a model whether the answers to questions change soon."""

    model: str
    asked: int
    accuracy: float
    f1: float
    """Of dynamic questions."""
    calls: float
    """Samples a question."""
    seconds: float
    """A question, all of its samples one after another."""
    malformed: int
    """Samples that said neither."""
    undecided: int
    """Questions without a label, by samples that all said neither or by a failure; they count as static."""

    @property
    def line(self) -> str:
        """Return the figures in a line."""
        return (
            f"{self.model}, {few_shot.SAMPLES} samples at most, {self.asked} questions: accuracy "
            f"{self.accuracy:.3f}, F1 {self.f1:.3f}; {self.calls:.2f} calls and {self.seconds:.3g} s a "
            f"question; {self.malformed} samples said neither, {self.undecided} questions got no label."
        )


async def sampled(
    model: LanguageModel,
    questions: Sequence[str],
    labels: NDArray[np.int64],
    tell: Callable[[str], None] = lambda line: None,
) -> Sampled:
    """Ask a model about questions one after another; `labels` are 1 for each that is dynamic."""
    shown = {question for question, _ in few_shot.shots()}
    asked = [(text, label) for text, label in zip(questions, labels, strict=True) if text not in shown]
    said: list[bool] = []
    calls = malformed = undecided = 0
    began = time.perf_counter()
    for question, _ in asked:
        try:
            votes = await few_shot.votes(model, question)
        except ModelError:
            votes = few_shot.Votes()
        calls += sum(votes)
        malformed += votes.neither
        undecided += votes.said is None
        said.append(bool(votes.said))
        if len(said) % TOLD == 0:
            tell(f"{len(said)} of {len(asked)} questions asked.")
    seconds = time.perf_counter() - began
    from sklearn.metrics import f1_score  # more than a second, for one figure

    right = np.array([label for _, label in asked])
    return Sampled(
        model.name,
        len(asked),
        float((np.array(said) == right).mean()),
        float(f1_score(right, said, zero_division=0.0)),
        calls / len(asked),
        seconds / len(asked),
        malformed,
        undecided,
    )
