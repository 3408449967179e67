import asyncio
import importlib
import os
import re
import socket
import sys
import time

import pytest

import core.models.ollama
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
from core.models.address import Address
from core.models.completion import TokenCount
from core.models.ollama.client import Ollama
from core.models.refusal import said
from core.ports import LanguageModel, Prompt
from tests.ollama_server import Behaviour, OllamaServer

ASK = [Prompt("system", "Be brief."), Prompt("user", "What is a blueprint?")]
SCHEMA = {
    "type": "object",
    "properties": {"base": {"type": "string"}, "n": {"type": "integer", "minimum": 2}},
    "required": ["base", "n"],
}


def connect(server: OllamaServer, **given: object) -> Ollama:
    given = {"retries": 0, "backoff": 0.005, "timeout": 10.0, **given}
    return Ollama(server.url, server.model, **given)


def test_the_environment_may_name_several_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "http://gpu1:11434,http://gpu2:11434")
    for module in ("ollama", "ollama._client"):
        monkeypatch.delitem(sys.modules, module)
    importlib.reload(core.models.ollama)
    importlib.import_module("ollama")
    assert os.environ["OLLAMA_HOST"] == "http://gpu1:11434,http://gpu2:11434"


async def text_of(model: LanguageModel, **given: object) -> str:
    options = {"temperature": 0.7, "max_tokens": 100, **given}
    return "".join([piece async for piece in model.stream(ASK, **options)])


async def test_an_answer_streams_and_carries_what_was_asked() -> None:
    async with OllamaServer() as server:
        server.say("A blueprint is a set of views.")
        model = connect(server, num_ctx=2048)
        completion = model.stream(ASK, temperature=0.3, max_tokens=77)
        pieces = [piece async for piece in completion]
        await model.close()
    assert "".join(pieces) == "A blueprint is a set of views."
    assert len(pieces) > 3
    assert completion.finish == "stop"
    assert completion.prompt_tokens > 0 and completion.answer_tokens > 3
    body = server.chats[0].body
    assert body["options"] == {
        "num_ctx": 2048,
        "num_predict": 77,
        "temperature": 0.3,
        "presence_penalty": 0.0,
        "top_p": 0.8,
        "top_k": 20,
        "min_p": 0.0,
    }, "as the card of Qwen3 recommends"
    assert body["keep_alive"] == "30m" and body["stream"] is True
    assert [m["role"] for m in body["messages"]] == ["system", "user"]


FAILURES = [
    ("missing", ModelMissing, r"run `ollama pull qwen3:8b`"),
    ("busy", ModelBusy, r"too much to do.*server busy"),
    ("too_long", ModelRefused, r"too long.*available context size.*OLLAMA_NUM_CTX"),
    ("refused", ModelRefused, r"rejects.*500.*must be of type"),
    ("broken", ModelUnavailable, r"broke down.*500.*Look at its log"),
    ("crashed", ModelUnavailable, r"could not keep qwen3:8b running.*log"),
    ("not_loaded", ModelUnavailable, r"could not keep qwen3:8b running.*failed to load.*less memory"),
    ("faulty_gpu", ModelUnavailable, r"could not keep qwen3:8b running.*CUDA error"),
    ("foreign_name", ServerRefused, r"by this name \(403\).*Host: localhost:11434"),
    ("wall", ServerRefused, r"wants a login \(401 Authorization Required\)"),
    ("timed_out", ModelUnavailable, r"gateway.*\(524\)"),
    ("html", ServerRefused, r"not Ollama.*OLLAMA_HOST"),
    ("error_line", ModelInterrupted, r"broke off.*unexpected EOF.*Ask again"),
    (Behaviour("error_line", after=0), ModelInterrupted, r"broke off"),
    ("cut", ModelInterrupted, r"lost its connection in the middle"),
    ("unfinished", ModelInterrupted, r"lost its connection in the middle"),
    ("garbage", ModelInterrupted, r"lost its connection in the middle"),
    (Behaviour("garbage", after=0), ServerRefused, r"does not speak Ollama's protocol"),
    ("empty", ModelMalformed, r"empty answer"),
    ("thought", ModelMalformed, r"by thinking.*instruction model"),
    ("hang", ModelUnavailable, r"did not begin to answer within 0.5 s.*OLLAMA_TIMEOUT"),
    ("stall", ModelInterrupted, r"fell silent for 0.1 s"),
]


