"""The weekly digest: once a week, over restarts and lost time, and nothing where there is nothing."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from bot.operations.digest import Digest, latest
from bot.operations.notices import GIVE_UP_SECONDS
from core.insights.statistics import Gap, Unserved
from tests.bot.test_notices import Office

MONDAY = datetime(2026, 11, 23, 9, 0)
GAP = Gap(
    (Unserved("a", "tea", "Does it make tea?", "2.0", 0.0, "abstained", ("Tea", "https://x.example/tea")),)
)


class Desk(Office):
    """An office in which time is told and gaps are counted."""

    def __init__(self, when: str = "mon 09:00") -> None:
        super().__init__()
        self.when, self.time, self.found = when, MONDAY, (GAP,)
        self.days: list[int] = []
        self.wrong = 0
        self.digest = self.started()

    def started(self) -> Digest:
        """Return a digest after a restart."""
        self.notices = self.open()
        return Digest(self.when, self._gaps, self._wrong_reuse, self.notices, "Kettle", lambda: self.time)

    async def at(self, time: datetime) -> list[str]:
        self.time = time
        before = len(self.said)
        await self.digest.tick()
        return [text for _, text in self.said[before:]]

    async def _wrong_reuse(self, days: float) -> int:
        return self.wrong

    async def _gaps(self, days: float) -> tuple[Gap, ...]:
        self.days.append(round(days))
        return self.found


@pytest.mark.parametrize(
    ("when", "now", "due"),
    [
        ("mon 09:00", datetime(2026, 11, 23, 9, 0), MONDAY),
        ("mon 09:00", datetime(2026, 11, 23, 8, 59), datetime(2026, 11, 16, 9, 0)),
        ("mon 09:00", datetime(2026, 11, 29, 23, 0), MONDAY),
        ("sun 23:30", datetime(2026, 11, 23, 0, 5), datetime(2026, 11, 22, 23, 30)),
        ("mon 09:00", datetime(2027, 1, 2, 12, 0), datetime(2026, 12, 28, 9, 0)),
    ],
)
def test_the_last_time_of_a_week_is_found(when: str, now: datetime, due: datetime) -> None:
    assert latest(when, now) == due


async def test_it_comes_once_a_week_in_every_channel_and_restarts_change_nothing() -> None:
    desk = Desk()
    first = await desk.at(MONDAY)
    assert len(first) == 2 and "Does it make tea?" in first[0] and "https://x.example/tea" in first[0]
    assert "1 question on 1 topic" in first[0]
    desk.digest = desk.started()
    assert not await desk.at(datetime(2026, 11, 26, 12, 0))
    assert len(await desk.at(datetime(2026, 11, 30, 9, 1))) == 2
    assert desk.days == [7, 7]


async def test_what_fell_into_a_time_without_the_bot_is_told_at_the_next_start() -> None:
    desk = Desk()
    await desk.at(MONDAY)
    desk.digest = desk.started()
    said = await desk.at(datetime(2026, 12, 10, 15, 0))
    assert len(said) == 2 and "in the last 17 days" in said[-1]
    assert desk.days == [7, 17], "of all days since it was told last"
    assert len(await desk.at(datetime(2026, 12, 14, 9, 0))) == 2
    assert desk.days[2:] == [7]


async def test_nothing_is_said_where_there_is_nothing_and_it_is_not_looked_for_again() -> None:
    desk = Desk()
    desk.found = ()
    assert not await desk.at(MONDAY)
    desk.found = (GAP,)
    assert not await desk.at(datetime(2026, 11, 24, 9, 0)) and desk.days == [7]


async def test_a_channel_that_cannot_be_reached_gets_it_later_and_the_others_not_twice() -> None:
    desk = Desk()
    desk.walls["discord"].down = True
    assert len(await desk.at(MONDAY)) == 1
    assert not await desk.at(datetime(2026, 11, 23, 9, 5)), "not every minute"
    desk.walls["discord"].down = False
    assert len(await desk.at(datetime(2026, 11, 23, 9, 11))) == 1
    assert not await desk.at(datetime(2026, 11, 23, 9, 30))
    assert sorted(to for to, _ in desk.said) == ["7", "C1"]


async def test_a_channel_that_is_gone_is_tried_for_a_day_and_the_next_digest_tells_its_days() -> None:
    desk = Desk()
    await desk.at(MONDAY)
    for wall in desk.walls.values():
        wall.down = True
    for hour in (9, 10):
        assert not await desk.at(datetime(2026, 11, 30, hour, 0))
    assert len(desk.days) == 3
    desk.now += GIVE_UP_SECONDS
    assert not await desk.at(datetime(2026, 12, 1, 10, 0)) and len(desk.days) == 3, "it is given up"
    for wall in desk.walls.values():
        wall.down = False
    assert len(await desk.at(datetime(2026, 12, 7, 9, 0))) == 2 and desk.days[-1] == 14


async def test_a_channel_that_is_gone_makes_the_others_hear_nothing_twice() -> None:
    desk = Desk()
    await desk.at(MONDAY)
    desk.walls["discord"].down = True
    slack, discord = (desk.walls[name].said for name in ("slack", "discord"))
    for week in (1, 2):
        desk.now += 7 * GIVE_UP_SECONDS
        await desk.at(MONDAY + timedelta(weeks=week))
        assert len(slack) == 1 + week and "in the last 7 days" in slack[-1][1]
        desk.now += GIVE_UP_SECONDS
        assert not await desk.at(MONDAY + timedelta(weeks=week, days=1))
    desk.walls["discord"].down = False
    desk.now += 6 * GIVE_UP_SECONDS
    await desk.at(MONDAY + timedelta(weeks=3))
    assert "in the last 7 days" in slack[-1][1]
    assert "in the last 21 days" in discord[-1][1], "that one is told what it missed"


async def test_wrong_reuse_is_told_with_the_gaps() -> None:
    desk = Desk()
    desk.wrong = 2
    assert "2 remembered answers were to another question in the last 7 days" in (await desk.at(MONDAY))[0]


async def test_wrong_reuse_is_told_alone_where_there_are_no_gaps() -> None:
    desk = Desk()
    desk.found, desk.wrong = (), 1
    said = "**Wrong reuse**: 1 remembered answer was to another question in the last 7 days, as people said."
    assert (await desk.at(MONDAY))[0] == said


async def test_off_is_off() -> None:
    desk = Desk("off")
    assert not await desk.at(MONDAY) and not desk.days
