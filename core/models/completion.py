"""A running answer of a language model: its pieces, and how it ended."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Literal

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
