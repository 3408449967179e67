"""Embeddings of Ollama: `EMBEDDING_MODEL=ollama:NAME` against a server that speaks /api/embed."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytest_asyncio

from core.errors import EncoderError
from core.models.embedding.encoder import Encoders, load_encoder
from core.models.embedding.local import BATCH
from core.ports import Encoder, for_questions
from core.settings import load_settings
from tests.ollama_server import OllamaServer

PLAIN = "plain-embed"
"""A model of no family that wants prefixes."""


@pytest_asyncio.fixture
async def server() -> AsyncIterator[OllamaServer]:
    async with OllamaServer(models=[f"{PLAIN}:latest", "nomic-embed-text:latest"]) as running:
        yield running


async def opened(server: OllamaServer | str, line: str = f"ollama:{PLAIN}", **more: Any) -> Encoder:
    host = server if isinstance(server, str) else server.url
    settings = load_settings(None, ollama_host=host, **{"ollama_timeout": 5.0, **more})
    return await asyncio.to_thread(load_encoder, line, Path("unused"), "cpu", 0, settings)


async def test_it_gives_unit_vectors_in_order_by_few_calls(server: OllamaServer) -> None:
    encoder = await opened(server, ollama_keep_alive="10m")
    texts = [f"{'word ' * (number % 5)} number {number}" for number in range(40)] + ["", " ", "é"]
    before = len(server.requests)
    vectors = await encoder.encode(texts)
    calls = server.requests[before:]
    assert vectors.shape == (43, 256) and vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(43), abs=1e-5)
    assert len(calls) == -(-43 // BATCH), "texts go in batches"
    assert {(c.body["keep_alive"], c.body["truncate"]) for c in calls} == {("10m", True)}
    for place in (0, 17, 39, 42):
        assert np.array_equal((await encoder.encode([texts[place]]))[0], vectors[place])
    encoder.close()


@pytest.mark.parametrize(("given", "sent"), [("-1", -1), ("300", 300), ("1h30m", "1h30m")])
async def test_a_time_to_stay_loaded_is_sent_as_ollama_reads_it(
    server: OllamaServer, given: str, sent: float | str
) -> None:
    await opened(server, ollama_keep_alive=given)
    assert {one.body["keep_alive"] for one in server.requests if one.path == "/api/embed"} == {sent}


async def test_its_name_has_the_digest_so_that_another_version_is_another_encoder(
    server: OllamaServer,
) -> None:
    first = await opened(server)
    assert first.name == f"ollama:{PLAIN}@512+{server.digest[:12]}"
    server.digest = "f" * 64
    second = await opened(server)
    assert second.name != first.name
    encoders = Encoders(f"ollama:{PLAIN}", Path("unused"), lambda model, _: {f"ollama:{PLAIN}": first}[model])
    assert await encoders.named(second.name) is first, "a corpus finds its model whatever its version"
    for one in (first, second):
        one.close()


@pytest.mark.parametrize("refuses", [False, True])
async def test_texts_over_the_context_are_cut_and_never_fail_a_batch(
    server: OllamaServer, refuses: bool
) -> None:
    server.refuses_long, server.embeds_tokens = refuses, 100  # less than it says that it takes
    encoder = await opened(server)
    begin = "word " * 2_000
    one, two, short = await encoder.encode([begin + "timer", begin + "lid", "timer"])
    assert one @ two == pytest.approx(1.0) and short @ one < 0.1
    assert all(len(text) <= 5 * encoder.max_tokens for text in server.embedded_texts), "they are cut here"
    assert encoder.count_tokens(begin) >= 2_000, "what is cut off is counted"
    assert pickle.loads(pickle.dumps(encoder.count_tokens))(begin) == encoder.count_tokens(begin)
    encoder.close()


async def test_a_text_that_has_no_numbers_never_fails_a_batch(server: OllamaServer) -> None:
    encoder = await opened(server)
    server.no_numbers = "progress:"
    whole = "Let me see how messages are loaded in the chat area, and report progress:"
    rows = await encoder.encode(["The timer.", whole, "The lid."])
    assert rows.shape == (3, 256) and rows[1] @ rows[0] < 0.9
    assert server.embedded_texts[-2:] == [whole[: len(whole) * 3 // 4], "The lid."]
    server.no_numbers = "r"
    with pytest.raises(EncoderError, match=r"takes no text at all .*NaN"):
        await encoder.encode(["r" * 40])
    encoder.close()


async def test_the_tokens_that_count_are_the_fewest_that_somebody_allows(server: OllamaServer) -> None:
    server.context_length = 384
    encoder = await opened(server)
    assert encoder.max_tokens == 384
    encoder.close()
    server.parameters = "num_ctx                        256"  # as all-minilm has it
    encoder = await opened(server)
    assert encoder.max_tokens == 256
    encoder.close()


async def test_a_model_that_is_not_pulled_is_told_with_what_to_do(server: OllamaServer) -> None:
    with pytest.raises(EncoderError, match="does not have mxbai-embed-large: run `ollama pull mxbai-embed-"):
        await opened(server, "ollama:mxbai-embed-large")


@pytest.mark.parametrize(
    ("line", "host", "told"),
    [
        ("ollama:m", "off", "OLLAMA_HOST is off"),
        ("ollama:", "http://127.0.0.1:9", "names no model; write it like ollama:nomic-embed-text"),
        ("ollama:m", "http://127.0.0.1:9", "Start Ollama"),
    ],
)
async def test_what_cannot_be_is_told_with_what_to_do(line: str, host: str, told: str) -> None:
    with pytest.raises(EncoderError, match=told):
        await opened(host, line)


async def test_a_busy_server_is_asked_again_and_one_that_goes_away_is_told(server: OllamaServer) -> None:
    encoder = await opened(server)
    server.busy_embeds = 1
    assert (await encoder.encode(["timer"])).shape == (1, 256)
    await server.__aexit__()
    with pytest.raises(EncoderError, match="Start Ollama"):
        await encoder.encode(["lid"])
    encoder.close()


async def test_questions_and_documents_get_the_prefixes_of_their_family(server: OllamaServer) -> None:
    encoder = await opened(server, "ollama:nomic-embed-text")
    questions = for_questions(encoder)
    await encoder.encode(["The lid."])
    await questions.encode(["The lid?"])
    assert server.embedded_texts[-2:] == ["search_document: The lid.", "search_query: The lid?"]
    assert questions.name != encoder.name, "vectors of one text in both ways are kept apart"
    plain = await opened(server)
    assert for_questions(plain) is plain
    for one in (encoder, plain):
        one.close()
