"""Processes of a cluster: who is taken for dead writes nothing any more, and another one leads."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text

from core.domain import MessageRef
from core.errors import DatabaseBusy, StorageError, StorageUnavailable
from core.ports import Claim
from core.ports.cluster import GONE, MEMORY
from storage.database.cluster import SqlCluster
from storage.database.database import Database
from storage.database.places import CONNECTIONS, Places
from storage.serving.channels import SqlChannels
from storage.serving.conversations import SqlConversations
from tests.databases import postgres_schema
from tests.patience import PATIENCE


class Two:
    """Two processes on one database, as far as the database sees."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.databases: list[Database] = []
        self.lost: list[int] = []

    async def join(self, home: Path) -> Database:
        number = len(self.databases)
        database = await Database.open(home, self.url, "serve", lambda: self.lost.append(number), shared=True)
        self.databases.append(database)
        return database

    def execute(self, statement: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(statement)  # type: ignore[call-overload]
            return list(cursor.fetchall()) if cursor.description else []

    async def freeze(self, database: Database) -> None:
        """Let one say nothing for a minute, as a process that is stopped."""
        member = database.member
        assert member is not None and member._thread is not None
        member._ended.set()
        await asyncio.to_thread(member._thread.join)
        member._until = -math.inf
        self.execute(f"UPDATE members SET seen = seen - 60 WHERE id = '{member.id}'")


@pytest.fixture
async def two(tmp_path: Path) -> AsyncIterator[Two]:
    with postgres_schema() as url:
        made = Two(url)
        async with AsyncExitStack() as opened:
            for name in ("a", "b"):
                opened.push_async_callback((await made.join(tmp_path / name)).close)
            yield made


async def until(condition: Callable[[], object]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.02)


async def test_who_is_silent_is_buried_and_another_one_leads(two: Two) -> None:
    first, second = two.databases
    assert first.member is not None and second.member is not None
    await until(lambda: first.member.leads or second.member.leads)  # type: ignore[union-attr]
    if second.member.leads:
        first, second = second, first
    assert first.member and second.member and first.member.leads and not second.member.leads
    stores = [SqlConversations(first), SqlConversations(second)]
    assert await stores[0].claim(Claim("slack:C1:1", "slack:C1:1", "slack:U1", 1.0, {"text": "hi"}))
    await two.freeze(first)
    assert not first.member.is_sure
    assert not await stores[1].left("slack", messages=True), "it is not buried yet"
    second.member._steady_since = -math.inf
    await until(lambda: two.execute("SELECT count(*) FROM members") == [(1,)])
    await until(lambda: second.member.leads)  # type: ignore[union-attr]
    [taken] = await stores[1].left("slack", messages=True)
    assert taken.message == "slack:C1:1" and not await stores[1].left("slack", messages=True)
    for _ in range(2):  # its connections were ended, and the next ones do not count
        with pytest.raises(StorageError):
            await stores[0].answered("slack:C1:1", "mine")
    assert "took this process for dead" in first.lost
    assert await stores[1].is_ours("slack:C1:1")


async def test_who_was_cut_off_itself_buries_nobody(two: Two) -> None:
    first, second = two.databases
    await two.freeze(first)
    await asyncio.sleep(3.0)  # second has not been steady for as long as a lease
    assert two.execute("SELECT count(*) FROM members") == [(2,)]
    assert second.member is not None and second.member.is_sure


async def test_a_change_rings_the_bell_and_has_a_number(two: Two) -> None:
    first, second = two.databases
    assert first.member and second.member
    rung: list[bool] = []
    told = SqlCluster(second, second.member)
    told.listen(rung.append)
    since = (await told.news(None)).number
    await SqlChannels(first).resume("slack:C1")
    await SqlCluster(first, first.member).tell("memory", "p1")
    await until(lambda: rung)
    news = await told.news(since)
    assert news.keys == {"pauses": {""}, "memory": {"p1"}} and news.number == since + 2
    assert not (await SqlCluster(first, first.member).news(since)).keys, "one's own changes are no news"
    assert (await told.news(since, "memory")).keys == {"memory": {"p1"}}


async def test_what_was_forgotten_is_kept_for_who_is_away_for_long(two: Two) -> None:
    first, second = two.databases
    assert first.member and second.member
    for topic in (MEMORY, GONE):
        await SqlCluster(first, first.member).tell(topic, "x")
    two.execute("UPDATE changes SET at = at - 86400 * 3650")
    first.member._forgot_at = second.member._forgot_at = -math.inf
    async with asyncio.timeout(PATIENCE):
        while two.execute(f"SELECT 1 FROM changes WHERE topic = '{MEMORY}'"):
            await asyncio.sleep(0.05)
    assert (await SqlCluster(second, second.member).news(0, GONE)).keys == {GONE: {"x"}}


async def test_one_has_its_turn_after_the_other(two: Two) -> None:
    done: list[int] = []

    async def turn(number: int) -> None:
        async with two.databases[number % 2].turn("memory"):
            done.append(number)
            await asyncio.sleep(0.02)
            assert done[-1] == number

    await asyncio.gather(*(turn(number) for number in range(6)))
    with pytest.raises(ZeroDivisionError):
        async with two.databases[0].turn("memory"):
            raise ZeroDivisionError
    await asyncio.wait_for(turn(1), PATIENCE)


async def test_who_has_a_turn_waits_for_no_connection_behind_the_others(two: Two) -> None:
    database = two.databases[0]
    database._places = Places(patience=0.2)
    async with AsyncExitStack() as busy:
        for _ in range(CONNECTIONS):
            await busy.enter_async_context(database.read())
        with pytest.raises(StorageUnavailable):
            await SqlConversations(database).claimed("slack:C1:1")
        async with database.turn("memory"):
            assert await SqlConversations(database).claimed("slack:C1:1") is None
            assert await SqlConversations(database).claim(Claim("slack:C1:1", "", "", 1.0))
        with pytest.raises(StorageUnavailable):
            await SqlConversations(database).claimed("slack:C1:1")
    assert await SqlConversations(database).claimed("slack:C1:1")


async def test_connections_are_given_in_the_order_in_which_they_are_asked_for() -> None:
    """Also where somebody always comes just when one is free."""
    places, got = Places(1), []

    async def use(name: str, again: int) -> None:
        async with places.one():
            got.append(name)
            await asyncio.sleep(0)
        if again:
            await use(name, again - 1)

    await asyncio.gather(use("busy", 5), use("first", 0), use("second", 0))
    assert got[:3] == ["busy", "first", "second"]


async def test_who_does_not_share_is_refused_and_refuses(two: Two, tmp_path: Path) -> None:
    with pytest.raises(DatabaseBusy):
        await Database.open(tmp_path / "c", two.url, "serve")
    for database in two.databases:
        await database.close()
    alone = await Database.open(tmp_path / "c", two.url, "serve")
    with pytest.raises(DatabaseBusy, match="CLUSTER"):
        await Database.open(tmp_path / "d", two.url, "serve", shared=True)
    await alone.close()


async def test_who_was_overtaken_neither_settles_the_question_nor_puts_its_answer_there(two: Two) -> None:
    """An edit or a deletion that comes to another process has it take the question over from a living one."""
    key = "slack:C1:1"
    part = MessageRef("slack", "C1", "2", "1")
    first, second = map(SqlConversations, two.databases)
    await first.claim(Claim(key, key, "slack:U1", 1.0, {"text": "hi"}))
    assert await first.posting(key, "early") and await first.is_ours(key)
    await second.take_over(key)
    await second.reopen(key, {"text": "ho"}, 1.0)
    assert not await first.posting(key, "stale")
    for late in ("stale", ""):
        await first.answered(key, late, ours=True)
    assert await second.is_ours(key), "it is still to be answered"
    assert await second.posting(key, "right")
    await second.posted(key, [part])
    assert await second.answer_of(part.key) == "right", "votes on what is about to be posted"
    await second.answered(key, "right", ours=True)
    for late in ("stale", ""):
        await first.answered(key, late, ours=True)
        await second.answered(key, late, ours=True)
        assert not await second.posting(key, late)
    assert await first.answer_of(part.key) == "right", "votes on it are not lost"
    await first.answered(key, "")
    assert await second.answer_of(part.key) == "", "who deletes an answer need not have given it"


async def test_who_leaves_leaves_what_is_open_to_the_others_at_once(two: Two) -> None:
    first, second = two.databases
    await SqlConversations(first).claim(Claim("slack:C1:1", "slack:C1:1", "slack:U1", 1.0, {"text": "hi"}))
    assert first.member is not None and first.member.is_sure
    await first.close()
    assert not first.member.is_sure, "what is still under way says nothing more"
    with pytest.raises(StorageUnavailable):
        await first.member.sure()
    [taken] = await SqlConversations(second).left("slack", messages=True)
    assert taken.message == "slack:C1:1"
    async with second.read() as connection:
        assert await connection.scalar(text("SELECT count(*) FROM members")) == 1
