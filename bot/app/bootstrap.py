"""The only wiring: settings in, everything that runs out, and in the end everything closed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

from bot.app.builders.chat import Around, build_around
from bot.app.builders.core import Core, Ground, build_core, open_sources
from bot.app.builders.memory import MemorySettings
from bot.app.builders.models import open_models
from bot.app.builders.storage import Stores, open_stores
from bot.app.clustering import check_cluster
from bot.home.findings import find_catalogue
from bot.home.home import SERVE, Home
from bot.operations.application import Application
from bot.operations.live_history import Sources
from core.catalogue import Catalogue, load_catalogue
from core.catalogue.added import FILE as ADDED
from core.catalogue.added import AddedFile
from core.catalogue.tables import Schedule
from core.corpora.added import AddedSources, adopt
from core.ingestion.sources import Kinds, open_source
from core.insights.examples import Examples
from core.insights.gaps import Statistics
from core.models.embedding.encoder import load_encoder
from core.ports import Encoder
from core.privacy.names import Privacy
from core.settings import Settings
from core.workers.pool import PROCESSES, Processes

__all__ = ["build"]

log = logging.getLogger(__name__)
STOP_SECONDS, READ_SECONDS = 5.0, 600.0
"""How long a serving process and any other one wait at their end for what must go from channels' history."""


@asynccontextmanager
async def build(
    settings: Settings,
    what: str,
    load: Callable[[str, Path], Encoder] | None = None,
    processes: Processes = PROCESSES,
) -> AsyncIterator[Application]:
    """Open the home and wire everything; closes it all at the end, what was opened last first.

    Raises the errors of `core.errors`, each saying what to do.
    """
    check_cluster(settings)
    catalogue = load_catalogue(find_catalogue(settings), Kinds())
    async with AsyncExitStack() as opened:
        home = opened.enter_context(Home(settings.home, what)).path
        file = AddedFile(home / ADDED, Kinds())
        adopt(catalogue, file)
        models = await opened.enter_async_context(
            open_models(home=home, settings=settings, load=load or _encoder_loader(settings, what))
        )
        loading = asyncio.create_task(models.encoders.current())  # while the stores are opened
        opened.callback(loading.cancel)
        stores = await opened.enter_async_context(
            open_stores(
                home=home, what=what, settings=settings, people=catalogue.people, alone=processes.alone
            )
        )
        privacy = await _privacy(stores)
        log.info("the database is open; loading the embedder (under load up to a minute)")
        memory = await MemorySettings.read(settings)
        thresholds, decision, warning = await memory.start(await loading)
        workers = processes.pool(settings)
        opened.push_async_callback(asyncio.to_thread, workers.close)
        sources, live = open_sources(catalogue=catalogue, settings=settings, privacy=privacy, workers=workers)
        ground = Ground(
            home=home,
            settings=settings,
            catalogue=catalogue,
            stores=stores,
            models=models,
            workers=workers,
            sources=sources,
            live=live,
            privacy=privacy,
            thresholds=thresholds,
            decision=decision,
            memory=memory,
        )
        log.info("the embedder is loaded; opening the indexes")
        core = await build_core(ground)
        around = build_around(ground, core)
        opened.push_async_callback(around.history.close, STOP_SECONDS if what == SERVE else READ_SECONDS)
        yield _application(ground, core, around, warning, file)


def _encoder_loader(settings: Settings, what: str) -> Callable[[str, Path], Encoder]:
    """Return what loads an encoder; who serves keeps a core for questions."""
    spare = int(what == SERVE)
    return partial(load_encoder, device=settings.embedding_device, spare=spare, settings=settings)


async def _privacy(stores: Stores) -> Privacy:
    privacy = Privacy(stores.opt_outs, stores.names, stores.cluster.is_shared)
    await privacy.load()
    return privacy


def _schedules(catalogue: Catalogue, sources: Sources) -> dict[tuple[str, str], Schedule]:
    """Return how often each source is read, by its release and name."""
    return {
        (release, source.name): spec.schedule
        for release, opened in sources.items()
        for spec, source in zip(catalogue.sources_of(release), opened, strict=True)
    }


def _examples(ground: Ground, core: Core) -> Examples:
    stores = ground.stores
    return Examples(
        ground.catalogue.product, core.releases, core.memory, stores.memories, stores.corpora, core.research
    )


def _added(
    ground: Ground, core: Core, schedules: dict[tuple[str, str], Schedule], file: AddedFile
) -> AddedSources:
    return AddedSources(
        catalogue=ground.catalogue,
        file=file,
        sources=ground.sources,
        schedules=schedules,
        corpus_manager=core.corpus_manager,
        open_source=lambda spec: open_source(spec, ground.settings, ground.workers),
        closed=ground.settings.cluster,
    )


def _application(ground: Ground, core: Core, around: Around, warning: str, file: AddedFile) -> Application:
    catalogue, stores = ground.catalogue, ground.stores
    schedules = _schedules(catalogue, ground.sources)
    return Application(
        settings=ground.settings,
        catalogue=catalogue,
        engine=core.engine,
        corpus_manager=core.corpus_manager,
        memory=core.memory,
        cluster=stores.cluster,
        conversations=stores.conversations,
        corpora=stores.corpora,
        schedules=schedules,
        added=_added(ground, core, schedules, file),
        research=core.research,
        people=around.people,
        vectors=stores.indexes.vectors,
        words=stores.indexes.words,
        vote_weighting=core.vote_weighting,
        upkeep=stores.upkeep,
        stale_review=core.stale_review,
        statistics=Statistics(stores.statistics, ground.models.encoders, core.memory.thresholds),
        searcher=core.searcher,
        learner=core.learner,
        modes=around.modes,
        moves=stores.moves,
        pauses=around.pauses,
        reactions=stores.reactions,
        releases=core.releases,
        given=stores.given,
        audit=stores.audit,
        buckets=stores.buckets,
        escalations=stores.escalations,
        privacy=ground.privacy,
        my_data=around.my_data,
        retention=around.retention,
        unsolicited=stores.unsolicited,
        notices=stores.notices,
        examples=_examples(ground, core),
        passages=stores.passages,
        history=around.history,
        holders=around.holders,
        health=stores.health,
        workers=ground.workers,
        servers=ground.models.servers,
        warning=warning,
    )
