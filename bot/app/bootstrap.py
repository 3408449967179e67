"""The only wiring: settings in, everything that runs out. Nothing else sees core and storage both."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from bot.app.application import Application
from bot.app.configuration import find_catalogue
from bot.app.home import SERVE, Home
from bot.app.logs import FOLDER as LOGS
from bot.app.memory_settings import tuned
from bot.app.privacy_key import key_of
from bot.operations.live_history import HistoryUpkeep, open_sources
from bot.platforms.web.journal_records import JOURNAL, expire
from bot.privacy.forgetting import Forgetting
from bot.privacy.my_data import MyData
from core.catalogue import load_catalogue
from core.community.channels import ChannelModes, Pauses
from core.corpora.manager import CorpusManager
from core.engine import Engine
from core.errors import DatabaseBusy, StorageError
from core.feedback.accepted_answers import AcceptedAnswers
from core.feedback.stale_answers import StaleAnswerReview
from core.ingestion.indexer import Indexer
from core.ingestion.pregeneration.rules import RulePairs
from core.ingestion.pregeneration.work import Pregeneration
from core.ingestion.quota import Quota
from core.ingestion.sources import Kinds
from core.insights.examples import Examples
from core.insights.gaps import Statistics
from core.memory.community import CommunityMemory
from core.memory.guard import guard
from core.memory.scoring.prior import PriorScorer
from core.memory.scoring.vote_weighting import Policy, VoteWeighting
from core.models.bertscore import load_bertscore
from core.models.breaker import Breaker
from core.models.embedding.encoder import load_encoder
from core.models.embedding.encoders import Encoders
from core.models.ollama.client import Ollama
from core.models.reranker import load_reranker
from core.pipeline.model_budget import ModelBudget
from core.pipeline.research import Research
from core.pipeline.resources import Resources
from core.ports import Encoder
from core.privacy.names import Names, Privacy
from core.privacy.retention import Policy as Keeping
from core.privacy.retention import Retention
from core.recipes import recipe_of
from core.retrieval.search import Searcher
from core.retrieval.tuned import FILE, load_ranking
from core.settings import Settings
from core.workers.pool import Processes
from storage.corpora.bm25 import TantivyWords
from storage.corpora.corpora import SqlCorpora
from storage.corpora.passages import SqlPassages
from storage.corpora.pregenerated import SqlPregenerated
from storage.database.database import Database
from storage.database.health import SqlHealth
from storage.memory.memories import SqlMemories
from storage.memory.opinions import SqlOpinions
from storage.memory.rewordings import SqlRewordings
from storage.memory.upkeep import SqlUpkeep
from storage.memory.voters import SqlVoters
from storage.people.forgetting import SqlPeople
from storage.people.opt_outs import SqlOptOuts
from storage.people.retention import SqlRetention
from storage.serving.about import SqlAbout
from storage.serving.audit import SqlAudit
from storage.serving.channels import SqlChannels
from storage.serving.conversations import SqlConversations
from storage.serving.escalations import SqlEscalations
from storage.serving.noise import SqlNoise
from storage.serving.notices import SqlNotices
from storage.serving.statistics import SqlStatistics
from storage.vectors.chroma import ChromaVectors, set_aside_if_broken
from storage.vectors.files import empty_room, overwrite

__all__ = ["build"]

log = logging.getLogger(__name__)

PROCESSES = Processes()
STOP_SECONDS, READ_SECONDS = 5.0, 600.0
"""How long a serving process and any other one wait at their end for what must go from channels' history."""


