"""Opens what is kept: the only module of `bot` and `evaluation` that sees `storage`."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from bot.app.privacy_key import key_of
from core.community.unsolicited import NoiseStore
from core.errors import DatabaseBusy, StorageError
from core.insights.given import GivenStore
from core.insights.statistics import StatisticsStore
from core.ports import (
    AboutStore,
    ConversationStore,
    CorpusStore,
    MemoryStore,
    OptOutStore,
    PersonStore,
    PregeneratedStore,
    RetentionStore,
    RewordingStore,
    StorageHealth,
    UpkeepStore,
    VectorIndex,
    VoterStore,
    WordIndex,
)
from core.ports.about import AuditStore, NoticeStore
from core.ports.channels import ChannelStore, MoveStore, ReleaseStore
from core.ports.cluster import Cluster, OnlyProcess
from core.ports.conversations import BucketStore
from core.ports.corpora import Indexes, PassageStore
from core.ports.escalations import EscalationStore
from core.ports.opinions import Distinction, DistinctionStore, OpinionStore, ReactionStore
from core.ports.workers import Alone
from core.privacy.names import Names
from core.settings import Settings
from storage.corpora.bm25 import TantivyWords
from storage.corpora.corpora import SqlCorpora
from storage.corpora.pages import SqlPassages
from storage.corpora.pregenerated import SqlPregenerated
from storage.database import backup
from storage.database.cluster import SqlCluster
from storage.database.database import Database
from storage.database.schema import check_known, check_server
from storage.database.sqlite_file import FILE, check
from storage.memory.memories import SqlMemories
from storage.memory.opinions import SqlOpinions, SqlReactions
from storage.memory.pair_rows import SqlDistinctions, SqlRewordings, SqlVoters
from storage.memory.upkeep import SqlUpkeep
from storage.people.forgetting import SqlOptOuts, SqlPeople
from storage.people.retention import SqlRetention
from storage.serving.about import SqlAbout, SqlAudit, SqlHealth, SqlNotices
from storage.serving.channels import SqlChannels, SqlNoise, SqlReleases
from storage.serving.conversations import SqlConversations
from storage.serving.escalations import SqlEscalations
from storage.serving.given import SqlGiven
from storage.serving.limits import SqlBuckets
from storage.serving.moves import SqlMoves
from storage.serving.statistics import SqlStatistics
from storage.vectors.chroma import ChromaVectors
from storage.vectors.files import empty_room, overwrite

log = logging.getLogger(__name__)

VECTORS, WORDS = "vectors", "words"
"""Folders of the home."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """Everything that is kept, behind the ports of core."""

    about: AboutStore
    audit: AuditStore
    buckets: BucketStore
    channels: ChannelStore
    cluster: Cluster
    conversations: ConversationStore
    corpora: CorpusStore
    distinctions: DistinctionStore
    escalations: EscalationStore
    given: GivenStore
    health: StorageHealth
    indexes: Indexes
    """`corpora` with both indexes of it."""
    memories: MemoryStore
    moves: MoveStore
    names: Names
    """One-way names by the key that belongs to this database."""
    unsolicited: NoiseStore
    notices: NoticeStore
    opinions: OpinionStore
    opt_outs: OptOutStore
    passages: PassageStore
    people: PersonStore
    pregenerated: PregeneratedStore
    reactions: ReactionStore
    releases: ReleaseStore
    retention: RetentionStore
    rewordings: RewordingStore
    statistics: StatisticsStore
    upkeep: UpkeepStore
    voters: VoterStore
    free: Callable[[], int]
    """Returns how many bytes are free where the home lies."""
    scrub: Callable[[], Awaitable[None]]
    """Overwrites what was removed, in the database and in the files of the vector index."""
    empty_room: Callable[[], Awaitable[None]]
    """Overwrites what the files of the vector index hold beside vectors."""
    overwrite: Callable[[Sequence[bytes]], object]
    """Takes texts out of the files of the vector index; blocking."""


@asynccontextmanager
async def open_stores(
    *,
    home: Path,
    what: str,
    settings: Settings,
    people: Mapping[str, Collection[str]],
    alone: Callable[[], Alone],
) -> AsyncIterator[Stores]:
    """Open database and indexes for `what`, such as "serve"; `people` are accounts that belong together.

    Where another process took the database meanwhile, the task that opened it is cancelled, and what comes
    of that is raised as DatabaseBusy. Raises the errors of `Database.open` and of `key_of`.
    """
    main = asyncio.current_task()
    url = settings.database_url.get_secret_value()
    database = await Database.open(
        home, url, what, lost=lambda: main.cancel() if main else None, shared=settings.cluster
    )
    async with AsyncExitStack() as opened:
        opened.push_async_callback(database.close)
        try:
            given = bytes.fromhex(settings.privacy_key.get_secret_value())
            names = Names(await key_of(home, SqlAbout(database), given), people)
            words = TantivyWords(home / WORDS)
            opened.push_async_callback(asyncio.to_thread, words.close)
            vectors = await asyncio.to_thread(ChromaVectors, home / VECTORS, settings.chroma_url, alone)
            if vectors.broken:
                log.warning(
                    "the vector index was torn (%s); it is set aside and rebuilt from the database",
                    vectors.broken,
                )
            opened.push_async_callback(asyncio.to_thread, vectors.close)
            yield _stores(home=home, database=database, names=names, vectors=vectors, words=words)
        except (asyncio.CancelledError, StorageError):
            if database.lost:  # this process would go on with what the other one has changed
                raise DatabaseBusy(f"{database.lost} This process has ended.") from None
            raise


def _free(home: Path) -> int:
    """Return how many bytes are free where the home lies."""
    return shutil.disk_usage(home).free


def _stores(
    *, home: Path, database: Database, names: Names, vectors: VectorIndex, words: WordIndex
) -> Stores:
    own, persons, corpora = home / VECTORS, SqlPeople(database, names), SqlCorpora(database)
    free = partial(_free, home)

    async def empty() -> None:
        await asyncio.to_thread(empty_room, own)

    async def scrub() -> None:
        async with database.write() as connection:
            await database.owe_scrub(connection)
        await persons.scrub()
        await empty()

    return Stores(
        about=SqlAbout(database),
        audit=SqlAudit(database),
        buckets=SqlBuckets(database),
        channels=SqlChannels(database),
        cluster=SqlCluster(database, database.member) if database.member else OnlyProcess(),
        conversations=SqlConversations(database),
        corpora=corpora,
        distinctions=SqlDistinctions(database),
        escalations=SqlEscalations(database),
        given=SqlGiven(database, names.veils),
        health=SqlHealth(database, free),
        indexes=Indexes(corpora, vectors, words),
        memories=SqlMemories(database, names.veils),
        moves=SqlMoves(database),
        names=names,
        unsolicited=SqlNoise(database),
        notices=SqlNotices(database),
        opinions=SqlOpinions(database),
        opt_outs=SqlOptOuts(database),
        passages=SqlPassages(database),
        people=persons,
        pregenerated=SqlPregenerated(database),
        reactions=SqlReactions(database, names.veils),
        releases=SqlReleases(database),
        retention=SqlRetention(database, names),
        rewordings=SqlRewordings(database),
        statistics=SqlStatistics(database, names.person),
        upkeep=SqlUpkeep(database),
        voters=SqlVoters(database),
        free=free,
        scrub=scrub,
        empty_room=empty,
        overwrite=lambda texts: overwrite(own, texts),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStores:
    """What community memory alone is kept in."""

    memories: MemoryStore
    corpora: CorpusStore
    rewordings: RewordingStore


@asynccontextmanager
async def open_memory(home: Path) -> AsyncIterator[MemoryStores]:
    """Open the database in a folder for measurements; nobody is kept from it meanwhile."""
    database = await Database.open(home)
    try:
        yield MemoryStores(
            memories=SqlMemories(database),
            corpora=SqlCorpora(database),
            rewordings=SqlRewordings(database),
        )
    finally:
        await database.close()


async def questions_told_apart(settings: Settings) -> tuple[Distinction, ...]:
    """Return which questions people told apart, while whatever serves goes on; none without a database."""
    url = settings.database_url.get_secret_value()
    if not url and not (settings.home / FILE).exists():
        return ()
    database = await Database.open(settings.home, url)
    try:
        return await SqlDistinctions(database).told_apart()
    finally:
        await database.close()


def database_file(settings: Settings) -> Path | None:
    """Return the file that is the database; None where a server keeps it, or where there is none yet."""
    file = settings.home / FILE
    return None if settings.database_url.get_secret_value() or not file.exists() else file


def write_backup(
    home: Path, url: str, files: Mapping[str, Path], out: IO[bytes], room: Path
) -> dict[str, int]:
    """Write a backup while others use the database; blocking. Returns the rows of each table.

    In `room`, a folder, lies what is being written.
    """
    return backup.write(home, url, files, out, room).rows


def read_backup(
    given: IO[bytes], home: Path, url: str, files: Mapping[str, Path]
) -> tuple[float, dict[str, int]]:
    """Bring a backup into an empty home; blocking. Returns when it was written, and each table's rows."""
    manifest = backup.read(given, home, url, files)
    return manifest.at, manifest.rows


def check_database(file: Path) -> None:
    """Read a whole database file; blocking. Raises StorageError where it is damaged, HomeTooNew where a newer
    version wrote it.
    """
    check(file, thorough=True)
    check_known(file)


def check_database_server(settings: Settings) -> bool:
    """See that the server of the database answers and holds all text; blocking. False where there is none.

    Raises StorageError, ConfigurationError and HomeTooNew.
    """
    url = settings.database_url.get_secret_value()
    if url.startswith("postgres"):
        check_server(settings.home, url)
        return True
    return False


async def count_collections(settings: Settings) -> int:
    """Ask the server of the vector index how many collections it has. Raises StorageError."""
    vectors = await asyncio.to_thread(ChromaVectors, settings.home / VECTORS, settings.chroma_url)
    try:
        return len(await vectors.collections())
    finally:
        await asyncio.to_thread(vectors.close)
