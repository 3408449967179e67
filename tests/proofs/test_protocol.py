"""The claim protocol, all interleavings: the right ones hold, and every seeded mistake is found."""

from __future__ import annotations

import pytest

from tests.proofs.protocol import LEASE, MISTAKES, TODAY, Protocol, explored

DEPTH = 30


@pytest.mark.parametrize("protocol", [TODAY, LEASE], ids=lambda protocol: protocol.name)
def test_no_interleaving_answers_twice_or_loses_a_question(protocol: Protocol) -> None:
    found = explored(protocol, DEPTH)
    assert (found.wrong, found.trace) == ("", ())
    assert found.states > (10_000 if protocol.lease else 200)


@pytest.mark.parametrize("protocol", MISTAKES, ids=lambda protocol: protocol.name)
def test_a_seeded_mistake_is_found(protocol: Protocol) -> None:
    found = explored(protocol, DEPTH)
    lost = protocol.stuck or not protocol.acknowledges_late
    assert found.wrong == ("lost" if lost else "answered twice"), found.trace


def test_more_kills_and_a_fourth_process_change_nothing() -> None:
    assert explored(Protocol("four", processes=4, at_once=4, lease=True), 12).wrong == ""