@asynccontextmanager
async def build(
    settings: Settings,
    what: str,
    load: Callable[[str, Path], Encoder] = load_encoder,
    processes: Processes = PROCESSES,
) -> AsyncIterator[Application]:
    """Open the home and wire everything; closes it all at the end.

    Raises the errors of `core.errors`, each saying what to do.
    """
    catalogue = load_catalogue(find_catalogue(settings), Kinds())
    with Home(settings.home, what) as home:
        thresholds, decision, warning = await asyncio.to_thread(tuned, settings)
        if warning:
            log.warning("%s", warning)
        own = home.path / "vectors"
        broken = "" if settings.chroma_url else await asyncio.to_thread(set_aside_if_broken, own)
        if broken:
            log.warning(
                "the vector index was torn (%s); it is set aside and rebuilt from the database", broken
            )
        # a process that was killed may have left there what lay in its memory
        await asyncio.to_thread(empty_room, own)
        main = asyncio.current_task()
        database = await Database.open(
            home.path,
            settings.database_url.get_secret_value(),
            what,
            lost=lambda: main.cancel() if main else None,
        )
        encoders = Encoders(settings.embedding_model, home.path / "models", load)
        workers = processes.pool(settings)
        vectors = words = model = reranker = history = None
        try:
            opt_outs = SqlOptOuts(database)
            about = SqlAbout(database)
            names_of = Names(await key_of(home.path, about), catalogue.people)
            privacy = Privacy(opt_outs, names_of)
            await privacy.load()
            corpora, memories = SqlCorpora(database), SqlMemories(database, names_of.veils)
            upkeep, voters = SqlUpkeep(database), SqlVoters(database)
            await voters.link(catalogue.people)
            vectors = await asyncio.to_thread(ChromaVectors, own, settings.chroma_url, processes.alone)
            words = TantivyWords(home.path / "words")
            product = catalogue.product
            names = (product.name, *product.aliases)
            releases = tuple(
                alias for release in product.releases for alias in (release.name, *release.aliases)
            )
            memory = CommunityMemory(
                memories,
                corpora,
                thresholds,
                lambda asked, remembered: guard(asked, remembered, names, releases),
                share_platforms=catalogue.share_platforms,
                decision=decision,
                rewordings=SqlRewordings(database),
            )
            electorate = VoteWeighting(
                voters,
                memory.thresholds,
                Policy(settings.newcomer_days, settings.votes_per_hour),
                catalogue.people,
                (*settings.helpers, *settings.admins),
            )
            if settings.reranker_model:
                reranker = await asyncio.to_thread(load_reranker, settings.reranker_model)
            encoder = await encoders.current()
            ranking, problem = await asyncio.to_thread(load_ranking, home.path / FILE, encoder.name)
            if problem:
                log.warning("%s", problem)
            pregenerated = SqlPregenerated(database)
            searcher = Searcher(
                corpora, vectors, words, ranking, reranker, problem, settings.retriever, pregenerated
            )
            sources, live = open_sources(catalogue, settings, privacy, workers)

            def free() -> int:
                return shutil.disk_usage(home.path).free

            quota = Quota(settings.max_passages, settings.disk_reserve_mb * 1_000_000, free)
            indexer = Indexer(
                corpora,
                vectors,
                words,
                lambda release: sources[release],
                lambda release: library.went_live(release),
                workers,
                quota,
            )
            pregeneration = Pregeneration(
                pregenerated,
                corpora,
                vectors,
                words,
                RulePairs() if settings.pregenerate == "rules" else None,
                searcher.load,
                quota,
            )
            library = CorpusManager(
                product,
                corpora,
                memories,
                indexer,
                searcher,
                memory,
                encoders,
                upkeep,
                electorate,
                pregeneration,
            )
            if settings.ollama_host:
                model = Ollama(
                    settings.ollama_host,
                    settings.ollama_model,
                    timeout=settings.ollama_timeout,
                    num_ctx=settings.ollama_num_ctx,
                    keep_alive=settings.ollama_keep_alive,
                )
            writer = Breaker(model, parallel=settings.ollama_parallel) if model else None
            only = (*(() if settings.fast else settings.model_steps), "guard")
            steps = ModelBudget(writer, only=only, seconds=settings.steps_seconds)
            alike = None
            if settings.bertscore_model:
                alike = await asyncio.to_thread(load_bertscore, settings.bertscore_model)
            parts = Resources(
                catalogue,
                memory,
                memories,
                searcher,
                encoders,
                writer,
                steps,
                PriorScorer(corpora, writer if settings.judged_by_model else None, alike),
                privacy.gone,
                settings.guard_by_model,
                settings.selected_chunks,
            )
            research = Research(parts)
            engine = Engine(
                parts,
                recipe_of(settings.recipe)(parts),
                AcceptedAnswers(memory, memories, SqlOpinions(database), research, privacy.is_out),
                electorate,
                privacy.is_out,
            )
            renewal = StaleAnswerReview(upkeep, corpora, encoders, engine.draft, writer is not None)
            await library.open()
            schedules = {
                (release, source.name): spec.schedule
                for release in sources
                for spec, source in zip(catalogue.sources_of(release), sources[release], strict=True)
            }
            persons = SqlPeople(database, names_of)
            people = Forgetting(
                privacy, persons, memory, encoders, home.path, partial(overwrite, own), searcher.load
            )

            async def scrub() -> None:
                async with database.write() as connection:
                    await database.owe_scrub(connection)
                await persons.scrub()
                await asyncio.to_thread(empty_room, own)

            history = HistoryUpkeep(live, sources, library, scrub, privacy.pages_are_made_anew)
            people.after = [history.person_gone]
            my_data = MyData(persons, privacy, home.path)
            my_data.others = {"read in channels": history.written}
            channels = SqlChannels(database)
            yield Application(
                settings,
                catalogue,
                engine,
                library,
                memory,
                SqlConversations(database),
                corpora,
                schedules,
                research,
                people,
                vectors,
                words,
                electorate,
                upkeep,
                renewal,
                Statistics(SqlStatistics(database), encoders, thresholds),
                searcher,
                ChannelModes(channels, catalogue.channels, audit=SqlAudit(database)),
                Pauses(channels),
                SqlAudit(database),
                SqlEscalations(database),
                privacy,
                my_data,
                Retention(
                    SqlRetention(database, names_of),
                    Keeping(
                        settings.retention_questions_days,
                        settings.retention_votes_days,
                        settings.retention_logs_days,
                    ),
                    SqlAudit(database),
                    home.path / LOGS,
                    lambda before: asyncio.to_thread(expire, home.path / JOURNAL, before),
                    scrub=lambda: asyncio.to_thread(empty_room, own),
                    about=about,
                ),
                SqlNoise(database),
                SqlNotices(database),
                Examples(product, catalogue.channels, memory, memories, corpora, research),
                SqlPassages(database),
                history,
                SqlHealth(database, free),
                warning,
            )
        except (asyncio.CancelledError, StorageError):
            if database.lost:  # this process would go on with what the other one has changed
                raise DatabaseBusy(f"{database.lost} This process has ended.") from None
            raise
        finally:
            if history is not None:
                await history.close(STOP_SECONDS if what == SERVE else READ_SECONDS)
            await asyncio.to_thread(workers.close)
            encoders.close()
            if model is not None:
                await model.close()
            if reranker is not None:
                reranker.close()
            for index in (vectors, words):
                if index is not None:
                    await asyncio.to_thread(index.close)
            await database.close()
