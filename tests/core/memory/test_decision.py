"""When an answer is reused, by either decision."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.domain import Vector
from core.memory.decision import LEARNED, PAPER, Candidate, Chosen, Decision, choose, how_near
from tests.contracts.samples import pair

DELTA = 0.84
DECISION = Decision("learned", reach=0.6, far=0.5, slope=0.5)


def direction(degrees: float) -> Vector:
    """Return a unit vector in the plane."""
    return np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], np.float32)


def candidate(
    key: str, closeness: float, degrees: float = 0.0, answer: str = "", rewordings: int = 0
) -> Candidate:
    return Candidate(
        pair(key, topic=key, answer=answer or f"{key}!"), closeness, direction(degrees), rewordings
    )


def chosen(
    *candidates: Candidate,
    decision: Decision = DECISION,
    blocked: str = "",
    guard: str = "",
) -> Chosen:
    def hindrance(one: Candidate) -> str:
        return "It differs." if one.pair.id == blocked else ""

    return choose(candidates, decision, DELTA, hindrance, lambda one, other: guard)


def taken(found: Chosen) -> str:
    return found.candidate.pair.id if found.candidate else ""


def test_the_paper_decides_by_delta_however_near_others_are() -> None:
    near = (candidate("a", 0.85), candidate("b", 0.845, 90))
    assert taken(chosen(*near, decision=PAPER)) == "a"
    assert taken(chosen(candidate("a", 0.83), decision=PAPER)) == ""


def test_a_lone_topic_needs_the_reach() -> None:
    assert taken(chosen(candidate("a", 0.6))) == "a"
    assert taken(chosen(candidate("a", 0.59))) == ""
    assert taken(chosen()) == ""


@pytest.mark.parametrize(("closeness", "reused"), [(0.71, True), (0.69, False)])
def test_the_nearer_the_next_topic_the_more_is_needed(closeness: float, reused: bool) -> None:
    # .6 + .5 * (.7 - .5) = .7 is needed; the two topics are far from each other
    found = chosen(candidate("a", closeness), candidate("b", 0.7, 90))
    assert (taken(found) in ("a", "b")) == reused


def test_a_pair_with_the_same_answer_is_no_rival() -> None:
    found = chosen(candidate("a", 0.62, answer="42"), candidate("b", 0.61, 90, answer="42"))
    assert taken(found) == "a"


def test_a_pair_on_the_same_topic_is_no_rival_unless_the_guard_tells_them_apart() -> None:
    near = (candidate("a", 0.65, 0), candidate("b", 0.64, 20))  # cosine .94 with each other
    assert taken(chosen(*near)) == "a"
    assert taken(chosen(*near, guard="One asks about red, the other about blue.")) == ""


def test_a_known_topic_gathers_little_known_ones_on_both_sides_of_it() -> None:
    # b and c are on a's topic; d is on neither
    near = (
        candidate("b", 0.75, 20),
        candidate("a", 0.74, 0, rewordings=5),
        candidate("c", 0.73, -20),
        candidate("d", 0.55, 180),
    )
    assert taken(chosen(*near)) == "b"


def test_where_the_closest_is_hindered_the_next_is_looked_at_and_the_reason_kept() -> None:
    near = (candidate("a", 0.9, 0), candidate("b", 0.89, 10))
    assert taken(chosen(*near, blocked="a")) == "b"
    alone = chosen(candidate("a", 0.9, 0), candidate("b", 0.3, 90), blocked="a")
    assert (taken(alone), alone.blocked) == ("", "It differs.")


def test_what_was_too_far_away_was_not_hindered() -> None:
    assert chosen(candidate("a", 0.5), blocked="a").blocked == ""


def test_the_sentence_says_how_close_it_is_what_is_needed_and_why() -> None:
    found = chosen(candidate("a", 0.67, rewordings=3), candidate("b", 0.62, 90))
    assert found.said == (
        "67% similar to a remembered question and its 3 rewordings (reused from 66%, as "
        "another remembered question is 62% similar)."
    )
    assert chosen(candidate("a", 0.9), decision=PAPER).said == (
        "90% similar to a remembered question (reused from 84%)."
    )
    assert chosen().said == ""


def test_the_same_words_again_are_always_reused() -> None:
    """Whatever is near: two topics as near as δ to each other do not both stand in a store."""
    assert LEARNED.needed(DELTA) < 1.0
    assert replace(LEARNED, reach=0.0).needed(0.2) == 0.0


def test_how_near_a_question_is_is_never_less_than_nothing() -> None:
    assert how_near(-0.09, 0.67) == "0% similar to a remembered question (reused from 67%)."


def test_a_pair_between_two_topics_is_a_topic_of_its_own() -> None:
    # two topics at cosine .5 with each other, and a pair at .87 from both, for which .97 would be needed
    strict = Decision("learned", reach=0.6, far=0.5, slope=1.0)
    between = candidate("between", 0.65, 29)
    first, second = candidate("first", 0.64, 0, rewordings=2), candidate("second", 0.3, 60, rewordings=1)
    assert taken(chosen(between, first, second, decision=strict)) == "", "the first topic is its rival"
    assert taken(chosen(between, first, decision=strict)) == "between", "with one topic alone it is of that"


@pytest.mark.parametrize(("rival", "told"), [(0.4, 0.0), (0.5, 0.0), (0.55, 0.55)])
def test_the_next_question_is_told_of_only_where_it_is_nearer_than_an_unrelated_one(
    rival: float, told: float
) -> None:
    found = chosen(candidate("a", 0.7), candidate("b", rival, 90))
    assert found.said == how_near(0.7, DECISION.needed(rival), told, 0)
