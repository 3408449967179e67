"""One fault as a row of the table, and the decorator that lists it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.faults.world import World
from tests.journeys.house import Kettle


@dataclass(frozen=True)
class Row:
    """What came of a fault; `seconds` from when it could serve again (or from the fault) to an answer."""

    fault: str
    lost: tuple[str, ...] = ()
    seconds: float = 0.0
    note: str = ""
    not_here: str = ""
    """Why it could not be injected on this machine."""


Fault = Callable[[Kettle], Awaitable[Row]]
FAULTS: dict[str, tuple[str, Fault]] = {}
"""By its short name: what happens, and what does it."""


def fault(name: str, what: str) -> Callable[[Fault], Fault]:
    """List a fault."""

    def listed(inject: Fault) -> Fault:
        FAULTS[name] = (what, inject)
        return inject

    return listed


async def served(what: str, lived: World, since: float, note: str = "") -> Row:
    """Ask something new, and look whether all that was acknowledged is there."""
    await lived.ask()
    seconds = time.monotonic() - since
    return Row(what, tuple(await lived.lost()), seconds, note)
