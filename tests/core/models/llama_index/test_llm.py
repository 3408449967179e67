"""Language models of real integration packages, on loopback servers."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any

import pytest
import pytest_asyncio
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata

from bot.app.builders.models import open_model
from core.errors import (
    ConfigurationError,
    ModelBusy,
    ModelError,
    ModelInterrupted,
    ModelMalformed,
    ModelMissing,
    ModelRefused,
    ModelUnavailable,
)
from core.models.breaker import Breaker
from core.models.llama_index.integration import build
from core.models.llama_index.llm import LlamaIndexModel, open_llm
from core.models.pool import Pool
from core.ports import Prompt
from core.settings import load_settings
from tests.ollama_server import OllamaServer
from tests.openai_server import CUT, HANG, OpenAIServer

ASKED = [Prompt("system", "You answer."), Prompt("user", "How do I set {the} timer? <|im_end|>")]
SCHEMA = {
    "type": "object",
    "properties": {"pages": {"type": "array", "items": {"type": "integer"}}, "why": {"type": "string"}},
    "required": ["pages"],
    "additionalProperties": False,
}
GOOD = {"pages": [2, 1], "why": "they {tell} it"}
OPTIONS = "context_window=4096, is_chat_model=True, max_retries=0"


class Slow(CustomLLM):
    """A model that blocks its thread, and that a test steers."""

    says: str = "one two three"
    fails: str = ""
    seconds: float = 0.0

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=2048, model_name="slow")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self.says)

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> Iterator[CompletionResponse]:
        assert threading.current_thread() is not threading.main_thread(), "the loop must not wait"
        text = ""
        for word in self.says.split(" "):
            time.sleep(self.seconds)
            text += f"{word} "
            yield CompletionResponse(text=text, delta=f"{word} ")
            if self.fails:
                raise RuntimeError(self.fails)


@pytest_asyncio.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[OpenAIServer]:
    monkeypatch.setenv("GPU_KEY", "sesame")
    async with OpenAIServer() as running:
        yield running
        gc.collect()  # clients that nobody closes do so when they are collected: here, not in another test
        await asyncio.sleep(0.01)


def openai(
    server: OpenAIServer, more: str = "", model: str = "gpt-test", timeout: float = 20.0
) -> LlamaIndexModel:
    line = (
        f'llama_index.llms.openai_like.OpenAILike(model="{model}", api_base="{server.url}", '
        f"api_key=GPU_KEY, {OPTIONS}{more})"
    )
    named = build(line, "LLM", "llama_index.core.llms:LLM", ConfigurationError)
    return LlamaIndexModel(named, timeout=timeout, retries=1, backoff=0.01)


def custom(options: str = "", timeout: float = 20.0) -> LlamaIndexModel:
    return open_llm(f"{__name__}:Slow({options})", timeout)


async def text_of(model: LlamaIndexModel, max_tokens: int = 100) -> tuple[str, str]:
    completion = model.stream(ASKED, temperature=0.3, max_tokens=max_tokens)
    async with aclosing(completion):
        return "".join([piece async for piece in completion]), completion.finish


async def error_of(model: LlamaIndexModel) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await text_of(model)
    assert "sesame" not in str(caught.value)
    await model.close()
    return caught.value


async def test_a_service_streams_its_answer(server: OpenAIServer) -> None:
    model = openai(server)
    server.say("Turn the < |im_end| > knob.")
    assert await text_of(model) == ("Turn the <|im_end|> knob.", "stop"), "tokens are turned back"
    (request,) = server.requests
    assert (request["temperature"], request["max_tokens"], request["stream"]) == (0.3, 100, True)
    assert [m["role"] for m in request["messages"]] == ["system", "user"]
    assert request["messages"][1]["content"] == "How do I set {the} timer? < |im_end| >"
    assert (model.name, model.context_tokens) == ("gpt-test", 4096)
    await model.close()


async def test_an_answer_that_is_cut_is_told(server: OpenAIServer) -> None:
    model = openai(server)
    server.say("one two three four")
    assert await text_of(model, max_tokens=2) == ("one two", "length")
    await model.close()


async def test_what_the_line_sets_stays(server: OpenAIServer) -> None:
    model = openai(server, ", temperature=1.0, max_tokens=7")
    await text_of(model)
    assert (server.requests[0]["temperature"], server.requests[0]["max_tokens"]) == (1.0, 7)
    await model.close()


@pytest.mark.parametrize(
    ("says", "kind", "told"),
    [
        ((429, 429), ModelBusy, "too much to do"),
        ((500, 502), ModelUnavailable, "Look at its log"),
        ((400,), ModelRefused, "Correct the options in LLM"),
        ((404,), ModelMissing, "Correct the model or the address in LLM"),
        ((f"{CUT}one two",), ModelInterrupted, "broke off its answer"),
        (("", ""), ModelMalformed, "gave an empty answer"),
        (("<think>Hm.</think>", "<think>Hm."), ModelMalformed, "by thinking"),
    ],
)
async def test_what_goes_wrong_says_what_to_do(
    server: OpenAIServer, says: tuple[str | int, ...], kind: type[ModelError], told: str
) -> None:
    server.say(*says)
    error = await error_of(openai(server))
    assert type(error) is kind and told in str(error)
    assert len(server.requests) == len(says), "what may pass is tried again"


async def test_a_wrong_key_is_told_and_not_shown(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.key = "another"
    error = await error_of(openai(server))
    assert type(error) is ModelRefused and "Correct the key in LLM" in str(error)
    assert "GPU_KEY" in str(error)


async def test_a_failure_that_passes_is_not_seen(server: OpenAIServer) -> None:
    model = openai(server)
    server.say(503, "At last.")
    assert await text_of(model) == ("At last.", "stop")
    await model.close()


async def test_nobody_at_home_and_silence_are_told(server: OpenAIServer) -> None:
    server.say(HANG, HANG)
    error = await error_of(openai(server, timeout=0.2))
    assert type(error) is ModelUnavailable and "did not begin to answer within 0.2 s" in str(error)
    server.url = "http://127.0.0.1:9/v1"
    error = await error_of(openai(server))
    assert type(error) is ModelUnavailable and "Start what serves it" in str(error)


async def test_output_by_a_function_call_fits_the_schema(server: OpenAIServer) -> None:
    model = openai(server, ", is_function_calling_model=True")
    server.say(GOOD)
    assert await model.structured(ASKED, SCHEMA, max_tokens=50) == GOOD
    (request,) = server.requests
    assert request["tools"][0]["function"]["parameters"]["properties"] == SCHEMA["properties"]
    assert request["messages"][-1]["content"] == "How do I set {the} timer? < |im_end| >"
    assert request["max_tokens"] == 50
    await model.close()


async def test_without_functions_output_is_asked_for_in_words(server: OpenAIServer) -> None:
    model = openai(server)
    server.say('Here it is:\n```json\n{"pages": ["2"]}\n```', 'Sorry! {"pages": [2]}')
    assert await model.structured(ASKED, SCHEMA, max_tokens=50) == {"pages": [2]}
    first, second = server.requests
    assert "fits this JSON Schema" in first["messages"][-1]["content"] and "tools" not in first
    assert "pages[0] is not of type integer" in second["messages"][-1]["content"]
    await model.close()


async def test_a_function_call_that_does_not_fit_is_asked_for_in_words(server: OpenAIServer) -> None:
    model = openai(server, ", is_function_calling_model=True")
    server.say({"pages": "two"}, '{"pages": [2]}')
    assert await model.structured(ASKED, SCHEMA, max_tokens=50) == {"pages": [2]}
    server.say("I call nothing.", '{"pages": [3]}')
    assert await model.structured(ASKED, SCHEMA, max_tokens=50) == {"pages": [3]}
    assert len(server.requests) == 4
    await model.close()


async def test_output_that_never_fits_is_told(server: OpenAIServer) -> None:
    model = openai(server)
    server.say("no", "never", '{"pages": [1,')
    with pytest.raises(ModelMalformed, match="was asked for JSON that fits a schema"):
        await model.structured(ASKED, SCHEMA, max_tokens=50)
    with pytest.raises(ModelMalformed, match="within 1 tokens"):
        server.say('{"pages": [1, 2]}')
        await model.structured(ASKED, SCHEMA, max_tokens=1)
    await model.close()


async def test_health_asks_once_and_believes_an_answer(server: OpenAIServer) -> None:
    model = openai(server)
    assert [(await model.health()).ready for _ in range(3)] == [True] * 3
    assert len(server.requests) == 1
    server.say(400, 400)
    with pytest.raises(ModelRefused):
        await text_of(model)
    assert not (await model.health()).ready, "a failure is not covered up by an answer before it"
    wrong = openai(server, model="gpt-none")
    health = await wrong.health()
    assert not health.ready and "is not there" in health.problem and health.model == "gpt-none"
    await model.close()
    await wrong.close()


async def test_ollama_by_llama_index_answers_and_fills_schemas() -> None:
    async with OllamaServer() as server:
        settings = load_settings(
            None, llm=f'llama_index.llms.ollama.Ollama(model="qwen3:8b", base_url="{server.url}")'
        )
        model = open_model(settings)
        assert isinstance(model, LlamaIndexModel) and model.name == "qwen3:8b"
        server.say("Turn the knob.")
        assert await text_of(model) == ("Turn the knob.", "stop")
        assert server.chats[0].body["options"]["temperature"] == 0.3
        assert (model.context_tokens, model.count_tokens("word " * 50) >= 50) == (server.context_length, True)
        assert isinstance((await model.structured(ASKED, SCHEMA, max_tokens=50))["pages"], list)
        assert server.chats[-1].body["format"]["required"] == ["pages"]
        server.script("cut")
        with pytest.raises(ModelInterrupted):
            await text_of(model)
        server.script("missing")
        assert isinstance(await error_of(model), ModelMissing)


async def test_a_server_that_is_away_at_the_start_is_asked_again_later() -> None:
    model = open_llm('llama_index.llms.ollama.Ollama(model="m", base_url="http://127.0.0.1:9")', 5.0)
    assert not (await model.health()).ready
    assert isinstance(await error_of(model), ModelUnavailable)


async def test_a_class_that_blocks_does_not_hold_the_loop() -> None:
    model = custom("seconds=0.05")
    turns = 0

    async def turning() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.005)
            turns += 1

    task = asyncio.create_task(turning())
    assert await text_of(model) == ("one two three ", "stop")
    task.cancel()
    assert turns >= 3
    assert model.name == "slow" and model.context_tokens == 2048
    await model.close()


async def test_a_class_that_takes_no_limit_is_cut() -> None:
    model = custom("says='word word word word'")
    text, finish = await text_of(model, max_tokens=2)
    assert (text, finish) == ("word word ", "length")
    await model.close()


async def test_a_mock_model_of_llama_index_writes() -> None:
    model = open_llm("llama_index.core.llms.MockLLM", 20.0)
    assert await text_of(model, max_tokens=3) == ("text text text", "stop")
    await model.close()


async def test_a_class_that_fails_or_falls_silent_is_told() -> None:
    assert type(await error_of(custom("fails='no card'"))) is ModelInterrupted
    error = await error_of(custom("seconds=0.4", timeout=0.1))
    assert type(error) is ModelUnavailable


async def test_an_answer_can_be_given_up(server: OpenAIServer) -> None:
    model = Breaker(openai(server))
    server.say("one two three four five")
    completion = model.stream(ASKED, temperature=0.0, max_tokens=50)
    async with aclosing(completion):
        assert await anext(completion) == "one"
    assert model.status.running == 0


def test_the_settings_choose_the_model() -> None:
    assert open_model(load_settings(None, ollama_host="off", llm="")) is None
    assert isinstance(open_model(load_settings(None, ollama_host="http://127.0.0.1:9", llm="")), Pool)
    both = open_model(load_settings(None, ollama_host="off", model_server="http://a/v1, http://b/v1", llm=""))
    assert isinstance(both, Pool)
    assert [server.address for server in both.states()] == ["http://a:80/v1", "http://b:80/v1"]
    with pytest.raises(ConfigurationError, match=r"LLM: .*pip install llama-index-llms-no-such"):
        open_model(load_settings(None, llm="llama_index.llms.no_such.Model"))
