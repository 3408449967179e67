"""The order of pages after the second look: a weighted sum of features (*ours*).

The shipped weights are fitted by listwise softmax on the `tune` halves of four products' questions;
docs/evaluation.md has the figures. `threadlore tune` fits them to one's own questions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from core.retrieval.confidence import DEFAULT_JUDGEMENT, QUOTE_JUDGEMENT, Judgement
from core.retrieval.features import FEATURES, Numbers
from core.retrieval.pregenerated import EQUAL

POOL = 40
"""Pages that are looked at again; the right one is hardly ever below."""

WEIGHTS = Path(__file__).with_name("weights.json")
"""The shipped weights and what they were fitted on; `python -m evaluation.tuning.shipped` writes them."""
_SHIPPED: Mapping[str, Mapping[str, float]] = json.loads(WEIGHTS.read_text("utf-8"))
DEFAULT_WEIGHTS = _SHIPPED["weights"]
"""Fitted with an L2 pull of .02 on standardised features; the last four with the others held, on pairs made
by rules, pulled by .03: they count where a page has pairs.
"""
WITHOUT_TOKENS = _SHIPPED["without_tokens"]
"""The same where the tokens of pages are not known: their encoder does not tell them, or not yet."""


LIFT = 6.0
"""As much as the best and a middling page of a usual question are apart; docs/simulation.md has others."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """How retrieval weighs: the dense retriever's share of the fusion, the second look, the confidence.

    `judgement` tells whether pages answer, `quotes` whether what was quoted of them does.
    `fields` weigh what the four fields of pairs made of documents find (`core.retrieval.pregenerated`).
    """

    dense: float = 0.3
    weights: Mapping[str, float] = field(default_factory=lambda: DEFAULT_WEIGHTS)
    judgement: Judgement = DEFAULT_JUDGEMENT
    fields: Mapping[str, float] = field(default_factory=lambda: EQUAL)
    tuned: str = ""
    """What it was tuned on, in words; empty for the shipped one."""
    quotes: Judgement = QUOTE_JUDGEMENT
    learnt: str = ""
    """What votes taught it, in words; empty for nothing."""
    lift: float = LIFT
    """What a section gains that people voted good for nearly the same question; 0 to leave votes out."""

    @property
    def told(self) -> str:
        """Say in one line where it comes from."""
        base = f"tuned on {self.tuned}" if self.tuned else "as shipped"
        learnt = self.learnt or ("" if self.lift else "without votes")
        return f"{base}; {learnt}" if learnt else base

    def scores(self, table: Numbers) -> Numbers:
        """Score pages by their features, shape (pages, FEATURES)."""
        return np.asarray(table @ self._weights(table), np.float64)

    def lifts(self, table: Numbers) -> Numbers:
        """Return how far each feature raises pages above the mean of all, shape (pages, FEATURES)."""
        return np.asarray((table - table.mean(axis=0)) * self._weights(table)) if len(table) else table

    def _weights(self, table: Numbers) -> Numbers:
        """Return the weights of the features, in their order."""
        named = self.weights
        if named is DEFAULT_WEIGHTS and not table[:, FEATURES.index("tokens")].any():
            named = WITHOUT_TOKENS
        return np.array([named[name] for name in FEATURES], np.float64)


DEFAULT_RANKING = Ranking()
