"""Processes of `threadlore`, forked from one that has imported everything: a start saves two seconds.

`Forked` is used as `asyncio.subprocess.Process` is. What forks has no thread and no event loop; a child takes
arguments, environment, folder and files of its own, and then runs `bot/__main__.py` as `python -m bot` does.
The process that has its vectors to itself is forked, too; those that read documents are started as usual.

    python -m tests.forked FD    # what forks, for all processes of a test run; FD is where it listens
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import fcntl
import gc
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from core.workers import child
from core.workers.process import ALONE_SECONDS, Limits, Worker, environment

ROOT = Path(__file__).parents[1]
ROOMS = ("bot", "core", "storage")
LIGHT = ("__main__", "migrations")
"""What is run, not imported."""
FIRST_FREE = 3
"""File descriptor after those of input, output and error output."""
LONGEST = 1 << 18
"""Bytes of a request; a socket sends twice as many at once."""


class Forked:
    """A child of the process that forks, as `asyncio.subprocess.Process` shows its own."""

    def __init__(self, pid: int, status: int) -> None:
        self.pid = pid
        self._status = status
        self._code: int | None = None

    @property
    def returncode(self) -> int | None:
        """Return how it ended, or None while it runs; −9 for SIGKILL."""
        if self._code is None:
            with contextlib.suppress(BlockingIOError):
                told = os.read(self._status, 64)
                os.close(self._status)
                self._code = int(told or b"-9")  # nothing is told where what forks is gone, and its children
        return self._code

    async def wait(self) -> int:
        """Wait until it ended and return how."""
        while (code := self.returncode) is None:
            await asyncio.sleep(0.005)
        return code

    def send_signal(self, number: int) -> None:
        """Send it a signal if it still runs."""
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it as `kill -9` does."""
        self.send_signal(signal.SIGKILL)


def fork(
    arguments: Sequence[str], environment: Mapping[str, str], folder: Path, files: tuple[int, int, int]
) -> Forked:
    """Start `threadlore` with these arguments; `files` are its standard input, output and error output."""
    read, write = os.pipe()
    os.set_blocking(read, False)
    os.umask(mask := os.umask(0))
    place = {"cwd": str(folder.absolute()), "umask": mask}
    request = json.dumps({"arguments": [*arguments], "environment": {**environment}, **place})
    try:
        socket.send_fds(_parent(), [request.encode()], [*files, write])
        pid = int(_parent().recv(64))
    finally:
        os.close(write)
    return Forked(pid, read)


def program() -> list[str]:
    """Return the command that is `threadlore` where others start it."""
    _parent()
    return [sys.executable, "-S", str(ROOT / "tests" / "launch.py"), str(_place())]


async def ended(
    arguments: Sequence[str], environment: Mapping[str, str], folder: Path, given: bytes = b""
) -> tuple[Forked, bytes, bytes]:
    """Run a command to its end; return it with what it wrote to both outputs."""
    pipes = [os.pipe() for _ in range(3)]
    (theirs_in, ours_in), (ours_out, theirs_out), (ours_err, theirs_err) = pipes
    child = fork(arguments, environment, folder, (theirs_in, theirs_out, theirs_err))
    for descriptor in (theirs_in, theirs_out, theirs_err):
        os.close(descriptor)
    _, out, err = await asyncio.gather(_write(ours_in, given), _read(ours_out), _read(ours_err))
    await child.wait()
    return child, out, err


async def _write(descriptor: int, given: bytes) -> None:
    def write() -> None:
        with contextlib.suppress(BrokenPipeError), os.fdopen(descriptor, "wb") as pipe:
            pipe.write(given)

    await asyncio.to_thread(write)


async def _read(descriptor: int) -> bytes:
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    pipe = os.fdopen(descriptor, "rb")
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, pipe)
    try:
        return await reader.read()
    finally:
        transport.close()


_started: list[subprocess.Popen[bytes]] = []


@cache
def _parent() -> socket.socket:
    """Return our connection to what forks, one for all processes of a test run: the first to ask starts it.

    It ends our children with us, and itself with the last of us.
    """
    place = _place()
    ours = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with place.with_suffix(".lock").open("w") as starting:
        fcntl.flock(starting, fcntl.LOCK_EX)
        try:
            ours.connect(str(place))
        except OSError:
            _start(place)
            ours.connect(str(place))
    return ours


def _place() -> Path:
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    return Path(tempfile.gettempdir()) / f"forked-{run}"


def _start(place: Path) -> None:
    place.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        mask = os.umask(0o077)  # nobody else has anything run
        listener.bind(str(place))
        os.umask(mask)
        listener.listen()
        command = [sys.executable, "-m", "tests.forked", str(listener.fileno())]
        # a process with threads cannot be forked, and numpy would start some
        known = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        none = subprocess.DEVNULL
        process = subprocess.Popen(
            command, cwd=ROOT, env=known, pass_fds=[listener.fileno()], stdin=none, stdout=none
        )
    _started.append(process)


