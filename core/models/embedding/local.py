"""An encoder in this process: threads, batches, and the vectors of short calls remembered."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, TypeVar

import numpy as np

from core.models.embedding.gpu import AT_ONCE, OnGpu, Run
from core.ports import Matrix

_T = TypeVar("_T")
BATCH = 16
"""Texts a batch when many are encoded: small, so that a question waits little for its turn."""
REMEMBERED = 2048
"""Vectors of short calls kept in memory."""
READ = 64
"""Texts of short calls whose tokens' vectors are kept in memory: some 30 kB each."""
GPU_BATCH = 128
"""The same on a GPU, which is hardly used by fewer."""
BATCHES = 4
"""Batches for each thread, or place on a GPU, in one call: at its end they wait for the last one."""
LATER = 10
"""How much nicer threads are to others that embed what nobody waits for."""


class TokenCounter(Protocol):
    """Counts the tokens of a text, special ones included, uncut; can be pickled."""

    def __call__(self, text: str) -> int:
        """Return the number of tokens."""


@dataclass(frozen=True, slots=True)
class FileCounter:
    """Counts by a `tokenizer.json`, which each process loads when it first counts."""

    file: str

    def __call__(self, text: str) -> int:
        """Return the number of tokens."""
        return len(_loaded(self.file).encode(text).ids)


@dataclass(frozen=True, slots=True)
class OwnCounter:
    """Counts by a tokenizer that knows no such file, which goes along as it is."""

    tokenizer: Any

    def __call__(self, text: str) -> int:
        """Return the number of tokens."""
        return len(self.tokenizer(text, truncation=False)["input_ids"])


@lru_cache(maxsize=4)
def _loaded(file: str) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(file)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


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
        self._threads = max(1, (os.cpu_count() or 1) - spare)
        self._batches = ThreadPoolExecutor(
            self._threads, thread_name_prefix="encode-batch", initializer=_give_way
        )
        self._cache: OrderedDict[str, Matrix] = OrderedDict()
        self._tokens: OrderedDict[str, Matrix] = OrderedDict()

    @property
    def at_once(self) -> int:
        """Texts in one call that keep all threads busy, or the GPU."""
        on_gpu = self._many is not None and self._many.in_use  # until it was tried, the processor's number
        return BATCHES * (GPU_BATCH * AT_ONCE if on_gpu else BATCH * self._threads)

    async def encode(self, texts: Sequence[str]) -> Matrix:
        """Return float32 of shape (len(texts), dimensions), rows of unit length."""
        if len(texts) <= BATCH:
            return await self._encode_few(texts)
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for places, rows in await self._in_batches(texts, self._many or self._run):
            vectors[places] = rows
        return vectors

    async def encode_tokens(self, texts: Sequence[str]) -> tuple[Matrix, list[Matrix]]:
        """Return what `encode` does, and the unit vectors of each text's tokens but special ones."""
        if len(texts) <= BATCH:
            known = {text: self._tokens[text] for text in texts if text in self._tokens}
            for text in texts:
                if text not in known:
                    self._cache.pop(text, None)
            rows = await self._encode_few(texts)  # others may have been forgotten meanwhile
            return rows, [known[text] if text in known else self._tokens[text] for text in texts]
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        tokens = [vectors[:0]] * len(texts)
        for places, (rows, read) in await self._in_batches(texts, (self._many or self._run).with_tokens):
            vectors[places] = rows
            for place, one in zip(places, read, strict=True):
                tokens[place] = one
        return vectors, tokens

    async def _in_batches(
        self, texts: Sequence[str], run: Callable[[list[str]], _T]
    ) -> list[tuple[list[int], _T]]:
        """Return what `run` makes of texts of about one length together, and the places of these."""
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        loop = asyncio.get_running_loop()
        on_gpu = self._many is not None and await loop.run_in_executor(self._batches, self._many.works)
        size = GPU_BATCH if on_gpu else BATCH
        batches = [order[start : start + size] for start in range(0, len(order), size)]
        done = await asyncio.gather(
            *(loop.run_in_executor(self._batches, run, [texts[i] for i in batch]) for batch in batches)
        )
        return list(zip(batches, done, strict=True))

    async def _encode_few(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        missing = [text for text in dict.fromkeys(texts) if text not in self._cache]
        fresh: dict[str, Matrix] = {}
        if missing:
            run = self._run.with_tokens
            rows, tokens = await asyncio.get_running_loop().run_in_executor(self._questions, run, missing)
            fresh = dict(zip(missing, rows, strict=True))
            self._tokens.update(zip(missing, tokens, strict=True))
        found = np.stack([fresh[text] if text in fresh else self._cache[text] for text in texts])
        self._cache.update(fresh)
        for kept, most in ((self._cache, REMEMBERED), (self._tokens, READ)):
            while len(kept) > most:
                kept.popitem(last=False)
        return found

    def place(self) -> str:
        """Say where many texts are embedded; loads what is to do it, blocking."""
        if self._many is None:
            return "on the processor"
        return (
            "on the GPU"
            if self._many.works()
            else f"on the processor, for the GPU cannot: {self._many.problem}"
        )

    def forget(self) -> None:
        """Drop the remembered vectors, so that the next call computes."""
        self._cache.clear()
        self._tokens.clear()

    def close(self) -> None:
        """End the worker threads."""
        self._questions.shutdown(wait=False, cancel_futures=True)
        self._batches.shutdown(wait=False, cancel_futures=True)


def _give_way() -> None:
    """Let questions go first: on Linux each thread has its own place in line."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LATER)
