"""An encoder in this process: threads, batches, and the vectors of short calls remembered."""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from core.models.embedding.tokenizer import TokenCounter
from core.ports import Matrix

BATCH = 16
"""Texts a batch when many are encoded: small, so that a question waits little for its turn."""
REMEMBERED = 2048
"""Vectors of short calls kept in memory."""

Run = Callable[[list[str]], Matrix]


class LocalEncoder:
    """An encoder in this process: one thread for questions, one a core for indexing."""

    def __init__(
        self, name: str, dimensions: int, max_tokens: int, run: Run, count_tokens: TokenCounter
    ) -> None:
        self.name = name
        self.dimensions = dimensions
        self.max_tokens = max_tokens
        self.count_tokens = count_tokens
        self._run = run
        self._questions = ThreadPoolExecutor(1, thread_name_prefix="encode")
        self._batches = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="encode-batch")
        self._cache: OrderedDict[str, Matrix] = OrderedDict()

    async def encode(self, texts: Sequence[str]) -> Matrix:
        """Return float32 of shape (len(texts), dimensions), rows of unit length."""
        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        if len(texts) <= BATCH:
            return await self._encode_few(list(texts))
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        batches = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
        loop = asyncio.get_running_loop()
        done = await asyncio.gather(
            *(loop.run_in_executor(self._batches, self._run, [texts[i] for i in batch]) for batch in batches)
        )
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for batch, rows in zip(batches, done, strict=True):
            vectors[batch] = rows
        return vectors

    async def _encode_few(self, texts: list[str]) -> Matrix:
        missing = [text for text in dict.fromkeys(texts) if text not in self._cache]
        fresh: dict[str, Matrix] = {}
        if missing:
            rows = await asyncio.get_running_loop().run_in_executor(self._questions, self._run, missing)
            fresh = dict(zip(missing, rows, strict=True))
        found = np.stack([fresh[text] if text in fresh else self._cache[text] for text in texts])
        self._cache.update(fresh)
        while len(self._cache) > REMEMBERED:
            self._cache.popitem(last=False)
        return found

    def forget(self) -> None:
        """Drop the remembered vectors, so that the next call computes."""
        self._cache.clear()

    def close(self) -> None:
        """End the worker threads."""
        self._questions.shutdown(wait=False, cancel_futures=True)
        self._batches.shutdown(wait=False, cancel_futures=True)
