"""The order of pages after the second look: a weighted sum of features (*ours*).

The shipped weights are fitted by listwise softmax on the `tune` halves of four products' questions;
docs/evaluation.md has the figures. `threadlore tune` fits them to one's own questions and writes them to the
home, where every start reads them.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from core.retrieval.confidence import DEFAULT_JUDGEMENT, QUOTE_JUDGEMENT, Judgement, QuoteSigns, Signs
from core.retrieval.features import FEATURES, Numbers
from core.retrieval.pregenerated import EQUAL

POOL = 40
"""Pages that are looked at again; the right one is hardly ever below."""

WEIGHTS = Path(__file__).with_name("weights.json")
"""The shipped weights and what they were fitted on; `python -m tests.fitting.shipped` writes them."""
_SHIPPED: Mapping[str, Mapping[str, float]] = json.loads(WEIGHTS.read_text("utf-8"))
DEFAULT_WEIGHTS = _SHIPPED["weights"]
"""Fitted with an L2 pull of .02 on standardised features; the last four with the others held, on pairs made
by rules, pulled by .03: they count where a page has pairs.
"""
WITHOUT_TOKENS = _SHIPPED["without_tokens"]
"""The same where the tokens of pages are not known: their encoder does not tell them, or not yet."""


LIFT = 6.0
"""As much as the best and a middling page of a usual question are apart; docs/simulation.md has others."""
FILE = "ranking.json"
"""Name of the file in the home."""
LATER = {name: DEFAULT_WEIGHTS[name] for name in ("older", "changed", "notes", "making")} | {"tokens": 0.0}
"""Features that files of earlier versions do not weigh, and what they count for."""
_SIGNS = frozenset(field.name for field in fields(Signs))
_QUOTE_SIGNS = frozenset(field.name for field in fields(QuoteSigns))


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


def save_ranking(path: Path, ranking: Ranking, encoder: str) -> None:
    """Write a tuned ranking, whole or not at all; blocking."""
    judgement = ranking.judgement
    kept: dict[str, Any] = {
        "encoder": encoder,
        "tuned": ranking.tuned,
        "dense": ranking.dense,
        "weights": dict(ranking.weights),
        "fields": dict(ranking.fields),
    }
    if judgement != DEFAULT_JUDGEMENT:
        kept["judgement"] = {
            "coefficients": dict(judgement.coefficients),
            "bias": judgement.bias,
            "enough": judgement.enough,
        }
    if ranking.quotes != QUOTE_JUDGEMENT:
        kept["quotes"] = {"coefficients": dict(ranking.quotes.coefficients), "bias": ranking.quotes.bias}
    beside = path.with_suffix(".writing")
    beside.write_text(json.dumps(kept, indent=2) + "\n", "utf-8")
    os.replace(beside, path)


def load_ranking(path: Path, encoder: str) -> tuple[Ranking, str]:
    """Return the ranking to use and what is wrong with the file; the shipped one where there is none.

    A file that is broken, or was tuned with another encoder or for other features, is not used: weights
    mean something only for what they were fitted to. Blocking.
    """
    try:
        kept = json.loads(path.read_text("utf-8"))
        ranking, of = _read(kept), str(kept["encoder"])
    except FileNotFoundError:
        return DEFAULT_RANKING, ""
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        what = f"cannot be used ({str(error) or type(error).__name__})"
    else:
        if of == encoder:
            return ranking, ""
        what = f"was tuned with the encoder {of}, not with {encoder}"
    return DEFAULT_RANKING, (
        f"{path} {what}, so the shipped ranking is used; run `threadlore tune` again, or `threadlore tune "
        f"--reset` to remove it."
    )


def _read(kept: Mapping[str, Any]) -> Ranking:
    weights = {str(name): _number(value) for name, value in kept["weights"].items()}
    weights = LATER | weights
    if not set(FEATURES) - set(LATER) <= set(weights) <= set(FEATURES):
        raise ValueError("it was tuned for other features of pages")
    dense = _number(kept["dense"])
    if not 0.0 <= dense <= 1.0:
        raise ValueError(f"dense must be from 0 to 1, not {dense}")
    pairs = {str(name): _number(value) for name, value in kept.get("fields", EQUAL).items()}
    if set(pairs) != set(EQUAL) or min(pairs.values()) < 0.0:
        raise ValueError("it was tuned for other fields of pairs")
    tuned = str(kept.get("tuned") or "labelled questions")
    judgement, quotes = _judgement(kept.get("judgement")), _quotes(kept.get("quotes"))
    return Ranking(dense, weights, judgement, pairs, tuned, quotes)


def _judgement(kept: Any) -> Judgement:
    if kept is None:
        return DEFAULT_JUDGEMENT
    return Judgement(_coefficients(kept, _SIGNS), _number(kept["bias"]), _number(kept["enough"]))


def _quotes(kept: Any) -> Judgement:
    """Read how sure quotes are; whether one is shown is not tuned."""
    if kept is None:
        return QUOTE_JUDGEMENT
    coefficients, bias = _coefficients(kept, _QUOTE_SIGNS), _number(kept["bias"])
    if "margin" not in coefficients:  # of a version that did not know what tells most
        return QUOTE_JUDGEMENT
    return replace(QUOTE_JUDGEMENT, coefficients=coefficients, bias=bias)


def _coefficients(kept: Mapping[str, Any], known: frozenset[str]) -> dict[str, float]:
    coefficients = {str(name): _number(value) for name, value in kept["coefficients"].items()}
    if not set(coefficients) <= known:
        raise ValueError("it was tuned for other signs of confidence")
    return coefficients


def _number(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value} is no number to weigh with")
    return number
