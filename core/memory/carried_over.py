"""Memory's thresholds for an embedder that nobody calibrated: those of MiniLM, carried over.

Cosines of another model mean something else: of E5 hardly any is below .7. The same questions are embedded by
it, and a threshold goes where it leaves as many pairs of them above as MiniLM's threshold does. No labels are
needed for that; those of a community (`threadlore calibrate`) are better.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ThreadloreError
from core.memory.calibrated import Calibrated, are_shares
from core.memory.decision import LEARNED
from core.memory.scoring import Thresholds
from core.ports import Encoder, for_questions
from core.system.private_files import private_folder, write_whole

log = logging.getLogger(__name__)

FILE = Path(__file__).with_name("question_pairs.json")
KEPT = "thresholds.json"
"""File beside the models that holds what was found, by the encoder's name."""
Numbers = NDArray[np.float64]


async def carried_over(encoder: Encoder, folder: Path) -> Calibrated | None:
    """Return thresholds for an encoder: those that `folder` keeps for it, or new ones, which are kept there.

    The first time takes as long as embedding 240 questions. None, with a line in the log, where the encoder
    fails.
    """
    known = _read(folder / KEPT)
    try:
        kept = Calibrated(**known[encoder.name])
    except (KeyError, TypeError):
        kept = None
    if kept is not None and are_shares(kept):
        return kept
    began = time.monotonic()
    try:
        made = await measured(encoder)
    except ThreadloreError as error:
        log.warning("memory keeps the thresholds of another embedder: %s", error)
        return None
    log.info(
        "memory's thresholds for %s: reach %.3f, δ %.3f, τ %.3f (%.1f s)",
        encoder.name,
        made.reach,
        made.delta,
        made.tau,
        time.monotonic() - began,
    )
    _write(folder, known | {encoder.name: _plain(made)})
    return made


async def measured(encoder: Encoder) -> Calibrated:
    """Embed the shipped questions and return the shipped thresholds as this encoder has them."""
    shipped = json.loads(FILE.read_text("utf-8"))
    vectors = await for_questions(encoder).encode(shipped["texts"])
    one, other, cosines = (np.array(column) for column in zip(*shipped["pairs"], strict=True))
    ours = np.einsum("ij,ij->i", vectors[one.astype(int)], vectors[other.astype(int)])
    defaults = Thresholds()
    values = {
        "delta": defaults.delta,
        "tau": defaults.tau,
        "reach": LEARNED.reach,
        "far": LEARNED.far,
    }
    moved = {name: moved_to(value, cosines, ours.astype(np.float64)) for name, value in values.items()}
    return Calibrated(encoder.name, precision=0.0, recall=0.0, data=FILE.name, at=time.time(), **moved)


def moved_to(value: float, theirs: Numbers, ours: Numbers) -> float:
    """Return the cosine that has as many of our cosines above it as `value` has of theirs; 0 to 1."""
    places = np.arange(len(theirs), dtype=np.float64)
    place = np.interp(value, np.sort(theirs), places)
    return round(float(np.clip(np.interp(place, places, np.sort(ours)), 0.0, 1.0)), 3)


def _plain(made: Calibrated) -> dict[str, Any]:
    return {name: getattr(made, name) for name in Calibrated.__slots__}


def _read(file: Path) -> dict[str, Any]:
    """Return what is kept; nothing where it cannot be read, for it can be made again."""
    try:
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(folder: Path, known: Mapping[str, Any]) -> None:
    write_whole(private_folder(folder) / KEPT, json.dumps(known, indent=2) + "\n")
