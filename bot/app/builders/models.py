"""Builds what computes and writes: embedder, reranker, language model, and what judges its words."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from core.memory.scoring import Similarity
from core.models.address import addresses
from core.models.bertscore import load_bertscore
from core.models.breaker import Breaker
from core.models.completion import Writer
from core.models.embedding.encoder import Encoders
from core.models.llama_index.llm import open_llm
from core.models.pool import Pool
from core.models.rebel import load_rebel
from core.models.reranker import load_reranker
from core.ports import Encoder, LanguageModel, RelationExtractor, Reranker
from core.settings import Settings


class OpenModel(LanguageModel, Protocol):
    """A language model with connections to close."""

    async def close(self) -> None:
        """Close the connections."""


def open_model(settings: Settings) -> OpenModel | None:
    """Return the model that `LLM`, `MODEL_SERVER` or `OLLAMA_HOST` names; None where none is to be used.

    Blocking, for a package may load a model. Raises ConfigurationError, which says what to do.
    """
    if settings.llm:
        return open_llm(settings.llm, settings.ollama_timeout)
    hosts = addresses(settings.model_server or settings.ollama_host)
    if not hosts:
        return None

    def opened(address: str) -> Writer:
        return open_server(settings, address, retries=0)

    return Pool([opened(host) for host in hosts], opened=opened)


def open_server(settings: Settings, address: str, **given: Any) -> Writer:
    """Return the model of the settings at one address; `given` wins. Raises ConfigurationError."""
    if settings.model_server:
        from core.models.openai.client import OpenAIModel  # `openai` takes a while to import

        return OpenAIModel(
            address,
            settings.model_name,
            key=settings.model_key.get_secret_value(),
            context_tokens=settings.ollama_num_ctx,
            **{"timeout": settings.ollama_timeout, **given},
        )
    from core.models.ollama.client import Ollama  # so does `ollama`

    return Ollama(
        address,
        settings.ollama_model,
        num_ctx=settings.ollama_num_ctx,
        keep_alive=settings.ollama_keep_alive,
        **{"timeout": settings.ollama_timeout, **given},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """What computes and writes."""

    encoders: Encoders
    reranker: Reranker | None
    writer: LanguageModel | None
    """The language model behind a breaker; None where there is none."""
    servers: Pool | None
    """The servers of the language model; None where it is none, or one of llama-index."""
    similarity: Similarity | None
    """Scores a text against a reference."""
    rebel: RelationExtractor | None
    """Reads relations beside the language model."""


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
        writer = servers = None
        if model := await asyncio.to_thread(open_model, settings):
            opened.push_async_callback(model.close)
            writer, servers = _guarded(model, settings), model if isinstance(model, Pool) else None
        similarity = None
        if settings.bertscore_model:
            similarity = await asyncio.to_thread(load_bertscore, settings.bertscore_model)
        rebel = None
        if settings.rebel_model:
            rebel = await asyncio.to_thread(load_rebel, settings.rebel_model)
            opened.callback(rebel.close)
        encoders = Encoders(settings.embedding_model, home / "models", load)
        opened.callback(encoders.close)
        yield Models(
            encoders=encoders,
            reranker=reranker,
            writer=writer,
            servers=servers,
            similarity=similarity,
            rebel=rebel,
        )


def _guarded(model: OpenModel, settings: Settings) -> Breaker:
    """Put a breaker around a model, with as many calls at once as its servers take."""
    parallel = (
        settings.model_parallel if settings.model_server and not settings.llm else settings.ollama_parallel
    )
    writer = Breaker(model, parallel=parallel, longest=settings.answer_timeout)
    if isinstance(model, Pool):
        model.on_change(lambda servers: writer.widen(parallel * servers))
    return writer
