"""What every `ConversationStore` does."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from core.domain import MessageRef
from core.ports import Claim, ConversationStore
from tests.contracts.conftest import Stores
from tests.contracts.samples import AWKWARD, UNWRITABLE, kept_of


@pytest.fixture
def store(stores: Stores) -> ConversationStore:
    return stores.conversations


def claim(message: str, at: float = 100.5, conversation: str = "slack:C:1", **payload: Any) -> Claim:
    return Claim(message, conversation, "slack:U1", at, payload)


def refs(*messages: str) -> tuple[MessageRef, ...]:
    return tuple(MessageRef("slack", "C", message, "1") for message in messages)


async def test_nothing_is_there_at_first(store: ConversationStore) -> None:
    assert await store.claimed("m") is None
    assert await store.last_claim("slack:C:1") is None
    assert await store.unanswered(0) == ()
    assert await store.answer_of("slack:C:p1") == ""
    await store.answered("m", "a")
    await store.posted("m", ())
    await store.reopen("m", {}, 1.0)
    assert await store.claimed("m") is None
    assert await store.unanswered(0) == ()


async def test_a_message_is_taken_once(store: ConversationStore) -> None:
    first = replace(claim("m", text=AWKWARD, deep=[{"a": None, "b": 1.5}]), parts=refs("p1"))
    assert await store.claim(first, "e1")
    assert not await store.claim(claim("m", at=200), "e2")
    assert not await store.claim(claim("m"))
    assert await store.claimed("m") == first


async def test_an_event_is_taken_once_whatever_it_brings(store: ConversationStore) -> None:
    assert await store.claim(claim("m1"), "e1")
    assert not await store.claim(claim("m2"), "e1")
    assert await store.claimed("m2") is None
    assert await store.claim(claim("m2"), "e2")


async def test_whether_an_event_was_taken_can_be_asked(store: ConversationStore) -> None:
    assert not await store.taken("e1")
    assert await store.claim(claim("m"), "e1")
    assert await store.taken("e1")
    assert not await store.taken("e2")


async def test_an_event_without_a_message_is_taken_too(store: ConversationStore) -> None:
    assert await store.claim(claim(""), "reaction-1")
    assert not await store.claim(claim(""), "reaction-1")
    assert await store.claim(claim(""), "reaction-2")
    assert await store.unanswered(0) == ()


async def test_twenty_claimers_at_once_get_a_message_once(store: ConversationStore) -> None:
    by_event = await asyncio.gather(*(store.claim(claim("m"), f"e{n}") for n in range(20)))
    assert sum(by_event) == 1
    by_message = await asyncio.gather(*(store.claim(claim(f"n{n}"), "event") for n in range(20)))
    assert sum(by_message) == 1
    assert len(await store.unanswered(0)) == 2


async def test_what_was_taken_and_not_settled_is_found_again_within_the_window(
    store: ConversationStore,
) -> None:
    for message, at in (
        ("late", 300.0),
        ("old", 100.0),
        ("edge", 200.0),
        ("done", 250.0),
        ("dropped", 260.0),
    ):
        await store.claim(claim(message, at, text=message))
    await store.answered("done", "a1")
    await store.answered("dropped", "")
    found = await store.unanswered(200.0)
    assert [c.message for c in found] == ["edge", "late"]
    assert found[0].payload == {"text": "edge"}
    assert [c.message for c in await store.unanswered(0)] == ["old", "edge", "late"]


async def test_posts_lead_back_to_the_answer(store: ConversationStore) -> None:
    await store.claim(claim("m"))
    await store.posted("m", refs("p1", "p2"))
    assert await store.answer_of("slack:C:p1") == ""
    kept = await store.claimed("m")
    assert kept is not None
    assert kept.parts == refs("p1", "p2") and kept.posting == ""
    await store.posting("m", "a1")
    assert [await store.answer_of(f"slack:C:{p}") for p in ("p1", "p2", "p3")] == ["a1", "a1", ""]
    kept = await store.claimed("m")
    assert kept is not None and kept.posting == "a1" and not kept.is_settled and not kept.answer_id
    await store.answered("m", "a1")
    assert [await store.answer_of(f"slack:C:{p}") for p in ("p1", "p2", "p3")] == ["a1", "a1", ""]

    await store.posted("m", refs("p1", "p3"))  # a shorter or longer answer after an edit
    assert [await store.answer_of(f"slack:C:{p}") for p in ("p1", "p2", "p3")] == ["a1", "", "a1"]
    await store.posted("m", ())
    assert await store.answer_of("slack:C:p1") == ""


async def test_a_claim_settled_without_an_answer_has_none(store: ConversationStore) -> None:
    await store.claim(claim("m"))
    await store.posted("m", refs("p1"))
    await store.posting("m", "a1")
    await store.answered("m", "")
    assert await store.answer_of("slack:C:p1") == "", "it was not posted, after all"
    assert await store.last_claim("slack:C:1") is None


async def test_the_last_claim_of_a_conversation_is_the_latest_answered(store: ConversationStore) -> None:
    for message, at in (("m1", 1.0), ("m3", 3.0), ("m2", 2.0), ("m4", 4.0), ("m5", 5.0)):
        await store.claim(claim(message, at))
    await store.claim(claim("other", 9.0, "slack:C:2"))
    for message in ("m1", "m2", "m3", "other"):
        await store.answered(message, f"a-{message}")
    await store.answered("m5", "")
    last = await store.last_claim("slack:C:1")
    assert last is not None
    assert (last.message, last.answer_id, last.at) == ("m3", "a-m3", 3.0)
    assert await store.last_claim("slack:C:3") is None
    in_channel = await store.last_in("slack:C")
    assert in_channel is not None and in_channel.message == "other"
    assert await store.last_in("slack:_") is None and await store.last_in("slack") is not None
    assert await store.last_in("discord:C") is None


async def test_the_claim_of_an_answer_is_found_until_it_is_answered_anew(store: ConversationStore) -> None:
    for name in ("m", "n"):
        await store.claim(claim(name))
        await store.posted(name, refs(f"p-{name}"))
    assert await store.claim_of("") is None
    await store.answered("m", "a1")
    await store.answered("n", "")
    found = await store.claim_of("a1")
    assert found is not None
    assert (found.message, found.parts, found.answer_id) == ("m", refs("p-m"), "a1")
    await store.reopen("m", {}, 150.0)
    assert await store.claim_of("a1") is None
    await store.answered("m", "a2")
    assert await store.claim_of("a1") is None and await store.claim_of("a2") is not None
    assert await store.claim_of("") is None


async def test_a_reopened_claim_waits_again_in_the_same_messages(store: ConversationStore) -> None:
    await store.claim(claim("m", 100.0, text="before"))
    await store.posted("m", refs("p1"))
    await store.posting("m", "a1")
    await store.answered("m", "a1")
    await store.reopen("m", {"text": "after"}, 150.0)
    (waiting,) = await store.unanswered(150.0)
    assert (waiting.payload, waiting.parts, waiting.at) == ({"text": "after"}, refs("p1"), 150.0)
    assert waiting.answer_id == ""
    assert await store.answer_of("slack:C:p1") == ""
    assert not await store.claim(claim("m"))
    await store.answered("m", "a2")
    assert await store.answer_of("slack:C:p1") == "a2"
    there = await store.claim_at("slack:C:p1")
    assert there is not None and (there.answer_id, there.before) == ("a2", ("a1",))
    assert await store.claim_at("slack:C:p2") is None


async def test_a_reply_of_very_many_messages_is_kept(store: ConversationStore) -> None:
    await store.claim(claim("m"))
    parts = refs(*(f"p{n}" for n in range(700)))
    await store.posted("m", parts)
    await store.answered("m", "a1")
    assert await store.answer_of("slack:C:p699") == "a1"
    kept = await store.claimed("m")
    assert kept is not None
    assert kept.parts == parts


async def test_text_that_no_database_can_hold_costs_only_its_bad_characters(store: ConversationStore) -> None:
    odd = replace(claim("web:m", text=UNWRITABLE), asker=f"web:{UNWRITABLE}")
    assert await store.claim(odd, f"event {UNWRITABLE}")
    assert not await store.claim(claim("web:n"), f"event {UNWRITABLE}")
    (kept,) = await store.unanswered(0)
    assert kept_of(kept.payload["text"]) == kept_of(UNWRITABLE)
    assert kept_of(kept.asker) == kept_of(odd.asker)


async def test_what_is_not_decided_can_be_dropped_reworded_and_decided(store: ConversationStore) -> None:
    for name in ("m", "n"):
        await store.claim(replace(claim(name, text="before"), decided=False, tries=0), f"event {name}")
    assert [c.message for c in await store.open_in("slack:C:1")] == ["m", "n"]
    await store.reworded("m", {"text": "after"})
    kept = await store.claimed("m")
    assert kept is not None and (kept.decided, kept.tries, kept.payload) == (False, 0, {"text": "after"})
    await store.decided("m", {"text": "meant"})
    kept = await store.claimed("m")
    assert kept is not None and (kept.decided, kept.tries, kept.payload) == (True, 1, {"text": "meant"})
    await store.dropped("n")
    assert await store.claimed("n") is None and await store.taken("event n")
    assert [c.message for c in await store.open_in("slack:C:1")] == ["m"]
    await store.answered("m", "a", "de")
    kept = await store.claimed("m")
    assert kept is not None and kept.is_settled and kept.language == "de"
    assert await store.open_in("slack:C:1") == ()


async def test_tries_are_counted_and_taken_back_while_a_claim_is_open(store: ConversationStore) -> None:
    await store.claim(claim("m"))
    assert await store.tried("m") == 2 and await store.tried("none") == 0
    await store.spared(["m", "none"])
    kept = await store.claimed("m")
    assert kept is not None and kept.tries == 1
    await store.answered("m", "")
    await store.spared(["m"])
    kept = await store.claimed("m")
    assert kept is not None and kept.tries == 1 and kept.is_settled
    await store.reopen("m", {"text": "anew"}, 7.0)
    kept = await store.claimed("m")
    assert kept is not None and kept.tries == 1 and kept.decided and not kept.is_settled


async def test_commands_are_no_questions_of_a_conversation(store: ConversationStore) -> None:
    await store.claim(replace(claim("slack:command:e1"), kind="command"))
    await store.claim(claim("m"))
    assert [c.message for c in await store.open_in("slack:C:1")] == ["m"]
    assert {c.kind for c in await store.unanswered(0.0)} == {"command", "message"}


async def test_what_is_left_of_a_platform_is_told_apart_by_kind(store: ConversationStore) -> None:
    await store.claim(replace(claim("slack:command:e1"), kind="command"))
    await store.claim(claim("slack:C:2", 2.0))
    await store.claim(claim("slack:C:1", 1.0))
    await store.claim(claim("discord:C:1", 1.0))
    assert [c.message for c in await store.left("slack", messages=True)] == ["slack:C:1", "slack:C:2"]
    assert [c.message for c in await store.left("slack", messages=False)] == ["slack:command:e1"]
    await store.take_over("slack:C:1")
    assert await store.is_ours("slack:C:1"), "there is no other process"


async def test_who_was_told_something_last_is_known_also_without_an_answer(store: ConversationStore) -> None:
    assert await store.last_told("slack:C:1") is None
    await store.claim(claim("m", 1.0))
    await store.posted("m", refs("p1"))
    assert await store.last_told("slack:C:1") is None, "it is not settled yet"
    await store.answered("m", "")
    await store.claim(claim("n", 2.0))
    await store.answered("n", "")
    told = await store.last_told("slack:C:1")
    assert told is not None and told.message == "m" and await store.last_claim("slack:C:1") is None
    assert await store.last_asked("slack:C:1") is None
    await store.claim(claim("o", 3.0))
    await store.answered("o", "a1")
    await store.claim(replace(claim("p", 4.0), kind="press"))
    await store.answered("p", "a2")
    asked = await store.last_asked("slack:C:1")
    assert asked is not None and asked.message == "o", "what a press asked is another matter"
    assert await store.known(["slack:C:p1", "slack:C:p2"]) == {"slack:C:p1"}


async def test_the_answers_of_posts_and_of_conversations_are_found(store: ConversationStore) -> None:
    for number, answer_id in enumerate(("a1", "a2", "", "a4"), 1):
        place = "slack:C:2" if answer_id == "a4" else "slack:C:1"
        await store.claim(claim(f"m{number}", at=100.0 + number, conversation=place))
        await store.posted(f"m{number}", refs(f"p{number}"))
        await store.answered(f"m{number}", answer_id)
    await store.claim(claim("open", at=200.0))
    await store.posted("open", refs("p5"))
    parts = [f"slack:C:p{number}" for number in (1, 3, 4, 5, 6)]
    assert await store.answers_of(parts) == {"slack:C:p1": "a1", "slack:C:p4": "a4"}
    assert await store.answers_of([]) == {}
    assert await store.answers_in("slack:C:1", 5) == ("a2", "a1")
    assert await store.answers_in("slack:C:1", 1) == ("a2",)
    assert await store.answers_in("slack:C:3", 5) == ()


async def test_what_a_message_said_is_forgotten_and_of_no_other(store: ConversationStore) -> None:
    for message in ("m1", "m2"):
        await store.claim(claim(message, text="words"))
    await store.emptied("m1")
    first, second = await store.claimed("m1"), await store.claimed("m2")
    assert first is not None and (first.payload, first.asker) == ({}, "")
    assert second is not None and (second.payload, second.asker) == ({"text": "words"}, "slack:U1")


async def test_a_conversation_and_a_language_stay_until_others_are_told(store: ConversationStore) -> None:
    await store.claim(claim("m", conversation=""))
    await store.posted("m", refs("p1"), "slack:C:9")
    await store.posted("m", refs("p1", "p2"))
    await store.answered("m", "a1", "de")
    await store.answered("m", "a2")
    kept = await store.claimed("m")
    assert kept is not None and (kept.conversation, kept.language) == ("slack:C:9", "de")


async def test_a_try_that_was_never_made_is_not_taken_back(store: ConversationStore) -> None:
    await store.claim(claim("m"))
    await store.spared(["m"])
    assert await store.tried("m") == 1
