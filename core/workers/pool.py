"""A few worker processes, started when there is work: what one takes too much for costs that one alone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from core.errors import TooCostly, WorkEnded
from core.ports import Alone, Workers
from core.settings import Settings
from core.workers.process import Limits, Unused, Worker, alone, crashed

T = TypeVar("T")
SIZE = 2
"""Workers at once: one for a document, one for the links of the page after it."""
ENDED = "Reading was ended before it was done; what was indexed before answers. Start it again."
STARTS = 3
"""Workers that are tried for work which none of them takes."""


class WorkerPool:
    """Does work in processes with `limits` for each piece; safe for several threads."""

    def __init__(self, limits: Limits, size: int = SIZE) -> None:
        self._limits, self._size = limits, size
        self._free: list[Worker] = []
        self._busy: set[Worker] = set()
        self._turn = threading.Condition()
        self._interrupts = 0
        self._closed = False

    def run(self, work: Callable[..., T], *given: Any, patience: float = 1.0) -> T:
        """Return `work(*given)`, done in a worker; blocking.

        Raises what `work` raises, TooCostly where it takes more than it may or ends its process, WorkEnded
        after `interrupt` or `close`, and OSError where no process can be started.
        """
        begun, fresh = self._interrupts, False
        for _ in range(STARTS):
            worker = self._taken(begun, fresh)
            used = worker.done > 0
            try:
                result: T = worker.do(work, given, patience)
            except Unused:
                continue
            except TooCostly as error:
                if begun != self._interrupts or self._closed:
                    raise WorkEnded(ENDED) from None
                fresh = error.memory and used  # what work before it left in the memory is not its own
                if not fresh:
                    raise
                continue
            finally:
                self._given_back(worker)
            return result
        raise crashed(None)

    def interrupt(self) -> None:
        """End all work that is under way, with its processes."""
        with self._turn:
            self._interrupts += 1
            for worker in self._busy:
                worker.end()
            self._turn.notify_all()

    def close(self) -> None:
        """End every process; work that comes later is refused."""
        with self._turn:
            self._closed = True
            free, self._free = self._free, []
        self.interrupt()
        for worker in free:
            worker.let_go()

    @property
    def pids(self) -> list[int]:
        """Return the ids of the processes there are."""
        with self._turn:
            return [worker.pid for worker in (*self._free, *self._busy) if not worker.gone]

    def _taken(self, begun: int, fresh: bool) -> Worker:
        """Return a worker that nobody else has, `fresh` one that has done nothing; waits for its turn."""
        with self._turn:
            self._turn.wait_for(
                lambda: len(self._busy) < self._size or self._closed or begun != self._interrupts
            )
            if self._closed or begun != self._interrupts:
                raise WorkEnded(ENDED)
            while self._free:
                worker = self._free.pop()
                if not (fresh or worker.gone):
                    break
                worker.let_go()
            else:
                worker = Worker(self._limits)
            self._busy.add(worker)
            return worker

    def _given_back(self, worker: Worker) -> None:
        with self._turn:
            self._busy.discard(worker)
            keep = not (worker.ended or worker.gone or self._closed)
            if keep:
                self._free.append(worker)
            self._turn.notify()
        if not keep:
            worker.let_go()


def pool_of(settings: Settings) -> WorkerPool:
    """Return a pool with the limits of the settings; nothing is started before there is work."""
    return WorkerPool(Limits(settings.parse_seconds, settings.parse_memory_mb))


class Processes:
    """Starts what a bot runs beside its own process."""

    def __init__(self) -> None:
        self._begun: list[Worker] = []

    def begin_with(self, worker: Worker) -> None:
        """Give a process that runs already to the first that needs one to itself."""
        self._begun.append(worker)

    @property
    def has_begun(self) -> bool:
        """Return True if a process waits for the first that needs one."""
        return bool(self._begun)

    def pool(self, settings: Settings) -> Workers:
        """Return what reads documents; no process is started before there is work."""
        return pool_of(settings)

    def alone(self) -> Alone:
        """Start a process that has something to itself, such as the files of an index."""
        return self._begun.pop() if self._begun else alone()


PROCESSES = Processes()
"""Those of this program."""
