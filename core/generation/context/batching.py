"""What does not fit one call is asked in several at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import TypeVar

_T = TypeVar("_T")


def batches(sizes: Sequence[int], room: int) -> list[range]:
    """Cut a sequence to runs whose sizes together stay within `room`; a larger one stands alone."""
    found: list[range] = []
    start = used = 0
    for at, size in enumerate(sizes):
        if at > start and used + size > room:
            found.append(range(start, at))
            start, used = at, 0
        used += size
    return [*found, range(start, len(sizes))] if sizes else []


async def together(calls: Sequence[Awaitable[_T]]) -> list[_T]:
    """Await calls at once, results in order; the first that fails ends the others and is raised."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
