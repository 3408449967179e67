"""Worker processes: what one takes too much for costs that one alone, and none is left behind."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from core.errors import TooCostly, WorkEnded
from core.workers import child
from core.workers.pool import WorkerPool
from core.workers.process import Limits, is_too_costly
from tests.core.workers import jobs
from tests.patience import PATIENCE

MEMORY = 350


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    made = WorkerPool(Limits(1, MEMORY))
    yield made
    made.close()


def until(true: Callable[[], Any], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.01)


def alive(pid: int) -> bool:
    """Return True if a process runs; one that ended and was not fetched by its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_work_is_done_for_a_process_that_has_more_than_a_thousand_files_open(pool: WorkerPool) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 1_200:
        pytest.skip(f"no more than {hard} files may be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1_200), hard))
    many = [os.open(os.devnull, os.O_RDONLY) for _ in range(1_100)]
    try:
        assert max(many) > 1_024
        assert pool.run(jobs.total, 1, 2) == 3
    finally:
        for one in many:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize(
    ("work", "given", "told"),
    [
        (
            jobs.loop,
            (),
            r"over the limit of one document: (1 s of processor time|5 s on the clock) \(PARSE_SECONDS\)",
        ),
        (jobs.eat, (), r"over the limit of one document: 350 MB of memory \(PARSE_MEMORY_MB\)"),
        (jobs.bytes_of, (340,), r"over the limit of one document: 350 MB of memory \(PARSE_MEMORY_MB\)"),
        (jobs.sleep, (600.0,), r"over the limit of one document: 5 s on the clock \(PARSE_SECONDS\)"),
        (jobs.crash, (), r"its parser crashed: signal 11 \(SIGSEGV\)"),
        (jobs.leave_with, (3,), r"its parser crashed: status 3"),
    ],
    ids=["loop", "memory", "large result", "sleep", "segmentation fault", "exit"],
)
def test_work_that_takes_too_much_is_ended_and_the_next_is_done(
    pool: WorkerPool, work: Callable[..., Any], given: tuple[Any, ...], told: str
) -> None:
    assert pool.run(jobs.total, 1, 2) == 3
    before = pool.pids
    with pytest.raises(TooCostly, match=told) as raised:
        pool.run(work, *given)
    assert is_too_costly(str(raised.value))
    assert not any(map(alive, before)), "the worker is replaced"
    assert pool.run(jobs.total, 1, 2) == 3


def test_what_is_patient_has_more_time(pool: WorkerPool) -> None:
    began = time.process_time()
    with pytest.raises(TooCostly, match=r"2 s of processor time|10 s on the clock"):
        pool.run(jobs.loop, patience=2.0)
    assert time.process_time() - began < 2, "this process waits without working"


def test_memory_that_earlier_work_left_is_not_counted() -> None:
    pool = WorkerPool(Limits(PATIENCE, MEMORY))  # a worker stands behind all others on a busy machine
    for _ in range(3):
        pool.run(jobs.leave, 60)
        assert pool.run(jobs.need, 180) == 180_000_000
    pool.close()


def test_a_worker_that_died_while_nobody_needed_it_is_replaced(pool: WorkerPool) -> None:
    first = pool.run(jobs.pid)
    os.kill(first, signal.SIGKILL)
    assert pool.run(jobs.pid) != first  # at once, and
    second = pool.run(jobs.pid)
    os.kill(second, signal.SIGKILL)
    until(lambda: not pool.pids, "the dead one is still counted")
    assert pool.run(jobs.total, 1, 2) == 3  # when that was noticed


def test_a_worker_serves_many_and_only_as_many_are_started_as_are_needed(pool: WorkerPool) -> None:
    assert pool.pids == []
    assert len({pool.run(jobs.pid) for _ in range(5)}) == 1
    with ThreadPoolExecutor(6) as threads:
        done = list(threads.map(lambda _: pool.run(jobs.pid), range(30)))
    assert 1 <= len(set(done)) <= 2 and len(pool.pids) <= 2


def test_an_interrupt_ends_work_at_once_and_what_waits_for_its_turn(tmp_path: Path) -> None:
    pool = WorkerPool(Limits(600, MEMORY), size=1)
    heard: list[BaseException] = []

    def work() -> None:
        try:
            pool.run(jobs.loop, tmp_path / "pid")
        except WorkEnded as error:
            heard.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(), "nothing was begun")
    pid = int((tmp_path / "pid").read_text())
    pool.interrupt()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(heard) == 3 and not alive(pid) and pool.pids == []
    assert pool.run(jobs.total, 1, 2) == 3
    pool.close()


