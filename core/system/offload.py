"""Work of many small steps, which goes to a thread where there is much of it: nobody is to wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
FEW = 500
"""Items that are worked on at once: a row of a database takes 10 µs, so that they take a fourth of 20 ms."""
SHORT = 1_500
"""Characters of a text that rules look at at once; they take 2 to 15 µs for each."""


async def aside(count: int, work: Callable[..., T], *given: Any, few: int = FEW) -> T:
    """Return `work(*given)`, done in a thread where more than `few` items are worked on."""
    if count <= few:
        return work(*given)
    return await asyncio.to_thread(work, *given)
