from __future__ import annotations

import asyncio
import socket

import pytest

from core.errors import (
    ConfigurationError,
    ModelBusy,
    ModelError,
    ModelInterrupted,
    ModelMalformed,
    ModelMissing,
    ModelRefused,
    ModelUnavailable,
    ServerRefused,
)
from core.models.breaker import Breaker
from core.models.openai.client import OpenAIModel
from core.models.pool import Pool
from core.ports import LanguageModel, Prompt
from tests.openai_wire import Behaviour, OpenAIServer

ASK = [Prompt("system", "Be brief."), Prompt("user", "What is a blueprint?")]
SCHEMA = {
    "type": "object",
    "properties": {"base": {"type": "string"}, "n": {"type": "integer", "minimum": 2}},
    "required": ["base", "n"],
}


def connect(server: OpenAIServer, **given: object) -> OpenAIModel:
    given = {"retries": 0, "backoff": 0.005, "timeout": 10.0, "key": server.key, **given}
    return OpenAIModel(server.url, server.model, **given)


async def text_of(model: LanguageModel, **given: object) -> str:
    options = {"temperature": 0.7, "max_tokens": 100, **given}
    return "".join([piece async for piece in model.stream(ASK, **options)])


async def test_an_answer_streams_and_carries_what_was_asked() -> None:
    async with OpenAIServer(key="s3cret") as server:
        server.say("A blueprint is a set of views.")
        model = connect(server)
        completion = model.stream(ASK, temperature=0.3, max_tokens=77)
        pieces = [piece async for piece in completion]
        await model.close()
    assert "".join(pieces) == "A blueprint is a set of views."
    assert len(pieces) > 3 and completion.finish == "stop"
    assert completion.prompt_tokens > 0 and completion.answer_tokens == len(pieces)
    body = server.chats[0].body
    assert body.pop("messages") == [{"role": p.role, "content": p.content} for p in ASK]
    assert body == {
        "model": "Qwen/Qwen3-8B",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 77,
        "temperature": 0.3,
        "presence_penalty": 0.0,
        "top_p": 0.8,
        "top_k": 20,
        "min_p": 0.0,
        "chat_template_kwargs": {"enable_thinking": False},
    }, "as the card of Qwen3 recommends"
    assert not server.refused and set(server.keys) == {"Bearer s3cret"}


async def test_nothing_of_the_environment_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    async with OpenAIServer() as server:
        model = connect(server)
        await text_of(model)
        await model.close()
    sent = {name.lower(): value for name, value in server.headers[0].items()}
    assert not {"openai-organization", "openai-project"} & sent.keys()
    assert sent["authorization"] == "Bearer none"


FAILURES = [
    ("busy", ModelBusy, r"too much to do.*queue"),
    ("loading", ModelBusy, r"too much to do.*Loading model"),
    ("too_long", ModelRefused, r"too long.*maximum context length.*longer context"),
    ("too_long_event", ModelRefused, r"too long.*longer than the model"),
    ("too_long_lmstudio", ModelRefused, r"too long.*greater than the context length.*longer context"),
    ("crashed", ModelUnavailable, r"broke down.*EngineCore.*log"),
    ("gateway", ModelUnavailable, r"gateway.*502"),
    ("timed_out", ModelUnavailable, r"gateway.*524"),
    ("html", ServerRefused, r"not an OpenAI-compatible server.*MODEL_SERVER"),
    ("page", ServerRefused, r"does not speak OpenAI's protocol.*MODEL_SERVER"),
    ("error_event", ModelInterrupted, r"broke off.*engine dead.*Ask again"),
    (Behaviour("error_event", after=0), ModelUnavailable, r"broke down.*engine dead"),
    (Behaviour("cut", after=0), ModelInterrupted, r"lost its connection"),
    ("cut", ModelInterrupted, r"lost its connection in the middle"),
    ("unfinished", ModelInterrupted, r"lost its connection in the middle"),
    ("garbage", ModelInterrupted, r"lost its connection in the middle"),
    (Behaviour("garbage", after=0), ServerRefused, r"does not speak OpenAI's protocol"),
    (Behaviour("foreign", after=0), ServerRefused, r"does not speak OpenAI's protocol"),
    ("abort", ModelInterrupted, r"broke off.*abort"),
    ("empty", ModelMalformed, r"empty answer.*MODEL_NAME"),
    ("thought", ModelMalformed, r"by thinking.*MODEL_NAME.*instruction model"),
    ("hang", ModelUnavailable, r"did not begin to answer within 0.5 s.*OLLAMA_TIMEOUT"),
    ("role_hang", ModelUnavailable, r"did not begin to answer within 0.5 s"),
    ("stall", ModelInterrupted, r"fell silent for 0.1 s"),
]


