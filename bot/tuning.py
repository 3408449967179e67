"""What memory goes by in this home: settings given by hand, else what it was calibrated to, else defaults."""

from __future__ import annotations

from core.memory.calibrated import read_calibration, settle
from core.memory.decision import Decision
from core.memory.scoring import Thresholds
from core.settings import Settings

_SETTINGS = {"delta": "reuse_threshold", "tau": "cluster_threshold", "reach": "memory_reach"}
"""Which setting fixes which threshold."""


def tuned(settings: Settings) -> tuple[Thresholds, Decision, str]:
    """Return thresholds and decision, and a warning where they are not for the embedding model; blocking.

    Raises UsageError where the home's calibration cannot be read.
    """
    thresholds = Thresholds(
        settings.reuse_threshold,
        settings.cluster_threshold,
        settings.quality_threshold,
        min_voters=settings.min_voters,
        limit=settings.memory_limit,
    )
    decision = Decision(settings.memory_decision, settings.memory_reach)
    fixed = {name for name, field in _SETTINGS.items() if field in settings.model_fields_set}
    found = read_calibration(settings.home)
    return settle(found, settings.embedding_model, thresholds, decision, fixed)
