import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest

from core.errors import ModelBusy, ModelError, ModelMalformed, ModelMissing, ModelUnavailable, ServerDown
from core.models.breaker import Breaker
from core.models.ollama.client import Ollama
from core.models.pool import Pool
from core.ports import UNHURRIED, ModelHealth, Prompt
from tests.ollama_server import Behaviour, OllamaServer

ASK = [Prompt("user", "Why?")]


class Scripted:
    """A model that does what it is told, call by call, and waits at a gate where it has one."""

    name = "scripted"

    def __init__(self, *outcomes: ModelError | str) -> None:
        self.context_tokens = 1000
        self.outcomes = list(outcomes)
        self.calls = 0
        self.gate: asyncio.Event | None = None
        self.order: list[str] = []

    def count_tokens(self, text: str) -> int:
        return len(text)

    async def stream(self, prompts: Sequence[Prompt], **_: object) -> AsyncIterator[str]:
        self.calls += 1
        self.order.append(prompts[0].content)
        if self.gate is not None:
            await self.gate.wait()
        outcome = self.outcomes.pop(0) if self.outcomes else "fine"
        if isinstance(outcome, ModelError):
            raise outcome
        for piece in outcome.split():
            yield piece

    async def structured(
        self, prompts: Sequence[Prompt], schema: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        return {"text": "".join([piece async for piece in self.stream(prompts)])}

    async def health(self) -> ModelHealth:
        self.context_tokens = 500
        return ModelHealth(True)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def counted(breaker: Breaker, running: int, waiting: int) -> None:
    """Wait until so many calls run and wait."""
    async with asyncio.timeout(20.0):
        while (breaker.status.running, breaker.status.waiting) != (running, waiting):
            await asyncio.sleep(0.001)


async def ask(breaker: Breaker, text: str = "Why?") -> str:
    prompts = [Prompt("user", text)]
    return "".join([p async for p in breaker.stream(prompts, temperature=0.7, max_tokens=9)])


async def fails(breaker: Breaker, error: type[ModelError]) -> str:
    with pytest.raises(error) as caught:
        await ask(breaker)
    assert type(caught.value) is error
    return str(caught.value)


def down() -> ModelUnavailable:
    return ModelUnavailable("No model server.")


async def test_it_opens_after_failures_in_a_row_and_then_fails_at_once() -> None:
    model, clock = Scripted(down(), down(), "fine", down(), down(), down()), Clock()
    breaker = Breaker(model, failures=3, rest=30, clock=clock)
    await fails(breaker, ModelUnavailable)
    await fails(breaker, ModelUnavailable)
    assert await ask(breaker) == "fine"
    for _ in range(3):
        assert breaker.status.state == "closed"
        await fails(breaker, ModelUnavailable)
    assert model.calls == 6
    clock.now += 10
    assert await fails(breaker, ModelUnavailable) == "No model server. Next try in 20 s."
    assert model.calls == 6
    status = breaker.status
    assert (status.state, status.retry_in, status.failures) == ("open", 20.0, 3)


async def test_after_its_rest_one_trial_decides() -> None:
    model, clock = Scripted(down(), down()), Clock()
    breaker = Breaker(model, failures=1, rest=30, clock=clock)
    await fails(breaker, ModelUnavailable)
    clock.now += 30
    assert breaker.status.state == "half-open"
    await fails(breaker, ModelUnavailable)
    assert breaker.status.state == "open"
    clock.now += 31
    assert await ask(breaker) == "fine"
    assert breaker.status.state == "closed"


async def test_only_one_trial_is_let_through() -> None:
    model, clock = Scripted(down()), Clock()
    breaker = Breaker(model, failures=1, rest=30, parallel=4, clock=clock)
    await fails(breaker, ModelUnavailable)
    clock.now += 30
    model.gate = asyncio.Event()
    trial = asyncio.create_task(ask(breaker))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    await fails(breaker, ModelUnavailable)
    model.gate.set()
    assert await trial == "fine"
    assert model.calls == 2


async def test_a_cancelled_trial_leaves_the_next_one_to_try() -> None:
    model, clock = Scripted(down()), Clock()
    breaker = Breaker(model, failures=1, rest=30, clock=clock)
    await fails(breaker, ModelUnavailable)
    clock.now += 30
    model.gate = asyncio.Event()
    trial = asyncio.create_task(ask(breaker))
    await counted(breaker, 1, 0)
    trial.cancel()
    with pytest.raises(asyncio.CancelledError):
        await trial
    assert (breaker.status.state, breaker.status.running) == ("half-open", 0)
    model.gate = None
    assert await ask(breaker) == "fine"


@pytest.mark.parametrize("error", [ModelMissing("No such model."), ModelMalformed("Empty.")])
async def test_answers_that_are_no_outage_do_not_open_it(error: ModelError) -> None:
    model = Scripted(*[error] * 5)
    breaker = Breaker(model, failures=2)
    for _ in range(5):
        await fails(breaker, type(error))
    assert breaker.status.state == "closed"
    assert model.calls == 5


async def test_a_crowd_waits_in_order_and_the_rest_is_turned_away() -> None:
    model = Scripted()
    model.gate = asyncio.Event()
    breaker = Breaker(model, parallel=1, queue=2)
    waiting = [asyncio.create_task(ask(breaker, str(n))) for n in range(3)]
    await counted(breaker, 1, 2)
    await fails(breaker, ModelBusy)
    model.gate.set()
    assert await asyncio.gather(*waiting) == ["fine"] * 3
    assert model.order == ["0", "1", "2"]
    assert (breaker.status.running, breaker.status.waiting) == (0, 0)


async def test_those_who_wait_are_told_when_it_opens() -> None:
    model = Scripted(down())
    model.gate = asyncio.Event()
    breaker = Breaker(model, failures=1, clock=Clock())
    tasks = [asyncio.create_task(ask(breaker)) for _ in range(3)]
    await counted(breaker, 1, 2)
    model.gate.set()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [ModelUnavailable] * 3
    assert model.calls == 1


async def test_giving_up_while_waiting_frees_the_place() -> None:
    model = Scripted()
    model.gate = asyncio.Event()
    breaker = Breaker(model, parallel=1, queue=1)
    first = asyncio.create_task(ask(breaker))
    second = asyncio.create_task(ask(breaker))
    await counted(breaker, 1, 1)
    second.cancel()
    await counted(breaker, 1, 0)
    third = asyncio.create_task(ask(breaker))
    await counted(breaker, 1, 1)
    model.gate.set()
    assert await asyncio.gather(first, third) == ["fine", "fine"]


async def test_a_reader_that_stops_early_frees_the_slot() -> None:
    breaker = Breaker(Scripted("a b c", "d"), parallel=1, queue=0)
    completion = breaker.stream(ASK, temperature=0, max_tokens=9)
    assert await anext(completion) == "a"
    await completion.aclose()
    assert await ask(breaker) == "d"


async def test_structured_calls_take_their_turn_and_health_does_not() -> None:
    model, clock = Scripted(down()), Clock()
    breaker = Breaker(model, failures=1, clock=clock)
    with pytest.raises(ModelUnavailable):
        await breaker.structured(ASK, {}, max_tokens=9)
    with pytest.raises(ModelUnavailable):
        await breaker.structured(ASK, {}, max_tokens=9)
    assert model.calls == 1
    assert (await breaker.health()).ready
    assert breaker.context_tokens == 500


async def test_around_ollama_it_passes_on_how_an_answer_ended() -> None:
    async with OllamaServer() as server:
        server.script(Behaviour("length", after=1, text="One two."))
        inner = Ollama(server.url, server.model, retries=0)
        breaker = Breaker(inner)
        completion = breaker.stream(ASK, temperature=0, max_tokens=9)
        assert [piece async for piece in completion] == ["One"]
        assert (completion.finish, completion.prompt_tokens > 0) == ("length", True)
        await inner.close()


async def test_around_ollama_a_crowd_runs_one_at_a_time() -> None:
    async with OllamaServer(answer=lambda _: "Yes.", first_token_delay=0.005) as server:
        inner = Ollama(server.url, server.model)
        breaker = Breaker(inner, parallel=1)
        run: Callable[[], Any] = lambda: ask(breaker)  # noqa: E731
        assert await asyncio.gather(*(run() for _ in range(6))) == ["Yes."] * 6
        assert server.most_running == 1
        await inner.close()


async def put_off(breaker: Breaker, text: str) -> str:
    """Ask what nobody waits for."""
    token = UNHURRIED.set(True)
    try:
        return str((await breaker.structured([Prompt("user", text)], {}, max_tokens=9))["text"])
    finally:
        UNHURRIED.reset(token)


async def test_what_nobody_waits_for_is_given_up_for_a_question_and_begun_anew_after_it() -> None:
    model = Scripted()
    breaker = Breaker(model, quiet=0.05)
    model.gate = asyncio.Event()
    page = asyncio.create_task(put_off(breaker, "page"))
    await counted(breaker, 1, 0)
    asked = asyncio.create_task(ask(breaker, "first step"))
    async with asyncio.timeout(20.0):
        while len(model.order) < 2:
            await asyncio.sleep(0.001)
    assert not page.done()
    model.gate.set()
    assert await asked == "fine"
    assert await ask(breaker, "second step") == "fine"
    assert await page == "fine"
    assert model.order == ["page", "first step", "second step", "page"]
    assert breaker.status.state == "closed" and breaker.status.failures == 0


async def test_what_nobody_waits_for_goes_on_where_there_is_room_for_a_question_beside_it() -> None:
    model = Scripted()
    breaker = Breaker(model, parallel=2, quiet=0.05)
    model.gate = asyncio.Event()
    page = asyncio.create_task(put_off(breaker, "page"))
    await counted(breaker, 1, 0)
    asked = asyncio.create_task(ask(breaker, "question"))
    await counted(breaker, 2, 0)
    model.gate.set()
    assert (await page, await asked) == ("fine", "fine") and model.order == ["page", "question"]


async def test_who_gives_up_what_nobody_waits_for_is_not_kept() -> None:
    model = Scripted()
    breaker = Breaker(model, quiet=0.05)
    model.gate = asyncio.Event()
    page = asyncio.create_task(put_off(breaker, "page"))
    await counted(breaker, 1, 0)
    asked = asyncio.create_task(ask(breaker, "question"))
    await asyncio.sleep(0)
    page.cancel()  # while it makes way
    with pytest.raises(asyncio.CancelledError):
        await page
    model.gate.set()
    assert await asked == "fine" and model.order == ["page", "question"]


async def test_a_probe_of_a_model_that_is_being_loaded_makes_way_and_is_no_failure() -> None:
    async with OllamaServer() as server:
        server.probed = Behaviour("hang")
        inner = Ollama(server.url, server.model, retries=0, timeout=10.0)
        breaker = Breaker(inner, failures=1, quiet=0.05)
        probe = asyncio.create_task(breaker.probe())
        async with asyncio.timeout(20.0):
            while not server.probes:
                await asyncio.sleep(0.001)
        assert await ask(breaker) and not probe.done(), "the question does not wait for it"
        server.probed = Behaviour("busy")
        assert await probe is None and breaker.status.state == "closed"
        server.probed = Behaviour()
        assert await breaker.probe() is True
        await inner.close()
    assert await Breaker(Scripted()).probe() is None


async def test_an_error_of_what_nobody_waits_for_is_told() -> None:
    breaker = Breaker(Scripted(down()), quiet=0.05)
    with pytest.raises(ModelUnavailable):
        await put_off(breaker, "page")
    assert breaker.status.failures == 1


async def test_the_places_of_a_model_can_become_more_and_fewer() -> None:
    model = Scripted()
    model.gate = asyncio.Event()
    breaker = Breaker(model, parallel=1)
    asked = [asyncio.create_task(ask(breaker, str(number))) for number in range(5)]
    await counted(breaker, running=1, waiting=4)
    breaker.widen(3)
    await counted(breaker, running=3, waiting=2)
    breaker.widen(1)
    breaker.widen(2)
    model.gate.set()
    await asyncio.gather(*asked)
    assert model.order == ["0", "1", "2", "3", "4"]
    model.gate = asyncio.Event()
    asked = [asyncio.create_task(ask(breaker)) for _ in range(4)]
    await counted(breaker, running=2, waiting=2)
    breaker.widen(1)
    model.gate.set()
    await asyncio.gather(*asked)
    breaker.widen(1)
    model.gate = asyncio.Event()
    asked = [asyncio.create_task(ask(breaker)) for _ in range(3)]
    await counted(breaker, running=1, waiting=2)
    model.gate.set()
    await asyncio.gather(*asked)


async def test_where_nothing_listens_it_opens_at_once_and_for_a_moment() -> None:
    clock = Clock()
    breaker = Breaker(Scripted(ServerDown("No model server.")), clock=clock)
    with pytest.raises(ServerDown):
        await breaker.structured(ASK, {}, max_tokens=5)
    assert breaker.status.state == "open" and breaker.status.retry_in <= 5
    with pytest.raises(ServerDown):
        await breaker.structured(ASK, {}, max_tokens=5)
    clock.now += 6
    assert await breaker.structured(ASK, {}, max_tokens=5), "a server that was starting is there soon"


async def test_a_refused_connection_is_not_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    nowhere = Ollama("http://127.0.0.1:9", "qwen3:8b", retries=0)
    model = Pool([nowhere], opened=lambda _: nowhere, backoff=30)
    caplog.set_level("INFO")
    try:
        async with asyncio.timeout(20):
            with pytest.raises(ServerDown):
                await model.structured(ASK, {}, max_tokens=5)
            assert await model.probe() is None
    finally:
        await model.close()
    assert [r for r in caplog.records if r.name.startswith("core.")] == [], "not a line for each question"
