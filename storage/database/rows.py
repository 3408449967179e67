"""Rows of a result some at a time: many of them, or of a long JSON each, hold nobody up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, TypeVar

from sqlalchemy import CursorResult

T = TypeVar("T")
SOME = 500
"""Rows between which others are served: some milliseconds."""
LONG = 50
"""The same for rows that hold a trace."""


async def parts(result: CursorResult[Any], size: int = SOME) -> AsyncIterator[Sequence[Any]]:
    """Yield the rows in lists, and let others be served after each."""
    for some in result.partitions(size):
        yield some
        if len(some) == size:
            await asyncio.sleep(0)


async def every(result: CursorResult[Any], make: Callable[[Any], T], size: int = SOME) -> list[T]:
    """Return what is made of each row."""
    found: list[T] = []
    async for some in parts(result, size):
        found += [make(row) for row in some]
    return found
