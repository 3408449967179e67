"""The one shape of a step from a question to its answer, the walk through them, and what they are made of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from core.catalogue import Catalogue
from core.domain import Answer, Product
from core.generation.context.by_rule import KEPT
from core.memory.community import CommunityMemory
from core.memory.scoring.prior import PriorScorer
from core.models.embedding.encoder import Encoders
from core.pipeline.answers import drafted
from core.pipeline.context import Needs, QueryContext
from core.pipeline.model_budget import ModelBudget
from core.ports import Encoder, LanguageModel, MemoryStore
from core.privacy.names import since_never
from core.retrieval.search import Searcher


class Stage(Protocol):
    """One step of a recipe. It knows the question's context, and no other stage."""

    @property
    def needs(self) -> Needs:
        """Name what the stage cannot do without; a journey that withholds it passes the stage over."""
        ...

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Add to the context, or end the journey with an answer."""
        ...


async def run(stages: Sequence[Stage], context: QueryContext) -> Answer:
    """Take a question through the stages; return the first answer, else what they drafted.

    Raises ValueError for stages that did neither.
    """
    for stage in stages:
        if stage.needs not in context.withheld and (answer := await stage(context)) is not None:
            return answer
    return drafted(context)


@dataclass(frozen=True)
class Resources:
    """The wired parts that a recipe hands its stages, and the settings that are theirs.

    Without a `model` answers quote. `gone` tells whether any of these people was forgotten since a time.
    """

    catalogue: Catalogue
    memory: CommunityMemory
    store: MemoryStore
    searcher: Searcher
    encoders: Encoders
    model: LanguageModel | None = None
    budget: ModelBudget = field(default_factory=ModelBudget)
    scorer: PriorScorer | None = None
    gone: Callable[[Collection[str], float], bool] = since_never
    agrees: bool = False
    """Whether the model must agree to every reuse."""
    keep: int = KEPT
    """Pages that the model selects to answer from."""

    @property
    def product(self) -> Product:
        """Return what the community talks about."""
        return self.catalogue.product

    async def encoder_of(self, release: str) -> Encoder:
        """Return the encoder of a release's corpus; the configured one where it has none."""
        corpus = self.searcher.corpora.get(release)
        return await (self.encoders.named(corpus.encoder) if corpus else self.encoders.current())
