"""Pulling a model from a server that speaks /api/pull."""

from __future__ import annotations

import socket

import pytest

from core.errors import ModelError, ModelMissing
from core.models.ollama.pulling import Pulled, is_missing, pull
from tests.ollama_server import OllamaServer


async def pulled(url: str, model: str = "new:1b", **more: float) -> list[Pulled]:
    return [line async for line in pull(url, model, "EMBEDDING_MODEL", **more)]


async def test_a_pull_tells_how_far_it_is_over_all_files_and_the_model_is_there() -> None:
    async with OllamaServer() as server:
        assert await is_missing(server.url, "new:1b")
        lines = await pulled(server.url)
        assert not await is_missing(server.url, "new:1b")
    assert lines[0] == Pulled("pulling manifest") and lines[-1].doing == "success"
    shares = [line.done / line.total for line in lines if line.total]
    assert shares[:3] == [0, 0.5, 1] and shares[-1] == 1
    assert lines[-1].total == 5_200_011_000


async def test_where_no_server_answers_nothing_is_missing() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    assert not await is_missing(url, "new:1b")
    with pytest.raises(ModelError, match="No model server at"):
        await pulled(url)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("write /root/.ollama/models/blobs/x: no space left on device", "disk .* is full .*Make room there"),
        (
            "max retries exceeded: dial tcp: lookup registry.ollama.ai: no such host",
            "does not reach .*network",
        ),
        (
            "pull model manifest: 412: this model requires a newer version of Ollama",
            "too old .*Update Ollama",
        ),
        ("digest mismatch, file must be downloaded again", "could not pull new:1b .*Look at its log"),
    ],
)
async def test_what_fails_while_it_is_pulled_is_told_with_what_to_do(words: str, told: str) -> None:
    async with OllamaServer() as server:
        server.pulls.error = words
        with pytest.raises(ModelError, match=f"{told}.* and run `threadlore doctor --fix` again"):
            await pulled(server.url)
        assert await is_missing(server.url, "new:1b")


async def test_a_name_that_the_library_does_not_have_is_told_with_its_setting() -> None:
    async with OllamaServer() as server:
        server.pulls.library = {"other:1b"}
        with pytest.raises(ModelMissing, match=r"has no model new:1b .*Correct EMBEDDING_MODEL"):
            await pulled(server.url)
        server.pulls.refused = (400, "invalid model name")
        with pytest.raises(ModelMissing, match="Correct EMBEDDING_MODEL"):
            await pulled(server.url)
        server.pulls.refused = (401, "unauthorized")
        with pytest.raises(ModelError, match="wants a login"):
            await pulled(server.url)


@pytest.mark.parametrize("ends", ["cut", "unfinished"])
async def test_a_stream_that_ends_before_success_is_no_success(ends: str) -> None:
    async with OllamaServer() as server:
        server.pulls.ends = ends  # type: ignore[assignment]
        with pytest.raises(ModelError, match=r"ended while it pulled new:1b\. Check that Ollama still runs"):
            await pulled(server.url)


async def test_a_server_that_falls_silent_is_not_waited_for_without_end() -> None:
    async with OllamaServer() as server:
        server.pulls.ends = "stall"
        with pytest.raises(ModelError, match=r"for 0\.3 s while it pulled new:1b"):
            await pulled(server.url, silent=0.3)
