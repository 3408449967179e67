"""The line of questions in a process: turns, places, and when it is too long."""

from __future__ import annotations

import asyncio

from bot.conversation.limits import Line
from core.ports import PLACE


class World:
    """A line with a clock of its own, and who is being answered."""

    def __init__(self) -> None:
        self.now = 0.0
        self.line = Line(at_once=2, longest=30.0, clock=lambda: self.now)
        self.going: dict[str, asyncio.Event] = {}
        self.places: dict[str, int] = {}

    async def answer(self, asker: str, name: str) -> None:
        PLACE.set(lambda place: self.places.update({name: place}))
        async with self.line.turn(asker):
            self.going[name] = asyncio.Event()
            await self.going[name].wait()
            del self.going[name]

    async def come(self, asker: str, name: str) -> asyncio.Task[None]:
        task = asyncio.create_task(self.answer(asker, name))
        await asyncio.sleep(0)
        return task

    async def done(self, name: str, after: float) -> None:
        self.now += after
        self.going[name].set()
        for _ in range(5):
            await asyncio.sleep(0)


async def test_two_are_answered_at_once_and_the_others_in_turn_by_asker() -> None:
    world = World()
    for name in ("a1", "a2", "a3", "a4", "b1"):
        await world.come(name[0], name)
    assert set(world.going) == {"a1", "a2"} and set(world.places) == {"a3", "a4", "b1"}
    assert world.places["b1"] == 1, "one person's many do not go before another's one"
    await world.done("a1", 1.0)
    assert set(world.going) == {"a2", "b1"}


async def test_a_line_that_is_too_long_by_how_fast_answers_were_done_says_when_to_ask_again() -> None:
    world = World()
    await world.come("a", "1")
    await world.come("a", "2")
    world.now += 1000.0
    assert world.line.refusal() is None, "nobody waits"
    waiting = [await world.come(str(number), str(number)) for number in range(3, 20)]
    for number in range(1, 8):
        await world.done(str(number), 1.0)
        assert world.line.refusal() is None, "how long one takes is not known"
    await world.done("8", 17.0)
    assert world.line.seconds == 9 * 24.0 / 8
    await world.done("9", 11.0)
    refused = world.line.refusal()
    assert refused is not None and str(refused).endswith("Please ask again in 32 s."), "8 times 35 ninths"
    for number in range(10, 18):
        await world.done(str(number), 0.0)
    assert world.line.refusal() is None and set(world.going) == {"18", "19"}
    world.now += 1000.0
    again = await world.come("b", "b")
    assert world.line.refusal() is None, "the time in which nobody waited tells nothing"
    for name in ("18", "19", "b"):
        await world.done(name, 0.0)
    assert all(task.done() for task in (*waiting, again))


async def test_where_nothing_is_done_at_all_nobody_waits_for_long() -> None:
    world = World()
    for number in range(3):
        await world.come("a", str(number))
    world.now += 29.0
    assert world.line.refusal() is None
    world.now += 2.0
    assert world.line.refusal() is not None


async def test_who_no_longer_waits_leaves_the_line() -> None:
    world = World()
    await world.come("a", "1")
    await world.come("a", "2")
    task = await world.come("b", "3")
    world.now += 100.0
    assert world.line.refusal() is not None
    task.cancel()
    await asyncio.wait({task})
    assert world.line.refusal() is None
    await world.done("1", 0.0)
    assert set(world.going) == {"2"}
