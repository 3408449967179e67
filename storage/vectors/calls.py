"""What is asked of a Chroma, blocking: of the one in this process, or of a server."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from chromadb.errors import ChromaError, InternalError, NotFoundError

from core.domain import Hit
from core.ports import Matrix
from storage.database.sqlite_file import storage_error
from storage.vectors.server import told

T = TypeVar("T")
READERS = 2
IDS_AT_ONCE = 5000
PAUSES = (0.02, 0.1, 0.3)
"""Seconds before a collection that is being built is looked at again."""
SERVER: dict[str, Any] = {"space": "cosine", "max_neighbors": 32, "ef_construction": 200, "ef_search": 300}
"""How the graph is made and searched. With Chroma's own numbers (16, 100, 100) a search for the nearest
hundred misses five to seven of them, not the same after every start.
"""
HERE = {**SERVER, "sync_threshold": 200, "batch_size": 100}
"""The same in this process. What is put waits to be sorted in, and the first removal after a search sorts
in all of it, 4 ms each, while nobody can search: a fifth of the usual 1,000 may wait.
"""
SAMPLE = 5
"""Vectors of a collection that are searched for in one that may be torn."""
SAME = 1e-5
"""Distance of a vector from one like it."""
_EMPTY = "Nothing found on disk"


class Calls:
    """The calls of the `VectorIndex` port on a client of Chroma; safe for several threads."""

    def __init__(self, client: Any, url: str = "") -> None:
        self._client, self._url = client, url
        self._readers = threading.Semaphore(READERS)
        self._open: dict[str, Any] = {}

    def upsert(self, collection: str, ids: Sequence[str], vectors: Matrix) -> None:
        """Put vectors under their ids; raises StorageError."""
        with self._writing():
            target = self._collection(collection)
            if target is None:
                with self._alone():
                    target = self._client.create_collection(
                        collection,
                        embedding_function=None,
                        configuration={"hnsw": SERVER if self._url else HERE},
                    )
            else:
                _search_further(target)
            if len(ids):
                target.upsert(ids=list(ids), embeddings=vectors)

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        """Remove ids; raises StorageError."""
        with self._writing():
            target = self._collection(collection)
            if target is not None and len(ids):
                target.delete(ids=list(ids))

    def drop(self, collection: str) -> None:
        """Remove a collection; raises StorageError."""
        with self._writing():
            if self._collection(collection) is not None:
                with self._alone():
                    del self._open[collection]
                    self._client.delete_collection(collection)

    def search(self, collection: str, queries: Matrix, k: int) -> list[list[Hit]]:
        """Return for each row of `queries` up to k hits with their cosine, best first."""

        def find(target: Any) -> list[list[Hit]]:
            if not len(queries):
                return []
            found = target.query(query_embeddings=queries, n_results=k, include=["distances"])
            return [
                [Hit(key, 1.0 - distance) for key, distance in zip(keys, distances, strict=True)]
                for keys, distances in zip(found["ids"], found["distances"], strict=True)
            ]

        return self._read(collection, find, [[] for _ in queries])

    def ids(self, collection: str) -> set[str]:
        """Return all ids of a collection."""

        def listed(target: Any) -> set[str]:
            found: set[str] = set()
            for start in itertools.count(0, IDS_AT_ONCE):
                some = target.get(include=[], limit=IDS_AT_ONCE, offset=start)["ids"]
                found.update(some)
                if len(some) < IDS_AT_ONCE:
                    break
            return found

        return self._read(collection, listed, set())

    def collections(self) -> set[str]:
        """Return the names of all collections."""
        with told(self._url):
            return {collection.name for collection in self._client.list_collections()}

    def unlike(self) -> str:
        """Return which collection has a vector that does not find itself, or ""."""
        for name in sorted(self.collections()):
            collection = self._client.get_collection(name, embedding_function=None)
            sample = collection.get(limit=SAMPLE, include=["embeddings"])
            for key, vector in zip(sample["ids"], sample["embeddings"], strict=True):
                near = collection.query(query_embeddings=[vector], n_results=3, include=["distances"])
                if key not in near["ids"][0] and near["distances"][0][0] > SAME:
                    return f"{name}: a vector does not find itself"
        return ""

    def close(self) -> None:
        """Let go of files and connections."""
        self._client.close()

    def _collection(self, name: str) -> Any:
        if name not in self._open:
            try:
                self._open[name] = self._client.get_collection(name, embedding_function=None)
            except NotFoundError:
                return None
        return self._open[name]

    def _read(self, collection: str, work: Callable[[Any], T], nothing: T) -> T:
        def once() -> T:
            with self._readers:
                target = self._collection(collection)
                return nothing if target is None else work(target)

        with told(self._url):
            for pause in PAUSES:
                try:
                    return once()
                except (InternalError, NotFoundError) as error:
                    if isinstance(error, InternalError) and _EMPTY not in str(error):
                        raise
                    # it is being dropped or built again at this moment; one that stays so is broken
                    self._open.pop(collection, None)
                    time.sleep(pause)
            return once()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait until nobody reads: Chroma fails when a collection comes or goes meanwhile."""
        for _ in range(READERS):
            self._readers.acquire()
        try:
            yield
        finally:
            self._readers.release(READERS)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with told(self._url):
                yield
        except (ChromaError, OSError) as error:
            raise storage_error(error, "The vector index") from error


def _search_further(collection: Any) -> None:
    """Have a graph of Chroma's own numbers searched as far as new ones are, from the next start on."""
    graph = collection.configuration.get("hnsw") or {}
    if graph.get("ef_search", SERVER["ef_search"]) < SERVER["ef_search"]:
        collection.modify(configuration={"hnsw": {"ef_search": SERVER["ef_search"]}})
