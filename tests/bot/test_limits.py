"""Token buckets by person and by channel."""

from __future__ import annotations

import pytest

from bot.conversation.limits import Limits, wait_text


class Time:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_person_may_burst_and_then_waits() -> None:
    time = Time()
    limits = Limits(6, time)
    assert [limits.wait("ada", "help") for _ in range(6)] == [0.0] * 6
    assert limits.wait("ada", "help") == pytest.approx(10.0)
    time.now = 10.0
    assert limits.wait("ada", "help") == 0.0


def test_one_person_does_not_use_up_anothers_share() -> None:
    limits = Limits(6, Time())
    for _ in range(10):
        limits.wait("ada", "help")
    assert limits.wait("ben", "help") == 0.0


def test_a_channel_has_its_own_bucket() -> None:
    limits = Limits(6, Time())
    asked = [limits.wait(f"person {number}", "help") for number in range(40)]
    assert asked.count(0.0) == 30
    assert limits.wait("somebody", "other") == 0.0


def test_a_refused_question_costs_nothing() -> None:
    time = Time()
    limits = Limits(6, time)
    for _ in range(50):
        limits.wait("ada", "help")
    time.now = 10.0
    assert limits.wait("ada", "help") == 0.0


def test_nobody_is_told_to_ask_again_in_no_time() -> None:
    assert wait_text(0.2) == "Please ask again in 1 s." and wait_text(6.0) == "Please ask again in 6 s."
