"""What `threadlore init` proposes to embed with, where the machine can carry more than the packaged one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.models.embedding.larger import larger


@dataclass(frozen=True, slots=True)
class Proposal:
    """An embedder as EMBEDDING_MODEL names it, and the question whether it is wanted."""

    model: str
    question: str


def embedders_of(host: str) -> list[str] | None:
    """Return the embedding models that an Ollama has; None where none answers."""
    from core.models.ollama.embeddings import embedders_at  # `ollama` takes a while to import

    return embedders_at(host)


def proposed(at_ollama: Sequence[str] | None, has_gpu: bool) -> Proposal | None:
    """Return what to propose; None where the packaged embedder is the best that can be used at once."""
    found = larger(at_ollama, has_gpu)
    if found is None or not found.is_there:
        return None
    why = "Ollama has an embedder, too" if at_ollama else "There seems to be an NVIDIA GPU"
    costs = f"costs {found.once}, and {found.always}"
    return Proposal(found.model, f"{why}. Embed with {found.model} ({costs}) instead of the packaged MiniLM?")