@pytest.mark.parametrize(("kind", "error", "told"), FAILURES, ids=lambda value: str(value)[:40])
async def test_each_failure_has_its_class_and_says_what_to_do(kind: object, error: type, told: str) -> None:
    async with OllamaServer() as server:
        server.script(kind)
        # only what is silent is waited for briefly: on a busy machine everything takes a while
        model = connect(server, **{"hang": {"timeout": 0.5}, "stall": {"pause": 0.1}}.get(str(kind), {}))
        with pytest.raises(ModelError, match=told) as caught:
            await text_of(model)
        await model.close()
    assert type(caught.value) is error


async def test_a_server_that_keeps_to_a_schema_is_seen_once_for_each_version_of_the_model() -> None:
    async with OllamaServer() as server:
        model = connect(server)
        assert (await model.health()).keeps_schema is None
        assert await model.probe() is True and await model.probe() is True
        assert len(server.probes) == 1 and (await model.health()).keeps_schema is True
        assert server.probes[0].body["think"] is False
        assert (await model.structured(ASK, SCHEMA, max_tokens=50))["n"] == 2
        assert server.chats[-1].body["format"] == SCHEMA
        server.digest, server.keeps_schema = "another", False
        assert await model.probe() is False and len(server.probes) == 2
        await model.close()


async def test_where_a_schema_is_ignored_it_is_asked_for_in_words_and_the_first_object_is_taken() -> None:
    async with OllamaServer(keeps_schema=False) as server:
        model = connect(server)
        with pytest.raises(ModelMalformed):
            await model.structured(ASK, SCHEMA, max_tokens=50)
        assert await model.probe() is False and (await model.health()).keeps_schema is False
        before = server.calls
        made = await model.structured(ASK, SCHEMA, max_tokens=200)
        assert made["n"] == 2
        assert server.calls == before + 1, "nothing is asked twice"
        sent = server.chats[-1].body
        assert not sent.get("format") and "Reply with JSON only" in sent["messages"][-1]["content"]
        server.script(Behaviour("length", after=30, text='{"base": "a", "n": 3} and so on ' + "and on " * 50))
        assert (await model.structured(ASK, SCHEMA, max_tokens=200))["n"] == 3, "it was cut behind the object"
        await model.close()


@pytest.mark.parametrize("kind", ["hang", "busy", "missing", "empty", "cut", "no_thinking"])
async def test_a_probe_that_fails_says_nothing_and_is_made_again(kind: str) -> None:
    async with OllamaServer() as server:
        server.probed = Behaviour(kind)  # type: ignore[arg-type]
        model = connect(server, **({"timeout": 0.5} if kind == "hang" else {}))
        assert await model.probe() is None and (await model.health()).keeps_schema is None
        server.probed = Behaviour()
        assert await model.probe() is True
        await model.close()
    model = Ollama("http://127.0.0.1:9", "qwen3:8b", retries=0)
    assert await model.probe() is None
    await model.close()


async def test_no_server_at_all_is_unavailable_and_says_where() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    model = Ollama(f"http://127.0.0.1:{port}", "qwen3:8b", retries=0)
    with pytest.raises(ModelUnavailable, match=rf"127.0.0.1:{port}.*ollama serve"):
        await text_of(model)
    health = await model.health()
    assert not health.ready and "OLLAMA_HOST" in health.problem
    await model.close()


async def test_an_unknown_host_is_unavailable() -> None:
    model = Ollama("http://ollama.invalid:11434", "qwen3:8b", retries=0, timeout=5)
    with pytest.raises(ModelUnavailable, match=r"ollama\.invalid"):
        await text_of(model)
    await model.close()


