"""Whose vote counts for what, and which votes are a burst."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import STRANGERS
from core.memory.scoring import (
    CROWD,
    Ballot,
    Esteem,
    Policy,
    Thresholds,
    ballot,
    bursts,
    counted,
    esteem,
    is_neutral,
    score_of,
    vouched,
)
from core.ports import Acquaintance, Remembered, VoteEvent
from tests.contracts.samples import pair

DAY = 86400.0
NOW = 100 * DAY
LIMITS = Thresholds()
POLICY = Policy(7.0, 30)
OLD = Acquaintance(NOW - 8 * DAY, 3)
FRESH = Acquaintance()


@pytest.mark.parametrize(
    ("seen", "who", "expected"),
    [
        (FRESH, {}, Ballot(1.0, "new")),
        (FRESH, {"young": True}, Ballot(1.0, "early")),
        (OLD, {}, Ballot(1.0, "known")),
        (replace(OLD, contributions=2), {}, Ballot(1.0, "new")),
        (replace(OLD, first_seen=NOW - 6 * DAY), {}, Ballot(1.0, "new")),
        (OLD, {"asks": True}, Ballot(2.0, "asker")),
        (FRESH, {"asks": True}, Ballot(1.0, "asker")),
        (FRESH, {"asks": True, "young": True}, Ballot(2.0, "asker")),
        (FRESH, {"helps": True}, Ballot(2.0, "helper")),
        (replace(OLD, events=29), {}, Ballot(1.0, "known")),
        (replace(OLD, events=30), {}, Ballot(1.0, "flood", "voter")),
        (replace(OLD, events=31), {}, Ballot(1.0, "flood")),
        (replace(OLD, events=31), {"asks": True}, Ballot(1.0, "flood")),
        (replace(OLD, events=31), {"helps": True}, Ballot(2.0, "helper")),
        (replace(OLD, voters=30), {}, Ballot(1.0, "flood", "answer")),
        (replace(FRESH, strangers=CROWD, voters=CROWD), {}, Ballot(1.0, "new", "answer")),
        (replace(FRESH, strangers=CROWD + 1, voters=CROWD + 1), {}, Ballot(1.0, "new")),
        (replace(OLD, strangers=CROWD, voters=CROWD), {}, Ballot(1.0, "known")),
    ],
)
def test_a_vote_counts_by_who_casts_it(seen: Acquaintance, who: dict[str, bool], expected: Ballot) -> None:
    assert ballot(seen, POLICY, LIMITS, NOW, **who) == expected


def test_without_newcomers_everybody_is_known() -> None:
    assert ballot(FRESH, Policy(0.0), LIMITS, NOW).standing == "known"


def strangers(up: int, down: int = 0, early: bool = False) -> tuple[tuple[int, float, bool], ...]:
    return ((1, 1.0, early),) * up + ((0, 1.0, early),) * down


@pytest.mark.parametrize(
    ("given_pair", "neutral", "people"),
    [
        ({"strangers": strangers(10)}, True, 0),
        ({"strangers": strangers(1)}, True, 0),
        ({"strangers": strangers(1, early=True)}, False, 1),
        ({"strangers": strangers(2, early=True)}, False, 2),
        ({"strangers": strangers(3, early=True)}, True, 0),
        ({"strangers": strangers(10, early=True)}, True, 0),
        ({"strangers": strangers(10, 1, early=True)}, False, 0),
        ({"strangers": strangers(1, 10, early=True)}, False, 1),
        ({"strangers": strangers(10), "opinions": ((1, 1.0),)}, False, 1),
        ({"strangers": strangers(10, early=True), "opinions": ((1, 2.0),)}, False, 1),
        ({"strangers": strangers(2, early=True), "opinions": ((1, 2.0),)}, False, 3),
        ({"strangers": strangers(0, 10), "origin": "import"}, False, 0),
        ({"strangers": strangers(2, early=True), "aside": "retired"}, True, 2),
    ],
)
def test_a_crowd_of_strangers_is_nobody(given_pair: dict[str, Any], neutral: bool, people: int) -> None:
    made = pair(**given_pair)
    assert is_neutral(made) == neutral
    assert vouched(made) == people


@given(
    st.lists(st.tuples(st.integers(0, 1), st.sampled_from([1.0, 2.0])), max_size=4),
    st.lists(st.tuples(st.integers(0, 1), st.just(1.0), st.booleans()), max_size=40),
    st.floats(0, 1),
    st.sampled_from(["answer", "import"]),
)
def test_all_strangers_together_move_a_score_no_further_than_one_voter(
    opinions: list[tuple[int, float]], crowd: list[tuple[int, float, bool]], prior: float, origin: Any
) -> None:
    plain = pair(opinions=tuple(opinions), prior=prior, origin=origin)
    made = replace(plain, strangers=tuple(crowd))
    weights = sum(weight for _, weight in counted(made, LIMITS))
    assert weights <= sum(weight for _, weight in opinions) + LIMITS.voter_weight + 1e-9
    reach = [score_of(replace(plain, opinions=(*opinions, (value, 1.0))), LIMITS) for value in (0, 1)]
    assert reach[0] - 1e-9 <= score_of(made, LIMITS) <= reach[1] + 1e-9


def test_no_number_of_strangers_turns_what_the_asker_said() -> None:
    for value in (0, 1):
        made = pair(opinions=((value, LIMITS.asker_weight),), prior=0.75 if value else 0.25)
        before = LIMITS.store(score_of(made, LIMITS))
        crowd: Remembered = replace(made, strangers=strangers(*(100 * (1 - value), 100 * value)))
        assert LIMITS.store(score_of(crowd, LIMITS)) == before


def event(voter: str, minute: float, pair_id: str = "p1", standing: str = "new") -> VoteEvent:
    return VoteEvent(pair_id, f"a-{pair_id}", voter, standing, 60 * minute)


def test_what_few_strangers_vote_or_many_over_hours_is_no_burst() -> None:
    assert bursts([event("a", 0), event("b", 1), event("a", 2)]) == []
    assert bursts([event(f"u{n}", 90 * n) for n in range(9)]) == []


def test_a_crowd_on_one_answer_is_a_burst_and_so_is_a_flood_of_one_voter() -> None:
    crowd = [event(f"u{n}", 300 + 5 * n) for n in range(10)]
    flood = [event("bot", n / 10, f"p{n}", "flood") for n in range(40)]
    later = [event(f"u{n}", 900 + n, "p7") for n in range(3)]
    found = bursts([*flood, *crowd, *later])
    assert [(b.pair_id, b.voter, b.people, b.votes) for b in found] == [
        ("p7", "", 3, 3),
        ("p1", "", 10, 10),
        ("", "bot", 1, 40),
    ]
    assert (found[1].began_at, found[1].ended_at) == (18000, 20700)


def test_the_standings_of_strangers_are_those_that_ballots_give() -> None:
    assert set(STRANGERS) == {"early", "new", "flood"}


def test_strangers_beside_a_known_person_weigh_half_a_voter_together() -> None:
    assert score_of(pair(opinions=((1, 1.0),), strangers=strangers(0, 3)), LIMITS) == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("given_pair", "weights"),
    [
        ({"strangers": ((1, 1.0, True), (1, 1.0, True))}, (0.5, 0.5)),
        ({"strangers": ((1, 1.0, True), (1, 1.0, True)), "origin": "import"}, (0.25, 0.25)),
        ({"strangers": ((1, 1.0, True), (0, 1.0, True)), "opinions": ((1, 1.0),)}, (1.0, 0.25, 0.25)),
        ({"strangers": ((1, 0.3, True),)}, (0.3,)),
    ],
)
def test_early_strangers_weigh_one_voter_alone_and_half_beside_others(
    given_pair: dict[str, Any], weights: tuple[float, ...]
) -> None:
    assert [weight for _, weight in counted(pair(**given_pair), LIMITS)] == pytest.approx(list(weights))


@pytest.mark.parametrize(
    ("given_pair", "voters", "expected"),
    [
        ({"opinions": ((1, 1.0),)}, 1, Esteem(1, True)),
        ({"opinions": ((1, 1.0),)}, 2, Esteem(1, False, 1)),
        ({"opinions": ((1, 1.0),), "scope": "private:slack:C1"}, 2, Esteem(1, True)),
        ({"opinions": ((1, 1.0),), "origin": "import"}, 2, Esteem(1, True)),
        ({"opinions": ((1, 1.0),), "stale": True}, 1, Esteem(1, False)),
        ({"opinions": ((0, 1.0),)}, 1, Esteem(0, False)),
        ({}, 1, Esteem(0, False)),
        ({"strangers": ((1, 1.0, False),), "origin": "import", "prior": 0.75}, 1, Esteem(1, True)),
    ],
)
def test_esteem_says_whether_an_answer_is_given_again(
    given_pair: dict[str, Any], voters: int, expected: Esteem
) -> None:
    assert esteem(pair(**given_pair), replace(LIMITS, min_voters=voters)) == expected