@pytest.mark.parametrize(("kind", "error", "told"), FAILURES, ids=lambda value: str(value)[:40])
async def test_each_failure_has_its_class_and_says_what_to_do(kind: object, error: type, told: str) -> None:
    async with OpenAIServer() as server:
        server.script(kind)
        brief = {"timeout": 0.5}
        given = {"hang": brief, "role_hang": brief, "stall": {"pause": 0.1}}.get(str(kind), {})
        model = connect(server, **given)
        with pytest.raises(ModelError, match=told) as caught:
            await text_of(model)
        await model.close()
    assert type(caught.value) is error
    assert not server.refused


@pytest.mark.parametrize("kind", ["vllm", "sglang"])
async def test_errors_are_read_in_either_shape(kind: str) -> None:
    async with OpenAIServer(kind=kind) as server:  # type: ignore[arg-type]
        server.script("too_long")
        model = connect(server)
        with pytest.raises(ModelRefused, match=r"maximum context length is 8192 tokens"):
            await text_of(model)
        await model.close()


@pytest.mark.parametrize("kind", ["vllm", "sglang"])
async def test_what_was_sent_is_not_told_with_a_refusal(kind: str) -> None:
    async with OpenAIServer(kind=kind) as server:  # type: ignore[arg-type]
        server.script("echo")
        model = connect(server)
        with pytest.raises(ModelRefused, match="Extra inputs") as caught:
            await text_of(model)
        assert "blueprint" not in str(caught.value)
        await model.close()


async def test_a_model_that_is_not_there_is_told_with_those_that_are() -> None:
    async with OpenAIServer(model="mistral-7b") as server:
        model = OpenAIModel(server.url, "Qwen/Qwen3-8B", retries=0)
        with pytest.raises(ModelMissing, match=r"does not have Qwen/Qwen3-8B.*MODEL_NAME.*mistral-7b"):
            await text_of(model)
        assert not (await model.health()).ready
        await model.close()
        server.lists = False
        model = OpenAIModel(server.url, "Qwen/Qwen3-8B", retries=0)
        with pytest.raises(ModelMissing, match=r"does not have Qwen/Qwen3-8B"):
            await text_of(model)
        await model.close()


async def test_a_wrong_key_says_which_setting_to_set() -> None:
    async with OpenAIServer(key="right") as server:
        model = connect(server, key="wrong")
        with pytest.raises(ServerRefused, match=r"wants a login.*MODEL_KEY"):
            await text_of(model)
        assert "MODEL_KEY" in (await model.health()).problem
        await model.close()


async def test_no_server_at_all_is_unavailable_and_says_where() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    model = OpenAIModel(f"http://127.0.0.1:{port}/v1", "m", retries=0)
    with pytest.raises(ModelUnavailable, match=rf"127.0.0.1:{port}.*MODEL_SERVER"):
        await text_of(model)
    assert "MODEL_SERVER" in (await model.health()).problem
    await model.close()


def test_an_address_is_completed_and_shown_without_its_login() -> None:
    assert OpenAIModel("gpu", "m").address == "http://gpu:8000/v1"
    assert OpenAIModel("http://ada:pw@gpu:1234/", "m").address == "http://gpu:1234/v1"
    assert OpenAIModel("https://gpu.example/llm/v1", "m").address == "https://gpu.example:443/llm/v1"
    with pytest.raises(ConfigurationError, match="MODEL_SERVER must begin with http"):
        OpenAIModel("ftp://gpu", "m")


# --- what a server is and knows -------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["vllm", "sglang", "llamacpp", "plain"])
async def test_name_and_context_are_asked_of_the_server(kind: str) -> None:
    async with OpenAIServer(kind=kind, context_length=4096) as server:  # type: ignore[arg-type]
        model = OpenAIModel(server.url, "", retries=0)
        health = await model.health()
        assert health.ready and health.model == server.model == model.name
        assert model.context_tokens == (8192 if kind == "plain" else 4096)
        assert health.version.startswith("vllm 0.15.0" if kind == "vllm" else "" if kind == "plain" else kind)
        assert await text_of(model)
        await model.close()


async def test_no_model_that_embeds_is_asked_to_write() -> None:
    async with OpenAIServer(kind="lmstudio", model="qwen3-8b") as server:
        server.others = ["text-embedding-nomic-embed-text-v1.5", "bge-m3"]  # as LM Studio comes with one
        model = OpenAIModel(server.url, "", retries=0)
        assert (await model.health()).model == "qwen3-8b" and await text_of(model)
        await model.close()