async def test_a_server_that_accepts_and_closes_is_unavailable() -> None:
    async def close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(close, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        model = Ollama(f"127.0.0.1:{port}", "qwen3:8b", retries=0)
        with pytest.raises(ModelUnavailable):
            await text_of(model)
        await model.close()


async def test_a_cut_answer_ends_quietly_and_is_known() -> None:
    async with OllamaServer() as server:
        server.script(Behaviour("length", after=3, text="One two three four five six."))
        model = connect(server)
        completion = model.stream(ASK, temperature=0.7, max_tokens=50)
        assert "".join([piece async for piece in completion]) == "One two three"
        assert completion.finish == "length"
        await model.close()


# --- trying again ---------------------------------------------------------------------------------


async def test_what_fails_before_any_text_is_tried_again() -> None:
    async with OllamaServer() as server:
        server.script("busy", Behaviour("error_line", after=0), Behaviour(text="Here."))
        model = connect(server, retries=2)
        assert await text_of(model) == "Here."
        await model.close()
    assert server.calls == 3


async def test_it_gives_up_after_two_more_tries() -> None:
    async with OllamaServer() as server:
        server.always = Behaviour("busy")
        model = connect(server, retries=2)
        with pytest.raises(ModelBusy):
            await text_of(model)
        await model.close()
    assert server.calls == 3


@pytest.mark.parametrize("kind", ["error_line", "cut", "missing", "refused"])
async def test_nothing_is_tried_again_after_text_or_where_it_cannot_help(kind: str) -> None:
    async with OllamaServer() as server:
        server.script(kind)
        model = connect(server, retries=2)
        with pytest.raises(ModelError):
            await text_of(model)
        await model.close()
    assert server.calls == 1


async def test_trying_again_is_bounded_in_time() -> None:
    async with OllamaServer() as server:
        server.always = Behaviour("busy")
        model = connect(server, retries=50, backoff=0.02, patience=0.1)
        start = time.monotonic()
        with pytest.raises(ModelBusy):
            await text_of(model)
        assert time.monotonic() - start < 10
        await model.close()
    assert server.calls < 8


async def test_a_reader_that_goes_away_ends_the_servers_work() -> None:
    async with OllamaServer(answer=lambda _: "word " * 500, tokens_per_second=200) as server:
        model = connect(server, timeout=5)
        arrived = asyncio.Event()

        async def read() -> None:
            async for _ in model.stream(ASK, temperature=0.7, max_tokens=1000):
                arrived.set()

        reader = asyncio.create_task(read())
        await arrived.wait()
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        await server.left()
        await model.close()
    assert server.aborted == 1


# --- thinking -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("capabilities", "family", "sent"),
    [
        (("completion", "thinking"), "qwen3", False),
        (("completion", "thinking"), "gptoss", "low"),
        (("completion",), "llama", None),
        (None, "llama", None),
    ],
)
async def test_think_is_sent_only_to_models_that_can(capabilities: object, family: str, sent: object) -> None:
    async with OllamaServer(capabilities=capabilities, family=family) as server:
        model = connect(server)
        await text_of(model)
        await text_of(model)
        await model.close()
    assert [chat.body.get("think") for chat in server.chats] == [sent, sent]
    assert sum(request.path == "/api/show" for request in server.requests) == 1


async def test_a_server_that_refuses_think_after_all_is_asked_without_it() -> None:
    async with OllamaServer() as server:
        server.script("no_thinking", Behaviour(text="Fine."))
        model = connect(server, retries=1)
        assert await text_of(model) == "Fine."
        await model.close()
    assert "think" not in server.chats[1].body


async def test_thinking_is_never_shown() -> None:
    async with OllamaServer() as server:
        server.say("<think>\nThe user asks.\n</think>\n\nThe answer.")
        model = connect(server)
        assert await text_of(model) == "The answer."
        await model.close()


async def test_thinking_without_its_opening_tag_is_held_back_once_it_was_met() -> None:
    async with OllamaServer() as server:
        server.say("Hmm.</think>First.", "Hmm again.</think>\nSecond.", "No tag here.")
        model = connect(server)
        await text_of(model)
        assert await text_of(model) == "Second."
        assert await text_of(model) == "No tag here."
        await model.close()


async def test_a_gateway_without_descriptions_still_works() -> None:
    async with OllamaServer() as server:
        server.describes = False
        server.say("Fine.")
        model = connect(server)
        assert await text_of(model) == "Fine."
        await model.close()


