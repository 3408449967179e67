"""Several servers of one model: who is asked, what happens when one of them fails, comes or goes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from core.errors import ModelBusy, ModelInterrupted, ModelMissing, ModelRefused, ModelUnavailable, UsageError
from core.models.breaker import Breaker
from core.models.completion import Writer
from core.models.ollama.client import Ollama
from core.models.openai.client import OpenAIModel
from core.models.pool import Pool
from core.ports import LanguageModel, Prompt
from tests.ollama_server import OllamaServer
from tests.openai_wire import Behaviour, OpenAIServer
from tests.patience import PATIENCE

ASK = [Prompt("user", "What is a blueprint?")]
SCHEMA = {"type": "object", "properties": {"base": {"type": "string"}}, "required": ["base"]}
NOBODY = "http://127.0.0.1:9/v1"


def opened(url: str, **given: Any) -> Writer:
    return OpenAIModel(url, "", retries=0, **{"timeout": 10.0, **given})


def test_certificates_are_read_once_for_all_servers() -> None:
    def checked_by(model: Any) -> object:
        http = model._server.client._client
        return http._transport._pool._ssl_context

    theirs = [Ollama("https://a.example", "m"), OpenAIModel("https://b.example/v1", "")]
    ours = [Ollama("127.0.0.1", "m"), OpenAIModel("http://127.0.0.1:1/v1", "")]
    assert len({id(checked_by(model)) for model in theirs}) == 1
    assert len({id(checked_by(model)) for model in ours}) == 1
    assert checked_by(theirs[0]) is not checked_by(ours[0]), "here the environment does not count"


@asynccontextmanager
async def pool(*servers: OpenAIServer | str, timeout: float = 10.0, **given: Any) -> AsyncIterator[Pool]:
    def made(url: str) -> Writer:
        return opened(url, timeout=timeout)

    urls = [server if isinstance(server, str) else server.url for server in servers]
    model = Pool([made(url) for url in urls], opened=made, **{"retries": 0, "rest": 0.2, **given})
    try:
        yield model
    finally:
        await model.close()


async def text_of(model: LanguageModel) -> str:
    return "".join([piece async for piece in model.stream(ASK, temperature=0.0, max_tokens=100)])


async def until(seen: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not seen():
            await asyncio.sleep(0.01)


def states(model: Pool) -> list[str]:
    return [server.state for server in model.states()]


# --- who is asked ---------------------------------------------------------------------------------


async def test_calls_one_after_the_other_take_turns() -> None:
    async with OpenAIServer() as one, OpenAIServer() as two, pool(one, two) as model:
        for _ in range(4):
            await text_of(model)
        assert (one.calls, two.calls) == (2, 2)


async def test_the_server_with_the_fewest_calls_under_way_is_asked() -> None:
    async with (
        OpenAIServer(first_token_delay=0.4) as slow,
        OpenAIServer() as quick,
        pool(slow, quick) as model,
    ):
        asked = [asyncio.create_task(text_of(model))]
        await until(lambda: slow.running)
        for _ in range(5):
            await text_of(model)
        assert (slow.calls, quick.calls) == (1, 5), "while the slow one is at work the other one is asked"
        await asyncio.gather(*asked)
        assert [server.running for server in model.states()] == [0, 0]


async def test_calls_at_once_are_shared() -> None:
    async with (
        OpenAIServer(first_token_delay=0.2) as one,
        OpenAIServer(first_token_delay=0.2) as two,
        pool(one, two) as model,
    ):
        await asyncio.gather(*(text_of(model) for _ in range(6)))
        assert one.most_running == two.most_running == 3


async def test_ollamas_share_calls_too() -> None:
    async with OllamaServer() as one, OllamaServer() as two:
        model = Pool(
            [Ollama(server.url, one.model, retries=0) for server in (one, two)],
            opened=lambda url: Ollama(url, one.model, retries=0),
        )
        one.script("busy")
        assert await text_of(model) and await text_of(model)
        assert (one.calls, two.calls) == (1, 2)
        assert (await model.structured(ASK, SCHEMA, max_tokens=50))["base"]
        assert await model.probe() is not False
        health = await model.health()
        assert health.ready and [s.address for s in health.servers] == [one.url, two.url]
        await model.close()


# --- one that fails -------------------------------------------------------------------------------

BEFORE_A_WORD: list[tuple[object, str]] = [
    ("busy", "too much to do"),
    ("loading", "too much to do"),
    ("crashed", "broke down"),
    ("gateway", "gateway"),
    ("html", "not an OpenAI-compatible server"),
    ("page", "protocol"),
    (Behaviour("error_event", after=0), "broke down"),
    (Behaviour("cut", after=0), "lost its connection"),
    ("hang", "did not begin"),
    ("role_hang", "did not begin"),
]


@pytest.mark.parametrize(("kind", "problem"), BEFORE_A_WORD, ids=lambda value: str(value)[:40])
async def test_what_fails_before_a_word_goes_to_the_next_server_at_once(kind: object, problem: str) -> None:
    async with (
        OpenAIServer() as bad,
        OpenAIServer() as good,
        pool(bad, good, timeout=0.5 if "hang" in str(kind) else 10.0, rest=60.0) as model,
    ):
        bad.always = kind if isinstance(kind, Behaviour) else Behaviour(kind)  # type: ignore[arg-type]
        good.say("Here.")
        assert await text_of(model) == "Here."
        assert (bad.calls, good.calls) == (1, 1)
        assert states(model) == ["resting", "serving"] and problem in model.states()[0].problem
        await text_of(model)
        assert (bad.calls, good.calls) == (1, 2), "it is left alone"


async def test_a_server_that_is_away_costs_nobody_an_answer() -> None:
    async with OpenAIServer() as good, pool(NOBODY, good) as model:
        assert await text_of(model) and await text_of(model)
        assert (await model.structured(ASK, SCHEMA, max_tokens=50))["base"]
        assert states(model) == ["resting", "serving"]
        health = await model.health()
        assert health.ready and not health.problem and "MODEL_SERVER" in health.servers[0].problem


@pytest.mark.parametrize("kind", ["cut", "stall", "error_event", "abort"])
async def test_nothing_is_asked_again_once_a_word_was_shown(kind: str) -> None:
    async with OpenAIServer() as bad, OpenAIServer() as good:
        model = Pool([opened(s.url, pause=0.2) for s in (bad, good)], opened=opened, retries=2, rest=60.0)
        bad.script(Behaviour(kind, after=2, text="One two three four."))  # type: ignore[arg-type]
        seen = []
        with pytest.raises(ModelInterrupted):
            async for piece in model.stream(ASK, temperature=0.0, max_tokens=100):
                seen += [piece]
        assert "".join(seen) == "One two" and (bad.calls, good.calls) == (1, 0)
        assert states(model) == ["resting", "serving"], "what it did is held against it"
        await text_of(model)
        assert (bad.calls, good.calls) == (1, 1)
        await model.close()


async def test_output_by_a_schema_is_asked_of_another_server_though_it_had_begun() -> None:
    async with OpenAIServer() as bad, OpenAIServer() as good, pool(bad, good) as model:
        bad.script(Behaviour("cut", after=2))
        assert (await model.structured(ASK, SCHEMA, max_tokens=50))["base"]
        assert (bad.calls, good.calls) == (1, 1), "nobody had seen a word of it"


async def test_a_prompt_that_is_too_long_is_told_and_no_server_rests() -> None:
    async with OpenAIServer() as one, OpenAIServer() as two, pool(one, two) as model:
        one.script("too_long")
        with pytest.raises(ModelRefused, match="too long"):
            await text_of(model)
        assert two.calls == 0 and states(model) == ["serving", "serving"]


async def test_a_server_without_the_model_is_passed_over() -> None:
    async with OpenAIServer(model="other") as bad, OpenAIServer() as good:
        model = Pool(
            [OpenAIModel(s.url, good.model, retries=0) for s in (bad, good)], opened=opened, rest=60.0
        )
        assert await text_of(model)
        assert good.calls == 1 and "does not have" in model.states()[0].problem
        await model.close()


async def test_where_all_fail_the_last_error_is_told_and_the_next_call_tries_again() -> None:
    async with pool(NOBODY, NOBODY + "/", rest=60.0) as model:
        with pytest.raises(ModelUnavailable):
            await text_of(model)
        assert states(model) == ["resting", "resting"]
        with pytest.raises(ModelUnavailable):
            await text_of(model)
        health = await model.health()
        assert not health.ready and "MODEL_SERVER" in health.problem


async def test_where_all_rest_one_of_them_is_asked_rather_than_none() -> None:
    async with OpenAIServer() as one, OpenAIServer() as two, pool(one, two, rest=60.0) as model:
        one.script("crashed")
        two.script("crashed")
        with pytest.raises(ModelUnavailable):
            await text_of(model)
        assert await text_of(model)
        assert sorted(states(model)) == ["resting", "serving"], "the one that answered is back"


async def test_what_fails_everywhere_is_tried_again_a_little_later() -> None:
    async with OpenAIServer() as one, OpenAIServer() as two, pool(one, two, retries=2, backoff=0.01) as model:
        one.script("crashed")
        two.script("crashed")
        assert await text_of(model)


async def test_the_only_server_never_rests() -> None:
    async with OpenAIServer() as one, pool(one) as model:
        one.script("crashed")
        with pytest.raises(ModelUnavailable):
            await text_of(model)
        assert states(model) == ["serving"] and await text_of(model)
        assert (await model.health()).servers == ()


async def test_one_dies_in_mid_service_and_comes_back() -> None:
    async with (
        OpenAIServer(tokens_per_second=200.0) as one,
        OpenAIServer(tokens_per_second=200.0) as two,
        pool(one, two, retries=2) as model,
    ):
        ended: list[str] = []

        async def ask() -> None:
            for _ in range(4):
                try:
                    await text_of(model)
                    ended.append("answered")
                except ModelInterrupted:
                    ended.append("broke off")

        asked = asyncio.gather(*(ask() for _ in range(6)))
        await until(lambda: one.running >= 2)
        under_way = one.running
        await one.stop()
        await asked
        assert ended.count("broke off") <= under_way, "only what had shown a word"
        assert ended.count("answered") >= 24 - under_way
        assert states(model) == ["resting", "serving"]
        await one.start()
        await until(lambda: states(model) == ["serving", "serving"])
        before = one.calls
        await text_of(model)
        await text_of(model)
        assert one.calls > before, "it is asked again, without a restart"


async def test_a_server_that_is_back_gets_one_call_until_that_succeeds() -> None:
    async with (
        OpenAIServer() as one,
        OpenAIServer(first_token_delay=0.3) as two,
        pool(one, two, rest=0.05) as model,
    ):
        one.script("crashed")
        await text_of(model)
        await until(lambda: states(model) == ["serving", "serving"])
        one.first_token_delay = 0.3
        await asyncio.gather(*(text_of(model) for _ in range(5)))
        assert one.most_running == 1 and two.most_running == 4
        await asyncio.gather(*(text_of(model) for _ in range(4)))
        assert one.most_running == 2, "it has proved itself"


async def test_a_server_that_hangs_is_asked_for_a_word_before_a_question_goes_there_again() -> None:
    """Its list of models is there all the time, so that its health says that it is well."""
    async with (
        OpenAIServer() as hung,
        OpenAIServer() as good,
        pool(hung, good, timeout=1.0, rest=0.05) as model,
    ):
        hung.always = Behaviour("hang")
        assert await text_of(model)
        await until(lambda: hung.calls == 3)
        assert states(model) == ["resting", "serving"] and (await model.health()).ready
        assert [chat.prompt for chat in hung.chats[1:]] == ["Say OK.", "Say OK."], "nobody waits for these"
        assert states(model) == ["resting", "serving"], "its health alone does not bring it back"
        assert not hung.probes
        hung.always = None
        await until(lambda: states(model) == ["serving", "serving"])
        assert await text_of(model) and await text_of(model)
        assert hung.chats[-1].prompt == ASK[0].content and len(hung.probes) == 1


async def test_a_server_that_stays_away_is_looked_at_less_and_less_often() -> None:
    clock = asyncio.get_running_loop().time
    async with OpenAIServer() as good, pool(NOBODY, good, rest=0.02, longest=0.3) as model:
        began = clock()
        await text_of(model)
        await until(lambda: model._servers[0].failures == 6)
        assert clock() - began >= 0.02 + 0.04 + 0.08 + 0.16 + 0.3, (
            "twice as long each time, at most `longest`"
        )
        assert states(model) == ["resting", "serving"]


async def test_a_busy_server_is_left_alone_for_as_long_as_it_asks() -> None:
    async with OpenAIServer() as busy, OpenAIServer() as good, pool(busy, good) as model:
        busy.script("busy")
        await text_of(model)
        assert 0.5 < model.states()[0].retry_in <= 1.0, "Retry-After: 1"
        await text_of(model)
        assert busy.calls == 1
        await until(lambda: states(model) == ["serving", "serving"])


# --- servers that come and go ---------------------------------------------------------------------


async def test_a_server_is_added_while_serving() -> None:
    async with OpenAIServer() as one, OpenAIServer() as two, pool(one) as model:
        await model.add(two.url)
        await model.add(two.url)
        assert [s.address for s in model.states()] == [one.url, two.url], "once"
        assert len(two.probes) == 1, "whether it keeps to schemas is seen before it is asked"
        for _ in range(4):
            await text_of(model)
        assert (one.calls, two.calls) == (2, 2)
        with pytest.raises(UsageError, match=r"is not added: No model server"):
            await model.add(NOBODY)
        assert len(model.states()) == 2


async def test_a_server_is_drained_while_it_writes() -> None:
    async with OpenAIServer(tokens_per_second=20.0) as one, OpenAIServer() as two, pool(one, two) as model:
        one.say("One two three four five six.")
        asked = asyncio.create_task(text_of(model))
        await until(lambda: one.running)
        await model.drain(one.url)
        assert states(model) == ["draining", "serving"]
        for _ in range(3):
            await text_of(model)
        assert (one.calls, two.calls) == (1, 3), "it gets no more calls"
        assert await asked == "One two three four five six.", "what is under way is finished"
        assert [s.address for s in model.states()] == [two.url]
        with pytest.raises(UsageError, match="the only model server"):
            await model.drain(two.url)
        with pytest.raises(UsageError, match=rf"no model server at .*{two.port}"):
            await model.drain(one.url)


async def test_a_server_that_is_drained_and_added_again_serves_again() -> None:
    async with OpenAIServer(tokens_per_second=20.0) as one, OpenAIServer() as two, pool(one, two) as model:
        asked = asyncio.create_task(text_of(model))
        await until(lambda: one.running)
        await model.drain(one.url)
        await model.add(one.url)
        await asked
        assert states(model) == ["serving", "serving"]


# --- what stands above ----------------------------------------------------------------------------


def guarded(model: Pool, parallel: int) -> Breaker:
    breaker = Breaker(model, parallel=parallel)
    model.on_change(lambda servers: breaker.widen(parallel * servers))
    return breaker


async def test_as_many_calls_run_at_once_as_the_servers_take() -> None:
    async with (
        OpenAIServer(first_token_delay=0.2) as one,
        OpenAIServer(first_token_delay=0.2) as two,
        pool(one, two, rest=60.0) as model,
    ):
        breaker = guarded(model, 2)

        async def most(expected: Sequence[int]) -> None:
            one.most_running = two.most_running = 0
            await asyncio.gather(*(text_of(breaker) for _ in range(8)))
            assert [one.most_running, two.most_running] == list(expected)

        await most([2, 2])
        await model.drain(two.url)
        await most([2, 0])
        await model.add(two.url)
        await most([2, 2])


async def test_one_failing_server_does_not_open_the_breaker() -> None:
    async with OpenAIServer() as good, pool(NOBODY, good, rest=0.01) as model:
        breaker = guarded(model, 1)
        for _ in range(6):
            assert await text_of(breaker)
        assert breaker.status.state == "closed" and breaker.name == good.model


async def test_the_breaker_opens_where_all_servers_fail() -> None:
    async with pool(NOBODY, NOBODY + "/") as model:
        breaker = guarded(model, 1)
        for _ in range(3):
            with pytest.raises(ModelUnavailable):
                await text_of(breaker)
        assert breaker.status.state == "open"


async def test_errors_that_are_told_apart_are_told_apart_above() -> None:
    async with OpenAIServer() as one, pool(one) as model:
        one.script("busy")
        with pytest.raises(ModelBusy):
            await text_of(model)
    async with OpenAIServer() as one:
        model = Pool([OpenAIModel(one.url, "no/such", retries=0)], opened=opened)
        with pytest.raises(ModelMissing):
            await text_of(model)
        await model.close()


async def test_tokens_and_context_are_those_of_the_narrowest_server() -> None:
    async with (
        OpenAIServer(context_length=4096) as small,
        OpenAIServer() as large,
        pool(small, large) as model,
    ):
        await model.health()
        assert model.context_tokens == 4096 and model.name == small.model
        await model.drain(small.url)
        assert model.context_tokens == 8192
        assert model.count_tokens("How do I stream?") > 3


async def test_whether_schemas_are_kept_to_is_seen_on_every_server() -> None:
    async with OpenAIServer() as one, OpenAIServer(keeps_schema=False) as two, pool(one, two) as model:
        assert await model.probe() is False
        assert (len(one.probes), len(two.probes)) == (1, 1)
        assert (await model.health()).keeps_schema is False
        for _ in range(2):
            assert (await model.structured(ASK, SCHEMA, max_tokens=200))["base"]
        assert "response_format" in one.chats[0].body and "response_format" not in two.chats[0].body
