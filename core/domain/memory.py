"""What the community says of answers, and what is remembered of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.domain.answers import Citation

Vector = NDArray[np.float32]
"""Of shape (dimensions,) and unit length."""
Store = Literal["high", "low"]
Standing = Literal["known", "asker", "helper", "early", "new", "flood"]
"""What a voter was when they voted; `memory.scoring.vote_weighting` tells it, and what each counts for."""
STRANGERS: tuple[Standing, ...] = ("early", "new", "flood")
"""Voters who vouch for nothing alone, or not as many of them as come."""


@dataclass(frozen=True, slots=True)
class Vote:
    """One person's opinion on one answer: 1 for 👍, 0 for 👎, None when it is taken back.

    A taken-back vote may name in `withdraws` which of the two it was: the other one then stands
    again if it is still there. None takes back everything. `by_reaction` tells that an emoji under the
    answer stands for it, which others may clear.
    """

    answer_id: str
    voter: str
    value: Literal[0, 1] | None
    withdraws: Literal[0, 1] | None = None
    at: datetime | None = None
    standing: Standing = "known"
    by_reaction: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class QAPair:
    """A remembered question and answer with its score, release and scope.

    `topic` is the form of the question that memory compares, `label` the id it was imported under.
    """

    id: str
    question: str
    answer: str
    release: str
    scope: str
    score: float
    citations: tuple[Citation, ...] = ()
    stale: bool = False
    topic: str = ""
    label: str = ""
    origin: Literal["answer", "person", "import"] = "answer"
    language: str = "en"
    """The language that the answer is in."""


@dataclass(frozen=True, slots=True)
class Recall:
    """What memory says to a question: a route, and the pairs with their similarities, best first."""

    route: Literal["reuse", "reference", "avoid"]
    high: tuple[tuple[QAPair, float], ...] = ()
    low: tuple[tuple[QAPair, float], ...] = ()
    guard: str = ""
    """Why the nearest pair was not reused although it was near enough; empty otherwise."""
    decided: str = ""
    """How near it was and how near it had to be, in plain words; empty where memory knows nothing near."""
    foreign: tuple[QAPair, float] | None = None
    """The pair that would be reused if its answer were in the language of the question."""
    nearly: tuple[QAPair, float] | None = None
    """What people brought that is only just not near enough, and nothing else keeps from being reused."""
