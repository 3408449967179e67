"""A running answer of a language model: its pieces, its end, its tokens, and when it is tried again."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from typing import Literal

from tenacity import (
    AsyncRetrying,
    before_sleep_log,
    retry_if_exception,
    stop_after_attempt,
    stop_before_delay,
    wait_random_exponential,
)

from core.errors import ModelError
from core.ports import Prompt

Finish = Literal["", "stop", "length"]


class Completion(AsyncIterator[str]):
    """Yield an answer piece by piece and tell afterwards how it ended.

    `finish` stays empty until the last piece is out; then it is `stop`, or `length` where the
    answer was cut. Closing it (or cancelling its consumer) closes the connection to the server.
    """

    def __init__(self, write: Callable[[Completion], AsyncGenerator[str, None]]) -> None:
        self.finish: Finish = ""
        self.prompt_tokens = 0
        """Tokens the server counted in the prompt; 0 where it did not say."""
        self.answer_tokens = 0
        self._pieces = write(self)

    def __aiter__(self) -> Completion:
        return self

    async def __anext__(self) -> str:
        return await anext(self._pieces)

    async def aclose(self) -> None:
        """Give up the rest of the answer."""
        await self._pieces.aclose()


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


MESSAGE_TOKENS = 8
"""What a chat template adds to each message; 4 to 7 in the Llama, Qwen and Gemma templates."""
_LARGEST_SCALE = 3.0

# One match stands for one token, rather too many than what a vocabulary of 100k to 150k makes: pieces of
# four letters, single digits (as Qwen and Gemma have them), single signs, one per line break or
# indentation. Beyond ASCII a two-byte letter counts one, a three-byte one two, an emoji three.
_PIECE = re.compile(r"[A-Za-z]{1,4}|[^\sA-Za-z]|\n+| {2,}|\t+")


def raw_tokens(text: str) -> int:
    """Count the pieces of a text that are no longer than a token usually is."""
    pieces = len(_PIECE.findall(text))
    if text.isascii():
        return pieces
    return pieces + sum((c > "\u07ff") + (c > "\uffff") for c in text)


class TokenCount:
    """An estimate that what a server counts in real prompts corrects upwards."""

    def __init__(self) -> None:
        self._scale = 1.0

    def of(self, text: str) -> int:
        """Estimate the tokens of a text."""
        return math.ceil(raw_tokens(text) * self._scale)

    def learn(self, prompts: Sequence[Prompt], counted: int) -> None:
        """Take note of the tokens that a server counted in prompts.

        Never downwards: servers leave cached tokens out of the count, and cut prompts short.
        """
        estimate = sum(raw_tokens(p.content) + MESSAGE_TOKENS for p in prompts)
        self._scale = min(max(self._scale, counted / max(estimate, 1)), _LARGEST_SCALE)
