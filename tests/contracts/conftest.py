"""What a contract suite runs on: the fake of a port, and every real thing that stands behind it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.ports import ConversationStore, CorpusStore, MemoryStore
from storage.conversations import SqlConversations
from storage.corpora import SqlCorpora
from storage.database import Database
from storage.memories import SqlMemories
from tests.databases import postgres_schema, truncated
from tests.fakes import FakeConversations, FakeCorpora, FakeMemories


@dataclass(frozen=True)
class Stores:
    """The three stores of one database."""

    corpora: CorpusStore
    memories: MemoryStore
    conversations: ConversationStore


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


@pytest.fixture(params=["fake", "sqlite", "postgresql"])
async def stores(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stores]:
    if request.param == "fake":
        memories = FakeMemories()
        yield Stores(FakeCorpora(memories.topics), memories, FakeConversations())
        return
    url = ""
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("migrated_sqlite"), tmp_path / "threadlore.sqlite3")
    else:
        url = truncated(request.getfixturevalue("postgres"))
    database = await Database.open(tmp_path, url)
    yield Stores(SqlCorpora(database), SqlMemories(database), SqlConversations(database))
    await database.close()
