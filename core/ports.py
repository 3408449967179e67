"""What the engine needs from outside, as Protocols; each has a fake and a contract suite.

What does I/O is async. Ids are content hashes, so that repeating a call changes nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from core.domain import RawDocument

Matrix = NDArray[np.float32]


class Encoder(Protocol):
    """Turns texts into unit vectors."""

    name: str
    """Fingerprint: the model's name and what changes its vectors."""
    dimensions: int
    max_tokens: int
    """Tokens of one text that count; what is longer is cut off."""

    async def encode(self, texts: Sequence[str]) -> Matrix:
        """Return float32 of shape (len(texts), dimensions), rows of unit length."""

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text, special ones included, uncut."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One message to the language model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class ModelHealth:
    """What is known of the model server: `ready`, or `problem` with a sentence on what to do."""

    ready: bool
    problem: str = ""
    model: str = ""
    version: str = ""


class LanguageModel(Protocol):
    """Writes text. Calls raise the `ModelError`s of `core.errors`."""

    name: str
    context_tokens: int
    """Size of the context window (`num_ctx`); prompt and answer share it."""

    def count_tokens(self, text: str) -> int:
        """Estimate the tokens of a text, never too few."""

    def stream(
        self, prompts: Sequence[Prompt], *, temperature: float, max_tokens: int
    ) -> AsyncIterator[str]:
        """Yield the answer piece by piece."""

    async def structured(
        self, prompts: Sequence[Prompt], schema: dict[str, Any], *, max_tokens: int
    ) -> dict[str, Any]:
        """Return output that fits the JSON schema, at temperature 0."""

    async def health(self) -> ModelHealth:
        """Ask the server whether the model could answer now; never raises."""


class Source(Protocol):
    """A place where documents lie, read anew at every call."""

    name: str
    """Stable over runs and unique within a release: `sdist:flask==3.1.0/docs`."""

    def documents(self) -> Iterable[RawDocument]:
        """Yield each document; blocking, so call it in a worker thread.

        Raises `SourceError` where the place cannot be read or holds nothing. What is passed over
        (binary, too large, unreadable) is told in `skipped`.
        """

    @property
    def skipped(self) -> Sequence[tuple[str, str]]:
        """Return (path, reason) of what the last run passed over."""
