"""Try a stream again, as long as nothing of it was seen."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from core.errors import ModelError

log = logging.getLogger(__name__)

_random = random.Random()


@dataclass(frozen=True, slots=True)
class Retry:
    """How often and how long: `backoff` (seconds) doubles with each try, jitter spreads it by half.

    No try begins later than `patience` seconds after the first one.
    """

    times: int = 2
    backoff: float = 0.25
    patience: float = 10.0

    async def stream(self, attempt: Callable[[], AsyncGenerator[str, None]]) -> AsyncGenerator[str, None]:
        """Yield what an attempt yields; begin anew on a retryable error before the first piece."""
        start = time.monotonic()
        tried = 0
        while True:
            shown = False
            try:
                async with aclosing(attempt()) as pieces:
                    async for piece in pieces:
                        shown = True
                        yield piece
                return
            except ModelError as error:
                wait = self.backoff * 2**tried * _random.uniform(0.5, 1.5)
                late = time.monotonic() - start + wait > self.patience
                if shown or late or not error.retryable or tried >= self.times:
                    raise
                log.info("%s Trying again in %.1f s.", error, wait)
            await asyncio.sleep(wait)
            tried += 1