# --- structured output ----------------------------------------------------------------------------


async def test_structured_output_is_asked_for_at_temperature_0_and_checked() -> None:
    async with OllamaServer() as server:
        model = connect(server)
        assert await model.structured(ASK, SCHEMA, max_tokens=60) == {"base": "What is a blueprint?", "n": 2}
        await model.close()
    assert server.chats[0].body["format"] == SCHEMA
    assert server.chats[0].body["options"]["temperature"] == 0


@pytest.mark.parametrize(
    "said",
    [
        '{"base": "x", "n": 3}',
        '```json\n{"base": "x", "n": 3}\n```',
        'Sure! Here it is:\n{"base": "x", "n": 3}\nI hope {that} helps.',
        '<think>{}</think> {oops} {"base": "x", "n": 3}',
    ],
)
async def test_the_first_object_is_taken_from_whatever_stands_around_it(said: str) -> None:
    async with OllamaServer() as server:
        server.say(said)
        model = connect(server)
        assert await model.structured(ASK, SCHEMA, max_tokens=60) == {"base": "x", "n": 3}
        await model.close()


@pytest.mark.parametrize(
    ("behaviour", "told"),
    [
        (Behaviour("length", after=3), "did not finish"),
        (Behaviour(text="Sure! Here it is."), "no JSON"),
        (Behaviour(text="[1, 2]"), "no object"),
        (Behaviour(text="{ not this } but nothing"), "no JSON"),
        (Behaviour(text='{"base": "x"}'), "n is missing"),
        (Behaviour(text='{"base": "x", "n": "2"}'), "n is not of type integer"),
        (Behaviour(text='{"base": "x", "n": 1}'), "n is below 2"),
        (Behaviour(text='{"base": "x", "n": 2.0}'), "n is not of type integer"),
        (Behaviour("empty"), "empty answer"),
    ],
)
async def test_structured_output_that_does_not_fit_is_malformed(behaviour: Behaviour, told: str) -> None:
    async with OllamaServer() as server:
        server.script(behaviour)
        model = connect(server)
        with pytest.raises(ModelMalformed, match=told):
            await model.structured(ASK, SCHEMA, max_tokens=60)
        await model.close()


async def test_json_in_a_fence_is_read() -> None:
    async with OllamaServer() as server:
        server.say('```json\n{"base": "x", "n": 3}\n```')
        model = connect(server)
        assert (await model.structured(ASK, SCHEMA, max_tokens=60))["n"] == 3
        await model.close()


# --- tokens and context ---------------------------------------------------------------------------


def test_the_estimate_is_corrected_upwards_never_down_and_not_without_end() -> None:
    tokens = TokenCount()
    prompt = [Prompt("user", "one two three " * 98)]
    first = tokens.of("one two three " * 100)
    tokens.learn(prompt, 300)
    assert tokens.of("one two three " * 100) == first
    tokens.learn(prompt, 800)
    assert tokens.of("one two three " * 100) == 2 * first
    tokens.learn(prompt, 100_000)
    assert tokens.of("one two three " * 100) == 3 * first


async def test_what_the_server_counts_corrects_the_estimate() -> None:
    async with OllamaServer() as server:
        server.counted = 2_000
        model = connect(server)
        before = model.count_tokens("some text")
        long = [Prompt("user", "Which of these is a blueprint? " * 100)]
        [_ async for _ in model.stream(long, temperature=0.0, max_tokens=50)]
        assert model.count_tokens("some text") > before
        await model.close()


async def test_what_is_thought_has_room_behind_the_prompt() -> None:
    async with OllamaServer(family="gptoss") as server:
        model = connect(server, num_ctx=4096)
        await text_of(model, max_tokens=700)
        options = server.chats[0].body["options"]
        assert options["num_ctx"] == 4096 and model.context_tokens + options["num_predict"] - 700 <= 4096
        await model.close()


