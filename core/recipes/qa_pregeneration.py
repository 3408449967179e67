"""QA pre-generation's recipe (retrieval and generation mechanism): answers from pairs made of documents.

What differs, and why:

- A pair is handed over under its page, and the page is cited: the paper attaches links of documents.
- The model says where the pairs do not answer; without one, pages that are not enough are not quoted.
- Each release has its own pairs, and a release that does not exist is refused; the paper keeps versions
  together on purpose.
- Where no model writes, the pages are quoted. Votes are counted as everywhere, but memory is not asked.
- Without pairs (`PREGENERATE`, `threadlore pregenerate`) there is nothing to find, and every answer is that;
  `status` and the log say so. Of a question with several parts the pairs of each part are read.
"""

from __future__ import annotations

from core.pipeline.resources import Resources
from core.pipeline.stage import Stage
from core.pipeline.stages.cite import Cite
from core.pipeline.stages.pairs import RankPairs
from core.pipeline.stages.quote import Quote
from core.pipeline.stages.retrieve import Judge, OnlyIfSure, Refuse
from core.pipeline.stages.understand import Understand
from core.pipeline.stages.write import Ground, Write

NEEDS_PAIRS = True
"""Whether nothing is found without pairs that were made of the documents."""


def recipe(parts: Resources) -> tuple[Stage, ...]:
    """Return the stages in the paper's order.

    Question and answer, each by vector and by words, forty of each, joined by equal reciprocal rank, eight
    kept (hybrid retrieval strategy); the model reads question, FullAnswer and Summary (data structure).
    """
    nearest = RankPairs(parts, by_fields=True)
    return (
        Understand(parts),
        Refuse(parts),
        OnlyIfSure(parts, nearest),
        nearest,
        Judge(parts, is_strict=parts.model is None),
        Write(parts, is_new=True),
        Judge(parts),
        Quote(parts),
        Cite(parts),
        Ground(parts),
    )
