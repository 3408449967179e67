"""A vector index that a killed process tore is set aside; a whole one is not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from storage.vectors import ChromaVectors, set_aside_if_broken

VECTORS = np.random.default_rng(1).normal(size=(1200, 8)).astype(np.float32)
IDS = [f"v{n}" for n in range(len(VECTORS))]


async def built(folder: Path) -> None:
    index = ChromaVectors(folder)
    await index.upsert("corpus-a", IDS, VECTORS)  # over 1,000, so that there is a graph on disk
    await asyncio.to_thread(index.close)


def truncated_database(folder: Path) -> None:
    whole = (folder / "chroma.sqlite3").read_bytes()
    (folder / "chroma.sqlite3").write_bytes(whole[: len(whole) // 3])


def garbage_graph(folder: Path) -> None:
    files = list(folder.glob("*/*.bin"))
    assert files
    for file in files:
        file.write_bytes(b"\xff" * file.stat().st_size)


def empty_graph(folder: Path) -> None:
    for file in folder.glob("*/*.bin"):
        file.write_bytes(b"")


@pytest.mark.parametrize("tear", [truncated_database, garbage_graph, empty_graph])
async def test_a_torn_index_is_set_aside_and_built_anew(tmp_path: Path, tear: Callable[[Path], None]) -> None:
    folder = tmp_path / "vectors"
    await built(folder)
    tear(folder)
    (tmp_path / "vectors.writing").touch()
    assert await asyncio.to_thread(set_aside_if_broken, folder)
    assert not folder.exists()
    assert (tmp_path / "vectors.broken").exists()
    assert not (tmp_path / "vectors.writing").exists()

    index = ChromaVectors(folder)
    assert await index.collections() == set()
    await index.upsert("corpus-a", IDS[:5], VECTORS[:5])
    ((hit,),) = await index.search("corpus-a", VECTORS[2:3], 1)
    assert hit.chunk_id == "v2"
    await asyncio.to_thread(index.close)


async def test_a_whole_index_stays_although_its_writer_was_killed(tmp_path: Path) -> None:
    folder = tmp_path / "vectors"
    await built(folder)
    (tmp_path / "vectors.writing").touch()
    assert await asyncio.to_thread(set_aside_if_broken, folder) == ""
    assert not (tmp_path / "vectors.writing").exists()
    index = ChromaVectors(folder)
    assert await index.ids("corpus-a") == set(IDS)
    await asyncio.to_thread(index.close)


def test_without_a_marker_nothing_is_checked(tmp_path: Path) -> None:
    folder = tmp_path / "vectors"
    assert set_aside_if_broken(folder) == ""
    (tmp_path / "vectors.writing").touch()  # killed before the folder was made
    assert set_aside_if_broken(folder) == ""
    assert not (tmp_path / "vectors.writing").exists()


async def test_the_marker_is_there_only_while_something_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "vectors"
    marker = tmp_path / "vectors.writing"
    index = ChromaVectors(folder)
    await index.upsert("corpus-a", IDS[:5], VECTORS[:5])
    assert not marker.exists()
    with pytest.raises(Exception, match="dimension"):
        await index.upsert("corpus-a", ["x"], np.ones((1, 3), np.float32))
    assert marker.exists(), "a write that failed is checked at the next start"
    await asyncio.to_thread(index.close)
