"""Encoders, rerankers and language models."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from core.domain import Evidence

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
        """Count the tokens of a text, special ones included, uncut.

        It can be pickled: documents are cut in other processes.
        """

    def forget(self) -> None:
        """Drop the remembered vectors of short calls, so that the next call computes."""

    def close(self) -> None:
        """Release threads and memory."""


def for_questions(encoder: Encoder) -> Encoder:
    """Return what embeds questions: the encoder itself, unless its model tells questions from documents.

    Documents are embedded by the encoder; questions, also those that memory holds, by what this returns. Its
    name is another one where its vectors are.
    """
    found: Encoder = getattr(encoder, "questions", encoder)
    return found


def texts_at_once(encoder: Encoder, fewest: int) -> int:
    """Return how many texts in one call keep an encoder busy: what it says itself, at least `fewest`."""
    return max(fewest, int(getattr(encoder, "at_once", 0)))


@runtime_checkable
class TokenEncoder(Protocol):
    """An encoder that tells the vectors of tokens, too."""

    async def encode_tokens(self, texts: Sequence[str]) -> tuple[Matrix, list[Matrix]]:
        """Return what `Encoder.encode` does, and the unit vectors of each text's tokens but special ones."""


class Reranker(Protocol):
    """Judges passages for a question by reading both together (a cross-encoder)."""

    name: str
    weighs: bool
    """Whether the logarithms of its odds are added to the scores of pages; else it orders them alone."""

    async def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return one score in 0..1 for each passage, higher is better; none where too many others wait."""


class RelationExtractor(Protocol):
    """Writes the relations that texts state, one after another, as REBEL linearises them."""

    name: str

    async def linearized(self, texts: Sequence[str]) -> list[str]:
        """Return `<triplet> head <subj> tail <obj> relation …` for the lines of texts, a few together.

        Returns nothing while it is busy with others.
        """


@dataclass(frozen=True, slots=True)
class Prompt:
    """One message to the language model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class ServerState:
    """One of several servers of a model: *serving*, *resting* after an error, or *draining*."""

    address: str
    """Its URL without credentials."""
    state: Literal["serving", "resting", "draining"]
    running: int
    """Calls under way."""
    problem: str = ""
    retry_in: float = 0.0
    """Seconds until it is looked at again."""


@dataclass(frozen=True, slots=True)
class ModelHealth:
    """What is known of the model server: `ready`, or `problem` with a sentence on what to do."""

    ready: bool
    problem: str = ""
    model: str = ""
    version: str = ""
    keeps_schema: bool | None = None
    """Whether the server keeps the model to a JSON schema; None where that was not seen yet."""
    servers: tuple[ServerState, ...] = ()
    """Where there are several, each of them; `ready` says whether any is."""


TURN: ContextVar[Callable[[], None] | None] = ContextVar("TURN", default=None)
"""What a model that lets callers wait in line calls when it is a caller's turn."""

ASKER: ContextVar[str] = ContextVar("ASKER", default="")
"""Whose question a call to the model is for, so that a model with a line lets askers take turns."""

PLACE: ContextVar[Callable[[int], None] | None] = ContextVar("PLACE", default=None)
"""What a model that lets callers wait in line tells a caller's place, counted from 1, when it changes."""

UNHURRIED: ContextVar[bool] = ContextVar("UNHURRIED", default=False)
"""Whether nobody waits for what is asked now, so that a model with a line lets everybody else go first."""


class LanguageModel(Protocol):
    """Writes text. Calls raise the `ModelError`s of `core.errors`."""

    name: str
    context_tokens: int
    """Size of the context window (`num_ctx`); prompt and answer share it."""

    def count_tokens(self, text: str) -> int:
        """Estimate the tokens of a text, never too few."""

    def stream(self, prompts: Sequence[Prompt], *, temperature: float, max_tokens: int) -> AsyncIterator[str]:
        """Yield the answer piece by piece."""

    async def structured(
        self, prompts: Sequence[Prompt], schema: dict[str, Any], *, max_tokens: int
    ) -> dict[str, Any]:
        """Return output that fits the JSON schema, at temperature 0."""

    async def health(self) -> ModelHealth:
        """Ask the server whether the model could answer now; never raises."""


class Listener(Protocol):
    """Hears how an answer comes about, to show it while it grows."""

    async def sources(self, release: str, evidence: Sequence[Evidence]) -> None:
        """Hear which pages the answer will rest on, best first."""

    async def text(self, markdown: str) -> None:
        """Hear the whole text so far."""
