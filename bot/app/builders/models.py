"""Builds what computes and writes: embedder, reranker, language model, and what judges its words."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from core.memory.scoring.score import Similarity
from core.models.bertscore import load_bertscore
from core.models.breaker import Breaker
from core.models.embedding.encoder import Encoders
from core.models.llama_index.llm import open_llm
from core.models.ollama.client import Ollama
from core.models.reranker import load_reranker
from core.ports import Encoder, LanguageModel, Reranker
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """What computes and writes."""

    encoders: Encoders
    reranker: Reranker | None
    writer: LanguageModel | None
    """The language model behind a breaker; None where there is none."""
    similarity: Similarity | None
    """Scores a text against a reference."""


@asynccontextmanager
async def open_models(
    *, home: Path, settings: Settings, load: Callable[[str, Path], Encoder]
) -> AsyncIterator[Models]:
    """Load what the settings name; `load` makes an encoder by its name and the folder it is kept in.

    Raises EncoderError and ConfigurationError where a model cannot be had.
    """
    async with AsyncExitStack() as opened:
        reranker = None
        if settings.reranker_model:
            reranker = await asyncio.to_thread(load_reranker, settings.reranker_model)
            opened.callback(reranker.close)
        writer = None
        if model := await asyncio.to_thread(open_model, settings):
            opened.push_async_callback(model.close)
            writer = Breaker(model, parallel=settings.ollama_parallel)
        similarity = None
        if settings.bertscore_model:
            similarity = await asyncio.to_thread(load_bertscore, settings.bertscore_model)
        encoders = Encoders(settings.embedding_model, home / "models", load)
        opened.callback(encoders.close)
        yield Models(encoders=encoders, reranker=reranker, writer=writer, similarity=similarity)
