"""What everything does that reads a store once and holds it in memory: what is set meanwhile wins."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from core.community.overrides import DEFAULT, CachedRows, ChannelModes, DefaultReleases, Pauses
from core.domain import Product, Release
from core.privacy.names import Names
from core.query.releases.resolve import lookup
from tests.fake_channels import FakeChannels, FakeReleases

HERE, WHO = "slack:C1", "slack:U1"
PRODUCT = Product("Kettle", releases=(Release("1.5"), Release("2.0")))


class SlowReading:
    """A store whose next reader is told, when `answer` is set, what stood there when they asked."""

    def __init__(self, store: Any, *reads: str) -> None:
        self._store, self._reads = store, reads
        self.hold()

    def hold(self) -> None:
        self._read, self.answer = False, asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return self._slow(name) if name in self._reads and not self._read else getattr(self._store, name)

    def _slow(self, name: str) -> Callable[[], Awaitable[Any]]:
        async def read() -> Any:
            self._read = True
            found = await getattr(self._store, name)()
            await self.answer.wait()
            return found

        return read


@dataclass(frozen=True)
class Kept:
    """Something that is read once: how it is looked up, set and taken back, over a store."""

    store: SlowReading
    look: Callable[[], Awaitable[Any]]
    set: Callable[[], Awaitable[Any]]
    unset: Callable[[], Awaitable[Any]]
    reread: Callable[[], Any]
    values: tuple[Any, Any]
    """What is found before and after it is set."""


def _modes() -> Kept:
    store = SlowReading(FakeChannels(), "modes")
    modes = ChannelModes(store, {})
    return Kept(
        store,
        lambda: modes.mode(HERE),
        lambda: modes.set_mode(HERE, "off", WHO),
        lambda: modes.set_mode(HERE, DEFAULT, WHO),
        modes.reread,
        ("mentions", "off"),
    )


def _pauses() -> Kept:
    store = SlowReading(FakeChannels(), "pauses")
    pauses = Pauses(store)

    async def by() -> str:
        running = await pauses.of(HERE)
        return running.by if running else ""

    return Kept(
        store,
        by,
        lambda: pauses.begin(HERE, 0, WHO),
        lambda: pauses.end(HERE),
        lambda: asyncio.create_task(pauses.reread(())),
        ("", WHO),
    )


def _people() -> Kept:
    store = SlowReading(FakeReleases(), "of_people")
    releases = DefaultReleases(store, {}, PRODUCT, Names(b"k" * 16, {}), lookup)
    return Kept(
        store,
        lambda: releases.of_person(WHO),
        lambda: releases.choose(WHO, "1.5"),
        lambda: releases.choose(WHO, "latest"),
        releases.reread,
        ("", "1.5"),
    )


def _channels() -> Kept:
    store = SlowReading(FakeReleases(), "of_channels")
    releases = DefaultReleases(store, {}, PRODUCT, Names(b"k" * 16, {}), lookup)
    return Kept(
        store,
        lambda: releases.of_channel(HERE),
        lambda: releases.give(HERE, "1.5", WHO),
        lambda: releases.give(HERE, "default", WHO),
        releases.reread,
        ("", "1.5"),
    )


@pytest.fixture(params=[_modes, _pauses, _people, _channels], ids=lambda make: make.__name__.strip("_"))
def kept(request: pytest.FixtureRequest) -> Kept:
    return request.param()


async def test_what_is_set_while_the_first_read_is_under_way_wins(kept: Kept) -> None:
    before, after = kept.values
    looking = asyncio.create_task(kept.look())
    await asyncio.sleep(0)
    setting = asyncio.create_task(kept.set())
    await asyncio.sleep(0)
    kept.store.answer.set()
    await setting
    assert await looking in (before, after)
    assert await kept.look() == after


async def test_what_is_taken_back_while_it_is_read_stays_taken_back(kept: Kept) -> None:
    before, _ = kept.values
    setting = asyncio.create_task(kept.set())
    kept.store.answer.set()
    await setting
    kept.reread()
    kept.store.hold()
    looking = asyncio.create_task(kept.look())
    await asyncio.sleep(0)
    unsetting = asyncio.create_task(kept.unset())
    await asyncio.sleep(0)
    kept.store.answer.set()
    await asyncio.gather(looking, unsetting)
    assert await kept.look() == before


async def test_what_another_process_changed_is_read_again(kept: Kept) -> None:
    before, after = kept.values
    kept.store.answer.set()
    assert await kept.look() == before
    await kept.set()
    assert await kept.look() == after
    kept.reread()
    await asyncio.sleep(0)
    assert await kept.look() == after, "the store has it"


async def test_a_read_that_began_before_a_change_is_not_taken() -> None:
    stored, late = {"a": 1}, asyncio.Event()

    async def read() -> dict[str, int]:
        found = dict(stored)
        if len(reads) == 0:
            reads.append(found)
            await late.wait()
        return found

    reads: list[dict[str, int]] = []
    rows = CachedRows(read)
    looking = asyncio.create_task(rows.rows())
    await asyncio.sleep(0)
    stored.update(a=2, b=3)
    rows.set("b", 3)
    late.set()
    assert await looking == {"a": 2, "b": 3} == await rows.rows()
    stored["a"] = 4
    assert (await rows.rows())["a"] == 2, "it is read once"
    rows.reread()
    assert (await rows.rows())["a"] == 4
    rows.set("a", None)
    assert await rows.rows() == {"b": 3}
