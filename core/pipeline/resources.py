"""What stages are made with, and how long the model may take for the steps before it answers."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from typing import TypeVar

from core.catalogue import Catalogue, ChannelSettings
from core.community.overrides import DefaultReleases
from core.domain import Product
from core.errors import ModelBusy, ModelError, ModelMissing, ModelUnavailable
from core.generation.context.by_rule import KEPT
from core.generation.wikidata import Wikidata
from core.memory.community import CommunityMemory
from core.memory.scoring import PriorScorer
from core.models.embedding.encoder import Encoders
from core.ports import TURN, Encoder, LanguageModel, MemoryStore, RelationExtractor
from core.ports.opinions import OpinionStore
from core.privacy.names import nothing_heard, since_never
from core.query.attributes import Attributes, shipped
from core.retrieval.search import Searcher

log = logging.getLogger(__name__)
_T = TypeVar("_T")

STEPS = (
    "understand", "reduce", "select", "again", "guard", "triplets", "attributes", "calculate", "knowledge"
)  # fmt: skip
"""What the model can do before it answers: QAMR's steps 1, 3 and 4, guess for a second search, agree to a
reuse, and what GraphContextGen and Hybrid CRAG add."""
TRANSLATE = "translate"
"""The same as `understand` for a question in another language, where rules cannot stand in."""
MOST = 3
"""Steps that the model takes for one question before it answers, so that there are four calls in a row; a
recipe may set another number."""
SECONDS = 15.0
"""Longest wait before an answer begins; docs/decisions/retrieval.md, S-04."""
RESTED = 600.0
"""Seconds for which rules take the steps after the model took too long."""
SLOW = 3
"""Steps in a row that take too long before the model is left alone: one may be a machine's bad moment."""
COLD = 90.0
"""Seconds for a step of a model that has to be loaded first, which takes a disk half a minute."""
WAIT = 120.0
"""Longest wait in line, in seconds, before rules take a step; waiting for others is no slowness."""
_GONE = (ModelUnavailable, ModelBusy, ModelMissing)
"""What says that the next call would fail as well."""


@dataclass(slots=True)
class ModelCalls:
    """How the steps of one question went: seconds they took, who took each, and why the model is out."""

    seconds: float = 0.0
    taken: dict[str, str] = field(default_factory=dict)
    failure: ModelError | None = None


class ModelBudget:
    """Lets the model take up to `most` of the steps in `only`, within `seconds` a question."""

    def __init__(
        self,
        model: LanguageModel | None = None,
        *,
        only: Collection[str] = STEPS,
        seconds: float = SECONDS,
        most: int = MOST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._most = most
        self._only = frozenset(only)
        self._seconds = seconds
        self._clock = clock
        self._rested = 0.0
        self._slow = 0

    def by(self, model: LanguageModel) -> ModelBudget:
        """Return the same steps taken by another model, such as one whose calls are counted."""
        return ModelBudget(model, only=self._only, seconds=self._seconds, most=self._most, clock=self._clock)

    def letting(self, only: Collection[str], seconds: float, most: int = MOST) -> ModelBudget:
        """Return a budget of the same model for up to `most` of these steps, within `seconds` a question."""
        return ModelBudget(self._model, only=only, seconds=seconds, most=most, clock=self._clock)

    def _may(self, step: str) -> bool:
        return step in self._only or (step == TRANSLATE and "understand" in self._only)

    async def take(
        self, course: ModelCalls, step: str, call: Callable[[LanguageModel], Awaitable[_T]]
    ) -> _T | None:
        """Let the model take a step; None where rules must: no model, no time left, or it fails.

        Time counts from when the model turns to the step, and not at all while it is loaded. A model that
        takes too long several times in a row is left alone for a while, as waiting for it would be waste.
        """
        model, began = self._model, self._clock()
        left = self._seconds - course.seconds
        over = len(course.taken) >= self._most or course.failure or left <= 0 or began < self._rested
        if model is None or over or not self._may(step):
            return None
        step = "understand" if step == TRANSLATE else step
        result: _T | None = None
        course.taken[step] = model.name
        # a model that lets nobody wait in line and tells nothing turns to it at once
        is_warm, queues = getattr(model, "is_warm", True), hasattr(model, "is_warm")
        most, begun = (left if is_warm else max(left, COLD)), None if queues else began
        loop = asyncio.get_running_loop()

        def turn() -> None:
            nonlocal begun
            if begun is None:
                begun = self._clock()
                limit.reschedule(loop.time() + most)

        token = TURN.set(turn)
        try:
            async with asyncio.timeout(WAIT if begun is None else most) as limit:
                result = await call(model)
            self._slow = 0
        except TimeoutError:
            if begun is None:
                course.taken[step] = f"rules, as {model.name} was busy for {WAIT:.0f} s"
            else:
                course.taken[step] = f"rules, as {model.name} took longer than {most:.0f} s"
                self._too_slow(model.name, step)
        except ModelError as error:
            course.failure = error if isinstance(error, _GONE) else None
            course.taken[step] = f"rules: {error}"
            log.info("rules %s, as the model did not: %s", step, error)
        finally:
            TURN.reset(token)
        if is_warm and begun is not None:
            course.seconds += self._clock() - begun
        return result

    def _too_slow(self, name: str, step: str) -> None:
        """Count a slow step; leave the model alone once there were several in a row."""
        self._slow += 1
        if self._slow >= SLOW:
            self._slow, self._rested = 0, self._clock() + RESTED
            log.warning("%s is too slow to %s; rules do it for %.0f s", name, step, RESTED)


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
    heard: Callable[[], Awaitable[None]] = nothing_heard
    """Makes `gone` know what other processes have done until now."""
    guard_by_model: bool = False
    """Whether the model must agree to every reuse, as a guard beside the rules."""
    keep: int = KEPT
    """Pages that the model selects to answer from."""
    opinions: OpinionStore | None = None
    """What people found wrong with answers."""
    chosen: bool = True
    """Whether somebody set which model writes; nobody misses the one that only stands in the defaults."""

    attributes: Attributes = field(default_factory=shipped)
    """What tells whether a question is about what changes soon."""

    releases: DefaultReleases | None = None
    """The releases that people and channels chose, where they can."""

    wikidata: Wikidata | None = None
    """What states facts about names of public questions, where somebody turned it on."""

    rebel: RelationExtractor | None = None
    """What reads relations beside the model, where one is set."""

    async def defaults(self, channel: str, asker: str) -> tuple[str, str]:
        """Return the releases of a channel and of who asks there; empty where nobody says so."""
        if self.releases is None:
            return self.catalogue.channels.get(channel, ChannelSettings()).release, ""
        return await self.releases.of_channel(channel), await self.releases.of_person(asker)

    @property
    def product(self) -> Product:
        """Return what the community talks about."""
        return self.catalogue.product

    async def encoder_of(self, release: str) -> Encoder:
        """Return the encoder of a release's corpus; the configured one where it has none."""
        corpus = self.searcher.corpora.get(release)
        return await (self.encoders.named(corpus.encoder) if corpus else self.encoders.current())