def test_closing_ends_workers_at_work_and_idle_ones(tmp_path: Path) -> None:
    pool = WorkerPool(Limits(600, MEMORY))

    def work() -> None:
        with pytest.raises(WorkEnded):
            pool.run(jobs.loop, tmp_path / "pid")

    thread = threading.Thread(target=work)
    thread.start()
    until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(), "nothing was begun")
    idle, busy = pool.run(jobs.pid), int((tmp_path / "pid").read_text())
    assert alive(idle) and alive(busy)
    pool.close()
    thread.join(PATIENCE)
    assert not thread.is_alive() and not alive(idle) and not alive(busy)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a worker looks once a second")
@pytest.mark.parametrize("work", ["loop", "match_for_ever", "pid"])
def test_no_worker_outlives_a_process_that_was_killed(tmp_path: Path, work: str) -> None:
    script = (
        "import pathlib, sys, time\n"
        "from core.workers.pool import WorkerPool\n"
        "from core.workers.process import Limits\n"
        "from tests.core.workers import jobs\n"
        "pool = WorkerPool(Limits(600, 350))\n"
        f"note = pathlib.Path({str(tmp_path / 'pid')!r})\n"
        "if sys.argv[1] == 'pid':\n"
        "    note.write_text(str(pool.run(jobs.pid)))\n"
        "    time.sleep(600)\n"
        "pool.run(getattr(jobs, sys.argv[1]), note)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, work]) as parent:
        until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(), "nothing was begun")
        pid = int((tmp_path / "pid").read_text())
        assert alive(pid)
        parent.kill()
    until(lambda: not alive(pid), "the worker is an orphan")


def test_a_worker_without_work_ends(tmp_path: Path) -> None:
    """Run one as the pool does, but with a second of patience instead of half a minute."""
    import socket

    ours, theirs = socket.socketpair()
    arguments = [str(number) for number in (theirs.fileno(), os.getpid(), MEMORY, 1)]
    command = [sys.executable, "-m", child.__name__, *arguments]
    with theirs, subprocess.Popen(command, pass_fds=(theirs.fileno(),)) as process:
        assert process.wait(PATIENCE) == 0
    ours.close()


def test_a_worker_knows_no_secrets(pool: WorkerPool) -> None:
    os.environ["SLACK_BOT_TOKEN"] = "xoxb-secret"
    try:
        assert pool.run(jobs.told, "SLACK_BOT_TOKEN") is None
        assert pool.run(jobs.told, "PATH")
    finally:
        del os.environ["SLACK_BOT_TOKEN"]


def test_errors_of_libraries_need_no_library_where_they_are_heard(pool: WorkerPool) -> None:
    with pytest.raises(RuntimeError, match="LibraryError: the file is torn") as raised:
        pool.run(jobs.fail_as_a_library, "the file is torn")
    assert "fail_as_a_library" in raised.value.__notes__[0], "where it was raised is told"
    with pytest.raises(ValueError, match="no good"):
        pool.run(jobs.refuse, "no good")


def test_what_cannot_be_handed_over_is_an_error_and_nothing_hangs(pool: WorkerPool) -> None:
    with pytest.raises((AttributeError, TypeError, ValueError)):
        pool.run(lambda: 1)
    with pytest.raises(TooCostly, match="its parser crashed"):
        pool.run(threading.Lock)
    assert pool.run(jobs.total, 1, 2) == 3
