"""Whether the answer to a question changes soon, by a linear SVM over its vector (Hybrid CRAG, section 4.2).

The weights are those of `python -m evaluation.tuning.attributes` over `questions.toml`, for all-MiniLM-L6-v2:
with another encoder the model is asked (`few_shot.py`), and without one every question counts as static.
Question types are not predicted, as in the paper; its domains are those of its data set.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np

from core.domain import Vector

ENCODER = "all-MiniLM-L6-v2"
"""The model whose vectors the weights are for."""
QUESTIONS = Path(__file__).with_name("questions.toml")
WEIGHTS = Path(__file__).with_name("weights.json")


def knows(encoder: str) -> bool:
    """Return True if the weights are for the vectors of this encoder."""
    return (encoder.rpartition("@")[0] or encoder) == ENCODER


def is_dynamic(vector: Vector, encoder: str) -> bool:
    """Return True if the question of this vector, made by this encoder, is about what changes soon."""
    if not knows(encoder):
        return False
    weights, bias = _weights()
    return float(weights @ vector) + bias > 0.0


@cache
def _weights() -> tuple[Vector, float]:
    kept = json.loads(WEIGHTS.read_text("utf-8"))
    return np.array(kept["weights"], np.float32), float(kept["bias"])
