"""One worker process as this process sees it: started, given work, and killed where it takes too much.

What travels between the two are pickles in pieces, within a limit of time and of size. What is said of a
document that took too much comes first where `sources` and `status` list it.
"""

from __future__ import annotations

import io
import os
import pickle  # nosec B403 # between processes of ours
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from core.errors import TooCostly

T = TypeVar("T")

MEMORY_OVER = 77
"""Exit status of a worker that ran out of its memory."""
BEGUN, DONE, FAILED = "begun", "done", "failed"
"""What a worker says: that it has the work, then what came of it."""
_BUFFER = 256 * 1024


class Wire(io.RawIOBase):
    """One end of a connection, over which objects go; at most `most` bytes of each come in, 0 for any number.

    Reading and writing let other threads run, so that a large object holds nobody up: pickle takes and gives
    64 KB at a time.
    """

    def __init__(self, connection: socket.socket, most: int = 0) -> None:
        self._connection, self._most, self._taken = connection, most, 0
        self._deadline = 0.0
        self._reader = io.BufferedReader(self, _BUFFER)

    def send(self, thing: object, seconds: float = 0.0) -> None:
        """Send an object; raises OSError where nobody listens (TimeoutError in time), and what pickle raises.

        With 0 `seconds` there is no limit of time.
        """
        self._begin(seconds)
        pickle.dump(thing, self, pickle.HIGHEST_PROTOCOL)

    def receive(self, seconds: float = 0.0) -> Any:
        """Return the next object; raises EOFError, TimeoutError, and OverflowError where it is too large."""
        self._begin(seconds)
        return pickle.load(self._reader)  # nosec B301 # a child of ours wrote it (docs/threat-model.md)

    def shut(self) -> None:
        """Close the connection."""
        self._connection.close()

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what there is."""
        self._in_time()
        count = self._connection.recv_into(buffer)
        self._taken += count
        if self._most and self._taken > self._most:
            raise OverflowError
        return count

    def write(self, data: Any) -> int:
        """Write all of it."""
        self._in_time()
        view = memoryview(data)  # of an array it is no bytes
        self._connection.sendall(view)
        return view.nbytes

    def _begin(self, seconds: float) -> None:
        self._deadline = time.monotonic() + seconds if seconds else 0.0
        self._taken = 0

    def _in_time(self) -> None:
        if not self._deadline:
            self._connection.settimeout(None)
            return
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)


_OVER, _ENDED = "over the limit of one document: ", "its parser crashed: "
_ADVICE = "; split or simplify it, or leave it out of the source"


def over(what: str, memory: bool = False) -> TooCostly:
    """Return the error for a document that takes more than `what` it may have."""
    return TooCostly(f"{_OVER}{what}{_ADVICE}", memory)


def crashed(status: int | None) -> TooCostly:
    """Return the error for a document that ended its process with a status (of `subprocess`)."""
    if status is None:
        told = "its process ended"
    elif status < 0:
        told = f"signal {-status} ({signal.Signals(-status).name})"
    else:
        told = f"status {status}"
    return TooCostly(f"{_ENDED}{told}{_ADVICE}")


def is_too_costly(reason: str) -> bool:
    """Return True if the reason for passing a document over is that it takes more than one may."""
    return reason.startswith((_OVER, _ENDED))


IDLE_SECONDS = 30
"""After which a worker without work ends; between two pages of a slow site it stays."""
WALL_SHARE = 5.0
"""Seconds on the clock for each of processor time: on a busy machine work waits for its turn."""
START_SECONDS = 60.0
"""For a worker to start and take its work, which is a second's on a quiet machine."""
END_SECONDS = 10.0
"""For a worker that was killed to be gone."""
MOST_BYTES = 250_000_000
"""Of what work returns; the largest document gives 25 MB."""
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "PYTHONHOME")
"""What a worker gets of the environment: nothing that is secret."""
_QUIET = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}


@dataclass(frozen=True, slots=True)
class Limits:
    """What one piece of work may take: seconds of processor time, and megabytes of address space (0: any)."""

    seconds: float
    megabytes: int


ALONE_SECONDS = 600.0
"""For one call of a process that has something to itself; a large index takes minutes to be sorted in."""


class Unused(Exception):
    """A worker ended before it had the work: another one can do it."""


