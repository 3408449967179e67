"""The line before a model: whose turn it is, who is told which place, who is turned away."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import pytest

from core.errors import ModelBusy, ModelInterrupted
from core.models.breaker import PATIENCE, Breaker, FairQueue, Full
from core.ports import ASKER, PLACE, UNHURRIED, Prompt
from tests.core.models.test_breaker import Scripted, ask, counted


def asked_by(
    who: str, breaker: Breaker, text: str, told: Callable[[int], None] | None = None
) -> asyncio.Task[str]:
    """Ask as that person, in a task of its own."""

    async def asking() -> str:
        ASKER.set(who)
        PLACE.set(told)
        return await ask(breaker, text)

    return asyncio.create_task(asking())


async def held(queue: int = 16) -> tuple[Scripted, Breaker]:
    """Return a model at a gate, and its breaker."""
    model = Scripted()
    model.gate = asyncio.Event()
    return model, Breaker(model, queue=queue)


async def test_nobody_waits_behind_one_persons_twenty() -> None:
    model, breaker = await held(queue=30)
    many = [asked_by("ann", breaker, f"ann {number}") for number in range(20)]
    await counted(breaker, 1, 19)
    others = [asked_by(who, breaker, who) for who in ("bob", "cem")]
    await counted(breaker, 1, 21)
    assert model.gate
    model.gate.set()
    await asyncio.gather(*many, *others)
    assert model.order[:4] == ["ann 0", "bob", "cem", "ann 1"]
    assert model.order[4:] == [f"ann {number}" for number in range(2, 20)]


async def test_who_asks_much_gets_their_turn_while_others_keep_coming() -> None:
    """Newcomers go first, but only so many: nobody starves behind a crowd that never ends."""
    line, order = FairQueue(1, 100), []

    async def call(who: str) -> None:
        ASKER.set(who)
        await line.take()
        order.append(who)
        await asyncio.sleep(0)
        line.free()

    tasks = [asyncio.create_task(call("ann")) for _ in range(3)]
    for number in range(100):
        tasks.append(asyncio.create_task(call(f"new {number}")))
        await asyncio.sleep(0)
    await asyncio.gather(*tasks)
    seconds = [place for place, who in enumerate(order) if who == "ann"]
    assert seconds[0] == 0 and 2 <= seconds[1] <= seconds[2] <= 1 + 2 * PATIENCE


async def test_each_hears_their_place_and_how_it_changes() -> None:
    model, breaker = await held()
    ann, bob = [], []
    tasks = [asked_by("ann", breaker, "first")]
    await counted(breaker, 1, 0)
    tasks += [asked_by("ann", breaker, "second", ann.append), asked_by("ann", breaker, "third", ann.append)]
    await counted(breaker, 1, 2)
    assert ann == [1, 2]
    tasks.append(asked_by("bob", breaker, "bob", bob.append))
    await counted(breaker, 1, 3)
    assert bob == [1] and ann == [1, 2, 2, 3], "who has not had a turn yet goes first"
    assert model.gate
    model.gate.set()
    await asyncio.gather(*tasks)
    assert model.order == ["first", "bob", "second", "third"] and bob == [1]


async def test_where_the_line_is_full_the_one_with_most_calls_makes_room() -> None:
    model, breaker = await held(queue=3)
    anns = [asked_by("ann", breaker, f"ann {number}") for number in range(4)]
    await counted(breaker, 1, 3)
    bob = asked_by("bob", breaker, "bob")
    with pytest.raises(ModelBusy):
        await anns[3]
    again = asked_by("ann", breaker, "ann 4")
    with pytest.raises(ModelBusy):
        await again
    assert model.gate
    model.gate.set()
    assert await asyncio.gather(*anns[:3], bob) == ["fine"] * 4
    assert model.order == ["ann 0", "bob", "ann 1", "ann 2"]


async def test_an_answer_that_never_ends_is_given_up() -> None:
    class Dribbling(Scripted):
        async def stream(self, prompts: object, **_: object):  # type: ignore[no-untyped-def, override]
            while True:
                yield "word "
                await asyncio.sleep(0.01)

    breaker = Breaker(Dribbling(), longest=0.05)
    with pytest.raises(ModelInterrupted, match="ANSWER_TIMEOUT"):
        await ask(breaker)
    assert breaker.status.running == 0 and breaker.status.failures == 1


async def test_a_structured_call_that_never_ends_is_given_up_unless_nobody_waits_for_it() -> None:
    class Slow(Scripted):
        async def structured(self, *_: object, **__: object) -> dict[str, object]:
            await asyncio.sleep(0.2)
            return {"done": True}

    breaker = Breaker(Slow(), longest=0.05, quiet=0.01)
    with pytest.raises(ModelInterrupted, match="ANSWER_TIMEOUT"):
        await breaker.structured([Prompt("user", "Which pages?")], {}, max_tokens=10)
    assert breaker.status.running == 0 and breaker.status.failures == 1
    token = UNHURRIED.set(True)
    try:
        assert await breaker.structured([Prompt("user", "Make pairs.")], {}, max_tokens=10) == {"done": True}
    finally:
        UNHURRIED.reset(token)


@pytest.mark.parametrize("seed", range(20))
async def test_whatever_is_given_up_no_place_is_lost_and_none_is_given_twice(seed: int) -> None:
    chance, line, running, most = random.Random(seed), FairQueue(2, 6), 0, 0

    async def call(who: str) -> str:
        nonlocal running, most
        ASKER.set(who)
        try:
            await line.take()
        except Full:
            return "full"
        running += 1
        most = max(most, running)
        try:
            await asyncio.sleep(chance.choice([0, 0, 0.001]))
        finally:
            running -= 1
            line.free()
        return "done"

    tasks = []
    for _ in range(200):
        tasks.append(asyncio.create_task(call(chance.choice("abcde"))))
        for _ in range(chance.randrange(3)):
            await asyncio.sleep(0)
        if chance.random() < 0.4:
            chance.choice(tasks).cancel()
        if chance.random() < 0.05:
            line.widen(chance.choice([1, 2]))
    line.widen(2)
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert {"done", "full"} <= {one for one in ended if isinstance(one, str)}
    assert running == 0 and line.waiting == 0 and most == 2 and not line.is_taken
    await asyncio.wait_for(line.take(), 1)
    await asyncio.wait_for(line.take(), 1)
