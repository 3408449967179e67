"""The reranker: a cross-encoder of sentence-transformers, or a postprocessor of llama-index."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from core.errors import EncoderError
from core.models.llama_index.integration import is_integration
from core.models.llama_index.rerank import Postprocessor

MAX_TOKENS = 512
"""Question and passage together; longer passages are cut, as MS MARCO models were trained."""
BATCH = 8
"""Pairs a batch: small ones pad less, and on a processor larger ones are no faster."""


class ThreadReranker:
    """A `Reranker` in this process, on one thread of its own: one question at a time."""

    def __init__(self, name: str, score: Callable[[str, list[str]], list[float]]) -> None:
        self.name = name
        self._score = score
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rerank")

    async def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return one score in 0..1 for each passage, higher is better; raises EncoderError."""
        if not passages:
            return []
        return await asyncio.get_running_loop().run_in_executor(
            self._thread, self._score, question, list(passages)
        )

    def close(self) -> None:
        """End the worker thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def load_reranker(model: str) -> ThreadReranker:
    """Load a cross-encoder with one output by name or folder, or a class of llama-index.

    Blocking, several seconds. Raises EncoderError that says what to do where it cannot be had.
    """
    if is_integration(model):
        postprocessor = Postprocessor(model)
        return ThreadReranker(postprocessor.name, postprocessor)
    try:
        import torch
        from sentence_transformers import CrossEncoder

        loaded = CrossEncoder(model, device="cpu", local_files_only=Path(model).exists())
    except (OSError, ValueError, ImportError) as error:
        raise EncoderError(
            f"The reranker '{model}' cannot be loaded ({(str(error) or 'no reason given').splitlines()[0]}). "
            f"Set RERANKER_MODEL to a folder or to a cross-encoder that this machine can download, or leave "
            f"it empty to do without."
        ) from error
    if loaded.num_labels != 1:
        raise EncoderError(
            f"The reranker '{model}' has {loaded.num_labels} outputs; set RERANKER_MODEL to one that gives "
            f"a single score, such as cross-encoder/ms-marco-MiniLM-L6-v2."
        )
    loaded.max_length = min(int(loaded.max_length or MAX_TOKENS), MAX_TOKENS)
    sigmoid = torch.nn.Sigmoid()

    def score(question: str, passages: list[str]) -> list[float]:
        pairs = [(question, passage) for passage in passages]
        found = loaded.predict(pairs, batch_size=BATCH, activation_fn=sigmoid, show_progress_bar=False)
        return [float(score) for score in found]

    return ThreadReranker(model, score)
