"""What memory goes by in this home: settings given by hand, else what it was calibrated to, else defaults."""

from __future__ import annotations

from core.errors import UsageError
from core.memory.calibrated import FILE, read_calibration, settle
from core.memory.decision import Decision
from core.memory.scoring.score import Thresholds
from core.settings import Settings
from core.system.private_files import set_aside

_SETTINGS = {"delta": "reuse_threshold", "tau": "cluster_threshold", "reach": "memory_reach"}
"""Which setting fixes which threshold."""


def tuned(settings: Settings) -> tuple[Thresholds, Decision, str]:
    """Return thresholds and decision, and a warning where they are not for the embedding model; blocking.

    A calibration that cannot be read is set aside: then it is as if there had been none.
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
    broken = ""
    try:
        found = read_calibration(settings.home)
    except UsageError as error:
        found, aside = None, set_aside(settings.home / FILE)
        where = f"It is set aside as {aside}, and" if aside else "Until then"
        broken = f"{error} {where} memory goes by the thresholds that come with Threadlore."
    thresholds, decision, warning = settle(found, settings.embedding_model, thresholds, decision, fixed)
    return thresholds, decision, " ".join(filter(None, (broken, warning)))