@pytest.mark.parametrize("kind", ["lmstudio", "ollama"])
async def test_how_long_a_context_a_model_was_loaded_with_is_asked_once_it_is_loaded(kind: str) -> None:
    async with OpenAIServer(kind=kind, context_length=6000) as server:  # type: ignore[arg-type]
        made = connect(server)
        model = Breaker(Pool([made], opened=lambda _: made))
        assert (await model.health()).version == kind and model.context_tokens == 4096
        assert await model.probe() is True and model.context_tokens == 6000
        assert await text_of(model) and model.context_tokens == 6000
        await made.close()
        made = connect(server, context_tokens=3000)
        assert await text_of(made) and made.context_tokens == 3000
        await made.close()


async def test_a_model_is_called_what_the_server_calls_it() -> None:
    async with OpenAIServer(kind="llamacpp", model="smollm2-135m") as server:
        model = OpenAIModel(server.url, "gpt-5", retries=0)
        health = await model.health()
        assert health.ready and health.model == model.name == "smollm2-135m"
        server.script("too_long")
        with pytest.raises(ModelRefused, match="too long for smollm2-135m"):
            await text_of(model)
        await model.close()


async def test_a_server_that_lists_no_models_is_asked_all_the_same() -> None:
    async with OpenAIServer() as server:
        server.lists = False
        model = connect(server)
        assert await text_of(model)
        assert not (await model.health()).ready
        await model.close()


async def test_what_a_server_does_not_know_is_left_out_from_then_on() -> None:
    async with OpenAIServer(kind="plain") as server:
        model = connect(server)
        assert await model.probe() is True
        assert await text_of(model) and len(server.refused) == 3
        assert await text_of(model) and len(server.refused) == 3, "it is remembered"
        assert not {"chat_template_kwargs", "top_k", "min_p"} & server.chats[0].body.keys()
        assert server.chats[0].body["temperature"] == 0.7
        await model.close()


async def test_a_model_of_openai_that_thinks_is_asked_as_it_takes_it() -> None:
    async with OpenAIServer(kind="plain", model="gpt-5-mini") as server:
        server.always_thinks = True
        model = connect(server)
        assert await text_of(model, max_tokens=50)
        body = server.chats[0].body
        assert body["max_completion_tokens"] == 50 + 1024 and body["reasoning_effort"] == "low"
        assert not {"max_tokens", "temperature"} & body.keys()
        asked = len(server.refused)
        assert await text_of(model) and len(server.refused) == asked, "it is remembered"
        await model.close()


async def test_a_refusal_that_is_about_nothing_optional_is_told() -> None:
    async with OpenAIServer(refuses=["temperature"]) as server:
        model = connect(server)
        with pytest.raises(ModelRefused, match=r"rejects the request.*temperature"):
            await text_of(model)
        await model.close()


# --- thinking, and control tokens -----------------------------------------------------------------


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_thinking_is_not_shown(field: str) -> None:
    async with OpenAIServer(reasoning=field) as server:
        server.thinks = "The user wants a number."
        server.say("Nine.", "<think>Hm.</think>Ten.")
        model = connect(server)
        assert await text_of(model) == "Nine."
        assert await text_of(model) == "Ten."
        await model.close()


async def test_a_model_that_always_thinks_is_told_to_think_little_and_gets_room() -> None:
    async with OpenAIServer(model="openai/gpt-oss-20b") as server:
        model = connect(server)
        await text_of(model, max_tokens=50)
        assert server.chats[0].body["reasoning_effort"] == "low"
        assert server.chats[0].body["max_tokens"] == 50 + 1024
        await model.close()


async def test_what_is_thought_has_room_behind_the_prompt() -> None:
    async with OpenAIServer(model="openai/gpt-oss-20b", context_length=4096) as server:
        model = connect(server)
        await text_of(model, max_tokens=700)
        assert model.context_tokens + server.chats[0].body["max_tokens"] - 700 <= 4096
        await model.close()
    async with OpenAIServer(model="openai/gpt-oss-20b", context_length=131072) as server:
        model = connect(server)
        await text_of(model)
        assert model.context_tokens == 8192
        await model.close()


async def test_control_tokens_reach_the_server_as_text_and_come_back_as_they_were() -> None:
    async with OpenAIServer(answer=lambda asked: asked.messages[-1]["content"]) as server:
        model = connect(server)
        text = "What does <|im_end|> mean? /no_think <s>"
        pieces = model.stream([Prompt("user", text)], temperature=0.0, max_tokens=200)
        assert "".join([piece async for piece in pieces]) == text
        sent = server.chats[0].messages[0]["content"]
        assert "<|im_end|>" not in sent and "/no_think" not in sent and "<s>" not in sent
        await model.close()


# --- output by a schema ---------------------------------------------------------------------------


