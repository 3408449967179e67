"""Embeddings of llama-index behind the `Encoder` port."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from threading import BoundedSemaphore
from typing import Any

from core.errors import EncoderError
from core.models.embedding.local import FileCounter, LocalEncoder, TokenCounter
from core.models.embedding.served import TOKENS, EstimatedCounter, VectorsOnly, cutting, unit_rows
from core.models.llama_index.integration import Integration, build
from core.ports import Matrix
from core.system.private_files import private_folder

SETTING = "EMBEDDING_MODEL"


def open_embedding(line: str, folder: Path) -> LocalEncoder:
    """Make the embedding that a line names; its tokenizer, where it has one, is kept in `folder`.

    Documents and questions are embedded as texts: memory compares questions with each other. As many calls
    run at once as the class's `num_workers` says, one where it says nothing. Blocking. Raises EncoderError,
    which says what to do.
    """
    kind = "llama_index.core.base.embeddings.base:BaseEmbedding"
    named = build(line, SETTING, kind, EncoderError)
    max_tokens, count = _tokens(named.made, folder)
    cut = _whole if isinstance(count, FileCounter) else cutting(max_tokens)
    ask = _Asking(named, cut)
    dimensions = int(ask(["How do I run it?"]).shape[1])
    ask.dimensions = dimensions
    return LocalEncoder(f"{line}@{max_tokens}", dimensions, max_tokens, ask, count)


class _Asking(VectorsOnly):
    """Asks an embedding for vectors, and checks what comes."""

    def __init__(self, named: Integration, cut: Callable[[str], str]) -> None:
        self.dimensions = 0
        """What every vector has to have; 0 until it is known."""
        self._named = named
        self._cut = cut
        self._turns = BoundedSemaphore(max(1, getattr(named.made, "num_workers", None) or 1))

    def __call__(self, texts: list[str]) -> Matrix:
        """Return rows of unit length; services refuse empty texts, so a dot stands for those."""
        given = [self._cut(text) if text.strip() else "." for text in texts]
        try:
            with self._turns:
                rows = self._named.made.get_text_embedding_batch(given)
        except Exception as error:  # noqa: BLE001  an integration is anybody's code and raises whatever it likes
            raise self._wrong(
                f"does not embed ({self._named.told(error)}). Start what it asks, or correct its options"
            ) from None
        try:
            return unit_rows(rows, len(texts), self.dimensions)
        except (TypeError, ValueError) as error:
            raise self._wrong(f"gives {error}. Choose another class or model") from None

    def _wrong(self, text: str) -> EncoderError:
        return EncoderError(f"{self._named.path} {text} in {SETTING}.")


def _tokens(embedding: Any, folder: Path) -> tuple[int, TokenCounter]:
    """Return how many tokens count, and what counts them: the model's own tokenizer where it runs in here."""
    inner = getattr(embedding, "_model", None)
    for holder in (embedding, inner):
        for name in ("tokenizer", "_tokenizer"):
            tokenizer: Any = getattr(holder, name, None)
            if hasattr(tokenizer, "backend_tokenizer"):
                file = private_folder(folder) / "tokenizer.json"
                part = file.with_suffix(f".{os.getpid()}")
                tokenizer.backend_tokenizer.save(str(part))
                part.replace(file)
                said = getattr(embedding, "max_length", None) or getattr(inner, "max_seq_length", None)
                return int(said or TOKENS), FileCounter(str(file.resolve()))
    return TOKENS, EstimatedCounter()


def _whole(text: str) -> str:
    return text
