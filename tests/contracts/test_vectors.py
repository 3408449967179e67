"""What every `VectorIndex` does."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.ports import Matrix, VectorIndex
from storage.vectors.chroma import ChromaVectors
from tests.chroma_server import chroma_server
from tests.fakes import FakeVectors
from tests.shared_processes import SHARED

DATABASES = itertools.count(1)
"""A new database of the server for each test."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with chroma_server(tmp_path_factory.mktemp("chroma") / "data") as url:
        yield url


@pytest.fixture(params=["fake", "chroma", "chroma server"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[VectorIndex]:
    url = ""
    if request.param == "chroma server":
        url = f"{request.getfixturevalue('server')}/test-{next(DATABASES)}"
    made = (
        FakeVectors() if request.param == "fake" else ChromaVectors(tmp_path / "vectors", url, SHARED.alone)
    )
    yield made
    made.close()


def unit(rows: int, seed: int = 0, dimensions: int = 16) -> Matrix:
    made = np.random.default_rng(seed).normal(size=(rows, dimensions)).astype(np.float32)
    scaled: Matrix = made / np.linalg.norm(made, axis=1, keepdims=True)
    return scaled


async def test_nothing_is_there_at_first(index: VectorIndex) -> None:
    assert await index.collections() == set()
    assert await index.ids("corpus-a") == set()
    assert await index.search("corpus-a", unit(2), 3) == [[], []]
    await index.delete("corpus-a", ["x"])
    await index.drop("corpus-a")
    assert await index.collections() == set()


async def test_the_nearest_come_first_with_their_cosine(index: VectorIndex) -> None:
    kept, queries = unit(60), unit(5, seed=1)
    await index.upsert("corpus-a", [f"v{n}" for n in range(60)], kept)
    cosines = queries @ kept.T
    for row, hits in enumerate(await index.search("corpus-a", queries, 7)):
        assert [hit.chunk_id for hit in hits] == [f"v{n}" for n in np.argsort(-cosines[row])[:7]]
        assert [hit.score for hit in hits] == pytest.approx(
            np.sort(cosines[row])[::-1][:7].tolist(), abs=1e-5
        )


async def test_more_hits_than_there_are_vectors_gives_all_of_them(index: VectorIndex) -> None:
    kept = unit(5)
    await index.upsert("corpus-a", list("abcde"), kept)
    (hits,) = await index.search("corpus-a", kept[:1], 100)
    assert hits[0].chunk_id == "a"
    assert {hit.chunk_id for hit in hits} == set("abcde")


async def test_no_query_has_no_hits_and_no_id_puts_nothing(index: VectorIndex) -> None:
    await index.upsert("corpus-a", [], unit(0))
    assert await index.ids("corpus-a") == set()
    assert await index.search("corpus-a", unit(1), 3) == [[]]
    await index.upsert("corpus-a", ["x"], unit(1))
    await index.delete("corpus-a", [])
    assert await index.search("corpus-a", unit(0), 3) == []


async def test_an_id_put_again_moves(index: VectorIndex) -> None:
    first, second = unit(2)
    await index.upsert("corpus-a", ["x"], first[None])
    await index.upsert("corpus-a", ["x"], first[None])
    await index.upsert("corpus-a", ["x"], second[None])
    ((hit,),) = await index.search("corpus-a", second[None], 3)
    assert hit.score == pytest.approx(1, abs=1e-5)


async def test_deleted_ids_are_not_found(index: VectorIndex) -> None:
    kept = unit(300)
    ids = [f"v{n}" for n in range(300)]
    await index.upsert("corpus-a", ids, kept)
    await index.delete("corpus-a", [*ids[10:], "unknown"])
    assert await index.ids("corpus-a") == set(ids[:10])
    (hits,) = await index.search("corpus-a", kept[200:201], 50)
    assert {hit.chunk_id for hit in hits} == set(ids[:10])


async def test_many_ids_in_one_call(index: VectorIndex) -> None:
    ids = [f"v{n}" for n in range(6000)]
    kept = unit(6000, dimensions=4)
    await index.upsert("corpus-a", ids, kept)
    assert await index.ids("corpus-a") == set(ids)
    (hits,) = await index.search("corpus-a", kept[5999:], 1)
    assert hits[0].score == pytest.approx(1, abs=1e-5)
    await index.delete("corpus-a", ids)
    assert await index.ids("corpus-a") == set()


async def test_collections_know_nothing_of_each_other(index: VectorIndex) -> None:
    await index.upsert("corpus-a", ["x"], unit(1))
    await index.upsert("corpus-b", ["y"], unit(1, dimensions=8))
    assert await index.collections() == {"corpus-a", "corpus-b"}
    ((hit,),) = await index.search("corpus-a", unit(1), 5)
    assert hit.chunk_id == "x"
    await index.drop("corpus-a")
    assert await index.collections() == {"corpus-b"}
    assert await index.search("corpus-a", unit(1), 5) == [[]]
    assert await index.ids("corpus-b") == {"y"}


async def test_a_dropped_collection_can_be_built_anew(index: VectorIndex) -> None:
    for turn in range(3):
        await index.upsert("corpus-a", [f"x{turn}"], unit(1, dimensions=4 + turn))
        ((hit,),) = await index.search("corpus-a", unit(1, dimensions=4 + turn), 5)
        assert hit.chunk_id == f"x{turn}"
        await index.drop("corpus-a")


async def test_searches_go_on_while_a_collection_is_dropped_and_built(index: VectorIndex) -> None:
    query = unit(1)
    done = False

    async def build() -> None:
        nonlocal done
        for _ in range(8):
            await index.upsert("corpus-a", ["x", "y"], unit(2))
            await index.drop("corpus-a")
        await index.upsert("corpus-a", ["x", "y"], unit(2))
        done = True

    async def search() -> None:
        while not done:
            (hits,) = await index.search("corpus-a", query, 2)
            assert {hit.chunk_id for hit in hits} <= {"x", "y"}
            assert await index.ids("corpus-a") <= {"x", "y"}
            await asyncio.sleep(0)

    await asyncio.gather(build(), search(), search())
    assert len((await index.search("corpus-a", query, 2))[0]) == 2


async def test_what_was_put_is_there_after_reopening(tmp_path: Path) -> None:
    folder = tmp_path / "vectors"
    index = ChromaVectors(folder, start=SHARED.alone)
    await index.upsert("corpus-a", ["x", "y"], unit(2))
    index.close()
    again = ChromaVectors(folder, start=SHARED.alone)
    assert await again.ids("corpus-a") == {"x", "y"}
    ((first, _),) = await again.search("corpus-a", unit(2)[1:], 2)
    assert first.chunk_id == "y"
    again.close()
