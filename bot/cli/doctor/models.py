"""Examines what embeds and what writes: the embedder against the index, the model against the prompts."""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import replace
from functools import partial
from pathlib import Path

from bot.app.builders.models import open_server
from bot.home.findings import Finding, bad, find_catalogue, good, unsure
from core.catalogue import load_catalogue
from core.errors import ThreadloreError
from core.generation.context.fitting import ANSWER_TOKENS
from core.ingestion.sources import Kinds
from core.models.address import Address, addresses
from core.models.completion import Writer
from core.models.embedding.encoder import PACKAGED, load_encoder
from core.models.embedding.gpu import wanted
from core.models.embedding.larger import larger
from core.models.embedding.local import LocalEncoder
from core.models.embedding.prefixes import Prefixed
from core.models.llama_index.llm import open_llm
from core.models.ollama.client import Ollama
from core.models.ollama.embeddings import embedders_at
from core.prompts import answer_system
from core.settings import Settings

PAGES = 8
"""Pages that an answer is written from at most."""
PAGE_TOKENS = 250
"""Tokens below which a page loses its sense; `generation.context.fitting` leaves pages out before that."""
QUESTION_TOKENS = 100
"""A question with what the chat template puts around it, amply."""
CALL_SECONDS = 20.0
_OLLAMA = "; https://ollama.com/download has Ollama, OLLAMA_HOST=off does without"
_NOT_YET = "seen once the model is loaded"
WHOLE = 0.99
"""Share of the model on the GPU that counts as all of it; some buffers always stay outside."""


async def embedder(settings: Settings) -> list[Finding]:
    """Load the embedder, and compare it with what the corpora were made by."""
    device, models = settings.embedding_device, settings.home / "models"
    load = partial(load_encoder, device=device, settings=settings)
    encoder = await asyncio.to_thread(load, settings.embedding_model, models)
    try:
        vector = (await encoder.encode(["How do I stream a response?"]))[0]
        where = ""
        if isinstance(encoder, (LocalEncoder, Prefixed)):
            where = await asyncio.to_thread(encoder.place)
    finally:
        encoder.close()
    said = f"{encoder.name}, {len(vector)} dimensions, {encoder.max_tokens} tokens at once"
    said = f"{said}; documents are embedded {where}" if where else said
    if len(vector) != encoder.dimensions:
        wrong = f"it gives {len(vector)} dimensions and says {encoder.dimensions}"
        return [bad("Embedder", wrong, "choose another EMBEDDING_MODEL")]
    found = [good("Embedder", said)]
    indexed = await asyncio.to_thread(_indexed, settings)
    if others := sorted(release for release, name in indexed.items() if name != encoder.name):
        by = indexed[others[0]]
        found.append(
            bad(
                "Index",
                f"{', '.join(others)} was indexed with {by}, not with {encoder.name}",
                f"run `threadlore index --rebuild`, or set EMBEDDING_MODEL={by.partition('@')[0]} again",
            )
        )
    elif indexed:
        found.append(good("Index", f"{', '.join(sorted(indexed))} were made by that embedder"))
    return found + await _another(settings)


async def _another(settings: Settings) -> list[Finding]:
    """Say what a larger embedder would cost, where the packaged one is used and another can be carried."""
    if settings.embedding_model != PACKAGED:
        return []
    there = await asyncio.to_thread(embedders_at, settings.ollama_host) if settings.ollama_host else None
    found = larger(there, wanted(settings.embedding_device))
    if found is None:
        return []
    said = f"{found.model} would cost {found.once}, embedding all passages again, and {found.always}"
    return [
        good("Larger embedder", f"{said}; `threadlore embedder try {found.model} GOLD.jsonl` measures it")
    ]


def _indexed(settings: Settings) -> dict[str, str]:
    """Return the embedder of each live corpus; nothing is known of one in PostgreSQL."""
    file: Path = settings.home / "threadlore.sqlite3"
    if settings.database_url.get_secret_value() or not file.is_file():
        return {}
    try:
        connection = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=5)
        try:
            return dict(connection.execute("SELECT release, encoder FROM corpora").fetchall())
        finally:
            connection.close()
    except sqlite3.Error:
        return {}


async def model(settings: Settings) -> list[Finding]:
    """Ask each server for its version, the model, its context, and Ollama how much of it is on the GPU."""
    if settings.llm:
        return await _integration(settings)
    hosts = addresses(settings.model_server or settings.ollama_host)
    if not hosts:
        return [good("Model", "none is used (OLLAMA_HOST=off): answers quote the documentation")]
    found: list[Finding] = []
    for host in hosts:
        first, *more = await _server(settings, host, len(hosts) > 1)
        at = f" ({Address.parse(host).url})" if len(hosts) > 1 else ""
        found += [first, *(replace(finding, what=f"{finding.what}{at}") for finding in more)]
    return found


