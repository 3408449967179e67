"""A larger embedder than the packaged one, where the machine can carry it, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.models.embedding.prefixes import BY_OLLAMA

_PULLED, _PULLED_MB = "nomic-embed-text", 274
_ON_GPU, _ON_GPU_MB = "BAAI/bge-base-en-v1.5", 440
"""What is proposed where nothing else is there, and its download."""


@dataclass(frozen=True, slots=True)
class Larger:
    """An embedder as EMBEDDING_MODEL names it, and what it costs: once, and then for every question."""

    model: str
    once: str
    always: str
    is_there: bool = True
    """Whether nobody has to do anything before it can be used."""


def larger(at_ollama: Sequence[str] | None, has_gpu: bool) -> Larger | None:
    """Return what to propose instead of the packaged embedder, None where nothing larger can be carried.

    `at_ollama` are the embedding models that an Ollama has, None where none answers. One that is there is
    proposed before one for a GPU, and that before one that Ollama would first have to pull.
    """
    by_ollama = "Ollama for every question"
    if at_ollama:
        return Larger(f"{BY_OLLAMA}{at_ollama[0].removesuffix(':latest')}", "nothing to download", by_ollama)
    if has_gpu:
        return Larger(_ON_GPU, f"{_ON_GPU_MB} MB", "more time for every question")
    if at_ollama is None:
        return None
    once = f"{_PULLED_MB} MB (`ollama pull {_PULLED}`)"
    return Larger(f"{BY_OLLAMA}{_PULLED}", once, by_ollama, is_there=False)
