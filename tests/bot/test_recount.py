"""Of a cluster the process that leads reads which emoji stand, and one that takes over reads them, too."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace
from typing import Any

import pytest

from bot.interactions import recount
from bot.interactions.recount import Recount
from bot.ports.standing import Standing
from core.domain import MessageRef
from core.ports.cluster import OnlyProcess
from core.ports.opinions import Shown

LATEST = [Shown(f"a{number}", (MessageRef("slack", "C1", str(number)),), 9.0) for number in range(3)]


class Others(OnlyProcess):
    """A cluster in which this process leads from a certain moment on."""

    is_shared = True
    leads = False


class Reader:
    """Says that nobody reacted; notes which message was looked at."""

    read_seconds = 0.0
    reads_here = None

    def __init__(self) -> None:
        self.read: list[str] = []
        self.at: list[float] = []

    async def standing(self, ref: MessageRef) -> Standing:
        self.read.append(ref.message)
        self.at.append(time.monotonic())
        return Standing({})


class Store:
    """Three answers, of which no emoji is unheard."""

    async def shown(self, platform: str, since: float, limit: int) -> list[Shown]:
        return LATEST

    async def newest(self, *_: object) -> int:
        return 0

    async def unheard(self, *_: object) -> frozenset[str]:
        return frozenset()


async def nothing_cleared(*_: object) -> int:
    return 0


def process(cluster: OnlyProcess) -> Recount:
    """Return what reads in a process of a cluster."""
    desk: Any = SimpleNamespace(cluster=cluster, engine=SimpleNamespace(votes_cleared=nothing_cleared))
    app: Any = SimpleNamespace(
        reactions=Store(),
        vote_weighting=SimpleNamespace(voter=str),
        settings=SimpleNamespace(recount_hours=1.0, recount_messages=10),
    )
    unused: Any = None
    return Recount(desk, unused, app)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recount, "LOOK_SECONDS", 0.005)


async def test_of_two_processes_the_one_that_leads_reads_and_one_that_takes_over_does() -> None:
    leading, standing_by, chat = OnlyProcess(), Others(), SimpleNamespace(name="slack")
    first, second = process(leading), process(standing_by)
    theirs, ours = Reader(), Reader()
    first.begin(chat, theirs)  # type: ignore[arg-type]
    second.begin(chat, ours)  # type: ignore[arg-type]
    second.begin(chat, ours)  # type: ignore[arg-type]
    await first.done("slack")
    await asyncio.sleep(0.05)
    assert theirs.read == ["0", "1", "2"] and not ours.read

    standing_by.leads = True
    await second.done("slack")
    assert ours.read == ["0", "1", "2"], "once, however often it was connected meanwhile"


async def test_between_two_messages_it_waits_as_long_as_the_platform_wants() -> None:
    reading, reader = process(OnlyProcess()), Reader()
    reader.read_seconds = 0.2
    reading.begin(SimpleNamespace(name="slack"), reader)  # type: ignore[arg-type]
    await reading.done("slack")
    assert reader.read == ["0", "1", "2"] and reader.at[2] - reader.at[0] >= 0.35, reader.at


async def test_with_shards_each_process_reads_its_own_without_leading() -> None:
    reading, reader = process(Others()), Reader()

    async def own(ref: MessageRef) -> bool:
        return ref.message == "1"

    reader.reads_here = own  # type: ignore[assignment]
    reading.begin(SimpleNamespace(name="slack"), reader)  # type: ignore[arg-type]
    await reading.done("slack")
    assert reader.read == ["1"]


async def test_who_never_leads_stops_without_having_read() -> None:
    waiting, reader = process(Others()), Reader()
    waiting.begin(SimpleNamespace(name="slack"), reader)  # type: ignore[arg-type]
    await asyncio.sleep(0.02)
    await waiting.stop()
    assert not reader.read
