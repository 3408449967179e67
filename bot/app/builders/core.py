"""Builds what answers: memory, search, corpora and the engine, out of stores and models."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.app.builders.models import Models
from bot.app.builders.storage import Stores
from core.catalogue import Catalogue
from core.corpora.going_live import GoingLive
from core.corpora.manager import CorpusManager
from core.engine import Engine
from core.feedback.accepted_answers import AcceptedAnswers
from core.feedback.stale_answers import StaleAnswerReview
from core.ingestion.indexer import Indexer
from core.ingestion.pregeneration.rules import RulePairs
from core.ingestion.pregeneration.work import Pregeneration
from core.ingestion.quota import Quota
from core.memory.community import CommunityMemory
from core.memory.decision import Decision
from core.memory.guard import guard
from core.memory.scoring.prior import PriorScorer
from core.memory.scoring.score import Thresholds
from core.memory.scoring.vote_weighting import Policy, VoteWeighting
from core.pipeline.model_budget import ModelBudget
from core.pipeline.research import Research
from core.pipeline.resources import Resources
from core.ports import Source, Workers
from core.privacy.names import Privacy
from core.recipes import recipe_of
from core.retrieval.retrievers import retriever_of
from core.retrieval.search import Searcher
from core.retrieval.tuned import FILE, load_ranking
from core.settings import Settings

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """What answers, and what it answers from."""

    engine: Engine
    library: CorpusManager
    memory: CommunityMemory
    searcher: Searcher
    research: Research
    electorate: VoteWeighting
    renewal: StaleAnswerReview


async def build_core(
    *,
    home: Path,
    settings: Settings,
    catalogue: Catalogue,
    stores: Stores,
    models: Models,
    workers: Workers,
    sources: Mapping[str, Sequence[Source]],
    privacy: Privacy,
    thresholds: Thresholds,
    decision: Decision,
) -> Core:
    """Build what answers and take over what the stores hold; `sources` are those of each release.

    Raises StorageError and EncoderError.
    """
    memory = _memory(catalogue=catalogue, stores=stores, thresholds=thresholds, decision=decision)
    await stores.voters.link(catalogue.people)
    electorate = VoteWeighting(
        stores.voters,
        memory.thresholds,
        Policy(settings.newcomer_days, settings.votes_per_hour),
        catalogue.people,
        (*settings.helpers, *settings.admins),
    )
    searcher = await _searcher(home=home, settings=settings, stores=stores, models=models)
    library = _library(
        settings=settings,
        catalogue=catalogue,
        stores=stores,
        models=models,
        workers=workers,
        sources=sources,
        memory=memory,
        searcher=searcher,
        electorate=electorate,
    )
    research, engine = _engine(
        settings=settings,
        catalogue=catalogue,
        stores=stores,
        models=models,
        memory=memory,
        searcher=searcher,
        electorate=electorate,
        privacy=privacy,
    )
    await library.open()
    return Core(
        engine=engine,
        library=library,
        memory=memory,
        searcher=searcher,
        research=research,
        electorate=electorate,
        renewal=StaleAnswerReview(
            stores.upkeep, stores.corpora, models.encoders, engine.draft, models.writer is not None
        ),
    )


def _memory(
    *, catalogue: Catalogue, stores: Stores, thresholds: Thresholds, decision: Decision
) -> CommunityMemory:
    product = catalogue.product
    names = (product.name, *product.aliases)
    releases = tuple(alias for release in product.releases for alias in (release.name, *release.aliases))
    return CommunityMemory(
        stores.memories,
        stores.corpora,
        thresholds,
        lambda asked, remembered: guard(asked, remembered, names, releases),
        share_platforms=catalogue.share_platforms,
        decision=decision,
        rewordings=stores.rewordings,
    )


async def _searcher(*, home: Path, settings: Settings, stores: Stores, models: Models) -> Searcher:
    encoder = await models.encoders.current()
    ranking, problem = await asyncio.to_thread(load_ranking, home / FILE, encoder.name)
    if problem:
        log.warning("%s", problem)
    return Searcher(
        stores.corpora,
        stores.vectors,
        stores.words,
        ranking=ranking,
        reranker=models.reranker,
        problem=problem,
        retriever=retriever_of(settings.retriever),
        pairs=stores.pregenerated,
    )


def _library(
    *,
    settings: Settings,
    catalogue: Catalogue,
    stores: Stores,
    models: Models,
    workers: Workers,
    sources: Mapping[str, Sequence[Source]],
    memory: CommunityMemory,
    searcher: Searcher,
    electorate: VoteWeighting,
) -> CorpusManager:
    corpora, vectors, words, encoders = stores.corpora, stores.vectors, stores.words, models.encoders
    quota = Quota(settings.max_passages, settings.disk_reserve_mb * 1_000_000, stores.free)
    going_live = GoingLive(
        store=corpora, memories=stores.memories, searcher=searcher, memory=memory, encoders=encoders
    )
    rules = RulePairs() if settings.pregenerate == "rules" else None
    return CorpusManager(
        product=catalogue.product,
        store=corpora,
        memories=stores.memories,
        indexer=Indexer(
            corpora, vectors, words, sources.__getitem__, going_live.went_live, workers, quota=quota
        ),
        going_live=going_live,
        searcher=searcher,
        memory=memory,
        encoders=encoders,
        upkeep=stores.upkeep,
        electorate=electorate,
        pregeneration=Pregeneration(
            stores.pregenerated, corpora, vectors, words, rules, searcher.load, quota=quota
        ),
    )


def _engine(
    *,
    settings: Settings,
    catalogue: Catalogue,
    stores: Stores,
    models: Models,
    memory: CommunityMemory,
    searcher: Searcher,
    electorate: VoteWeighting,
    privacy: Privacy,
) -> tuple[Research, Engine]:
    """Return what answers a question, and the part of it that finds what to answer from."""
    only = (*(() if settings.fast else settings.model_steps), "guard")
    steps = ModelBudget(models.writer, only=only, seconds=settings.steps_seconds)
    judge = models.writer if settings.judged_by_model else None
    parts = Resources(
        catalogue,
        memory,
        stores.memories,
        searcher,
        models.encoders,
        models.writer,
        steps,
        PriorScorer(stores.corpora, judge=judge, alike=models.similarity),
        privacy.gone,
        settings.guard_by_model,
        settings.selected_chunks,
    )
    research = Research(parts)
    engine = Engine(
        parts,
        recipe_of(settings.recipe)(parts),
        AcceptedAnswers(memory, stores.memories, stores.opinions, research, privacy.is_out),
        electorate,
        privacy.is_out,
    )
    return research, engine