async def test_output_by_a_schema_is_asked_for_by_the_wire() -> None:
    async with OpenAIServer() as server:
        model = connect(server)
        assert (await model.structured(ASK, SCHEMA, max_tokens=60))["n"] == 2
        body = server.chats[0].body
        assert body["temperature"] == 0.0 and body["response_format"]["type"] == "json_schema"
        assert body["response_format"]["json_schema"]["schema"] == SCHEMA
        assert await model.probe() is True and await model.probe() is True
        assert len(server.probes) == 1, "seen once"
        await model.close()


async def test_a_server_that_refuses_schemas_is_asked_in_words() -> None:
    async with OpenAIServer(takes_schema=False) as server:
        model = connect(server)
        assert (await model.structured(ASK, SCHEMA, max_tokens=200))["n"] == 2
        assert len(server.refused) == 1 and "Reply with JSON only" in server.chats[0].prompt
        assert (await model.structured(ASK, SCHEMA, max_tokens=200))["n"] == 2
        assert len(server.refused) == 1, "it is remembered"
        assert await model.probe() is False and (await model.health()).keeps_schema is False
        await model.close()


@pytest.mark.parametrize("ignores", [True, False], ids=["ignores it", "thinks by it"])
async def test_a_server_that_does_not_keep_to_a_schema_is_seen_by_a_probe(ignores: bool) -> None:
    async with OpenAIServer(keeps_schema=not ignores) as server:
        if not ignores:
            server.probed = Behaviour("schema_thought")
        model = connect(server)
        assert await model.probe() is False
        made = await model.structured(ASK, SCHEMA, max_tokens=200)
        assert made["n"] == 2 and "response_format" not in server.chats[0].body
        await model.close()


async def test_a_probe_that_was_cut_within_its_object_tells_nothing() -> None:
    # a real vLLM with random weights: a schema lets it write blanks without end
    async with OpenAIServer() as server:
        server.probed = Behaviour("length", after=1, text="{\r" + " " * 200)
        model = connect(server)
        assert await model.probe() is None and (await model.health()).keeps_schema is None
        await model.structured(ASK, SCHEMA, max_tokens=60)
        assert "response_format" in server.chats[0].body
        server.probed = Behaviour("length", after=2, text="Grass has the colour green.")
        assert await model.probe() is False
        await model.close()


async def test_output_that_was_cut_or_does_not_fit_is_malformed_and_not_asked_again() -> None:
    async with OpenAIServer() as server:
        model = connect(server, retries=2)
        server.script("length")
        with pytest.raises(ModelMalformed, match="did not finish"):
            await model.structured(ASK, SCHEMA, max_tokens=60)
        server.say('{"base": "a", "n": 1}')
        with pytest.raises(ModelMalformed, match=r"n is below 2"):
            await model.structured(ASK, SCHEMA, max_tokens=60)
        assert server.calls == 2
        await model.close()


# --- ends -----------------------------------------------------------------------------------------


async def test_a_cut_answer_ends_quietly_and_is_known() -> None:
    async with OpenAIServer() as server:
        server.script(Behaviour("length", after=3, text="One two three four five six."))
        model = connect(server)
        completion = model.stream(ASK, temperature=0.7, max_tokens=50)
        assert "".join([piece async for piece in completion]) == "One two three"
        assert completion.finish == "length"
        await model.close()


async def test_an_answer_that_a_filter_cut_is_not_whole() -> None:
    async with OpenAIServer() as server:
        server.script(Behaviour("filtered", after=3, text="One two three four five six."))
        model = connect(server)
        completion = model.stream(ASK, temperature=0.7, max_tokens=50)
        assert "".join([piece async for piece in completion]) == "One two three"
        assert completion.finish == "length"
        server.script(Behaviour("filtered", after=0))
        with pytest.raises(ModelMalformed, match="empty answer"):
            await text_of(model)
        await model.close()


async def test_an_answer_is_whole_though_its_connection_ends_behind_it() -> None:
    async with OpenAIServer() as server:
        server.script(Behaviour("undone", text="All of it."))
        model = connect(server)
        assert await text_of(model) == "All of it."
        await model.close()


async def test_a_busy_server_is_asked_again_when_it_wants_to_be() -> None:
    async with OpenAIServer() as server:
        server.script("busy", "answer")
        model = connect(server, retries=1, patience=20.0)
        before = asyncio.get_running_loop().time()
        assert await text_of(model)
        assert server.calls == 2 and asyncio.get_running_loop().time() - before >= 1.0
        await model.close()


async def test_giving_up_an_answer_closes_its_connection() -> None:
    async with OpenAIServer(tokens_per_second=20.0) as server:
        model = connect(server)
        completion = model.stream(ASK, temperature=0.7, max_tokens=50)
        await anext(completion)
        await completion.aclose()
        async with asyncio.timeout(20.0):
            while not server.aborted:
                await asyncio.sleep(0.01)
        await model.close()
