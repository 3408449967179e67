"""A Chroma server instead of the one inside the process: away, back, with another program's data in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import chromadb
import numpy as np
import pytest
from chromadb.config import Settings

from core.domain import Question
from core.errors import ConfigurationError, StorageError
from storage.vectors.chroma import ChromaVectors
from storage.vectors.server import address
from tests.chroma_server import chroma_server
from tests.journeys.house import Bot, house, new_folder
from tests.journeys.kettle import PORTS

VECTORS = np.eye(3, 8, dtype=np.float32)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    with chroma_server(tmp_path / "chroma") as url:
        yield url


@pytest.mark.parametrize("url", ["chroma:8000", "ftp://chroma:8000", "http://", "http://chroma:80000"])
def test_an_address_that_is_none_is_told(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"write it as http://host:8000"):
        ChromaVectors(tmp_path / "vectors", url)


def test_what_an_address_names() -> None:
    assert address("http://chroma") == ("chroma", 8000, False, "threadlore")
    assert address("https://c.example/mine/") == ("c.example", 443, True, "mine")


def test_a_server_that_is_away_is_told(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"No Chroma answers at http://127.0.0.1:9 .*`chroma run`"):
        ChromaVectors(tmp_path / "vectors", "http://127.0.0.1:9")


async def test_a_server_that_goes_away_is_told_and_its_data_are_there_when_it_is_back(tmp_path: Path) -> None:
    with chroma_server(tmp_path / "chroma") as url:
        index = ChromaVectors(tmp_path / "vectors", url)
        await index.upsert("corpus-a", ["x", "y"], VECTORS[:2])
    for work in (
        index.search("corpus-a", VECTORS[:1], 1),
        index.upsert("corpus-a", ["z"], VECTORS[2:]),
        index.collections(),
    ):
        with pytest.raises(StorageError, match="No Chroma answers"):
            await work
    index.close()
    with chroma_server(tmp_path / "chroma") as url:
        index = ChromaVectors(tmp_path / "vectors", url)
        ((hit,),) = await index.search("corpus-a", VECTORS[1:2], 1)
        assert hit.chunk_id == "y"
        index.close()
    assert not (tmp_path / "vectors").exists() and not (tmp_path / "vectors.sealed").exists()


async def test_what_other_programs_keep_there_is_left_alone(
    server: str, tmp_path: Path, encoder_cache: Path
) -> None:
    host, port, _, _ = address(server)
    others = chromadb.HttpClient(host=host, port=port, settings=Settings(anonymized_telemetry=False))
    others.create_collection("not-ours", embedding_function=None)
    kettle = new_folder(tmp_path / "kettle", encoder_cache)
    async with house(kettle, chroma_url=server) as bot:
        await bot.app.corpus_manager.reindex("2.0")
        told = await bot.app.engine.answer(Question("Which port does the dashboard listen on?", "cli"))
        assert PORTS["2.0"] in told.text
    assert [collection.name for collection in others.list_collections()] == ["not-ours"]
    async with house(kettle, chroma_url=server) as bot:
        told = await bot.app.engine.answer(Question("Which port does the dashboard listen on?", "cli"))
        assert PORTS["2.0"] in told.text and await bot.app.vectors.collections()
    assert not (kettle.home / "vectors").exists()


async def test_a_home_moves_to_a_server_and_back(server: str, tmp_path: Path, encoder_cache: Path) -> None:
    """The index is derived: where it is missing it is filled from the database, without embedding."""
    kettle = new_folder(tmp_path / "kettle", encoder_cache)
    async with house(kettle) as bot:
        await bot.app.corpus_manager.reindex("2.0")
        before = await held(bot)
    assert any(before.values())
    for url in (server, ""):
        async with house(kettle, chroma_url=url) as bot:
            assert await held(bot) == before


async def held(bot: Bot) -> dict[str, set[str]]:
    vectors = bot.app.vectors
    return {name: await vectors.ids(name) for name in await vectors.collections()}