async def test_what_a_template_adds_to_a_probe_does_not_shrink_the_room_for_evidence() -> None:
    async with OllamaServer(family="gptoss") as server:
        server.counted = 83  # gpt-oss's own system message stands before every prompt
        model = connect(server)
        before = model.count_tokens("some text " * 100)
        assert await model.probe() is True
        await text_of(model)
        assert model.count_tokens("some text " * 100) == before
        await model.close()


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("How do I register a blueprint with a prefix?", 10),
        ("SECRET_KEY = '192b9bdd22ab9ed4d12e236c78afcb9a393ec15f71bbf5dc987d54727823bcbf'", 40),
        ("版本三如何配置密钥", 9),
        ("", 0),
        ("🎉🎉", 4),
    ],
)
def test_the_estimate_is_not_too_low(text: str, least: int) -> None:
    assert Ollama("", "m").count_tokens(text) >= least


async def test_a_model_trained_for_less_context_lowers_the_window() -> None:
    async with OllamaServer(context_length=2048) as server:
        model = connect(server, num_ctx=8192)
        assert (await model.health()).ready
        assert model.context_tokens == 2048
        await text_of(model)
        await model.close()
    assert server.chats[0].body["options"]["num_ctx"] == 2048


# --- health ---------------------------------------------------------------------------------------


async def test_health_of_a_working_server() -> None:
    async with OllamaServer() as server:
        model = connect(server)
        health = await model.health()
        await model.close()
    assert (health.ready, health.problem, health.model, health.version) == (True, "", "qwen3:8b", "0.12.6")
    assert server.calls == 0


async def test_a_model_named_without_a_tag_is_found_among_those_that_are_loaded() -> None:
    async with OllamaServer(model="mistral:latest") as server:
        model = Ollama(server.url, "mistral", timeout=5)
        await text_of(model)
        size, on_gpu = await model.placement()
        await model.close()
    assert size > on_gpu > 0


async def test_health_names_the_missing_model_and_those_that_are_there() -> None:
    async with OllamaServer(models=["llama3.2:3b", "gemma3:4b"]) as server:
        model = connect(server)
        health = await model.health()
        await model.close()
    assert not health.ready
    assert re.search(r"ollama pull qwen3:8b.*llama3\.2:3b, gemma3:4b", health.problem)


async def test_health_tells_a_model_that_only_embeds() -> None:
    async with OllamaServer(capabilities=["embedding"]) as server:
        model = connect(server)
        health = await model.health()
        await model.close()
    assert not health.ready and "chat model" in health.problem


# --- addresses and error bodies -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "url", "here"),
    [
        ("", "http://127.0.0.1:11434", True),
        ("0.0.0.0", "http://127.0.0.1:11434", True),
        ("gpu-box", "http://gpu-box:11434", False),
        ("gpu-box:8000/", "http://gpu-box:8000", False),
        ("https://llm.example.org/ollama", "https://llm.example.org:443/ollama", False),
        ("[::1]:11434", "http://[::1]:11434", True),
    ],
)
def test_addresses_are_completed(host: str, url: str, here: bool) -> None:
    address = Address.parse(host)
    assert (address.url, address.here) == (url, here)


def test_credentials_are_used_but_not_shown() -> None:
    address = Address.parse("https://bot:s%40cret@llm.example.org")
    assert address.login == ("bot", "s@cret")
    assert "cret" not in address.url


@pytest.mark.parametrize("host", ["http://host:port", "ftp://host", "http://[::1"])
def test_what_is_no_address_is_a_configuration_error(host: str) -> None:
    with pytest.raises(ConfigurationError, match="OLLAMA_HOST"):
        Ollama(host, "m")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("plain", "plain"),
        ({"error": "x"}, "x"),
        ('{"error": "{\\"error\\": {\\"message\\": \\"deep\\"}}"}', "deep"),
        ("[1, 2]", "[1, 2]"),
        ('"quoted"', "quoted"),
    ],
)
def test_error_bodies_are_read_whatever_their_form(body: object, words: str) -> None:
    assert said(body) == words


@pytest.mark.parametrize("host", ["http//127.0.0.1:11434", "http:/127.0.0.1", "https//llm.example.org"])
def test_a_slip_in_http_is_told_instead_of_a_server_that_does_not_answer(host: str) -> None:
    with pytest.raises(ConfigurationError, match="OLLAMA_HOST is not an address"):
        Address.parse(host)
