"""Whose words answers, pairs and pages hold, in every store that keeps them."""

from __future__ import annotations

from dataclasses import replace

from core.domain import Answer, Question, Taken
from core.ports import Claim
from tests.contracts.conftest import Stores
from tests.contracts.samples import document, pair

ANN, BOB, HAL = "slack:UANN", "slack:UBOB", "slack:UHAL"


async def test_an_answer_holds_the_words_of_who_asked_and_of_those_it_was_taken_from(stores: Stores) -> None:
    memories = stores.memories
    await memories.add([pair("p0", asker=ANN, others=(HAL,))])
    taken = Taken(asked=frozenset({ANN}), people=frozenset({HAL}))
    for key, question, given in (
        ("a1", Question("x", BOB), Taken()),
        ("a2", Question("x", BOB), taken),
        ("a3", Question("x", BOB, authors=(ANN,)), Taken()),
        ("a4", Question("x", BOB), Taken(pairs=frozenset({"p0"}))),
    ):
        assert await memories.save_answer(Answer(key, "x", "documents", "1.0", taken=given), question, None)
    reused = Answer("a5", "x", "reuse", "1.0", pair_id="p0", taken=Taken(pairs=frozenset({"p0"})))
    assert await memories.save_answer(reused, Question("x", BOB), None)
    whole = {key: set(await memories.whose([key])) for key in ("a1", "a2", "a3", "a4", "a5")}
    assert whole == {
        "a1": {BOB},
        "a2": {BOB, ANN, HAL},
        "a3": {ANN},
        "a4": {BOB, ANN, HAL},
        "a5": {BOB, ANN, HAL},
    }
    asked = {key: set(await memories.whose([key], text=False)) for key in ("a2", "a3", "a4", "a5")}
    assert asked == {"a2": {BOB, ANN}, "a3": {ANN}, "a4": {BOB}, "a5": {BOB}}
    assert await memories.whose(["a1", "a3"]) == {BOB, ANN} and await memories.whose(["a9"]) == frozenset()


async def test_what_was_made_of_something_that_is_gone_is_not_kept(stores: Stores) -> None:
    memories, asked = stores.memories, Question("x", BOB)
    for taken in (Taken(pairs=frozenset({"p9"})),):
        assert not await memories.save_answer(Answer("a1", "x", "reference", "1.0", taken=taken), asked, None)
    made = Answer("a2", "x", "quote", "1.0", pair_id="p2")

    async def never() -> bool:
        return False

    assert not await memories.save_answer(made, asked, pair("p2"), never)
    assert (await memories.counts())["answers"] == (await memories.counts())["pairs"] == 0
    assert await memories.save_answer(made, asked, pair("p2"))


async def test_the_answers_of_a_conversation_are_told_the_latest_first(stores: Stores) -> None:
    store = stores.conversations
    for at, (message, place) in enumerate((("m1", "c"), ("m2", "c"), ("m3", "other"), ("m4", "c"))):
        await store.claim(Claim(message, place, BOB, float(at), {"authors": [ANN]}))
    for message, answer_id in (("m1", "a1"), ("m2", "a2"), ("m3", "a3"), ("m4", "")):
        await store.answered(message, answer_id)
    assert await store.answers_in("c", 5) == ("a2", "a1") and await store.answers_in("c", 1) == ("a2",)
    await store.reopen("m1", {"authors": [HAL]}, 9.0)
    assert await store.answers_in("c", 5) == ("a2",)
    await store.emptied("m2")


async def test_a_page_is_told_with_those_who_wrote_it(stores: Stores) -> None:
    corpora = stores.corpora
    first, second = replace(document("a.md"), people=("slack:~1",)), document("b.md")
    for one in (first, second):
        await corpora.put("1.0", one)
    ids = [chunk.id for one in (first, second) for chunk in one.contexts[:1]]
    pages = await corpora.contexts(ids)
    assert [pages[key].people for key in ids] == [("slack:~1",), ()]
    await corpora.wrote({second.id: ("slack:~2", "slack:~1")})
    assert (await corpora.contexts(ids))[ids[1]].people == ("slack:~1", "slack:~2")
    await corpora.swap("1.0", [first.id], "e")
    await corpora.sweep("1.0")
    await corpora.put("1.0", replace(second, people=()))
    assert (await corpora.contexts(ids))[ids[1]].people == (), "with a document goes who wrote it"
