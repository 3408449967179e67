"""ComRAG's recipe (sections 4.1 to 4.4, algorithms 1 and 2): reuse, reference or avoid, by centroids.

The paper as it stands: pairs arrive one by one, and of two as close as δ the better one stays for good
(`core.memory.partitions.arrivals`); the k nearest centroids are searched; from δ on an answer is given again,
from τ on the model writes from good pairs alone, else from bad ones and the k nearest documents.

What the paper leaves open, and how it is filled:

- τ, δ and γ are the installation's (`MEMORY_TAU` and so on): the paper's (.75, .9, .6) are for bge-large, and
  k is nowhere named: it is `recalled`, for centroids, pairs and documents alike.
- Its scorer may be people: votes score pairs, and a pair arrives with its votes, in the order of creation.
- The model is told which pairs were found good and which bad; the paper tells it their scores, to compare.
- Releases, scopes and languages are communities of their own; a release that does not exist is refused.
- An answer cites its documents, or all that the pairs it was written from cite. A pair whose pages have
  changed is not given again, and what is written from it says so. The answer is the fixed phrase, with the
  nearest pages, where the model says that the context is not enough, as the paper's prompt demands.
- Without a model, documents are quoted if they are enough, and what nobody asked is answered only where they
  are sure; the paper always has a model and is always asked.
"""

from __future__ import annotations

from core.pipeline.resources import Resources
from core.pipeline.stage import OnRoute, Stage
from core.pipeline.stages.cite import Cite
from core.pipeline.stages.pairs import CiteRemembered, OrPages, ReadRemembered
from core.pipeline.stages.quote import Quote
from core.pipeline.stages.retrieve import Judge, OnlyIfSure, Refuse, Retrieve
from core.pipeline.stages.reuse import RecallPairs, Reuse
from core.pipeline.stages.understand import Understand
from core.pipeline.stages.write import Ground, Temper, Write


def recipe(parts: Resources) -> tuple[Stage, ...]:
    """Return the stages in the paper's order (algorithm 1).

    The temperature is clamp(exp(-250 · least gap), .7, 1.2) over the scores of the pairs that are evidence,
    good or bad ones (section 4.4).
    """
    k = parts.memory.thresholds.recalled
    nearest = Retrieve(parts, parts.searcher.by_cosine(k))
    write = OrPages(parts, Write(parts, is_new=True), nearest)
    return (
        Understand(parts),
        Refuse(parts),
        RecallPairs(parts, by_paper=True),
        OnlyIfSure(parts, nearest),
        Reuse(parts),
        OnRoute("reference", ReadRemembered(parts), Temper(), write, CiteRemembered()),
        nearest,
        Judge(parts, is_strict=parts.model is None),
        OnRoute("avoid", Temper(also_low=True), Write(parts, is_new=True)),
        Judge(parts),
        Quote(parts),
        Cite(parts),
        Ground(parts),
    )
