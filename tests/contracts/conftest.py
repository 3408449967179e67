"""What a contract suite runs on: the fake of a port, and every real thing that stands behind it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.ports import (
    ConversationStore,
    CorpusStore,
    MemoryStore,
    PregeneratedStore,
    UpkeepStore,
    VoterStore,
)
from core.ports.escalations import EscalationStore
from core.ports.opinions import OpinionStore
from storage.corpora.corpora import SqlCorpora
from storage.corpora.pregenerated import SqlPregenerated
from storage.database.database import Database
from storage.memory.memories import SqlMemories
from storage.memory.opinions import SqlOpinions
from storage.memory.pair_rows import SqlVoters
from storage.memory.upkeep import SqlUpkeep
from storage.serving.conversations import SqlConversations
from storage.serving.escalations import SqlEscalations
from tests.databases import DATABASES, postgres_schema, truncated
from tests.fake_escalations import FakeEscalations
from tests.fake_opinions import FakeOpinions
from tests.fake_pregenerated import FakePregenerated
from tests.fake_upkeep import FakeUpkeep, FakeVoters
from tests.fakes import FakeConversations, FakeCorpora, FakeMemories


@dataclass(frozen=True)
class Stores:
    """The stores of one database."""

    corpora: CorpusStore
    memories: MemoryStore
    conversations: ConversationStore
    upkeep: UpkeepStore
    voters: VoterStore
    opinions: OpinionStore
    pregenerated: PregeneratedStore
    escalations: EscalationStore


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("sqlite")

    async def make() -> None:
        await (await Database.open(home)).close()

    asyncio.run(make())
    return home / "threadlore.sqlite3"


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    with postgres_schema() as url:
        yield url


@pytest.fixture(params=["fake", *DATABASES])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str | None:
    """Return the URL of an empty database, empty for SQLite in `tmp_path`; None for the fakes."""
    if request.param == "fake":
        return None
    if request.param == "postgresql":
        return truncated(request.getfixturevalue("postgres"))
    shutil.copy(request.getfixturevalue("migrated_sqlite"), tmp_path / "threadlore.sqlite3")
    return ""


@pytest.fixture
async def stores(place: str | None, tmp_path: Path) -> AsyncIterator[Stores]:
    if place is None:
        memories = FakeMemories()
        upkeep = FakeUpkeep(memories)
        corpora = memories.corpora = FakeCorpora(memories.topics)
        yield Stores(
            corpora,
            memories,
            FakeConversations(),
            upkeep,
            FakeVoters(memories),
            FakeOpinions(memories),
            FakePregenerated(corpora),
            FakeEscalations(),
        )
        return
    database = await Database.open(tmp_path, place)
    yield Stores(
        SqlCorpora(database),
        SqlMemories(database),
        SqlConversations(database),
        SqlUpkeep(database),
        SqlVoters(database),
        SqlOpinions(database),
        SqlPregenerated(database),
        SqlEscalations(database),
    )
    await database.close()
