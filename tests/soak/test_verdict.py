"""What a soak makes of its samples, when a rate counts as borne, and a Slack that forgets."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tests.benchmarks.fresh import Questions
from tests.soak.capacity import flat
from tests.soak.people import Answered, People
from tests.soak.process import Taken
from tests.soak.verdict import checks, rows

QUIET = Taken(0.0, 600.0, 500.0, 400.0, 350.0, 3, 60, 25, 0.5, 100.0, 200.0, 1.0)


def taken(**last: float) -> list[Taken]:
    early = [replace(QUIET, at=float(at)) for at in range(0, 90, 5)]
    return early + [replace(QUIET, at=float(at), **last) for at in range(90, 101, 5)]


def answered(late: float = 100.0) -> list[Answered]:
    return [Answered(float(at), 100.0 if at < 55 else late, False) for at in range(100)]


@pytest.mark.parametrize(
    ("last", "late", "lost", "broken"),
    [
        ({}, 100.0, 0, set()),
        ({"rss_mb": 629.0}, 100.0, 0, set()),
        ({"rss_mb": 631.0}, 100.0, 0, {"memory of the process and its workers"}),
        ({"handles": 63}, 140.0, 0, set()),
        ({"handles": 64}, 151.0, 0, {"open handles", "p95 of the answers, by halves"}),
        ({}, 100.0, 1, {"questions without an answer"}),
    ],
)
def test_what_grows_or_slows_is_named(
    last: dict[str, float], late: float, lost: int, broken: set[str]
) -> None:
    found = checks(taken(**last), answered(late), 0.0, 100.0, lost)
    assert {check.name for check in found if not check.holds} == broken
    assert all(("**no**" in check.text()) != check.holds for check in found)


def test_each_look_has_the_times_since_the_one_before() -> None:
    made = rows(taken(), answered(), 0.0)
    assert [row["answers"] for row in made][:3] == [0, 5, 5] and made[-1]["p95_ms"] == 100.0


def test_a_rate_is_borne_where_times_stay_and_nobody_is_left_waiting() -> None:
    assert flat(100.0, 199.0, 3, 5.0)
    assert not flat(100.0, 201.0, 3, 5.0)
    assert not flat(100.0, 100.0, 6, 5.0)
    assert not flat(0.0, float("inf"), 0, 5.0)


async def test_what_was_answered_is_forgotten_by_and_by() -> None:
    pages = [("Kettle > Backups", "Every night the archive is copied to another folder.")]
    people = People(Questions(pages, [], random.Random(1)), random.Random(1))
    async with people.slack as slack:
        for _ in range(320):
            ts = people.ask()
            channel = next(name for name, said in slack.messages.items() if ts in said)
            slack.store(channel, slack.bot_user, "Looking it up …", ts, bot_id=slack.bot_id)
            assert people.waiting == 1
            slack.store(channel, slack.bot_user, "Set `limit`.", ts, bot_id=slack.bot_id)
            people._drop()
        slack.trim()
        assert people.waiting == 0 and len(people.answered) == 320
        assert sum(map(len, slack.messages.values())) == 3 * 300
        people.vote(3, True)
        assert people.votes == 3
