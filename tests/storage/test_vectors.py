"""A vector index that a killed process tore is set aside; a whole one is not."""

from __future__ import annotations

import asyncio
import resource
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
@pytest.mark.parametrize("killed", [True, False])
async def test_a_torn_index_is_set_aside_and_built_anew(
    tmp_path: Path, tear: Callable[[Path], None], killed: bool
) -> None:
    """By a process that was killed, which leaves no seal, or by something else after it was closed."""
    folder = tmp_path / "vectors"
    await built(folder)
    tear(folder)
    if killed:
        (tmp_path / "vectors.sealed").unlink()
    assert await asyncio.to_thread(set_aside_if_broken, folder)
    assert not folder.exists()
    assert (tmp_path / "vectors.broken").exists()
    assert not (tmp_path / "vectors.sealed").exists()

    index = ChromaVectors(folder)
    assert await index.collections() == set()
    await index.upsert("corpus-a", IDS[:5], VECTORS[:5])
    ((hit,),) = await index.search("corpus-a", VECTORS[2:3], 1)
    assert hit.chunk_id == "v2"
    await asyncio.to_thread(index.close)


async def test_a_whole_index_stays_although_its_process_was_killed(tmp_path: Path) -> None:
    folder = tmp_path / "vectors"
    await built(folder)
    (tmp_path / "vectors.sealed").unlink()
    assert await asyncio.to_thread(set_aside_if_broken, folder) == ""
    index = ChromaVectors(folder)
    assert await index.ids("corpus-a") == set(IDS)
    await asyncio.to_thread(index.close)


async def test_what_was_closed_well_is_not_checked(tmp_path: Path) -> None:
    folder = tmp_path / "vectors"
    assert set_aside_if_broken(folder) == ""
    await built(folder)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert set_aside_if_broken(folder) == ""
    assert resource.getrusage(resource.RUSAGE_CHILDREN) == before, "a check starts a process"
    assert not (tmp_path / "vectors.sealed").exists(), "who opens it now may be killed"


async def test_a_write_that_failed_is_checked_at_the_next_start(tmp_path: Path) -> None:
    folder = tmp_path / "vectors"
    index = ChromaVectors(folder)
    await index.upsert("corpus-a", IDS[:5], VECTORS[:5])
    with pytest.raises(Exception, match="dimension"):
        await index.upsert("corpus-a", ["x"], np.ones((1, 3), np.float32))
    await asyncio.to_thread(index.close)
    assert not (tmp_path / "vectors.sealed").exists()
