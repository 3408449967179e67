"""Processes that many tests have one after the other: each takes most of a second to begin."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from core.ports import Alone, Workers
from core.settings import Settings
from core.workers.pool import Processes, WorkerPool
from core.workers.process import Limits, Worker, alone


class _Lent:
    """A pool of which each borrower ends its own work alone."""

    def __init__(self, pool: WorkerPool) -> None:
        self._pool = pool

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)

    def close(self) -> None:
        self._pool.interrupt()


class _Kept:
    """A process that stays when one of those who have it lets it go."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def __getattr__(self, name: str) -> Any:
        return getattr(self._worker, name)

    def let_go(self) -> None:
        """Leave it to the others, unless it was killed."""
        if self._worker.ended:
            self._worker.let_go()


class _Returning(_Kept):
    """A process that those who let it go give to the next."""

    def __init__(self, worker: Worker, processes: Processes) -> None:
        super().__init__(worker)
        self._processes = processes
        self.taken_back = False

    def let_go(self) -> None:
        if self._worker.ended:
            self._worker.let_go()
        elif not (self._worker.gone or self.taken_back):
            self._processes.begin_with(cast(Worker, self))


class SharedProcesses(Processes):
    """One process with the files of every index, and one pool for each pair of limits."""

    def __init__(self) -> None:
        super().__init__()
        self._pools: dict[tuple[int, int], WorkerPool] = {}
        self._worker: Worker | None = None

    def pool(self, settings: Settings) -> Workers:
        limits = (settings.parse_seconds, settings.parse_memory_mb)
        if limits not in self._pools:
            self._pools[limits] = WorkerPool(Limits(*limits))
        return cast(Workers, _Lent(self._pools[limits]))

    def alone(self) -> Alone:
        if self._worker is None or self._worker.gone:
            self._worker = alone()
        return cast(Alone, _Kept(self._worker))

    @contextmanager
    def lent_to(self, processes: Processes) -> Iterator[None]:
        """Let what is built with other processes have its vectors in the one of these."""
        self.alone()
        lent = _Returning(cast(Worker, self._worker), processes)
        lent.let_go()
        yield
        lent.taken_back = True
        processes.alone().let_go()


SHARED = SharedProcesses()
