"""What every `NoiseStore` and every `NoticeStore` does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.community.unsolicited import Heard, NoiseStore
from core.domain import Answer, Question, Vote
from core.ports.about import Notice, NoticeStore
from storage.database.database import Database
from storage.memory.memories import SqlMemories
from storage.serving.about import SqlNotices
from storage.serving.channels import SqlNoise
from tests.contracts.samples import AWKWARD
from tests.fake_noise import FakeNoise, FakeNotices

CHANNEL, THREAD = "slack:C1", "slack:C1:1.5"


class World:
    """A store, and people who vote."""

    def __init__(self, noise: NoiseStore, notices: NoticeStore, memories: SqlMemories | None) -> None:
        self.noise, self.notices, self._memories = noise, notices, memories

    async def answered(self, key: str, at: float, channel: str = CHANNEL, keep: int = 50) -> None:
        if self._memories:
            given = Answer(id=key, text="An answer.", route="documents", release="1.0")
            await self._memories.save_answer(given, Question("How?", f"asker of {key}", channel), None)
        else:
            self.noise.askers[key] = f"asker of {key}"
        await self.noise.answered(key, channel, f"{channel}:{key}", at, keep)

    async def vote(self, key: str, who: str, value: int | None) -> None:
        if self._memories:
            await self._memories.vote(Vote(key, who, value), 1.0)
            return
        opinions = self.noise.opinions.setdefault(key, {})
        opinions.pop(who, None)
        if value is not None:
            opinions[who] = value


@pytest.fixture
async def world(place: str | None, tmp_path: Path) -> AsyncIterator[World]:
    if place is None:
        yield World(FakeNoise(), FakeNotices(), None)
        return
    database = await Database.open(tmp_path, place)
    yield World(SqlNoise(database), SqlNotices(database), SqlMemories(database))
    await database.close()


async def test_the_latest_answers_of_a_channel_are_told_newest_first(world: World) -> None:
    for number in range(4):
        await world.answered(f"a{number}", float(number), keep=3)
    await world.answered("b", 9.0, "slack:C2")
    assert await world.noise.latest(CHANNEL, 2) == (Heard(3.0), Heard(2.0))
    assert [heard.at for heard in await world.noise.latest(CHANNEL, 9)] == [3.0, 2.0, 1.0], "a0 is not kept"
    assert await world.noise.channel_of("a3") == CHANNEL and await world.noise.channel_of("a0") == ""


async def test_what_came_of_an_answer_is_told(world: World) -> None:
    for at, key in enumerate(("noticed", "went on", "deleted", "ignored", "withdrawn")):
        await world.answered(key, float(at))
    await world.noise.noticed("noticed")
    await world.noise.noticed("nobody knows this one")
    await world.noise.went_on(f"{CHANNEL}:went on")
    await world.noise.deleted("deleted")
    await world.noise.withdrawn("withdrawn")
    assert await world.noise.latest(CHANNEL, 9) == (
        Heard(3.0),
        Heard(2.0, against=frozenset({"asker of deleted"})),
        Heard(1.0, noticed=True),
        Heard(0.0, noticed=True),
    )


async def test_votes_count_as_they_stand_now(world: World) -> None:
    await world.answered("a", 1.0)
    for who in ("u1", "u2"):
        await world.vote("a", who, 0)
    assert await world.noise.latest(CHANNEL, 9) == (Heard(1.0, True, frozenset({"u1", "u2"})),)
    await world.vote("a", "u3", 1)
    await world.vote("a", "u2", 1)
    assert await world.noise.latest(CHANNEL, 9) == (Heard(1.0, True),), "more are for it than against"
    for who in ("u1", "u2", "u3"):
        await world.vote("a", who, None)
    assert await world.noise.latest(CHANNEL, 9) == (Heard(1.0),), "votes that are taken back are no notice"


async def test_a_count_begins_anew_in_one_channel(world: World) -> None:
    await world.answered("a", 1.0)
    await world.answered("b", 1.0, "slack:C2")
    await world.noise.begin_anew(CHANNEL)
    assert await world.noise.latest(CHANNEL, 9) == ()
    assert await world.noise.latest("slack:C2", 9) == (Heard(1.0),)


async def test_a_notice_is_kept_by_channel_and_key_and_waits_until_it_is_told(world: World) -> None:
    notice = Notice("slack:C1", "disk", AWKWARD, 10.0)
    later = Notice("discord:5", "disk", "full", 5.0)
    for kept in (notice, later):
        await world.notices.keep(kept)
    assert await world.notices.untold() == (later, notice)
    told = Notice("slack:C1", "disk", "", 10.0, 11.5, 2)
    await world.notices.keep(told)
    assert await world.notices.notice("slack:C1", "disk") == told
    assert await world.notices.untold() == (later,)
    assert await world.notices.notice("slack:C1", "model") is None
