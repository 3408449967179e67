"""What counts as a failure: what escapes, a traceback in the log, a hang, memory that runs away."""

from __future__ import annotations

import asyncio
import logging
import resource
import time
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random

HANG = 1.0
"""Seconds of processor time that no case may take."""
STILL = 60.0
"""Seconds after which a case that only waits is given up: it waits for ever."""
RUNAWAY = 600 * 2**10
"""KiB that a run may take more at its end than after its first cases."""

Case = Callable[[Random], Awaitable[None]]


class Log(logging.Handler):
    """Keeps what a library logs with a traceback, and counts what the bot's own last net caught."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.seen: list[str] = []
        self.caught = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record with a traceback; the bot's own was caught where nothing may stop the next event."""
        if not record.exc_info or not record.exc_info[0]:
            return
        if record.name == "aiohttp.server":
            return  # the loopback servers of the tests
        if record.name.partition(".")[0] in ("bot", "core", "storage"):
            self.caught += 1
        else:
            self.seen.append(f"{record.name}: {''.join(traceback.format_exception(*record.exc_info))}")


@dataclass
class Report:
    """What a run of one edge came to."""

    edge: str
    cases: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    caught: int = 0
    """Cases that were logged with a traceback, and harmed nothing else."""
    failures: list[str] = field(default_factory=list)


async def _played(case: Case, name: str) -> tuple[float, str]:
    """Play one case; return its seconds of processor time, and what was wrong with it."""
    used, problem = time.process_time(), ""
    try:
        await asyncio.wait_for(case(Random(name)), STILL)
    except TimeoutError:
        problem = "it hangs"
    except Exception:
        problem = traceback.format_exc()
    return time.process_time() - used, problem


async def watched(
    edge: str, case: Case, seed: int, first: int, count: int, seconds: float = 1e9, most: int = 5
) -> Report:
    """Play so many cases of an edge; stop after `seconds`, and at `most` failures.

    A case is named by edge, seed and number.
    """
    report, log, begun = Report(edge), Log(), time.monotonic()
    logging.getLogger().addHandler(log)
    memory = 0
    try:
        for number in range(first, first + count):
            if time.monotonic() - begun > seconds:
                break
            took, problem = await _played(case, f"{edge} {seed} {number}")
            if took > HANG and not problem:  # what a process loads once is no case's doing
                took, problem = await _played(case, f"{edge} {seed} {number}")
            report.slowest = max(report.slowest, took)
            problem = problem or (f"{took:.1f} s of processor time" if took > HANG else "")
            problem = problem or "".join(log.seen)
            log.seen.clear()
            if problem:
                report.failures.append(f"{edge} --seed {seed} --first {number}: {problem}")
                if len(report.failures) == most:
                    break
            report.cases += 1
            if number == first + min(count, 200) - 1:
                memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    finally:
        logging.getLogger().removeHandler(log)
    if memory and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory > RUNAWAY:
        report.failures.append(f"{edge}: memory grew by more than {RUNAWAY >> 10} MiB")
    report.caught = log.caught
    report.seconds = time.monotonic() - begun
    return report
