"""An encoder in this process: threads, batches, and the vectors of short calls remembered."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from core.models.embedding.gpu import OnGpu, Run
from core.models.embedding.tokenizer import TokenCounter
from core.ports import Matrix

BATCH = 16
"""Texts a batch when many are encoded: small, so that a question waits little for its turn."""
REMEMBERED = 2048
"""Vectors of short calls kept in memory."""

GPU_BATCH = 128
"""The same on a GPU, which is hardly used by fewer."""
LATER = 10
"""How much nicer threads are to others that embed what nobody waits for."""


class LocalEncoder:
    """An encoder in this process: one thread for questions, others for indexing.

    `many` embeds many texts on a GPU; without it the processor does, on all cores but `spare`.
    """

    def __init__(
        self,
        name: str,
        dimensions: int,
        max_tokens: int,
        run: Run,
        count_tokens: TokenCounter,
        many: OnGpu | None = None,
        spare: int = 0,
    ) -> None:
        self.name = name
        self.dimensions = dimensions
        self.max_tokens = max_tokens
        self.count_tokens = count_tokens
        self._run = run
        self._questions = ThreadPoolExecutor(1, thread_name_prefix="encode")
        self._many = many
        threads = 1 if many else max(1, (os.cpu_count() or 1) - spare)
        self._batches = ThreadPoolExecutor(threads, thread_name_prefix="encode-batch", initializer=_give_way)
        self._cache: OrderedDict[str, Matrix] = OrderedDict()

    async def encode(self, texts: Sequence[str]) -> Matrix:
        """Return float32 of shape (len(texts), dimensions), rows of unit length."""
        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        if len(texts) <= BATCH:
            return await self._encode_few(list(texts))
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        size = GPU_BATCH if self._many else BATCH
        batches = [order[start : start + size] for start in range(0, len(order), size)]
        loop, run = asyncio.get_running_loop(), self._many or self._run
        done = await asyncio.gather(
            *(loop.run_in_executor(self._batches, run, [texts[i] for i in batch]) for batch in batches)
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

    def place(self) -> str:
        """Say where many texts are embedded; loads what is to do it, blocking."""
        if self._many is None:
            return "on the processor"
        on_gpu = self._many.opened() is not self._run
        return "on the GPU" if on_gpu else f"on the processor, for the GPU cannot: {self._many.problem}"

    def forget(self) -> None:
        """Drop the remembered vectors, so that the next call computes."""
        self._cache.clear()

    def close(self) -> None:
        """End the worker threads."""
        self._questions.shutdown(wait=False, cancel_futures=True)
        self._batches.shutdown(wait=False, cancel_futures=True)


def _give_way() -> None:
    """Let questions go first: on Linux each thread has its own place in line."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LATER)
