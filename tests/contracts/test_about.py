"""What every `AboutStore` does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import insert

from core.ports import AboutStore
from storage.database.database import Database
from storage.serving.about import SqlAbout
from storage.tables import AnswerRow, OptOutRow, PauseRow, VoteRow
from tests.fake_about import FakeAbout

ANSWER = {
    **dict.fromkeys(("question", "channel", "scope", "release", "route", "text", "pair_id"), ""),
    "citations": [],
    "confidence": 0.0,
    "similarity": 0.0,
    "trace": {},
}


@dataclass(frozen=True)
class Held:
    """A store, and how something is put into its database: a question, a vote, an opt-out, a pause."""

    store: AboutStore
    asked: Callable[[str, float], Awaitable[None]]
    voted: Callable[[str, float], Awaitable[None]]
    opted_out: Callable[[str], Awaitable[None]]
    paused: Callable[[str], Awaitable[None]]


def in_memory() -> Held:
    fake = FakeAbout()

    async def event(who: str, at: float) -> None:
        fake.people.append(who)
        fake.times.append(at)

    async def listed(who: str) -> None:
        fake.listed.append(who)

    async def paused(who: str) -> None:
        fake.people.append(who)

    return Held(fake, event, event, listed, paused)


@pytest.fixture
async def held(place: str | None, tmp_path: Path) -> AsyncIterator[Held]:
    if place is None:
        yield in_memory()
        return
    database = await Database.open(tmp_path, place)

    async def put(table: object, **values: object) -> None:
        async with database.write() as connection:
            await connection.execute(insert(table).values(**values))  # type: ignore[call-overload]

    yield Held(
        SqlAbout(database),
        lambda who, at: put(AnswerRow, id=f"a{at}", at=at, asker=who, **ANSWER),
        lambda who, at: put(
            VoteRow, answer_id="a", pair_id="p", voter=who, value=1, withdraws=None, weight=1.0, at=at
        ),
        lambda who: put(OptOutRow, person=who, told="", at=1.0),
        lambda who: put(PauseRow, place="", until=0.0, by=who, why="", at=1.0),
    )
    await database.close()


async def test_what_is_told_last_is_known(held: Held) -> None:
    assert await held.store.told("holder") == ""
    for value in ("one", "two", ""):
        await held.store.tell("holder", value)
        await held.store.tell("other", "x")
        assert await held.store.told("holder") == value
    assert await held.store.told("other") == "x"


async def test_one_way_names_are_found_wherever_people_stand(held: Held) -> None:
    await held.asked("slack:U1", 1.0)
    await held.paused("cli:root")
    assert not await held.store.has_one_way_names()
    await held.voted("slack:~3fab", 2.0)
    assert await held.store.has_one_way_names()
    assert not await held.store.has_one_way_names(lists_alone=True)
    await held.opted_out("~3fab")
    assert await held.store.has_one_way_names(lists_alone=True)


async def test_the_newest_is_a_question_or_a_vote_before_a_time(held: Held) -> None:
    assert await held.store.newest(100.0) == 0.0
    await held.asked("slack:U1", 50.0)
    await held.voted("slack:U1", 70.0)
    await held.asked("slack:U1", 90.0)
    assert [await held.store.newest(before) for before in (50.0, 60.0, 90.0, 100.0)] == [
        0.0,
        50.0,
        70.0,
        90.0,
    ]
