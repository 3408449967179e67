"""The whole bot on integrations of llama-index: embedder, reranker and model, each by one line."""

from __future__ import annotations

from bot.commands.command_line import status_of
from bot.rendering.status import status_text
from core.domain import Question
from tests.journeys.fake_stage import FakeStage
from tests.journeys.house import Kettle, house
from tests.journeys.kettle import PORTS
from tests.journeys.stage import ask
from tests.ollama_server import OllamaServer

PORT = "Which port does the dashboard listen on?"


async def test_embedder_reranker_and_model_can_all_be_of_llama_index(kettle: Kettle) -> None:
    async with OllamaServer() as server:
        lines = {
            "llm": f'llama_index.llms.ollama.Ollama(model="qwen3:8b", base_url="{server.url}")',
            "embedding_model": (
                "llama_index.embeddings.ollama.OllamaEmbedding("
                f'model_name="qwen3:8b", base_url="{server.url}", num_workers=2)'
            ),
            "reranker_model": "llama_index.core.postprocessor.SimilarityPostprocessor",
        }
        async with house(kettle, **lines) as bot:
            (done,) = await bot.app.corpus_manager.reindex("2.0", rebuild=True)
            assert done.corpus.encoder == f"{lines['embedding_model']}@512"
            seen = await ask(FakeStage(bot), PORT)
            assert PORTS["2.0"] in seen.text and "written from the documentation" in seen.text
            asked = server.chats[-1].prompt
            assert PORTS["2.0"] in asked and PORTS["1.0"] not in asked, "the release is kept to"
            told = status_text(await status_of(bot.app))
            assert "qwen3:8b" in told
        async with house(kettle, **{**lines, "llm": "", "embedding_model": "all-MiniLM-L6-v2"}) as bot:
            answer = await bot.app.engine.answer(Question(PORT))
            assert PORTS["2.0"] in answer.text, "a corpus is searched with what embedded it"


async def test_a_model_of_llama_index_that_fails_leaves_a_whole_answer(kettle: Kettle) -> None:
    async with house(
        kettle, llm='llama_index.llms.ollama.Ollama(model="m", base_url="http://127.0.0.1:9")'
    ) as bot:
        seen = await ask(FakeStage(bot), PORT)
        assert PORTS["2.0"] in seen.text and "quote" in seen.text
        told = status_text(await status_of(bot.app))
        assert "m does not answer" in told and "LLM" in told