# --- what forks -------------------------------------------------------------------------------


Running = dict[int, tuple[int, socket.socket]]
"""By process what its end is told to, and who had it started."""


def serve(listener: socket.socket) -> dict[str, Any] | None:
    """Fork for every request until nobody is connected; return the request in a child, else None."""
    woken, wake = os.pipe()
    for descriptor in (woken, wake):
        os.set_blocking(descriptor, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    running: Running = {}
    connected: list[socket.socket] = []
    while True:
        ready, _, _ = select.select([listener, woken, *connected], [], [])
        if woken in ready:
            os.read(woken, 4096)
            _tell_ended(running)
        if listener in ready:
            connected.append(listener.accept()[0])
        for given in [one for one in connected if one in ready]:
            told, files, _, _ = socket.recv_fds(given, LONGEST, 4)
            if not told:
                for pid in [pid for pid, (_, whose) in running.items() if whose is given]:
                    os.kill(pid, signal.SIGKILL)
                connected.remove(given)
                given.close()
                if not connected:
                    return None
                continue
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                signal.signal(signal.SIGINT, signal.default_int_handler)
                for other in (listener, *connected):
                    other.close()
                for number, file in enumerate(files[:3]):
                    os.dup2(file, number)
                for descriptor in (woken, wake, *files, *(status for status, _ in running.values())):
                    os.close(descriptor)
                return dict(json.loads(told))
            running[pid] = files[3], given
            for file in files[:3]:
                os.close(file)
            given.send(str(pid).encode())


def _tell_ended(running: Running) -> None:
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        told, _ = running.pop(pid)
        with contextlib.suppress(BrokenPipeError):
            os.write(told, str(os.waitstatus_to_exitcode(status)).encode())
        os.close(told)


def _threads() -> int:
    """Return how many threads there are, those of libraries among them: they import onnxruntime later."""
    tasks = Path("/proc/self/task")
    return len(list(tasks.iterdir())) if tasks.exists() else 1


def main() -> None:
    """Import the product, then fork; a child becomes `python -m bot`."""
    # once in some thousand starts `exec` in the memory of a parent with other threads failed with EFAULT
    subprocess._USE_VFORK = False  # type: ignore[attr-defined]
    for room in ROOMS:
        for info in pkgutil.walk_packages([str(ROOT / room)], f"{room}."):
            if not any(part in info.name for part in LIGHT):
                import_module(info.name)
    assert threading.active_count() == 1 and _threads() == 1, "a child has none but the thread that forks"
    from core.query.language import detected

    detected("Which language is this in?")  # its model takes half a second to unpack
    gc.freeze()  # else looking for garbage copies every page that a child shares
    listener = socket.socket(fileno=int(sys.argv[1]))
    place = Path(listener.getsockname())
    request = serve(listener)
    if request is None:
        for left in (place, place.with_suffix(".lock")):
            left.unlink(missing_ok=True)
        return
    from core.workers.pool import PROCESSES

    os.environ.clear()
    os.environ.update(request["environment"])
    os.umask(request["umask"])
    os.chdir(request["cwd"])
    sys.argv = ["threadlore", *request["arguments"]]
    # while there is no other thread that could hold a lock
    PROCESSES.begin_with(ForkedWorker(Limits(ALONE_SECONDS, 0), idle=0))
    code = 1
    try:
        runpy.run_module("bot", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    except BaseException:  # as python itself tells of what nobody caught
        traceback.print_exc()
    _end(code)


class ForkedWorker(Worker):
    """A worker that has everything imported when it begins; to start one takes a second."""

    def _begun(self, connection: int, told: list[str]) -> Any:
        pid = os.fork()
        if pid:
            return _Child(pid)
        try:
            os.setsid()
            os.umask(0o077)  # as the bot has it when it starts one
            known = environment()
            os.environ.clear()
            os.environ.update(known)
            given, nothing = os.dup(connection), os.open(os.devnull, os.O_RDONLY)
            os.dup2(nothing, 0)
            os.dup2(given, FIRST_FREE)
            os.closerange(FIRST_FREE + 1, 1 << 16)
            child.main([str(FIRST_FREE), *told[1:]])
        finally:
            os._exit(0)


class _Child:
    """A forked child, as `subprocess.Popen` shows its own."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def wait(self) -> int:
        """Wait for its end, in one thread; return how it ended."""
        self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.returncode

    def kill(self) -> None:
        """End it if it still runs."""
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


def _end(code: int) -> NoReturn:
    """End the process without taking apart what all children share: each page would be copied for that."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
