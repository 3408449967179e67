"""ComRAG's recipe (section 4): reuse, reference or avoid by τ and δ, adaptive temperature, answer.

What differs, and why:

- τ, δ and γ are the installation's (`MEMORY_TAU` and so on): the paper's (.75, .9, .6) are for bge-large, and
  with MiniLM 9 % of true rewordings reach .9 (docs/decisions/memory.md, M-09).
- A pair is reused for its own release, scope and language alone, while what it cites stands, and where the
  guard finds no decisive difference. The paper has one corpus and no guard.
- Reference, too, reads documents (section 4.3 gives it pairs alone): an answer has to cite pages.
- Documents are found by Threadlore's retrieval, and no answer is given where they are not enough; the paper
  takes the nearest k and always answers.
- Algorithm 2 places a pair as it arrives, by an automatic score, and drops the worse of two alike for good.
  Here votes place it, at any time, and the worse one waits: a vote that is taken back would else lose an
  answer. On pairs that only arrive both give the same stores.
"""

from __future__ import annotations

from core.pipeline.resources import Resources
from core.pipeline.stage import Stage
from core.pipeline.stages.cite import Cite, Ground
from core.pipeline.stages.judge import Judge, OnlyIfSure, Refuse
from core.pipeline.stages.quote import Quote
from core.pipeline.stages.recall import RecallPairs, Reuse
from core.pipeline.stages.retrieve import Retrieve
from core.pipeline.stages.understand import Understand
from core.pipeline.stages.write import Temper, Write


def recipe(parts: Resources) -> tuple[Stage, ...]:
    """Return the stages in the paper's order (algorithm 1).

    The temperature is clamp(exp(-250 · least gap), .7, 1.2) over the scores of the pairs that are evidence,
    good or bad ones (section 4.4).
    """
    retrieve = Retrieve(parts)
    return (
        Understand(parts),
        Refuse(parts),
        RecallPairs(parts, by_paper=True),
        OnlyIfSure(parts, retrieve),
        Reuse(parts),
        retrieve,
        Judge(parts),
        Temper(also_low=True),
        Write(parts),
        Quote(parts),
        Cite(parts),
        Ground(parts),
    )