async def _server(settings: Settings, host: str, is_one_of_several: bool) -> list[Finding]:
    """Ask one server."""
    writer = open_server(settings, host, retries=0, timeout=min(CALL_SECONDS, settings.ollama_timeout))
    try:
        health = await writer.health()
        if not health.ready and is_one_of_several:
            return [bad("Model", health.problem, "until then the other servers answer, if any is well")]
        if not health.ready:
            advice = "until then answers quote the pages"
            if isinstance(writer, Ollama):
                pulls = f"ollama pull {settings.ollama_model}" in health.problem
                advice += "; `threadlore doctor --fix` pulls it, if you agree" if pulls else _OLLAMA
            chosen = settings.llm or settings.model_fields_set & {"model_server", "ollama_host"}
            if not chosen:  # nobody asked for one, and quoting is what is promised without it
                return [
                    unsure("Model", f"none, so answers quote the documentation: {health.problem}", advice)
                ]
            return [bad("Model", health.problem, advice)]
        by = f"Ollama {health.version}" if isinstance(writer, Ollama) else health.version or "a server"
        found = [good("Model", f"{health.model} by {by} at {writer.address}"), _context(settings, writer)]
        if not isinstance(writer, Ollama):
            return [*found, *_at_once(settings, writer), await _schema(writer)]
        size, on_gpu = await writer.placement()
        found.append(await _schema(writer) if size else good("JSON schema", _NOT_YET))
        if size and on_gpu < WHOLE * size:
            share = f"{on_gpu / size:.0%} of the model is on the GPU"
            advice = "choose a smaller model or a smaller OLLAMA_NUM_CTX: it writes slowly"
            found.append(unsure("GPU", share, advice))
        elif size:
            found.append(good("GPU", "the whole model is on it"))
        return found
    finally:
        await writer.close()


def _at_once(settings: Settings, writer: Writer) -> list[Finding]:
    """Compare the calls that are sent at once with those that the server says it answers at once."""
    sent, slots = settings.model_parallel, writer.slots
    if not slots or sent <= slots:
        return []
    said = f"MODEL_PARALLEL sends {sent} at once, and the server answers {slots}: the others' time runs there"
    return [unsure("Calls", said, f"set MODEL_PARALLEL={slots}, or start the server with --parallel {sent}")]


async def _schema(writer: Writer) -> Finding:
    """See whether the server keeps the model to a JSON schema."""
    match await writer.probe():
        case True:
            return good("JSON schema", "the server keeps the model to it")
        case False:
            said = f"the server does not keep {writer.name} to it with thinking off; it is asked in words"
            return unsure("JSON schema", said, "a newer server may, or another model")
    return good("JSON schema", _NOT_YET)


async def _integration(settings: Settings) -> list[Finding]:
    """Ask a language model of llama-index for a word."""
    writer = await asyncio.to_thread(open_llm, settings.llm, min(CALL_SECONDS, settings.ollama_timeout))
    try:
        health = await writer.health()
        if not health.ready:
            return [bad("Model", health.problem, "until then answers quote the pages")]
        told = f"{health.model} by llama-index, with {writer.context_tokens} tokens of context"
        return [good("Model", told)]
    finally:
        await writer.close()


def _context(settings: Settings, writer: Writer) -> Finding:
    """Compare the context with what a prompt needs: instructions, question, answer, and eight pages."""
    try:
        product = load_catalogue(find_catalogue(settings), Kinds()).product
        name, releases = product.name, (product.latest.name,)
    except ThreadloreError:  # told by another examination
        name, releases = "the product", ("1.0",)
    fixed = writer.count_tokens(answer_system(name, releases)) + QUESTION_TOKENS + ANSWER_TOKENS
    left, wanted = writer.context_tokens - fixed, PAGES * PAGE_TOKENS
    said = f"{writer.context_tokens} tokens, of which {max(left, 0)} are left for pages"
    if writer.context_tokens < settings.ollama_num_ctx:
        why = "it is served with less" if settings.model_server else "the model was made for less"
        said += f" (OLLAMA_NUM_CTX asks for {settings.ollama_num_ctx}; {why})"
    if left >= wanted:
        return good("Context", said)
    needed = -(-(fixed + wanted) // 1024) * 1024
    if writer.context_tokens < settings.ollama_num_ctx:
        advice = f"choose a model with at least {needed} tokens of context"
    else:
        advice = f"set OLLAMA_NUM_CTX={max(needed, 8192)}: {PAGES} pages of {PAGE_TOKENS} tokens are wanted"
    if left < PAGE_TOKENS:
        return bad("Context", said, advice)
    return unsure("Context", said, advice)
