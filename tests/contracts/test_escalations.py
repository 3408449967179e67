"""What every `EscalationStore` does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.domain import MessageRef
from core.ports.escalations import EscalationStore, Ticket
from tests.contracts.conftest import Stores

FIRST = Ticket(
    "slack:C1:1", "a1", "slack:C1:1", "slack:C1", "public", "slack:U1", "slack:U1", "How?", "2.0", 10.0
)
SECOND = replace(FIRST, message="slack:C1:2@1.5", answer_id="a2", by="slack:U2", at=20.0)
POSTS = (
    (MessageRef("slack", "D9", "5"),),
    (MessageRef("slack", "C9", "6", "6"), MessageRef("slack", "C9", "7", "7")),
)
NOTICE = (MessageRef("slack", "C1", "8", "1"),)


@pytest.fixture
def tickets(stores: Stores) -> EscalationStore:
    return stores.escalations


async def test_nothing_is_there_at_first(tickets: EscalationStore) -> None:
    assert await tickets.of("m") is None and await tickets.of_post("p") is None
    assert await tickets.latest_in("c") is None and await tickets.answered_by("") is None
    assert await tickets.waiting() == () == await tickets.since(0.0)
    assert await tickets.counts() == (0, 0)
    await tickets.remove("m")
    await tickets.save(FIRST)
    assert await tickets.of(FIRST.message) is None


async def test_a_message_has_one_ticket_whose_states_follow_each_other(tickets: EscalationStore) -> None:
    assert await tickets.add(FIRST)
    assert not await tickets.add(replace(FIRST, question="Another?"))
    assert await tickets.of(FIRST.message) == FIRST and FIRST.is_open
    sent = replace(FIRST, posts=POSTS, notice=NOTICE, people=("slack:U9",), told=("x", "y"), names="Hal")
    await tickets.save(sent)
    for part in (*POSTS[0], *POSTS[1], *NOTICE):
        assert await tickets.of_post(part.key) == sent
    done = replace(sent, notice=(), resolved_at=30.0, resolver="slack:U9", resolver_name="Hal", answer="m")
    await tickets.save(done)
    assert await tickets.of_post(NOTICE[0].key) is None
    assert await tickets.answered_by("m") == done and await tickets.answered_by("") is None
    assert await tickets.counts() == (0, 1) and await tickets.waiting() == ()


async def test_what_is_open_is_listed_in_order(tickets: EscalationStore) -> None:
    away = replace(FIRST, message="slack:C2:1", conversation="slack:C2:1", channel="slack:C2", at=5.0)
    for ticket in (SECOND, FIRST, away):
        assert await tickets.add(ticket)
    assert await tickets.waiting() == (away, FIRST, SECOND)
    assert await tickets.waiting("slack:C1") == (FIRST, SECOND)
    assert await tickets.latest_in("slack:C1:1") == SECOND
    assert await tickets.since(10.0) == (FIRST, SECOND)
    assert await tickets.counts() == (3, 0)


async def test_a_message_has_tickets_for_each_of_its_answers(tickets: EscalationStore) -> None:
    own = [replace(FIRST, message=FIRST.message + end) for end in ("", "@1.0", "@1.0@anew", "@anew")]
    others = [replace(FIRST, message=FIRST.message + end) for end in ("0", "0@1.0")]
    for ticket in (*others, *own):
        assert await tickets.add(ticket)
    assert await tickets.about(FIRST.message) == tuple(own)
    assert await tickets.about("m") == ()


async def test_what_is_removed_is_gone_with_what_told_of_it(tickets: EscalationStore) -> None:
    await tickets.add(replace(FIRST, posts=POSTS))
    await tickets.add(SECOND)
    await tickets.remove(FIRST.message)
    assert await tickets.of(FIRST.message) is None and await tickets.of_post(POSTS[0][0].key) is None
    assert await tickets.waiting() == (SECOND,)
    assert await tickets.add(FIRST)
