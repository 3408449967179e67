"""Builds what answers: sources, memory, search, corpora and the engine, out of stores and models."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.app.builders.memory import MemorySettings
from bot.app.builders.models import Models
from bot.app.builders.storage import Stores
from bot.operations.live_history import Sources
from bot.ports import platforms
from core.catalogue import Catalogue
from core.community.overrides import DefaultReleases
from core.corpora.manager import CorpusManager, GoingLive
from core.engine import Engine
from core.errors import ConfigurationError, SourceError
from core.feedback.accepted_answers import AcceptedAnswers
from core.feedback.stale_answers import StaleAnswerReview
from core.generation.wikidata import FILE, Wikidata
from core.ingestion.indexer import Indexer
from core.ingestion.live.channels import LiveChannels
from core.ingestion.parsing import Quota
from core.ingestion.pregeneration.model import ModelPairs
from core.ingestion.pregeneration.rules import RulePairs
from core.ingestion.pregeneration.work import Pregeneration
from core.ingestion.sources import open_source
from core.ingestion.sources.history.source import HistorySource
from core.learning.learner import Learner, read_learnt, used
from core.memory.community import CommunityMemory
from core.memory.decision import Decision
from core.memory.guard import guard
from core.memory.scoring import Policy, PriorScorer, Thresholds, VoteWeighting
from core.pipeline.research import Research
from core.pipeline.resources import TRANSLATE, ModelBudget, Resources
from core.ports import LeftOut, PeoplesSource, Source, Workers
from core.ports.cluster import CORPORA
from core.privacy.names import Privacy
from core.query.attributes import FILE as ATTRIBUTES
from core.query.attributes import load as load_attributes
from core.query.releases.resolve import lookup
from core.recipes import recipe_of
from core.retrieval.ranking import FILE as RANKING
from core.retrieval.ranking import load_ranking
from core.retrieval.retrievers import retriever_of
from core.retrieval.search import Searcher
from core.settings import Settings

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What is opened first, and all else is built on."""

    home: Path
    settings: Settings
    catalogue: Catalogue
    stores: Stores
    models: Models
    workers: Workers
    sources: Sources
    """Those of each release."""
    live: LiveChannels
    privacy: Privacy
    thresholds: Thresholds
    decision: Decision
    memory: MemorySettings
    """What the two are taken from, again whenever other embedders made the corpora."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """What answers, and what it answers from."""

    engine: Engine
    corpus_manager: CorpusManager
    memory: CommunityMemory
    searcher: Searcher
    research: Research
    vote_weighting: VoteWeighting
    releases: DefaultReleases
    stale_review: StaleAnswerReview
    learner: Learner


async def build_core(ground: Ground) -> Core:
    """Build what answers and take over what the stores hold. Raises StorageError and EncoderError."""
    settings, catalogue, stores, models = ground.settings, ground.catalogue, ground.stores, ground.models
    memory = _memory(ground)
    await stores.voters.link(catalogue.people)
    vote_weighting = VoteWeighting(
        stores.voters,
        memory.thresholds,
        Policy(settings.newcomer_days, settings.votes_per_hour),
        catalogue.people,
        (*settings.helpers, *settings.admins),
    )
    searcher = await _searcher(ground)
    corpus_manager = _corpus_manager(ground, memory, searcher, vote_weighting)
    releases = DefaultReleases(
        stores.releases, catalogue.channels, catalogue.product, ground.privacy.names, lookup
    )
    research, engine = _engine(ground, memory, searcher, vote_weighting, releases)
    await corpus_manager.open()
    return Core(
        engine=engine,
        corpus_manager=corpus_manager,
        memory=memory,
        searcher=searcher,
        research=research,
        vote_weighting=vote_weighting,
        releases=releases,
        stale_review=StaleAnswerReview(
            stores.upkeep, stores.corpora, models.encoders, engine.draft, models.writer is not None
        ),
        learner=Learner(
            home=ground.home,
            store=stores.memories,
            rewordings=stores.rewordings,
            research=research,
            searcher=searcher,
            encoders=models.encoders,
            is_out=ground.privacy.is_out,
        ),
    )


def wikidata_of(settings: Settings, language: str) -> Wikidata | None:
    """Return Wikidata where it is turned on; raises ConfigurationError where nobody is named to reach."""
    if not settings.wikidata_url:
        return None
    if not settings.wikidata_contact.strip():
        raise ConfigurationError(
            "WIKIDATA_URL is set without WIKIDATA_CONTACT; set it to a page or an e-mail address at which "
            "Wikimedia reaches you, as its User-Agent policy asks."
        )
    return Wikidata(settings.wikidata_url, settings.wikidata_contact.strip(), settings.home / FILE, language)


def _memory(ground: Ground) -> CommunityMemory:
    catalogue, stores, product = ground.catalogue, ground.stores, ground.catalogue.product
    names = (product.name, *product.aliases)

    def judged(asked: str, remembered: str) -> str:
        releases = tuple(alias for release in product.releases for alias in (release.name, *release.aliases))
        return guard(asked, remembered, names, releases)

    return CommunityMemory(
        stores.memories,
        stores.corpora,
        ground.thresholds,
        judged,
        share_platforms=catalogue.share_platforms,
        decision=ground.decision,
        settle=ground.memory.of,
        rewordings=stores.rewordings,
        distinctions=stores.distinctions,
        cluster=stores.cluster,
    )


async def _searcher(ground: Ground) -> Searcher:
    stores, models = ground.stores, ground.models
    encoder = await models.encoders.current()
    ranking, problem = await asyncio.to_thread(load_ranking, ground.home / RANKING, encoder.name)
    if problem:
        log.warning("%s", problem)
    ranking = used(ranking, await asyncio.to_thread(read_learnt, ground.home), encoder.name)
    return Searcher(
        stores.indexes,
        ranking=ranking,
        reranker=models.reranker,
        problem=problem,
        retriever=retriever_of(ground.settings.retriever),
        pairs=stores.pregenerated,
        encoders=models.encoders.named,
        product=ground.catalogue.product,
    )


def _corpus_manager(
    ground: Ground, memory: CommunityMemory, searcher: Searcher, vote_weighting: VoteWeighting
) -> CorpusManager:
    settings, stores = ground.settings, ground.stores
    corpora, encoders = stores.corpora, ground.models.encoders
    quota = Quota(settings.max_passages, settings.disk_reserve_mb * 1_000_000, stores.free)
    going_live = GoingLive(
        store=corpora,
        memories=stores.memories,
        searcher=searcher,
        memory=memory,
        encoders=encoders,
        cluster=stores.cluster,
    )
    return CorpusManager(
        product=ground.catalogue.product,
        store=corpora,
        memories=stores.memories,
        indexer=Indexer(
            stores.indexes,
            ground.sources.__getitem__,
            going_live.went_live,
            ground.workers,
            quota=quota,
            cluster=stores.cluster,
        ),
        going_live=going_live,
        searcher=searcher,
        memory=memory,
        encoders=encoders,
        upkeep=stores.upkeep,
        vote_weighting=vote_weighting,
        pregeneration=_pregeneration(ground, searcher, quota),
    )


def _pregeneration(ground: Ground, searcher: Searcher, quota: Quota) -> Pregeneration:
    stores, writer = ground.stores, ground.models.writer

    async def shown(release: str) -> None:
        await searcher.load(release)
        await stores.cluster.tell(CORPORA, release)

    return Pregeneration(
        stores.pregenerated,
        stores.indexes,
        RulePairs() if ground.settings.pregenerate == "rules" else None,
        shown,
        quota=quota,
        by_model=ModelPairs(writer) if writer else None,
    )


_OF_MODELS = frozenset({"llm", "model_server", "ollama_host", "ollama_model"})
"""Settings that say which model writes."""


def _engine(
    ground: Ground,
    memory: CommunityMemory,
    searcher: Searcher,
    vote_weighting: VoteWeighting,
    releases: DefaultReleases,
) -> tuple[Research, Engine]:
    """Return what answers a question, and the part of it that finds what to answer from."""
    settings, stores, models, privacy = ground.settings, ground.stores, ground.models, ground.privacy
    # rules know no other language, so no setting for speed leaves translation to them
    translates = (TRANSLATE,) if "understand" in settings.model_steps else ()
    only = (*(() if settings.fast else settings.model_steps), *translates, "guard")
    steps = ModelBudget(models.writer, only=only, seconds=settings.steps_seconds)
    judge = models.writer if settings.judged_by_model else None
    attributes, problem = load_attributes(settings.home / ATTRIBUTES)
    if problem:
        log.warning("%s", problem)
    parts = Resources(
        catalogue=ground.catalogue,
        memory=memory,
        store=stores.memories,
        searcher=searcher,
        encoders=models.encoders,
        model=models.writer,
        budget=steps,
        scorer=PriorScorer(stores.corpora, judge=judge, alike=models.similarity),
        gone=privacy.gone,
        heard=privacy.heard,
        guard_by_model=settings.guard_by_model,
        keep=settings.selected_chunks,
        opinions=stores.opinions,
        chosen=bool(_OF_MODELS & settings.model_fields_set),
        attributes=attributes,
        releases=releases,
        wikidata=wikidata_of(settings, ground.catalogue.product.language),
        rebel=models.rebel,
    )
    research = Research(parts)
    engine = Engine(
        parts,
        recipe_of(settings.recipe)(parts),
        AcceptedAnswers(memory, stores.memories, stores.opinions, research, privacy.is_out),
        vote_weighting,
        privacy.is_out,
        stores.cluster,
    )
    return research, engine


class _Opened(dict[str, Sequence[Source]]):
    """The sources of each release; what was removed while it waited to be read is an error of its own."""

    def __missing__(self, release: str) -> Sequence[Source]:
        raise SourceError(f"{release} was removed.")


def open_sources(
    *, catalogue: Catalogue, settings: Settings, privacy: Privacy, workers: Workers
) -> tuple[Sources, LiveChannels]:
    """Build the sources of every release, and what reads live channels for them; nothing is read yet."""
    live = LiveChannels(settings.home, platforms.readers(settings))
    sources = _Opened(
        (release.name, [open_source(spec, settings, workers) for spec in catalogue.sources_of(release.name)])
        for release in catalogue.product.releases
    )
    left_out = LeftOut(privacy.is_out, privacy.forgotten, privacy.names.of_pages)
    channels = []
    for source in (source for opened in sources.values() for source in opened):
        if isinstance(source, PeoplesSource):
            source.heed(left_out)
        if isinstance(source, HistorySource):
            source.read_by(live)
            channels += [(key, source.extent) for key in source.channels]
    live.sweep(channels)
    return sources, live
