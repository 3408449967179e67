"""What a model wants before a question and before a document; `families.toml` says it of each family."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from core.models.embedding.local import LocalEncoder
from core.ports import Encoder, Matrix

BY_OLLAMA = "ollama:"
"""What a model of Ollama begins with in EMBEDDING_MODEL."""
_MODEL = re.compile(r"""\bmodel(?:_name|_id)?\s{0,9}=\s{0,9}["']([^"']+)""")
_OWN = re.compile(r"\b(?:prompts|query_instruction|text_instruction)\s{0,9}=")
"""Options of a class by which people say themselves what stands before a text."""


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What stands before a question and before a document; nothing where it is empty."""

    question: str = ""
    document: str = ""

    @property
    def mark(self) -> str:
        """Return what tells these prefixes from others, for an encoder's name."""
        both = f"{self.question}\0{self.document}"
        return hashlib.blake2b(both.encode(), digest_size=4).hexdigest()


def prefixes_of(model: str) -> Prefixes:
    """Return the prefixes that a model was trained with, by what EMBEDDING_MODEL says of it."""
    return _family(model) or Prefixes()


def is_embedder(model: str) -> bool:
    """Return True if a model is of a family that embeds."""
    return _family(model) is not None and "rerank" not in model.lower()


def _family(model: str) -> Prefixes | None:
    if "(" in model:
        named = _MODEL.search(model)
        model = named[1] if named and not _OWN.search(model) else ""
    name = re.split(r"[/\\]", model.rstrip("/\\"))[-1].lower()
    return next((prefixes for pattern, prefixes in _families() if pattern.search(name)), None)


@cache
def _families() -> tuple[tuple[re.Pattern[str], Prefixes], ...]:
    read = tomllib.loads(files(__package__).joinpath("families.toml").read_text("utf-8"))
    return tuple(
        (re.compile(one["name"]), Prefixes(one.get("question", ""), one.get("document", "")))
        for one in read["family"]
    )


def prefixed(model: str, encoder: LocalEncoder) -> Encoder:
    """Return an encoder that puts its model's prefixes before texts; the same one where it has none."""
    prefixes = prefixes_of(model)
    return Documents(encoder, prefixes) if prefixes != Prefixes() else encoder


class Prefixed:
    """An encoder of texts with a prefix before each. Its name holds the prefixes, for they change vectors."""

    def __init__(self, inner: LocalEncoder, prefix: str, name: str, max_tokens: int) -> None:
        self._inner = inner
        self._prefix = prefix
        self.name = name
        self.dimensions = inner.dimensions
        self.max_tokens = max_tokens
        self.count_tokens = inner.count_tokens

    async def encode(self, texts: Sequence[str]) -> Matrix:
        """Return float32 of shape (len(texts), dimensions), rows of unit length."""
        return await self._inner.encode([self._prefix + text for text in texts])

    async def encode_tokens(self, texts: Sequence[str]) -> tuple[Matrix, list[Matrix]]:
        """Return what `encode` does, and the unit vectors of each text's tokens, the prefix's among them."""
        return await self._inner.encode_tokens([self._prefix + text for text in texts])

    @property
    def at_once(self) -> int:
        """Texts in one call that keep all threads busy, or the GPU."""
        return self._inner.at_once

    def place(self) -> str:
        """Say where many texts are embedded; loads what is to do it, blocking."""
        return self._inner.place()

    def forget(self) -> None:
        """Drop the remembered vectors, so that the next call computes."""
        self._inner.forget()

    def close(self) -> None:
        """End the worker threads."""
        self._inner.close()


class Documents(Prefixed):
    """An encoder of documents; `questions` is that of questions, by the same model."""

    def __init__(self, inner: LocalEncoder, prefixes: Prefixes) -> None:
        name = f"{inner.name}+{prefixes.mark}"
        longest = max((prefixes.question, prefixes.document), key=len)
        max_tokens = inner.max_tokens - inner.count_tokens(longest)
        super().__init__(inner, prefixes.document, name, max_tokens)
        self.questions = Prefixed(inner, prefixes.question, f"{name}+questions", max_tokens)
