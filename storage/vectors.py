"""Nearest vectors by Chroma, one collection a corpus; derived from SQL at any time.

Chroma runs inside this process with its files in the home, or as a server (`storage/vectors_server.py`).
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import chromadb
from chromadb.config import Settings as ChromaSettings
from chromadb.errors import ChromaError, InternalError, NotFoundError

from core.domain import Hit
from core.files import private_folder, set_aside
from core.ports import Matrix
from storage.disk import storage_error
from storage.vector_files import BROKEN, empty_room
from storage.vectors_server import connected, told

T = TypeVar("T")
AT_ONCE = 5000
"""Rows a call; Chroma refuses more than 5,461."""
CHECK_SECONDS = 60
PAUSES = (0.02, 0.1, 0.3)
"""Seconds before a collection that is being built is looked at again."""
_EMPTY = "Nothing found on disk"
READERS = 2


class ChromaVectors:
    """The `VectorIndex` port on Chroma: embedded with its files in `folder`, or the server at `url`."""

    def __init__(self, folder: Path, url: str = "") -> None:
        self._folder = folder
        self._url = url
        self._doubtful = False
        if url:
            self._client: Any = connected(url)
        else:
            private_folder(folder)
            try:
                self._client = chromadb.PersistentClient(
                    path=str(folder), settings=ChromaSettings(anonymized_telemetry=False)
                )
            except ChromaError as error:
                raise storage_error(error, "The vector index") from error
        self._readers = threading.Semaphore(READERS)
        self._searching = ThreadPoolExecutor(READERS, thread_name_prefix="chroma")
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="chroma-write")
        self._open: dict[str, Any] = {}

    async def upsert(self, collection: str, ids: Sequence[str], vectors: Matrix) -> None:
        """Put vectors under their ids."""

        def put() -> None:
            target = self._collection(collection)
            if target is None:
                with self._alone():
                    target = self._client.create_collection(
                        collection, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
                    )
            for start in range(0, len(ids), AT_ONCE):
                stop = start + AT_ONCE
                target.upsert(ids=list(ids[start:stop]), embeddings=vectors[start:stop])

        await self._write(put)

    async def delete(self, collection: str, ids: Sequence[str]) -> None:
        """Remove ids; unknown ones are no error."""

        def remove() -> None:
            target = self._collection(collection)
            for start in range(0, len(ids) if target else 0, AT_ONCE):
                target.delete(ids=list(ids[start : start + AT_ONCE]))

        await self._write(remove)

    async def search(self, collection: str, queries: Matrix, k: int) -> list[list[Hit]]:
        """Return for each row of `queries` up to k hits with their cosine, best first."""

        def find(target: Any) -> list[list[Hit]]:
            if not len(queries):
                return []
            found = target.query(query_embeddings=queries, n_results=k, include=["distances"])
            return [
                [Hit(key, 1.0 - distance) for key, distance in zip(keys, distances, strict=True)]
                for keys, distances in zip(found["ids"], found["distances"], strict=True)
            ]

        return await self._read(collection, find, [[] for _ in queries])

    async def ids(self, collection: str) -> set[str]:
        """Return all ids of a collection; empty when there is no such collection."""

        return await self._read(collection, lambda target: set(target.get(include=[])["ids"]), set())

    async def drop(self, collection: str) -> None:
        """Remove a collection; an unknown one is no error."""

        def remove() -> None:
            if self._collection(collection) is not None:
                with self._alone():
                    del self._open[collection]
                    self._client.delete_collection(collection)

        await self._write(remove)

    async def collections(self) -> set[str]:
        """Return the names of all collections."""

        def listed() -> set[str]:
            with told(self._url):
                return {collection.name for collection in self._client.list_collections()}

        return await asyncio.get_running_loop().run_in_executor(self._searching, listed)

    def close(self) -> None:
        """Release files and threads, and seal the folder: it need not be checked at the next start."""
        self._writing.shutdown(wait=True)
        self._searching.shutdown(wait=True)
        self._client.close()
        if not self._url:
            empty_room(self._folder)
        if not self._doubtful and not self._url:
            _seal(self._folder).write_text(_state(self._folder), encoding="utf-8")

    def _collection(self, name: str) -> Any:
        if name not in self._open:
            try:
                self._open[name] = self._client.get_collection(name, embedding_function=None)
            except NotFoundError:
                return None
        return self._open[name]

    async def _read(self, collection: str, work: Callable[[Any], T], nothing: T) -> T:
        def once() -> T:
            with self._readers:
                target = self._collection(collection)
                return nothing if target is None else work(target)

        def read() -> T:
            with told(self._url):
                for pause in PAUSES:
                    try:
                        return once()
                    except (InternalError, NotFoundError) as error:
                        if isinstance(error, InternalError) and _EMPTY not in str(error):
                            raise
                        # it is being dropped or built anew at this moment; one that stays so is broken
                        self._open.pop(collection, None)
                        time.sleep(pause)
                return once()

        return await asyncio.get_running_loop().run_in_executor(self._searching, read)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait until nobody reads: Chroma fails when a collection comes or goes meanwhile."""
        for _ in range(READERS):
            self._readers.acquire()
        try:
            yield
        finally:
            self._readers.release(READERS)

    async def _write(self, work: Callable[[], T]) -> T:
        def written() -> T:
            try:
                with told(self._url):
                    return work()
            except (ChromaError, OSError) as error:
                self._doubtful = True
                raise storage_error(error, "The vector index") from error

        return await asyncio.get_running_loop().run_in_executor(self._writing, written)


def _seal(folder: Path) -> Path:
    """Return the file that says in what state the folder was closed; it is gone while one has it open."""
    return folder.with_suffix(".sealed")


def _state(folder: Path) -> str:
    """Return size and time of every file."""
    files = ((path, path.stat()) for path in sorted(folder.rglob("*")) if path.is_file())
    return json.dumps({str(path.relative_to(folder)): [s.st_size, s.st_mtime_ns] for path, s in files})


def set_aside_if_broken(folder: Path) -> str:
    """Check an index that was not closed as it lies there; return why it was set aside, or "".

    So it is after a kill, which may tear it in a write or in the first search after one, and after
    something else changed its files. Opening a torn index can end the process that does it, so a child
    process tries first.
    """
    seal, reason = _seal(folder), ""
    sealed = seal.is_file() and folder.exists() and seal.read_bytes() == _state(folder).encode()
    seal.unlink(missing_ok=True)
    if folder.exists() and not sealed:
        try:
            child = subprocess.run(
                [sys.executable, "-c", _CHECK, str(folder)],
                capture_output=True,
                text=True,
                timeout=CHECK_SECONDS,
                check=False,
            )
            if child.returncode:
                reason = (child.stderr.strip().splitlines() or [f"ended with {child.returncode}"])[-1]
        except subprocess.TimeoutExpired:
            reason = f"did not open within {CHECK_SECONDS} s"
    if reason:
        set_aside(folder)
    return reason


_CHECK = """
import sys, chromadb
from chromadb.config import Settings
client = chromadb.PersistentClient(path=sys.argv[1], settings=Settings(anonymized_telemetry=False))
for collection in client.list_collections():
    collection = client.get_collection(collection.name, embedding_function=None)
    sample = collection.get(limit=5, include=["embeddings"])
    for key, vector in zip(sample["ids"], sample["embeddings"]):
        near = collection.query(query_embeddings=[vector], n_results=3, include=["distances"])
        if key not in near["ids"][0] and near["distances"][0][0] > 1e-5:
            raise SystemExit(f"{collection.name}: a vector does not find itself")
"""
