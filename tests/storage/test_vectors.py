"""A vector index that a killed process tore is set aside; a whole one is not."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest
from chromadb.config import Settings

from core.errors import StorageError
from core.ports import Alone
from core.workers.process import Worker, alone, crashed
from storage.vectors import child, chroma
from storage.vectors.calls import SERVER, Calls
from storage.vectors.chroma import Beside, ChromaVectors, set_aside_if_broken
from tests.shared_processes import SHARED

VECTORS = np.random.default_rng(1).normal(size=(1200, 8)).astype(np.float32)
IDS = [f"v{n}" for n in range(len(VECTORS))]


class Spinning:
    def close(self) -> None:
        while True:
            pass


def stall(folder: str) -> None:
    """Have the index in a folder spin for ever when it is closed, as Chroma's runtime once did."""
    child._OPEN[folder] = Spinning()


def opened() -> list[str]:
    return list(child._OPEN)


async def built(folder: Path) -> None:
    index = ChromaVectors(folder, start=SHARED.alone)
    await index.upsert("corpus-a", IDS, VECTORS)  # over 1,000, so that there is a graph on disk
    await asyncio.to_thread(index.close)


def checked(folder: Path, start: Callable[[], Alone] = SHARED.alone) -> str:
    return set_aside_if_broken(folder, Beside(folder, start))


def nobody() -> Alone:
    raise AssertionError("a check starts a process")


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


@pytest.mark.parametrize(
    ("tear", "killed"),
    [(truncated_database, True), (garbage_graph, True), (empty_graph, True), (garbage_graph, False)],
)
async def test_a_torn_index_is_set_aside_and_built_anew(
    tmp_path: Path, tear: Callable[[Path], None], killed: bool
) -> None:
    """By a process that was killed, which leaves no seal, or by something else after it was closed.

    The seal does not know what is torn; of the three garbage alone has the size of what was there.
    """
    folder = tmp_path / "vectors"
    await built(folder)
    tear(folder)
    if killed:
        (tmp_path / "vectors.sealed").unlink()
    assert await asyncio.to_thread(checked, folder)
    assert not folder.exists()
    assert (tmp_path / "vectors.broken").exists()
    assert not (tmp_path / "vectors.sealed").exists()
    assert SHARED.alone().do(opened, (), 1.0) == [], "the process that met what is torn is gone"

    index = ChromaVectors(folder, start=SHARED.alone)
    assert await index.collections() == set()
    await index.upsert("corpus-a", IDS[:5], VECTORS[:5])
    ((hit,),) = await index.search("corpus-a", VECTORS[2:3], 1)
    assert hit.chunk_id == "v2"
    await asyncio.to_thread(index.close)


async def test_a_whole_index_stays_although_its_process_was_killed(tmp_path: Path) -> None:
    folder = tmp_path / "vectors"
    await built(folder)
    (tmp_path / "vectors.sealed").unlink()
    assert await asyncio.to_thread(checked, folder) == ""
    started: list[Alone] = []

    def start() -> Alone:
        started.append(SHARED.alone())
        return started[-1]

    index = ChromaVectors(folder, start=start)
    assert not index.broken and await index.ids("corpus-a") == set(IDS)
    assert len(started) == 1, "the process that looked at the files goes on with them"
    await asyncio.to_thread(index.close)


async def test_what_was_closed_well_is_not_checked(tmp_path: Path) -> None:
    folder = tmp_path / "vectors"
    assert checked(folder, nobody) == ""
    await built(folder)
    assert checked(folder, nobody) == ""
    assert not (tmp_path / "vectors.sealed").exists(), "who opens it now may be killed"


async def test_a_write_that_failed_is_checked_at_the_next_start(tmp_path: Path) -> None:
    folder = tmp_path / "vectors"
    index = ChromaVectors(folder, start=SHARED.alone)
    await index.upsert("corpus-a", IDS[:5], VECTORS[:5])
    with pytest.raises(Exception, match="dimension"):
        await index.upsert("corpus-a", ["x"], np.ones((1, 3), np.float32))
    await asyncio.to_thread(index.close)
    assert not (tmp_path / "vectors.sealed").exists()


