"""By a clock that has jumped everything is old: what is daily removed waits for somebody to look at it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.commands.command_line import handle, status_of
from bot.operations.audit import Audit
from bot.operations.scheduler import OnSchedule
from core.domain import Question
from core.privacy.retention import DAY_SECONDS, JUMP_DAYS, Policy, Retention
from storage.database.database import Database
from storage.people.retention import SqlRetention
from storage.serving.about import SqlAbout, SqlAudit
from tests.journeys.house import Bot, Kettle, house

PORT = "Which port does the dashboard listen on?"
YEAR = 365 * DAY_SECONDS


@dataclass
class Clock:
    """A clock that a test sets."""

    now: float

    def __call__(self) -> float:
        return self.now


def database_of(bot: Bot) -> Database:
    """Return the bot's own database."""
    found = bot.app.people._store._database  # type: ignore[attr-defined]
    assert isinstance(found, Database)
    return found


async def nothing(before: float, dry_run: bool) -> dict[str, int]:
    return {}


def work_of(bot: Bot, clock: Clock, **policy: int) -> tuple[Retention, OnSchedule]:
    """Return retention by a clock of the test's, over the bot's own database, and what calls it daily."""
    database = database_of(bot)
    audit = SqlAudit(database)
    given = Policy(**(policy or {"questions_days": 365, "votes_days": 365, "logs_days": 30}))
    names = bot.app.privacy.names
    retention = Retention(
        SqlRetention(database, names), given, audit, Path("none"), nothing, clock, about=SqlAbout(database)
    )
    return retention, OnSchedule(
        bot.app.corpus_manager, retention, Audit(audit), bot.dispatch.notices.tell_admins
    )


async def questions(bot: Bot) -> int:
    return len((await bot.app.my_data.of("slack:U1")).get("questions", ()))


@pytest.fixture
async def asked(bot: Bot) -> Bot:
    """A bot that was asked something an hour and more ago."""
    await bot.app.engine.answer(Question(PORT, "slack:U1", "slack:C1"))
    database = database_of(bot)
    async with database.write() as connection:
        await connection.exec_driver_sql(f"UPDATE answers SET at = {time.time() - 7200}")
    return bot


async def test_a_clock_that_jumped_ahead_removes_nothing_until_somebody_says_so(
    asked: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock(time.time())
    retention, daily = work_of(asked, clock)
    await daily.tidy()
    clock.now += 2 * YEAR
    for _ in range(3):
        await daily.tidy()
        clock.now += DAY_SECONDS
    assert await questions(asked) == 1
    [notice] = [record.getMessage() for record in caplog.records if "The clock says" in record.getMessage()]
    assert "threadlore retention" in notice and time.strftime("%Y") in notice, "told once"
    assert await retention.run(dry_run=True) and await questions(asked) == 1
    done = await retention.run()  # by hand
    assert done["questions"] == 1 and await questions(asked) == 0
    clock.now += DAY_SECONDS
    assert await retention.doubt() is None, "from then on it is done daily again"


async def test_what_is_asked_after_the_jump_does_not_make_the_clock_right(asked: Bot) -> None:
    clock = Clock(time.time())
    _, daily = work_of(asked, clock)
    await daily.tidy()
    clock.now += 2 * YEAR
    database = database_of(asked)
    await asked.app.engine.answer(Question("How do I start the dashboard?", "slack:U2", "slack:C1"))
    async with database.write() as connection:
        await connection.exec_driver_sql(f"UPDATE answers SET at = {clock.now} WHERE asker = 'slack:U2'")
    clock.now += DAY_SECONDS
    await daily.tidy()
    assert await questions(asked) == 1


async def test_before_anything_was_removed_the_newest_question_tells_the_time(asked: Bot) -> None:
    clock = Clock(time.time() + 2 * YEAR)
    retention, daily = work_of(asked, clock)
    await daily.tidy()
    assert await questions(asked) == 1
    doubt = await retention.doubt()
    assert doubt is not None and "newest question" in doubt.text


@pytest.mark.parametrize("days", [1, JUMP_DAYS - 1, -3])
async def test_a_bot_that_was_off_for_a_while_goes_on(asked: Bot, days: int) -> None:
    clock = Clock(time.time())
    retention, daily = work_of(asked, clock, questions_days=1)
    await daily.tidy()
    clock.now += days * DAY_SECONDS
    await daily.tidy()
    assert await retention.doubt() is None
    assert await questions(asked) == (0 if days >= 1 else 1)


async def test_a_clock_that_jumped_back_is_told_and_its_correction_ends_it(asked: Bot) -> None:
    clock = Clock(time.time())
    retention, daily = work_of(asked, clock)
    await daily.tidy()
    clock.now -= 10 * YEAR
    await daily.tidy()
    assert await retention.doubt() is not None
    clock.now += 10 * YEAR + DAY_SECONDS
    assert await retention.doubt() is None


async def test_a_new_home_and_one_that_keeps_for_ever_are_not_in_doubt(bot: Bot) -> None:
    clock = Clock(time.time() + 20 * YEAR)
    retention, _ = work_of(bot, clock)
    assert await retention.doubt() is None and await retention.run() == {}
    clock.now += 20 * YEAR
    assert await retention.doubt() is not None
    for_ever, _ = work_of(bot, clock, questions_days=0, votes_days=0, logs_days=0)
    assert await for_ever.doubt() is None


async def test_status_says_it_and_the_command_line_does_it(kettle: Kettle) -> None:
    async with house(kettle) as bot:
        await SqlAbout(database_of(bot)).tell("retention", str(time.time() - YEAR))
        assert any("The clock says" in problem for problem in (await status_of(bot.app))["problems"])
        lines: list[dict[str, Any]] = []

        async def keep(message: dict[str, Any]) -> None:
            lines.append(message)

        await handle(bot.app, {"command": "retention", "caller": "cli:root"}, keep)
        assert lines[-1] == {"code": 0}
        assert not any("The clock says" in problem for problem in (await status_of(bot.app))["problems"])
