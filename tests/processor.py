"""Bounds on processor time that mean the same on a fast machine and on a slow one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

TURNS = 200_000
FAST = 0.0125
"""Seconds that so many turns take on a machine that has nothing else to do; the bounds were set on one."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Assert that what is done takes at most so many seconds of a fast machine's processor.

    A fixed piece of work is timed before and after it; where that takes twice as long, so may this.
    """
    slow, began = _slowness(), time.process_time()
    yield
    used = time.process_time() - began
    slow = max(1.0, slow, _slowness())
    assert used <= slow * seconds, f"{used:.2f} s of processor, {slow:.1f} times slower than where it is set"


def _slowness() -> float:
    began = time.process_time()
    for _ in range(TURNS):
        pass
    return (time.process_time() - began) / FAST