async def test_a_large_write_keeps_neither_searches_nor_anything_else_waiting(tmp_path: Path) -> None:
    """Chroma lets no other thread run during a call: in this process a write stopped everything."""
    index = ChromaVectors(tmp_path / "vectors", start=SHARED.alone)
    wide = np.random.default_rng(2).normal(size=(1500, 384)).astype(np.float32)
    ids = [f"w{n}" for n in range(len(wide))]
    await index.upsert("corpus-a", ids[:10], wide[:10])
    gaps, done = [0.0], asyncio.Event()

    async def breathe() -> None:
        while not done.is_set():
            began = time.monotonic()
            await asyncio.sleep(0.001)
            gaps.append(time.monotonic() - began)

    async def write() -> float:
        began = time.monotonic()
        await index.upsert("corpus-a", ids, wide)
        done.set()
        return time.monotonic() - began

    async def search() -> bool:
        ((hit,),) = await index.search("corpus-a", wide[3:4], 1)
        assert hit.chunk_id == "w3"
        return done.is_set()

    took, late, _ = await asyncio.gather(write(), search(), breathe())
    assert not late, "a search goes first between two parts of a write"
    assert max(gaps) < 0.8 * took, "the loop goes on meanwhile"
    await asyncio.to_thread(index.close)


async def test_an_index_whose_process_is_gone_is_opened_again(tmp_path: Path) -> None:
    workers: list[Worker] = []

    def start() -> Worker:
        workers.append(alone())
        return workers[-1]

    index = ChromaVectors(tmp_path / "vectors", start=start)
    await index.upsert("corpus-a", IDS[:5], VECTORS[:5])
    os.kill(workers[0].pid, signal.SIGKILL)
    assert await index.ids("corpus-a") == set(IDS[:5])
    ((hit,),) = await index.search("corpus-a", VECTORS[2:3], 1)
    assert hit.chunk_id == "v2" and len(workers) == 2
    await asyncio.to_thread(index.close)
    assert all(worker.gone for worker in workers)


async def test_a_call_that_ends_every_process_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    class Deadly:
        """A process that dies of whatever it is asked, but for what it is asked first."""

        asked = 0
        gone = False

        def do(self, work: Callable[..., Any], given: tuple[Any, ...], patience: float) -> Any:
            Deadly.asked += 1
            if Deadly.asked == 1:
                return set()
            raise crashed(-11)

        def let_go(self) -> None:
            self.gone = True

    index = ChromaVectors(tmp_path / "vectors", start=Deadly)
    with pytest.raises(StorageError, match="Restart the bot"):
        await index.search("corpus-a", VECTORS[:1], 1)
    assert Deadly.asked == 3, "it is tried twice"
    with pytest.raises(StorageError, match="Restart the bot"):
        await index.upsert("corpus-a", IDS[:1], VECTORS[:1])
    await asyncio.to_thread(index.close)
    assert not (tmp_path / "vectors.sealed").exists(), "it is checked at the next start"


async def test_a_close_that_does_not_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chroma, "CLOSE_PATIENCE", 1 / 600)
    index = ChromaVectors(tmp_path / "vectors", start=SHARED.alone)
    SHARED.alone().do(stall, (str(tmp_path / "vectors"),), 1.0)
    await asyncio.to_thread(index.close)
    assert not (tmp_path / "vectors.sealed").exists(), "it is checked at the next start"


async def test_a_graph_of_chromas_own_numbers_is_searched_as_far_as_a_new_one(tmp_path: Path) -> None:
    old = chromadb.PersistentClient(str(tmp_path), Settings(anonymized_telemetry=False))
    made = old.create_collection("corpus-old", embedding_function=None)
    made.upsert(ids=IDS[:10], embeddings=VECTORS[:10])
    assert made.configuration["hnsw"]["ef_search"] < SERVER["ef_search"]
    calls = Calls(old)
    for name in ("corpus-old", "corpus-new"):
        calls.upsert(name, IDS[:20], VECTORS[:20])
        kept = old.get_collection(name, embedding_function=None)
        assert kept.configuration["hnsw"]["ef_search"] == SERVER["ef_search"]
        found = {hit.chunk_id for hit in calls.search(name, VECTORS[:1], 20)[0]}
        assert found <= set(IDS[:20]) and len(found) >= 18, "of 300 graphs, made at random, 8 lack one"
    assert kept.configuration["hnsw"]["max_neighbors"] == SERVER["max_neighbors"]
    calls.close()
