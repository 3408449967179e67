"""Long work on a large memory: questions are answered meanwhile, and votes are counted after it."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from sqlalchemy import insert

from core.domain import Question, Vote, content_hash
from core.ports import Remembered
from storage.corpora.corpora import SqlCorpora
from storage.database.database import Database
from storage.memory.pair_rows import pair_values
from storage.tables import PairRow
from tests.benchmarks.memory import World, make_world
from tests.effort import thorough
from tests.journeys.house import Bot, Kettle, house

PAIRS = 6_000
PORT = "Which port does the dashboard listen on?"
AT_MOST = 10.0
"""Seconds within which 95 % of the questions are answered, on a machine that does other things, too."""


async def fill(kettle: Kettle, world: World) -> None:
    """Write pairs that people brought, with their vectors, as `memory import` would."""
    async with house(kettle) as bot:
        encoder = (await bot.app.corpus_manager.encoders.current()).name
    database = await Database.open(kettle.home)
    corpora = SqlCorpora(database)
    pairs = [
        Remembered(
            id=f"i{row:08}",
            question=question,
            topic=question,
            answer=f"Open the settings and look for entry {row}.",
            release="2.0",
            scope="public",
            prior=0.2 if row % 5 == 0 else 0.9,
            created_at=1.7e9 + row,
            origin="import",
        )
        for row, question in enumerate(world.questions)
    ]
    for start in range(0, PAIRS, 1000):
        some = range(start, start + 1000)
        await corpora.put_vectors(
            encoder, {content_hash(pairs[row].topic): world.vectors[row] for row in some}
        )
        async with database.write() as connection:
            await connection.execute(insert(PairRow), [pair_values(pairs[row]) for row in some])
    await database.close()


@pytest.fixture(scope="module")
def large(indexed: Kettle, tmp_path_factory: pytest.TempPathFactory) -> Kettle:
    kettle = indexed.copy(tmp_path_factory.mktemp("large") / "kettle")
    asyncio.run(fill(kettle, make_world(PAIRS)))
    return kettle


@pytest.fixture
async def bot(large: Kettle) -> AsyncIterator[Bot]:
    async with house(large) as found:
        assert len(found.app.memory.stores()) >= PAIRS
        yield found


def placed(bot: Bot) -> dict[str, object]:
    return {key: place for key, place in bot.app.memory.stores().items() if key.startswith("i")}


WORK: dict[str, Callable[[Bot], Awaitable[object]]] = {
    "verify": lambda bot: bot.app.memory.verify(),
    "rebuild": lambda bot: bot.app.memory.rebuild(),
    "forget": lambda bot: bot.app.people.forget("slack:NOBODY"),
}


@pytest.mark.parametrize(
    "name",
    [
        "rebuild",
        *(
            pytest.param(name, marks=thorough("test_questions_are_answered_while_memory_is_worked_on"))
            for name in WORK
            if name != "rebuild"
        ),
    ],
)
async def test_questions_are_answered_while_memory_is_worked_on(bot: Bot, name: str) -> None:
    first = await bot.app.engine.answer(Question(PORT, "cli"))
    before = placed(bot)
    seconds: list[float] = []
    work = asyncio.ensure_future(WORK[name](bot))
    await asyncio.sleep(0)
    vote = asyncio.create_task(bot.app.engine.feedback(Vote(first.id, "slack:U9", 1)))
    while not work.done():
        began = time.perf_counter()
        answer = await bot.app.engine.answer(Question(PORT, "cli"))
        seconds.append(time.perf_counter() - began)
        assert answer.route in ("quote", "reuse") and "9090" in answer.text
        await asyncio.sleep(0.05)
    said = await work
    assert await vote
    assert len(seconds) >= 5, "it was over before anybody could ask"
    assert statistics.quantiles(seconds, n=20, method="inclusive")[18] < AT_MOST, seconds
    assert name != "verify" or said == []
    assert placed(bot) == before
    assert await bot.app.memory.verify() == []
