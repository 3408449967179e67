"""Another embedder on the whole bot: tried, switched to, calibrated by itself, and switched back from."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bot.app.bootstrap import build
from bot.commands.command_line import handle, status_of
from core.domain import Question, Vote
from core.errors import UsageError
from core.memory.decision import LEARNED
from core.models.embedding.encoder import PACKAGED
from core.ports import Matrix
from evaluation.commands.embedder import Tried, advice
from tests.journeys.house import Kettle, house
from tests.journeys.kettle import PORTS, RETRIES
from tests.ollama_server import OllamaServer
from tests.shared_processes import SHARED
from tests.shared_vectors import one_for_all

PORT = "Which port does the dashboard listen on?"
AGAIN = "What port does the dashboard listen on by default?"
OTHER = "How often is a failed job tried again?"
ELSEWHERE = 1.5
"""What is added to each vector in a direction of its own: cosines c become (c + 2.25) / 3.25."""
MODEL = "ollama:nomic-embed-text"
GOLD = [
    ("port", PORT, "dashboard.rst", f"port {PORTS['2.0']}"),
    ("retries", OTHER, "jobs.md", RETRIES["2.0"]),
]


@pytest.fixture
async def server(encoder_cache: Path) -> AsyncIterator[OllamaServer]:
    """An Ollama with MiniLM's own vectors, all moved nearer to one another."""
    minilm = await asyncio.to_thread(one_for_all, PACKAGED, encoder_cache)

    async def encode(texts: list[str]) -> Matrix:
        said = [text.partition(": ")[2] if text.startswith("search_") else text for text in texts]
        rows = await minilm.encode(said)
        return np.hstack([rows, np.full((len(rows), 1), ELSEWHERE, np.float32)])

    async with OllamaServer(models=["nomic-embed-text:latest"]) as running:
        running.encode = encode
        yield running


def moved(cosine: float) -> float:
    return (cosine + ELSEWHERE**2) / (1 + ELSEWHERE**2)


def using(kettle: Kettle, server: OllamaServer, **more: Any) -> Any:
    settings = kettle.settings(embedding_model=MODEL, ollama_host=server.url, fast=True, **more)
    return build(settings, "test", processes=SHARED)


async def test_index_answer_switch_recalibrate_and_switch_back(kettle: Kettle, server: OllamaServer) -> None:
    async with house(kettle) as bot:
        answer = await bot.app.engine.answer(Question(PORT, "cli"))
        for voter in ("slack:U1", "slack:U2"):
            await bot.app.engine.feedback(Vote(answer.id, voter, 1))
        again = await bot.app.engine.answer(Question(AGAIN, "cli"))
        assert again.route == "reuse" and again.similarity is not None
        before = again.similarity
    async with using(kettle, server) as app:
        problems = (await status_of(app))["problems"]
        assert any("run `threadlore index --rebuild`" in problem for problem in problems)
        assert PORTS["2.0"] in (await app.engine.answer(Question(PORT, "cli"))).text, "the old index answers"
        assert app.memory.decision == LEARNED, "memory goes by the embedder that made the index"
        (done, *_) = await app.corpus_manager.reindex("2.0", rebuild=True)
        assert done.corpus.encoder.startswith(f"{MODEL}@") and server.digest[:12] in done.corpus.encoder
        assert app.memory.decision.reach == pytest.approx(moved(LEARNED.reach), abs=0.01)
        assert app.memory.thresholds.tau == pytest.approx(moved(0.6), abs=0.01)
        again = await app.engine.answer(Question(AGAIN, "cli"))
        assert again.route == "reuse" and again.similarity == pytest.approx(moved(before), abs=0.01)
        other = await app.engine.answer(Question(OTHER, "cli"))
        assert other.route != "reuse" and RETRIES["2.0"] in other.text
    sent = server.embedded_texts
    assert f"search_query: {AGAIN}" in sent
    assert not any(text == f"search_document: {AGAIN}" for text in sent), "memory compares questions"
    assert any(text.startswith("search_document: ") and PORTS["2.0"] in text for text in sent)
    counted = len(sent)
    async with using(kettle, server) as app:
        assert app.memory.decision.reach == pytest.approx(moved(LEARNED.reach), abs=0.01)
    assert len(server.embedded_texts) - counted < 20, "thresholds are measured once"
    await server.__aexit__()
    async with house(kettle) as bot:  # MiniLM again, and Ollama is gone
        await bot.app.corpus_manager.reindex("2.0", rebuild=True)
        assert bot.app.memory.decision == LEARNED
        again = await bot.app.engine.answer(Question(AGAIN, "cli"))
        assert again.route == "reuse" and again.similarity == pytest.approx(before, abs=1e-4)


async def test_a_version_that_was_pulled_anew_is_noticed(kettle: Kettle, server: OllamaServer) -> None:
    async with using(kettle, server) as app:
        await app.corpus_manager.reindex("2.0", rebuild=True)
    server.digest = "e" * 64
    async with using(kettle, server) as app:
        problems = (await status_of(app))["problems"]
        assert any("2.0 was embedded by" in p and "index --rebuild" in p for p in problems)


async def written(kettle: Kettle) -> Path:
    lines = [
        {
            "id": name,
            "type": "how_to",
            "question": question,
            "release": "2.0",
            "gold_file": file,
            "evidence": [evidence],
        }
        for name, question, file, evidence in GOLD
    ]
    path = kettle.folder / "gold.jsonl"
    await asyncio.to_thread(path.write_text, "".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


async def test_another_embedder_is_tried_beside_the_one_in_use(kettle: Kettle, server: OllamaServer) -> None:
    gold, said = await written(kettle), list[str]()

    async def send(message: dict[str, Any]) -> None:
        if "line" in message:
            said.append(message["line"])

    request = {"command": "embedder", "action": "try", "model": MODEL, "gold": str(gold)}
    async with house(kettle, ollama_host=server.url) as bot:
        corpora = await bot.app.corpora.live()
        await handle(bot.app, request, send)
        assert await bot.app.corpora.live() == corpora, "the index in use is left alone"
        with pytest.raises(UsageError, match="in use already"):
            await handle(bot.app, {**request, "model": PACKAGED}, send)
    table, indexed, advice = said
    assert "2 questions" in table and f"{PACKAGED}@256 (in use)" in table and f"{MODEL}@" in table
    assert "| hit@1 | 1.000 | 1.000 |" in table
    assert "ms a text" in table and "ms a question" in table and "passages were read" in indexed
    assert advice.endswith("no clear difference. Nothing was changed.")


@pytest.mark.parametrize(
    ("ours", "theirs", "said"),
    [
        ((1, 2, 0), (1, 1, 3), "higher for 2 questions, lower for 0: no clear difference"),
        ((2,) * 9, (1,) * 9, "set EMBEDDING_MODEL=other, start again, and run `threadlore index --rebuild`"),
        ((1,) * 9, (0,) * 9, "a switch would make it worse"),
        ((1,), (1,), "higher for 0 questions, lower for 0: no clear difference"),
    ],
)
def test_a_switch_is_advised_only_where_it_is_no_accident(
    ours: tuple[int, ...], theirs: tuple[int, ...], said: str
) -> None:
    assert said in advice("other", Tried("a", ours, 1.0, 1.0), Tried("b", theirs, 1.0, 1.0))
