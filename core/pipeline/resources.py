"""What the stages of a recipe are made with."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from core.catalogue import Catalogue
from core.domain import Product
from core.generation.context.by_rule import KEPT
from core.memory.community import CommunityMemory
from core.memory.scoring.score import PriorScorer
from core.models.embedding.encoder import Encoders
from core.pipeline.model_budget import ModelBudget
from core.ports import Encoder, LanguageModel, MemoryStore
from core.ports.opinions import OpinionStore
from core.privacy.names import since_never
from core.retrieval.search import Searcher


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
    opinions: OpinionStore | None = None
    """What people found wrong with answers."""

    @property
    def product(self) -> Product:
        """Return what the community talks about."""
        return self.catalogue.product

    async def encoder_of(self, release: str) -> Encoder:
        """Return the encoder of a release's corpus; the configured one where it has none."""
        corpus = self.searcher.corpora.get(release)
        return await (self.encoders.named(corpus.encoder) if corpus else self.encoders.current())
