"""Nearest vectors by Chroma, one collection a corpus; derived from SQL at any time.

Chroma runs in a process beside this one with its files in the home (`storage/vectors/child.py`), or as a
server (`storage/vectors/server.py`).
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from core.domain import Hit
from core.errors import StorageError, TooCostly
from core.ports import Alone, Matrix
from core.system.private_files import private_folder, set_aside
from core.workers.process import Unused, alone
from storage.vectors.files import empty_room

log = logging.getLogger(__name__)

AT_ONCE = 5000
"""Rows a call to a server; it refuses more than 5,461."""
HERE_AT_ONCE = 100
"""Rows a call to the process here: a tenth of a second, for which a search has to wait."""
CHECK_PATIENCE = 0.1
"""Share of the time of any other call that looking at a folder may take: a minute of processor time."""
CLOSE_PATIENCE = 1 / 60
"""The same for closing, which takes a moment: once in some thousand times Chroma's runtime spins for ever."""
READERS = 2
TRIES = 2
"""Processes that are tried for a call which ends them."""


class ChromaVectors:
    """The `VectorIndex` port on Chroma: with its files in `folder`, or the server at `url`.

    `start` starts the process that has the files. Files that are torn are set aside, and nothing is found
    until they are built anew; `broken` says why, or is "".
    """

    def __init__(self, folder: Path, url: str = "", start: Callable[[], Alone] = alone) -> None:
        self._folder = folder
        self._url = url
        self._doubtful = False
        self.broken = ""
        if url:
            from storage.vectors.calls import Calls  # Chroma costs most of a second to load
            from storage.vectors.server import connected

            calls = Calls(connected(url), url)
            self._ask: Callable[..., Any] = lambda method, *given: getattr(calls, method)(*given)
            self._close = calls.close
        else:
            empty_room(folder)  # a process that was killed may have left something in it
            beside = Beside(folder, start)
            self._ask, self._close = beside.ask, beside.close
            self.broken = set_aside_if_broken(folder, beside)
            private_folder(folder)
            self._ask("collections")  # what is wrong with the files is told now
        # those of the process here stand in line: what is asked between two parts of a write goes first
        self._searching = ThreadPoolExecutor(READERS if url else 1, thread_name_prefix="chroma")
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="chroma-write") if url else self._searching

    async def upsert(self, collection: str, ids: Sequence[str], vectors: Matrix) -> None:
        """Put vectors under their ids."""
        size = AT_ONCE if self._url else HERE_AT_ONCE
        for start in range(0, max(len(ids), 1), size):
            stop = start + size
            await self._write("upsert", collection, list(ids[start:stop]), vectors[start:stop])

    async def delete(self, collection: str, ids: Sequence[str]) -> None:
        """Remove ids; unknown ones are no error."""
        size = AT_ONCE if self._url else HERE_AT_ONCE
        for start in range(0, len(ids), size):
            await self._write("delete", collection, list(ids[start : start + size]))

    async def search(self, collection: str, queries: Matrix, k: int) -> list[list[Hit]]:
        """Return for each row of `queries` up to k hits with their cosine, best first."""
        found: list[list[Hit]] = await self._read("search", collection, queries, k)
        return found

    async def ids(self, collection: str) -> set[str]:
        """Return all ids of a collection; empty when there is no such collection."""
        found: set[str] = await self._read("ids", collection)
        return found

    async def drop(self, collection: str) -> None:
        """Remove a collection; an unknown one is no error."""
        await self._write("drop", collection)

    async def collections(self) -> set[str]:
        """Return the names of all collections."""
        found: set[str] = await self._read("collections")
        return found

    def close(self) -> None:
        """Release files and threads, and seal the folder: it need not be checked at the next start."""
        self._writing.shutdown(wait=True)
        self._searching.shutdown(wait=True)
        try:
            self._close()
        except StorageError:
            self._doubtful = True
        if self._url:
            return
        empty_room(self._folder)
        if not self._doubtful:
            _seal(self._folder).write_text(_state(self._folder), encoding="utf-8")

    async def _read(self, method: str, *given: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._searching, self._ask, method, *given)

    async def _write(self, method: str, *given: Any) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._writing, self._ask, method, *given)
        except StorageError:
            self._doubtful = True
            raise


class Beside:
    """The Chroma of a folder in a process beside this one, which is started again where it ends."""

    def __init__(self, folder: Path, start: Callable[[], Alone]) -> None:
        self._folder, self._start = str(folder), start
        self._process: Alone | None = None

    def ask(self, method: str, *given: Any) -> Any:
        """Return what the method of `Calls` returns; raises StorageError."""
        from storage.vectors.child import call

        for _ in range(TRIES):
            if self._process is None or self._process.gone:
                self._process = self._start()
            try:
                return self._process.do(call, (self._folder, method, *given), 1.0)
            except (TooCostly, Unused) as error:
                log.error("the process of the vector index ended in %s: %s", method, error)
                self._process.let_go()
                self._process = None
        raise StorageError(
            "The vector index crashes its process. Restart the bot: it rebuilds the index from the database."
        )

    def wrong(self) -> str:
        """Look at files that may be torn; return what is wrong with them, or ""."""
        from storage.vectors.child import look

        process = self._start()
        try:
            reason = str(process.do(look, (self._folder,), CHECK_PATIENCE))
        except (TooCostly, Unused) as error:
            reason = str(error) or "its process ended"
        if reason:
            process.end()  # who knows what it holds of them
            process.let_go()
        else:
            self._process = process
        return reason

    def close(self) -> None:
        """Let go of the files and of the process; raises StorageError."""
        from storage.vectors.child import call

        if self._process is None:
            return
        try:
            if not self._process.gone:
                self._process.do(call, (self._folder, "close"), CLOSE_PATIENCE)
        except (TooCostly, Unused) as error:
            raise StorageError(f"The vector index could not be closed: {error}.") from error
        finally:
            self._process.let_go()


def _seal(folder: Path) -> Path:
    """Return the file that says in what state the folder was closed; it is gone while one has it open."""
    return folder.with_suffix(".sealed")


def _state(folder: Path) -> str:
    """Return size and time of every file."""
    files = ((path, path.stat()) for path in sorted(folder.rglob("*")) if path.is_file())
    return json.dumps({str(path.relative_to(folder)): [s.st_size, s.st_mtime_ns] for path, s in files})


def set_aside_if_broken(folder: Path, beside: Beside) -> str:
    """Check an index that was not closed as it lies there; return why it was set aside, or "".

    So it is after a kill, which may tear it in a write or in the first search after one, and after
    something else changed its files. Opening a torn index can end the process that does it: that is the
    process beside this one, which goes on with an index that is whole.
    """
    seal = _seal(folder)
    sealed = seal.is_file() and folder.exists() and seal.read_bytes() == _state(folder).encode()
    seal.unlink(missing_ok=True)
    reason = beside.wrong() if folder.exists() and not sealed else ""
    if reason:
        set_aside(folder)
    return reason
