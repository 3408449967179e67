"""Threadlore's own recipe: sums and the release, then memory, then pages, then the model or quotes.

Pages are found by fusion and a second look.
"""

from __future__ import annotations

from core.pipeline.resources import Resources
from core.pipeline.stage import Stage
from core.pipeline.stages.calculation import Convert, WorkOut
from core.pipeline.stages.cite import Cite
from core.pipeline.stages.quote import Quote
from core.pipeline.stages.retrieve import Judge, OnlyIfSure, Reduce, Refuse, Retrieve, Select
from core.pipeline.stages.reuse import RecallPairs, Reuse
from core.pipeline.stages.search_again import SearchAgain
from core.pipeline.stages.understand import Understand
from core.pipeline.stages.write import Ground, Temper, Write


def recipe(parts: Resources) -> tuple[Stage, ...]:
    """Return the stages in order.

    An answer in another language than the question is said again only where nothing can be written: at once
    without a model, else where pages are not enough or the model fails.
    """
    retrieve = Retrieve(parts)
    read: tuple[Stage, ...] = (Reduce(parts, further=True), Select(parts), Temper()) if parts.model else ()
    written: tuple[Stage, ...] = (*read, Write(parts))
    return (
        WorkOut(),
        Understand(parts),
        Refuse(parts),
        RecallPairs(parts),
        OnlyIfSure(parts, retrieve),
        Reuse(parts, foreign="never" if parts.model else "always"),
        retrieve,
        Reuse(parts, foreign="fallback"),
        SearchAgain(parts, (Judge(parts), *written), (Judge(parts, is_strict=False), *written)),
        Reuse(parts, foreign="fallback"),
        Quote(parts),
        Convert(),
        Cite(parts),
        Ground(parts),
    )
