"""What is searched for, and what is found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.domain.documents import ContextChunk

Level = Literal["sure", "close", "none"]
"""What was found: an answer, the closest there is to one, or nothing near."""


@dataclass(frozen=True, slots=True)
class Queries:
    """The three query forms of QAMR step 1, and the parts of a composite question.

    `base` stands alone; `filtered` has no stop words; `versionless` has no release either and is
    empty where no release was named. `parts` has one entry per part, just `base` where there is
    one. `topic` is `base` without release and product names, the form that memory compares.
    """

    base: str
    filtered: str
    versionless: str = ""
    parts: tuple[str, ...] = ()
    topic: str = ""
    rewritten: bool = False
    carried: tuple[str, ...] = ()
    """Words of the thread that one of the searches takes along; no part of what is asked."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A search chunk found by one retriever for one query; a higher score is better."""

    chunk_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """A context chunk offered to the answer under a number; `matched` are the passages found in it."""

    number: int
    chunk: ContextChunk
    score: float
    matched: tuple[str, ...] = ()
