"""The language model that the settings name."""

from __future__ import annotations

from typing import Protocol

from core.models.llama_index.llm import open_llm
from core.models.ollama.client import Ollama
from core.ports import LanguageModel
from core.settings import Settings


class OpenModel(LanguageModel, Protocol):
    """A language model with connections to close."""

    async def close(self) -> None:
        """Close the connections."""


def open_model(settings: Settings) -> OpenModel | None:
    """Return the model that `LLM` or `OLLAMA_MODEL` names; None where neither is to be used.

    Blocking, for a package may load a model. Raises ConfigurationError, which says what to do.
    """
    if settings.llm:
        return open_llm(settings.llm, settings.ollama_timeout)
    if not settings.ollama_host:
        return None
    return Ollama(
        settings.ollama_host,
        settings.ollama_model,
        timeout=settings.ollama_timeout,
        num_ctx=settings.ollama_num_ctx,
        keep_alive=settings.ollama_keep_alive,
    )
