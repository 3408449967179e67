"""Counting an embedding model's tokens, by its tokenizer alone: another process can take a counter over."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol


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
