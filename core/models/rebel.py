"""Relations that a seq2seq model writes of texts, as REBEL does (Huguet Cabot and Navigli, EMNLP 2021).

The door to transformers' seq2seq models (extra `rebel`). What the model writes is told as it stands, with its
tags; `core.generation.triplets` reads it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from core.errors import ConfigurationError
from core.models.hub import only_here

log = logging.getLogger(__name__)

TAGS = ("<triplet>", "<subj>", "<obj>")
"""What parts a triplet: its head stands behind the first, its tail behind the second, then the relation."""
TOKENS = 256
"""Of one window, and of what is written of it: the model card's `max_length`."""
BEAMS = 3
"""The model card's; the best one is read."""
WORDS = 120
"""Words of a window: what the model learnt from are a few sentences, and not pages; ours."""
WINDOWS = 8
"""Windows of one question at most; ours."""
TRIES = 10
"""Multiplications in each type of number before one is chosen."""
SECONDS = 15.0
"""Longest time for the windows of one question; those that are not written by then are left out."""


class Rebel:
    """A `RelationExtractor` in this process, on one thread of its own: one question at a time.

    Who comes while another question is read is told nothing at once, so that answers come in time.
    """

    def __init__(self, name: str, write: Callable[[str, float], str], seconds: float = SECONDS) -> None:
        """`write` makes the model's output of a window within so many seconds; blocking."""
        self.name = name
        self._write = write
        self._seconds = seconds
        self._is_busy = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rebel")

    async def linearized(self, texts: Sequence[str]) -> list[str]:
        """Return what the model writes of the windows of texts, in their order; none while it is busy.

        Windows are cut between the lines of a text.
        """
        windows = [window for text in texts for window in _windows(text)][:WINDOWS]
        if not windows or self._is_busy:
            return []
        self._is_busy = True
        asked = asyncio.get_running_loop().run_in_executor(self._thread, self._all, windows)
        asked.add_done_callback(self._is_free)
        try:
            return await asyncio.shield(asked)  # who asked may go; the thread cannot be stopped
        except (RuntimeError, ValueError, IndexError) as error:
            log.warning("%s could not read relations: %r", self.name, error)
            return []

    def close(self) -> None:
        """End the worker thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _is_free(self, _asked: asyncio.Future[list[str]]) -> None:
        self._is_busy = False

    def _all(self, windows: Sequence[str]) -> list[str]:
        until, written = time.monotonic() + self._seconds, []
        for window in windows:
            if (left := until - time.monotonic()) <= 0:
                break
            written.append(self._write(window, left))
        return written


def load_rebel(model: str) -> Rebel:
    """Load a seq2seq model that writes relations, by name or folder; blocking, for seconds.

    Raises ConfigurationError, which says what to do, where a package, the model or its tags are missing.
    """
    try:
        import torch
        import transformers
    except ImportError as error:
        raise ConfigurationError(
            f"REBEL_MODEL needs {error.name}: pip install 'threadlore[rebel]', or unset it."
        ) from error
    of = {"pretrained_model_name_or_path": model, "local_files_only": only_here(model)}
    seq2seq = transformers.AutoModelForSeq2SeqLM
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(**of)  # nosec B615 # who runs the bot chose it
        loaded = seq2seq.from_pretrained(dtype=quicker(torch), **of).eval()
    except (OSError, ValueError, KeyError) as error:
        reason = (str(error) or "no reason given").splitlines()[0]
        raise ConfigurationError(
            f"REBEL_MODEL={model} cannot be loaded ({reason}). Set it to a folder or to a model that this "
            "machine can download, such as Babelscape/rebel-large, or leave it empty to do without."
        ) from error
    known = tokenizer.get_vocab()
    if missing := [tag for tag in TAGS if tag not in known]:
        raise ConfigurationError(
            f"REBEL_MODEL={model} does not know {' '.join(missing)}, so it writes no relations as REBEL "
            "does. Set it to a model such as Babelscape/rebel-large, or leave it empty to do without."
        )

    def write(window: str, seconds: float) -> str:
        with torch.inference_mode():
            given = tokenizer(window, max_length=TOKENS, truncation=True, return_tensors="pt")
            made = loaded.generate(
                input_ids=given["input_ids"],
                attention_mask=given["attention_mask"],
                max_length=TOKENS,
                num_beams=BEAMS,
                length_penalty=0.0,
                do_sample=False,
                max_time=seconds,
            )[0].tolist()
        text = str(tokenizer.decode(made, skip_special_tokens=False))
        is_whole = tokenizer.eos_token_id in made[1:]  # BART's decoder begins with it
        return without_marks(tokenizer, text if is_whole else without_last(text))

    return Rebel(model, write)


def quicker(torch: Any) -> Any:
    """Return the number type in which this processor multiplies a few rows by weights faster; some ms."""
    took = {}
    for dtype in (torch.float32, torch.bfloat16):
        rows, weights = torch.ones(BEAMS, 1024, dtype=dtype), torch.ones(4096, 1024, dtype=dtype)
        times = []
        for _ in range(TRIES):
            began = time.perf_counter()
            torch.nn.functional.linear(rows, weights)
            times.append(time.perf_counter() - began)
        took[dtype] = min(times)
    return min(took, key=took.__getitem__)


def without_last(text: str) -> str:
    """Return what was written without its last triplet, where it ended for want of time or room."""
    return text[: max(0, *(text.rfind(tag) for tag in TAGS[:2]))]


def without_marks(tokenizer: Any, text: str) -> str:
    """Return a text without the tokenizer's own marks of begin, end and filling."""
    for mark in (tokenizer.bos_token, tokenizer.eos_token, tokenizer.pad_token):
        text = text.replace(mark, " ") if mark else text
    return text.strip()


def _windows(text: str) -> Iterator[str]:
    """Join the lines of a text to windows of at most so many words; a longer line is a window of its own."""
    window: list[str] = []
    count = 0
    for line in filter(None, map(str.strip, text.split("\n"))):
        words = len(line.split())
        if window and count + words > WORDS:
            yield " ".join(window)
            window, count = [], 0
        window.append(line)
        count += words
    if window:
        yield " ".join(window)
