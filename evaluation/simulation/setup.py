"""What a simulation is set up with, and what comes of it: people, model, memory, outcomes."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.domain import Route
from core.memory.decision import LEARNED, Decision, Guard
from core.memory.scoring.score import Thresholds


@dataclass(frozen=True, slots=True)
class People:
    """Who votes. Of every answer the asker and others, `readers` in all, may vote.

    Each does with probability `turnout`. An honest one errs with probability `error`, an adversary
    votes against the truth.
    """

    readers: int = 3
    turnout: float = 0.6
    error: float = 0.05
    adversaries: float = 0.0
    population: int = 300


@dataclass(frozen=True, slots=True)
class Model:
    """How the model answers: the probability of a right answer from documents alone, and with a right
    pair for reference; how often it then repeats that pair's answer; seconds a call."""

    right: float = 0.85
    right_referred: float = 0.95
    repeats: float = 0.9
    seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class Memory:
    """How memory is set up in a run. Without `partitioned` it knows nothing of releases; `by_paper` it is
    ComRAG's algorithms alone that decide and keep."""

    thresholds: Thresholds = field(default_factory=Thresholds)
    decision: Decision = LEARNED
    guard: Guard = lambda asked, remembered: ""
    partitioned: bool = True
    used: bool = True
    by_paper: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one question went.

    `known` says whether memory held a right answer to it, `across` whether the answer was another
    release's, `other` whether it is a question that nobody asks in other words. `text` is the answer.
    """

    route: Route
    right: bool
    known: bool
    across: bool
    other: bool
    ms: float
    text: str = ""


@dataclass(slots=True)
class Round:
    """A round's outcomes, and how many vectors memory searched before and after it, be they of pairs
    (`pairs`, in both stores) or of the centres of their rewordings."""

    outcomes: list[Outcome] = field(default_factory=list)
    before: int = 0
    stored: int = 0
    pairs_before: int = 0
    pairs: int = 0