class Worker:
    """A process that does one piece of work at a time; what it is given is pickled."""

    def __init__(self, limits: Limits, idle: int = IDLE_SECONDS) -> None:
        self._limits, self._idle = limits, idle
        self._turn = threading.Lock()
        self.done = 0
        """Pieces of work that it has done."""
        self.ended = False
        """Whether it was told to end."""
        ours, theirs = socket.socketpair()
        self._wire = Wire(ours, MOST_BYTES)
        self._process: subprocess.Popen[bytes] | None = None
        self._started = threading.Event()
        self._problems: list[OSError] = []
        # the system ends a child with the thread that started it, so that one has nothing else to do
        self._keeper = threading.Thread(target=self._keep, args=(theirs,), name="worker", daemon=True)
        self._keeper.start()
        self._started.wait()
        for problem in self._problems:
            self._wire.shut()
            raise problem

    @property
    def pid(self) -> int:
        """Return the id of its process."""
        return self._process.pid if self._process else 0

    @property
    def gone(self) -> bool:
        """Return True if the process has ended."""
        return not self._keeper.is_alive()

    def do(self, work: Callable[..., Any], given: tuple[Any, ...], patience: float) -> Any:
        """Return what the work returns; raises what it raises, Unused, TooCostly, and WorkEnded.

        After an error that is not the work's own the worker is no longer to be used.
        """
        with self._turn:
            return self._do(work, given, self._limits.seconds * patience)

    def _do(self, work: Callable[..., Any], given: tuple[Any, ...], seconds: float) -> Any:
        taken = False
        try:
            self._wire.send((seconds, work, given), START_SECONDS)
            if self._wire.receive(START_SECONDS) != BEGUN:
                raise EOFError
            taken = True
            kind, value = self._wire.receive(seconds * WALL_SHARE)
        except (TimeoutError, EOFError, OSError, OverflowError, pickle.UnpicklingError) as error:
            self.end()
            raise self._why(error, seconds, taken) from None
        except BaseException:  # half of it is sent, or what came is no answer: no more can be
            self.end()
            raise
        self.done += 1
        if kind == FAILED:
            raise value
        return value

    def end(self) -> None:
        """Kill the process; whoever waits for its work hears of it."""
        self.ended = True
        if self._process is not None:
            self._process.kill()

    def let_go(self) -> None:
        """Kill the process, wait until it is gone, and close the connection to it."""
        self.end()
        self._keeper.join(END_SECONDS)
        self._wire.shut()

    def _why(self, error: Exception, seconds: float, taken: bool) -> Exception:
        self._keeper.join(END_SECONDS)
        status = self._process.returncode if self._process else None
        if isinstance(error, TimeoutError):
            return over(f"{seconds * WALL_SHARE:,.0f} s on the clock (PARSE_SECONDS)")
        if isinstance(error, OverflowError):
            return over(f"{MOST_BYTES // 1_000_000:,} MB of text")
        if status == MEMORY_OVER:
            return over(f"{self._limits.megabytes:,} MB of memory (PARSE_MEMORY_MB)", memory=True)
        if status == -signal.SIGXCPU:
            return over(f"{seconds:,.0f} s of processor time (PARSE_SECONDS)")
        return crashed(status) if taken else Unused()

    def _keep(self, theirs: socket.socket) -> None:
        """Start the process and wait for its end."""
        with theirs:
            try:
                told = (theirs.fileno(), os.getpid(), self._limits.megabytes, self._idle)
                self._process = self._begun(theirs.fileno(), [str(number) for number in told])
            except OSError as error:
                self._problems.append(error)
                return
            finally:
                self._started.set()
        self._process.wait()

    def _begun(self, connection: int, told: list[str]) -> subprocess.Popen[bytes]:
        """Start the process with its end of the connection, told what `child` says."""
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "core.workers.child", *told],
            env=environment(),
            stdin=subprocess.DEVNULL,
            pass_fds=(connection,),
            start_new_session=True,  # Ctrl-C in a terminal is for this process
        )


def alone() -> Worker:
    """Start a process that stays until it is let go of, with all the memory there is."""
    return Worker(Limits(ALONE_SECONDS, 0), idle=0)


def apart(work: Callable[..., T], *given: Any) -> T:
    """Return what work returns, done by a process that ends with it: what it loads does not stay; blocking.

    Where none can be had it is done here.
    """
    try:
        worker = alone()
    except OSError:
        return work(*given)
    try:
        return cast(T, worker.do(work, given, 1.0))
    except (TooCostly, Unused):
        return work(*given)
    finally:
        worker.let_go()


def environment() -> dict[str, str]:
    """Return what a worker is told of this process's environment."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, **_QUIET, "PYTHONPATH": os.pathsep.join(sys.path)}
