"""Whether the answer to a question changes soon, by a linear SVM over its vector (Hybrid CRAG, section 4.2).

The shipped weights are those of `python -m evaluation.tuning.attributes` over `questions.toml`, for
all-MiniLM-L6-v2; `threadlore train-attributes` makes others for a home. With an encoder that they are not for
the model is asked (`few_shot.py`), and without one every question counts as static. Domains are told apart
by one SVM each, where the labelled file of a home has them; none are shipped, as the paper's are those of its
data set. Question types are not predicted, as in the paper.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from core.domain import Vector
from core.system.private_files import write_whole

ENCODER = "all-MiniLM-L6-v2"
"""The model whose vectors the shipped weights are for."""
QUESTIONS = Path(__file__).with_name("questions.toml")
WEIGHTS = Path(__file__).with_name("weights.json")
FILE = "attributes.json"
"""Name of the file in the home that has other weights."""


@dataclass(frozen=True, eq=False, slots=True)
class Plane:
    """Weights and bias of a linear SVM."""

    weights: Vector
    bias: float

    def side(self, vector: Vector) -> float:
        """Return how far on the positive side a vector lies, in no unit."""
        return float(self.weights @ vector) + self.bias


@dataclass(frozen=True, eq=False, slots=True)
class Attributes:
    """The SVM of what changes soon, those of domains, and the model whose vectors they are for."""

    encoder: str
    dynamic: Plane
    domains: Mapping[str, Plane] = field(default_factory=dict)

    def knows(self, encoder: str) -> bool:
        """Return True if the weights are for the vectors of this encoder."""
        return model_of(encoder) == self.encoder

    def is_dynamic(self, vector: Vector) -> bool:
        """Return True if the question of this vector is about what changes soon."""
        return self.dynamic.side(vector) > 0.0

    def domain(self, vector: Vector) -> str:
        """Return the domain of the question of this vector; empty where none were learned."""
        return max(self.domains, key=lambda name: self.domains[name].side(vector), default="")


def model_of(encoder: str) -> str:
    """Return the model of an encoder's fingerprint."""
    return encoder.rpartition("@")[0] or encoder


@cache
def shipped() -> Attributes:
    """Return the predictor that comes with the program."""
    return _read({"encoder": ENCODER, **json.loads(WEIGHTS.read_text("utf-8"))})


def load(path: Path) -> tuple[Attributes, str]:
    """Return the predictor of a home and what is wrong with its file; the shipped one where there is none."""
    try:
        return _read(json.loads(path.read_text("utf-8"))), ""
    except FileNotFoundError:
        return shipped(), ""
    except (ValueError, TypeError, KeyError, AttributeError, OSError):
        problem = (
            f"{path} cannot be read, so the shipped predictor is used; run `threadlore train-attributes`."
        )
        return shipped(), problem


def save(path: Path, encoder: str, fitted: Mapping[str, Any]) -> None:
    """Write a predictor, whole or not at all; blocking."""
    write_whole(path, json.dumps({"encoder": model_of(encoder), **fitted}) + "\n")


def _read(kept: Mapping[str, Any]) -> Attributes:
    domains = {str(name): _plane(one) for name, one in dict(kept.get("domains") or {}).items()}
    return Attributes(str(kept["encoder"]), _plane(kept), domains)


def _plane(kept: Mapping[str, Any]) -> Plane:
    weights = np.array(kept["weights"], np.float32)
    bias = float(kept["bias"])
    if weights.ndim != 1 or not weights.size or not np.isfinite(weights).all() or not math.isfinite(bias):
        raise ValueError("These are no weights.")
    return Plane(weights, bias)
