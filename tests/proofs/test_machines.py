"""A few sequences of each machine; `python -m tests.proofs claims --sequences 1000` plays more."""

from __future__ import annotations

import pytest

from tests.proofs.claims import Claims, Expected
from tests.proofs.memory import Home, Placement
from tests.proofs.running import played
from tests.proofs.scope import Scopes, Secrets
from tests.proofs.votes import Hands, Votes
from tests.proofs.world import World


def test_each_question_has_one_answer_whatever_happens(opened: World) -> None:
    played(lambda: Claims(opened), 8, 8)


def test_votes_stand_as_hands_are_up(opened: World) -> None:
    played(lambda: Votes(opened), 6, 12)


def test_nothing_said_in_a_private_place_is_heard_elsewhere(opened: World) -> None:
    played(lambda: Scopes(opened), 7, 10)


def test_memory_stands_where_the_votes_say(home: Home) -> None:
    played(lambda: Placement(home), 8, 12)


def test_a_question_that_was_deleted_before_it_is_told_is_not_answered(opened: World) -> None:
    machine = Claims(opened)
    question = machine.written("Which port does the dashboard listen on?")
    told = ("message", machine.shown(question))
    machine.tell([machine.deleted(question)])
    machine.tell([told])
    machine.look()
    machine.teardown()


def test_a_correction_written_in_a_private_channel_stays_there_after_its_answer_was_published(
    opened: World,
) -> None:
    machine = Scopes(opened)
    text = "How often is a failed job tried again"
    machine.ask("slack:G2", "discord:eve", text, "secret")
    machine.publish("slack:G2")
    machine.correct(0, "discord:eve")
    machine.ask("slack:C2", "discord:eve", text, "secret")
    machine.teardown()


@pytest.mark.parametrize(
    ("replies", "settled", "wrong"),
    [
        (["It is 9090."], True, ""),
        (["It is 9090.", "It is 9090."], True, "2 replies"),
        ([], True, "0 replies"),
        (["It is 7."], True, "the reply to"),
        (["It is 9090."], False, "still open"),
    ],
)
def test_the_model_of_claims_sees_what_is_wrong(replies: list[str], settled: bool, wrong: str) -> None:
    model = Expected({"q": ["Which port does the dashboard listen on?"]})
    assert (wrong in model.wrong("q", replies, settled)) and bool(wrong) == bool(
        model.wrong("q", replies, settled)
    )


def test_the_model_of_scope_sees_a_leak() -> None:
    model = Secrets({"zq1qz": "slack:G1", "zq2qz": "slack:C1"}, {"zq1qz": "a", "zq2qz": "b"})
    assert model.leaked("zq1qz", "slack:C1") == {"zq1qz"}
    assert model.leaked("zq1qz", "slack:G2") == {"zq1qz"}
    assert not model.leaked("zq1qz zq2qz", "slack:G1")
    model.gone.add("zq2qz")
    assert model.leaked("zq2qz", "slack:C1") == {"zq2qz"}


def test_the_model_of_votes_lets_one_hand_uncover_the_other() -> None:
    model = Hands()
    model.raised("ann", 1, True)
    model.raised("ann", 0, True)
    model.cleared(0)
    assert model.opinion("ann") == 1
    assert model.score(0.5) == pytest.approx(2.5 / 3)
