"""How good a remembered answer is: votes over a prior, as a Beta mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from core.domain import Evidence, Store
from core.ports import Remembered
from core.text.words import query_terms

DAY_SECONDS = 86400.0
CROWD = 2
"""Strangers of one opinion who count without a known person, at most; more are a crowd (*ours*)."""
BESIDE = 0.5
"""What all strangers together weigh beside known people or on what people brought, in voters (*ours*)."""
HALF_LIFE_DAYS = 180.0
"""Days without use after which a pair is worth half: about two releases of a usual product (*ours*)."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The settings of ComRAG's algorithms 1 and 2, for one embedder.

    Defaults suit all-MiniLM-L6-v2; docs/decisions/memory.md says by which data.
    """

    delta: float = 0.84
    """δ: from this cosine on two questions are the same."""
    tau: float = 0.6
    """τ: from this cosine on a pair is worth reading, and joins a cluster."""
    gamma: float = 0.6
    """γ: from this score on a pair belongs in the high store."""
    prior_strength: float = 1.0
    """m: how many votes the automatic score counts for."""
    asker_weight: float = 2.0
    helper_weight: float = 2.0
    voter_weight: float = 1.0
    recalled: int = 3
    """Pairs handed to the model as examples, from each store."""
    min_voters: int = 1
    """Known people who must have voted an answer good before it is reused in public."""
    limit: int = 0
    """Pairs that a store of one release and scope holds at most; 0 for no limit."""

    def store(self, score: float) -> Store:
        """Name the store that a score belongs in (ComRAG algorithm 2, line 1)."""
        return "high" if score >= self.gamma else "low"


def score(prior: float, opinions: Sequence[tuple[int, float]], strength: float) -> float:
    """Return `(m·s0 + Σ w·v) / (m + Σ w)` over (value, weight) opinions, in 0..1."""
    # summed exactly, so that the order of the voters' names does not matter
    weights = math.fsum(weight for _, weight in opinions)
    voted = math.fsum(weight * value for value, weight in opinions)
    return (strength * prior + voted) / (strength + weights)


def score_of(pair: Remembered, thresholds: Thresholds) -> float:
    """Return a pair's score from its prior and the opinions that count."""
    return score(pair.prior, counted(pair, thresholds), thresholds.prior_strength)


def counted(pair: Remembered, thresholds: Thresholds) -> tuple[tuple[int, float], ...]:
    """Return the opinions that count, as (value, weight): all strangers together weigh a voter at most."""
    strangers = counted_strangers(pair)
    weights = math.fsum(weight for _, weight in strangers)
    most = thresholds.voter_weight * (BESIDE if pair.opinions or pair.origin != "answer" else 1.0)
    share = min(1.0, most / weights) if weights else 1.0
    return (*pair.opinions, *((value, weight * share) for value, weight in strangers))


def counted_strangers(pair: Remembered) -> tuple[tuple[int, float], ...]:
    """Return the votes of strangers that count for something, as (value, weight).

    They do beside a known person's vote, or on what people brought. Alone they do while nobody is
    known in the community, and unless those who vote the same are a crowd.
    """
    if pair.opinions or pair.origin != "answer":
        return tuple((value, weight) for value, weight, _ in pair.strangers)
    return _early(pair)


def _early(pair: Remembered) -> tuple[tuple[int, float], ...]:
    """Return the votes from the time when nobody could be known, without those of a crowd."""
    early = [(value, weight) for value, weight, was_early in pair.strangers if was_early]
    sides = ([vote for vote in early if vote[0] == value] for value in (0, 1))
    return tuple(vote for side in sides if len(side) <= CROWD for vote in side)


def vouched(pair: Remembered) -> int:
    """Return how many people vouch for a pair: who are known and voted it good, or a few early ones."""
    return sum(1 for value, _ in (*pair.opinions, *_early(pair)) if value)


def is_neutral(pair: Remembered) -> bool:
    """Return True if a pair is in no store: nobody whose vote counts voted on it, or it was set aside."""
    return bool(pair.aside) or (pair.origin == "answer" and not pair.opinions and not counted_strangers(pair))


def worth(pair: Remembered, score: float, now: float) -> float:
    """Return what keeping a pair is worth: its score, raised by its uses, halved with age (*ours*).

    Age counts from the last reuse, or from when the pair was made; `now` in seconds since the epoch.
    """
    idle_days = max(0.0, now - max(pair.created_at, pair.used_at)) / DAY_SECONDS
    return float(score * (1 + math.log1p(pair.uses)) * 0.5 ** (idle_days / HALF_LIFE_DAYS))


SUPPORTED = 0.75
"""Prior of an answer that its evidence says in so many words."""


def support(answer: str, evidence: Sequence[Evidence]) -> float:
    """Return the share of an answer's terms that its evidence holds, pulled into .25 to .75.

    The bounds leave the last word to people: any single vote decides over the prior.
    """
    terms = set(query_terms(answer))
    if not terms or not evidence:
        return 0.25
    held = terms & set(query_terms(" ".join(item.chunk.text for item in evidence)))
    return 0.25 + 0.5 * len(held) / len(terms)
