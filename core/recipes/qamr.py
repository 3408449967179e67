"""QAMR's recipe (section III-B): three queries, cosine and MMR, reduction, selection of three, answer.

What differs, and why:

- Rules write the queries and find the release; the model does where they are in doubt (step 1 of the paper
  always asks it). A call is saved where the words are plain.
- All pages are reduced in one call and selected in one call (steps 3 and 4), not in one each: the paper
  spends 59 % of its 41 s there. Rules do it where the model fails or takes longer than the paper did.
- A question that compares releases is searched and answered from each of them, one with several parts is
  searched part by part in place of its forms, a release that does not exist is refused, and what nobody
  asked the bot is answered only where pages are sure: the paper has none of these.
- Where no model writes, pages are quoted if they are enough; the paper always has a model. That writes at .01
  (section IV-G), where small ones repeat themselves without end: ours writes at the usual temperature.
- Votes are counted as everywhere, but memory is not asked.
"""

from __future__ import annotations

from dataclasses import replace

from core.pipeline.resources import STEPS, Resources
from core.pipeline.stage import Stage
from core.pipeline.stages.cite import Cite
from core.pipeline.stages.quote import Quote
from core.pipeline.stages.retrieve import Judge, OnlyIfSure, Reduce, Refuse, Retrieve, Select
from core.pipeline.stages.understand import Understand
from core.pipeline.stages.write import Ground, Write

KEPT = 3
"""Reduced pages that the answer is written from (section IV-E, table II)."""
SECONDS = 41.0
"""Longest wait for the steps before the answer; what the paper's whole journey takes (RQ3)."""


def recipe(parts: Resources) -> tuple[Stage, ...]:
    """Return the stages in the paper's order; per query 2 pages by cosine and 2 by MMR (table II)."""
    searcher = parts.searcher.by_cosine(mmr=True)
    parts = replace(parts, budget=parts.budget.letting(STEPS, SECONDS))
    retrieve = Retrieve(parts, searcher, forms="queries")
    read: tuple[Stage, ...] = (Judge(parts, is_strict=False), Reduce(parts), Select(parts, KEPT, always=True))
    return (
        Understand(parts, forms="queries"),
        Refuse(parts),
        OnlyIfSure(parts, retrieve),
        retrieve,
        *(read if parts.model else ()),
        Write(parts),
        Judge(parts),
        Quote(parts),
        Cite(parts),
        Ground(parts),
    )
