"""Try a stream again, as long as nothing of it was seen."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from tenacity import (
    AsyncRetrying,
    before_sleep_log,
    retry_if_exception,
    stop_after_attempt,
    stop_before_delay,
    wait_random_exponential,
)

from core.errors import ModelError

log = logging.getLogger(__name__)

Pieces = AsyncGenerator[str, None]


def again(times: int, backoff: float, patience: float) -> AsyncRetrying:
    """Return what tries again after retryable errors: a random part of `backoff` seconds later, which
    doubles with each try, and no later than `patience` seconds after the first one."""
    return AsyncRetrying(
        stop=stop_after_attempt(times + 1) | stop_before_delay(patience),
        wait=wait_random_exponential(multiplier=backoff),
        retry=retry_if_exception(lambda error: isinstance(error, ModelError) and error.retryable),
        before_sleep=before_sleep_log(log, logging.INFO),
        reraise=True,
    )


async def stream(attempt: Callable[[], Pieces], tries: AsyncRetrying) -> Pieces:
    """Yield what an attempt yields; begin anew on an error before the first piece, and only then."""
    begun: tuple[Pieces, str | None] = await tries.copy()(_begun, attempt)
    pieces, first = begun
    async with aclosing(pieces):
        if first is None:
            return
        yield first
        async for piece in pieces:
            yield piece


async def _begun(attempt: Callable[[], Pieces]) -> tuple[Pieces, str | None]:
    pieces = attempt()
    return pieces, await anext(pieces, None)
