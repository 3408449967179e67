"""How many fresh questions a second the process answers while the 95th percentile stays flat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.soak.people import Answered, People
from tests.soak.verdict import quantile

AT_ONCE = 16
SHARES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)
"""Shares of what is answered with so many at once that are tried, one after the other."""
STEEPER = 1.5
"""How much longer the second half's p95 of a step may be for it to count as flat."""
SLACK_MS = 50.0
CONFIRMED = 3
"""A rate that seems to hold is tried this many times as long: half a minute is soon lucky."""
ENOUGH = 8
"""Answers without which a step says nothing."""


@dataclass
class Capacity:
    """The rate, what was answered with 16 at once, and p95 by halves of each step."""

    rate: float = 0.0
    saturated: float = 0.0
    steps: list[dict[str, float]] = field(default_factory=list)


async def capacity(people: People, seconds: float, tell: Callable[[str], None]) -> Capacity:
    """Find the highest rate at which p95 stays flat, each step so many seconds long."""
    found = Capacity(saturated=await people.at_once(AT_ONCE, seconds))
    await people.nothing_waits()
    tell(f"{found.saturated:.1f} answers a second with {AT_ONCE} asking at once")
    for share in SHARES:
        rate = share * found.saturated
        if await _holds(people, rate, seconds, found, tell) and await _holds(
            people, rate, seconds * CONFIRMED, found, tell
        ):
            found.rate = rate
            return found
    found.rate = SHARES[-1] * found.saturated
    return found


async def _holds(
    people: People, rate: float, seconds: float, found: Capacity, tell: Callable[[str], None]
) -> bool:
    """Ask at a rate, note the step, and return True if p95 stayed flat."""
    answered = await people.at_rate(rate, seconds)
    left = people.waiting
    first, second = halves(answered)
    found.steps.append({"rate": rate, "p95_first": first, "p95_second": second, "waiting": left})
    tell(f"{rate:.1f} a second: p95 {first:.0f} ms, then {second:.0f} ms, {left} waiting at the end")
    await people.nothing_waits()
    return flat(first, second, left, rate)


def halves(answered: Sequence[Answered]) -> tuple[float, float]:
    """Return p95 of the first and of the second half of some answers."""
    if len(answered) < ENOUGH:
        return 0.0, float("inf")
    middle = len(answered) // 2
    one, two = ([answer.ms for answer in half] for half in (answered[:middle], answered[middle:]))
    return quantile(one, 95), quantile(two, 95)


def flat(first: float, second: float, waiting: int, rate: float) -> bool:
    """Return True if times do not grow, and no more than a second's questions wait at the end."""
    return second <= first * STEEPER + SLACK_MS and waiting <= max(2.0, rate)
