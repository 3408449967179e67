"""Hybrid CRAG's recipe (section 4): attributes, text and tables, calculator, model knowledge, reasoning.

Pages are cleaned, and tables cut by rows under their header, when they are read (section 4.1): here a table
is a passage like any other.

What the paper leaves out or has no need of, and how it is filled:

- Attributes are predicted by the SVM, which the paper found better than asking the model and did not get to
  merge; by the model's samples for an encoder that the SVM is not for. What is dynamic is answered only from
  pages whose source was read within a day, else not at all, with the pages to look at; each part of a
  question is judged for itself, a few keywords and the wish for release notes are not. Domains are told
  where a home's own file taught them, and decide nothing: there are no APIs. Types it does not predict.
- It ranks the chunks of five pages by cosine; here they are those of a release. How many it keeps it does not
  say: eight pages.
- Expressions are asked for once, up to five, and worked out by our own arithmetic, not by `eval`. Plain ones
  are proposed by rules, which the paper has not: what needs no page is answered before anything is read, and
  a cited figure is told in the unit that is asked for.
- There is no knowledge graph to query (its mock API; section 4.5).
- A false premise is corrected in the answer, not called "invalid question". Reasoning that cites nothing is
  followed by an answer that is written plainly.
- The answer cites its pages. Without a model pages are quoted if they are enough, a release that does not
  exist is refused, and what nobody asked is answered only where pages are sure; the paper has none of these.
"""

from __future__ import annotations

from dataclasses import replace

from core.pipeline.resources import Resources
from core.pipeline.stage import Stage
from core.pipeline.stages.calculation import Convert, WorkOut
from core.pipeline.stages.cite import Cite
from core.pipeline.stages.papers import AskModel, Calculate, OnlyFresh, Reason
from core.pipeline.stages.quote import Quote
from core.pipeline.stages.retrieve import Judge, OnlyIfSure, Refuse, Retrieve
from core.pipeline.stages.understand import Understand
from core.pipeline.stages.write import Ground

STEPS = ("understand", "attributes", "calculate", "knowledge")
"""What the model does before it answers; `attributes` only for an encoder that the SVM is not for."""
KEPT = 8
"""Pages that the model reads."""
SECONDS = 30.0
"""Longest wait for the steps before the answer; what the paper's competition allowed for all of it."""


def recipe(parts: Resources) -> tuple[Stage, ...]:
    """Return the stages in the paper's order (figure 1)."""
    parts = replace(parts, budget=parts.budget.letting(STEPS, SECONDS, most=len(STEPS)))
    retrieve = Retrieve(parts, parts.searcher.by_cosine(KEPT))
    return (
        WorkOut(),
        Understand(parts),
        Refuse(parts),
        OnlyIfSure(parts, retrieve),
        retrieve,
        OnlyFresh(parts),
        Judge(parts, is_strict=parts.model is None),
        Calculate(parts),
        AskModel(parts),
        Reason(parts, is_new=True),
        Judge(parts),
        Quote(parts),
        Convert(),
        Cite(parts),
        Ground(parts),
    )
