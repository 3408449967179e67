"""GraphContextGen's recipe (sections 4.2 to 4.4, algorithm 1): central questions, triplets, answer.

What the paper leaves open or has no need of, and how it is filled:

- The pool is what is remembered as good and what was made of documents, of the question's own release and
  scope; the paper has one pool of accepted answers. Cited is a pair's page, or what a remembered one cites.
- Where a question has no edge its nearest two are taken, where there is no pair at all the nearest two pages:
  the paper has a pool for every question. Of one with several parts the top two of each part are read.
- Triplets are read by the model, by REBEL where one is set (`REBEL_MODEL`), and by rule from the pages of the
  pairs: definition lists, tables and options, which the paper has not. Like Wikidata's all need both ends in
  the context. So do those that other pages of the release state of two things which the context names.
- Wikidata (`WIKIDATA_URL`, off by default) is asked about things that the question names, too, and only if it
  was asked in public: the paper asks about all of the context.
- A list ("which settings concern cookies?", "what depends on X?") is written from the triplets of all pages,
  with the pages that state them; the paper's graph only adds to a context.
- The model is the one that is configured; the paper's fine-tuned one is a model like any other here.
- Without a model the pages of the pairs are quoted if they are enough, a release that does not exist is
  refused, and what nobody asked is answered only where pages are sure; the paper has none of these.
"""

from __future__ import annotations

from dataclasses import replace

from core.pipeline.resources import SECONDS, Resources
from core.pipeline.stage import Stage
from core.pipeline.stages.cite import Cite
from core.pipeline.stages.graph_list import AskGraph, KnowledgeGraphs
from core.pipeline.stages.pairs import TOP, CiteRemembered, OrPages, RankPairs
from core.pipeline.stages.papers import AddTriplets
from core.pipeline.stages.quote import Quote
from core.pipeline.stages.retrieve import Judge, OnlyIfSure, Refuse, Retrieve
from core.pipeline.stages.understand import Understand
from core.pipeline.stages.write import Ground, Write


def recipe(parts: Resources) -> tuple[Stage, ...]:
    """Return the stages in the paper's order (algorithm 1).

    An edge is a cosine over .8; the walk has α = .85, 100 steps, tolerance 1e-6; the top two are read.
    """
    parts = replace(parts, budget=parts.budget.letting(("understand", "triplets"), SECONDS))
    nearest = Retrieve(parts, parts.searcher.by_cosine(TOP))
    rank = RankPairs(parts)
    graphs = KnowledgeGraphs(parts.searcher)
    return (
        Understand(parts),
        Refuse(parts),
        AskGraph(parts, graphs),
        OnlyIfSure(parts, rank),
        rank,
        nearest,
        Judge(parts, is_strict=parts.model is None),
        AddTriplets(parts, graphs, wikidata=parts.wikidata),
        OrPages(parts, Write(parts, is_new=True), nearest),
        CiteRemembered(),
        nearest,
        Judge(parts),
        Quote(parts),
        Cite(parts),
        Ground(parts),
    )
