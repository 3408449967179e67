"""What every `BucketStore` does."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.ports.conversations import Bucket, BucketStore, HeldBuckets
from storage.database.database import Database
from storage.serving.limits import KEPT_SECONDS, SqlBuckets

ANN = Bucket("person slack:~1", 2.0, 0.1)
HELP = Bucket("channel slack:C1", 5.0, 0.5)
DAY = Bucket("2026-11-23 slack:~1", 3.0, 0.0)


@pytest.fixture
async def buckets(place: str | None, tmp_path: Path) -> AsyncIterator[BucketStore]:
    if place is None:
        yield HeldBuckets()
        return
    database = await Database.open(tmp_path, place)
    yield SqlBuckets(database)
    await database.close()


async def test_a_bucket_is_full_at_first_and_fills_again(buckets: BucketStore) -> None:
    assert [await buckets.take([ANN], 100.0) for _ in range(3)] == [(0.0,), (0.0,), (10.0,)]
    assert await buckets.take([ANN], 105.0) == (5.0,), "what is refused costs nothing"
    assert await buckets.take([ANN], 110.0) == (0.0,)
    assert [await buckets.take([ANN], 9e5) for _ in range(3)] == [(0.0,), (0.0,), (10.0,)], "never over full"


async def test_a_question_is_taken_from_all_buckets_or_from_none(buckets: BucketStore) -> None:
    for _ in range(2):
        assert await buckets.take([ANN, HELP], 100.0) == (0.0, 0.0)
    for _ in range(4):
        assert await buckets.take([ANN, HELP], 100.0) == (10.0, 0.0)
    assert [await buckets.take([HELP], 100.0) for _ in range(4)] == [(0.0,), (0.0,), (0.0,), (2.0,)]


async def test_a_bucket_of_a_day_is_never_filled_again(buckets: BucketStore) -> None:
    for _ in range(3):
        assert await buckets.take([DAY], 100.0) == (0.0,)
    assert await buckets.take([DAY], 80_000.0) == (math.inf,)


async def test_a_clock_that_is_set_back_gives_nothing_and_takes_nothing(buckets: BucketStore) -> None:
    for _ in range(2):
        await buckets.take([ANN], 1000.0)
    assert await buckets.take([ANN], 10.0) == (10.0,)
    assert await buckets.take([ANN], 21.0) == (0.0,)


async def test_many_at_once_get_no_more_than_there_is(buckets: BucketStore) -> None:
    waits = await asyncio.gather(*(buckets.take([ANN, HELP], 100.0) for _ in range(20)))
    assert waits.count((0.0, 0.0)) == 2


async def test_two_processes_share_what_is_left(place: str | None, tmp_path: Path) -> None:
    if place is None:
        pytest.skip("memory is not shared")
    first, second = await Database.open(tmp_path, place), await Database.open(tmp_path, place)
    try:
        ours, theirs = SqlBuckets(first), SqlBuckets(second)
        takes = [store.take([HELP, ANN], 100.0) for store in (ours, theirs) * 10]
        assert (await asyncio.gather(*takes)).count((0.0, 0.0)) == 2
    finally:
        await first.close()
        await second.close()


async def test_unused_ones_are_dropped(place: str | None, tmp_path: Path) -> None:
    if place is None:
        pytest.skip("memory holds a number of them")
    database = await Database.open(tmp_path, place)
    try:
        await SqlBuckets(database).take([ANN, DAY], 100.0)
        await SqlBuckets(database).take([HELP], 200.0 + KEPT_SECONDS)
        async with database.read() as connection:
            left = (await connection.exec_driver_sql("SELECT name FROM buckets")).scalars().all()
        assert left == [HELP.name]
    finally:
        await database.close()
