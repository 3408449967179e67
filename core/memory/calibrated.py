"""Choose memory's thresholds: from settings, else from the home's calibration, else the defaults."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from core.errors import UsageError
from core.memory.decision import Decision
from core.memory.scoring import Thresholds
from core.ports import Encoder
from core.system.private_files import private_folder, write_whole

Settle = Callable[[Collection[Encoder]], Awaitable[tuple[Thresholds, Decision]]]
"""Says what memory goes by while these embed."""
PACKAGED = "all-MiniLM-L6-v2"
"""The model that the shipped thresholds are for."""
FILE = "calibration.json"
"""File of the home that holds what was chosen."""
_CALIBRATE = "run `threadlore calibrate PAIRS.jsonl` with labelled pairs of your own"


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What was chosen for an encoder: `precision` of reuse from δ on, `recall` of rewordings from τ on.

    `reach` and `far` are those of the decision that learns, None where the pairs say too little about it.
    `at` is in seconds since the epoch.
    """

    encoder: str
    delta: float
    tau: float
    precision: float
    recall: float
    data: str
    at: float
    reach: float | None = None
    far: float | None = None


def write_calibration(home: Path, made: Calibrated) -> None:
    """Write a calibration to the home, whole or not at all; blocking."""
    known = {key: value for key, value in asdict(made).items() if value is not None}
    write_whole(private_folder(home) / FILE, json.dumps(known, indent=2, ensure_ascii=False) + "\n")


def read_calibration(home: Path) -> Calibrated | None:
    """Return the calibration of a home, None if there is none; blocking.

    Raises UsageError for an unusable file, rather than reusing answers by chance.
    """
    path = home / FILE
    try:
        found = json.loads(path.read_text("utf-8"))
        made = Calibrated(**{key: found[key] for key in Calibrated.__slots__ if key in found})
        if not are_shares(made):
            raise ValueError("its numbers are no shares")
        return made
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise UsageError(
            f"{path} cannot be used ({error}); run `threadlore calibrate` again or delete it."
        ) from None


def are_shares(made: Calibrated) -> bool:
    """Return True if the numbers of a calibration, which may be read from a file, are shares: 0 to 1."""
    numbers = (made.delta, made.tau, made.precision, made.recall, made.reach or 0.0, made.far or 0.0)
    return all(isinstance(value, int | float) and 0 <= value <= 1 for value in numbers)


def settle(
    found: Calibrated | None,
    model: str,
    thresholds: Thresholds,
    decision: Decision,
    fixed: Collection[str] = (),
    carried_over: Calibrated | None = None,
) -> tuple[Thresholds, Decision, str]:
    """Return thresholds and decision for an embedding model, and a warning or "".

    `found` is what the home was calibrated to, `model` the name of the model in use, `carried_over` what
    holds for that where the home was not calibrated to it. What is in `fixed` (`delta`, `tau`, `reach`) was
    set by hand and stays; who set what decides is not warned.
    """
    warning = ""
    if found is None:
        if not is_wanting(None, model, decision, fixed):
            return thresholds, decision, ""
        whose = f"of {PACKAGED}, carried over to {model}" if carried_over else f"for {PACKAGED}"
        warning = f"Memory goes by thresholds {whose}; for {model} {_CALIBRATE}."
    elif not _is_about(found, model):
        warning = f"{FILE} is about {model_of(found)}, not {model}; {_CALIBRATE}."
    if warning and carried_over is None:
        return thresholds, decision, warning
    found = carried_over if warning or found is None else found
    assert found is not None
    thresholds, decision = _by(found, thresholds, decision, fixed)
    return thresholds, decision, warning


def model_of(found: Calibrated) -> str:
    """Return the embedding model that a calibration is about, as EMBEDDING_MODEL names it."""
    return found.encoder.rpartition("@")[0] or found.encoder


def is_wanting(found: Calibrated | None, model: str, decision: Decision, fixed: Collection[str] = ()) -> bool:
    """Return True if a model has no thresholds of its own: neither shipped, nor measured, nor set by hand."""
    deciding = {"delta", "tau", "reach"} if decision.learns else {"delta", "tau"}
    measured = found is not None and _is_about(found, model)
    return not (measured or model == PACKAGED or deciding <= set(fixed))


def _is_about(found: Calibrated, model: str) -> bool:
    return model_of(found) == model


def _by(
    found: Calibrated, thresholds: Thresholds, decision: Decision, fixed: Collection[str]
) -> tuple[Thresholds, Decision]:
    """Return thresholds and decision as they were found, but for what is fixed."""
    if not decision.learns:
        chosen = {name: getattr(found, name) for name in ("delta", "tau") if name not in fixed}
        return replace(thresholds, **chosen), decision
    # pairs that say nothing about rewordings leave δ, which is as precise where nothing else is near
    reach = found.delta if found.reach is None else found.reach
    if "reach" not in fixed:
        decision = replace(decision, reach=reach, far=decision.far if found.far is None else found.far)
    # of two pairs with the same question by δ one is hidden: for that they must be nearer than for reuse
    apart = {"delta": max(found.delta, (1 + decision.reach) / 2), "tau": found.tau}
    chosen = {name: value for name, value in apart.items() if name not in fixed}
    return replace(thresholds, **chosen), decision
