"""Chooses what memory goes by: thresholds and decision for the embedders that its corpora were made by."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import replace

from core.errors import UsageError
from core.memory.calibrated import FILE, Calibrated, is_wanting, read_calibration, settle
from core.memory.carried_over import carried_over
from core.memory.decision import Decision
from core.memory.scoring import Thresholds
from core.ports import Encoder
from core.settings import Settings
from core.system.private_files import set_aside

log = logging.getLogger(__name__)

_SETTINGS = {"delta": "reuse_threshold", "tau": "cluster_threshold", "reach": "memory_reach"}
"""Which setting fixes which threshold."""
Settled = tuple[Thresholds, Decision]


def tuned(settings: Settings) -> tuple[Thresholds, Decision, str]:
    """Return thresholds and decision, and a warning where they are not for the embedding model; blocking."""
    found, broken = _calibration(settings)
    thresholds, decision, warning = _settled(settings, settings.embedding_model, found)
    return thresholds, decision, " ".join(filter(None, (broken, warning)))


class MemorySettings:
    """Thresholds and decision by embedder: set by hand, calibrated, or carried over from MiniLM's."""

    def __init__(self, settings: Settings, found: Calibrated | None, broken: str) -> None:
        self._settings = settings
        self._found = found
        self._broken = broken

    @classmethod
    async def read(cls, settings: Settings) -> MemorySettings:
        """Read what the home was calibrated to."""
        return cls(settings, *await asyncio.to_thread(_calibration, settings))

    async def start(self, encoder: Encoder) -> tuple[Thresholds, Decision, str]:
        """Return what holds for the embedder of the settings, and what is wrong with it, which is logged."""
        thresholds, decision, warning = await self._of(encoder)
        warning = " ".join(filter(None, (self._broken, warning)))
        if warning:
            log.warning("%s", warning)
        return thresholds, decision, warning

    async def of(self, encoders: Collection[Encoder]) -> Settled:
        """Return what holds while these embed: where there are several, a question has to please each."""
        found = [await self._of(encoder) for encoder in encoders]
        return strictest([(thresholds, decision) for thresholds, decision, _ in found])

    async def _of(self, encoder: Encoder) -> tuple[Thresholds, Decision, str]:
        model = encoder.name.rpartition("@")[0] or encoder.name
        decision = Decision(self._settings.memory_decision, self._settings.memory_reach)
        carried = None
        if is_wanting(self._found, model, decision, _fixed(self._settings)):
            carried = await carried_over(encoder, self._settings.home / "models")
        return _settled(self._settings, model, self._found, carried)


def strictest(found: Sequence[Settled]) -> Settled:
    """Return thresholds and decision that reuse an answer only where all of these do."""
    (thresholds, decision), *_ = found
    return (
        replace(
            thresholds,
            delta=max(one.delta for one, _ in found),
            tau=max(one.tau for one, _ in found),
        ),
        replace(
            decision,
            reach=max(one.reach for _, one in found),
            far=min(one.far for _, one in found),
        ),
    )


def _fixed(settings: Settings) -> set[str]:
    return {name for name, field in _SETTINGS.items() if field in settings.model_fields_set}


def _settled(
    settings: Settings, model: str, found: Calibrated | None, carried: Calibrated | None = None
) -> tuple[Thresholds, Decision, str]:
    thresholds = Thresholds(
        settings.reuse_threshold,
        settings.cluster_threshold,
        settings.quality_threshold,
        min_voters=settings.min_voters,
        limit=settings.memory_limit,
    )
    decision = Decision(settings.memory_decision, settings.memory_reach)
    return settle(found, model, thresholds, decision, _fixed(settings), carried)


def _calibration(settings: Settings) -> tuple[Calibrated | None, str]:
    """Return what the home was calibrated to, and what is wrong with it.

    A calibration that cannot be read is set aside: then it is as if there had been none.
    """
    try:
        return read_calibration(settings.home), ""
    except UsageError as error:
        aside = set_aside(settings.home / FILE)
        where = f"It is set aside as {aside}, and" if aside else "Until then"
        return None, f"{error} {where} memory uses the thresholds that come with Threadlore."
