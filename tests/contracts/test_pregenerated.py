"""What every `PregeneratedStore` does."""

from __future__ import annotations

import numpy as np

from core.domain import ChunkedDocument, ContextChunk
from core.ingestion.pregeneration.pairs import Made, finished
from core.ports import PregeneratedPair
from tests.contracts.conftest import Stores
from tests.contracts.samples import AWKWARD, UNWRITABLE, document, kept_of


def pairs_of(made_of: ChunkedDocument, *questions: str, by: str = "rules 1") -> list[PregeneratedPair]:
    made = [Made(made_of.contexts[1].id, said, f"{said} So.", "All of it.") for said in questions]
    return finished(made, made_of.contexts, made_of.id, 1.0, by)


async def live(stores: Stores, *documents: ChunkedDocument) -> None:
    for one in documents:
        await stores.corpora.put("1.0", one)
    await stores.corpora.swap("1.0", [one.id for one in documents], "e")


async def test_nothing_is_there_at_first(stores: Stores) -> None:
    kept = stores.pregenerated
    assert await kept.pairs("1.0") == () and await kept.made_by("1.0") == {}
    assert await kept.pages("nobody") == ((), 0.0)
    await kept.put("nobody", "rules 1", pairs_of(document("a.rst"), "Why?"))
    assert await kept.pairs("1.0") == ()
    counted = await kept.count("1.0", "rules 1")
    assert (counted.documents, counted.done, counted.pairs) == (0, 0, 0)


async def test_pairs_come_back_whole_by_document_and_in_order(stores: Stores) -> None:
    first, second = document("a.rst"), document("b.rst")
    await live(stores, second, first)
    made = pairs_of(second, "Zebra?", "Ape?"), pairs_of(first, f"Is {AWKWARD} kept?")
    await stores.pregenerated.put(second.id, "rules 1", made[0])
    await stores.pregenerated.put(first.id, "rules 1", made[1])
    found = await stores.pregenerated.pairs("1.0")
    assert [pair.question for pair in found] == [made[1][0].question, "Zebra?", "Ape?"]
    assert found[0].url == first.contexts[1].url and found[0].title == first.title
    assert found[0].full_answer == "All of it." and found[0].by == "rules 1" and found[0].date > 0
    assert found[0].hashes == made[1][0].hashes


async def test_a_document_is_done_once_by_each_and_the_last_one_stands(stores: Stores) -> None:
    first, second = document("a.rst"), document("b.rst")
    await live(stores, first, second)
    kept = stores.pregenerated
    assert await kept.made_by("1.0") == {first.id: "", second.id: ""}
    await kept.put(first.id, "rules 1", pairs_of(first, "Old?"))
    await kept.put(second.id, "rules 1", [])
    assert set((await kept.made_by("1.0")).values()) == {"rules 1"}
    await kept.put(first.id, "m 1", pairs_of(first, "New?", by="m 1"))
    assert [pair.question for pair in await kept.pairs("1.0")] == ["New?"]
    assert await kept.made_by("1.0") == {first.id: "m 1", second.id: "rules 1"}
    counted = await kept.count("1.0", "m 1")
    assert (counted.documents, counted.done, counted.pairs) == (2, 1, 1)


async def test_pairs_go_with_their_document_and_their_vectors_after_them(stores: Stores) -> None:
    old, new = document("a.rst"), document("a.rst", version="2")
    await live(stores, old)
    [pair] = pairs_of(old, "Which?")
    await stores.pregenerated.put(old.id, "rules 1", [pair])
    await stores.corpora.put_vectors("e", dict.fromkeys(pair.hashes, np.ones(2, np.float32)))
    await stores.corpora.sweep("1.0")
    assert set(await stores.corpora.vectors("e", pair.hashes)) == set(pair.hashes)
    await live(stores, new)
    assert await stores.pregenerated.pairs("1.0") == ()
    await stores.corpora.sweep("1.0")
    assert await stores.corpora.vectors("e", pair.hashes) == {}
    assert await stores.pregenerated.made_by("1.0") == {new.id: "rules 1"}


async def test_pages_come_in_order(stores: Stores) -> None:
    kept = document("a.rst")
    await stores.corpora.put("1.0", kept)
    pages, date = await stores.pregenerated.pages(kept.id)
    assert pages == kept.contexts and date > 0


async def test_texts_that_no_database_can_hold_are_kept_as_far_as_they_can_be(stores: Stores) -> None:
    kept = document("a.rst")
    await live(stores, kept)
    await stores.pregenerated.put(kept.id, "rules 1", pairs_of(kept, UNWRITABLE + "?"))
    [pair] = await stores.pregenerated.pairs("1.0")
    assert kept_of(pair.question) == kept_of(UNWRITABLE) + "?"


async def test_what_is_refused_goes_in_every_release_and_does_not_come_back_until_it_is_allowed(
    stores: Stores,
) -> None:
    kept = stores.pregenerated
    old, new, other = document("a.rst"), document("a.rst", version="2"), document("b.rst")
    await live(stores, old, other)
    await stores.corpora.put("2.0", new)
    await stores.corpora.swap("2.0", [new.id], "e")
    for one in (old, new, other):
        await kept.put(one.id, "rules 1", pairs_of(one, "Bad one?", "Good one?"))
    assert await kept.refuse([("a.rst", "bad  ONE?"), ("nowhere.rst", "Good one?")]) == 2
    assert [pair.question for pair in await kept.pairs("1.0")] == ["Good one?", "Bad one?", "Good one?"]
    assert [pair.question for pair in await kept.pairs("2.0")] == ["Good one?"]
    await kept.put(new.id, "m 1", pairs_of(new, "Bad one?", "Good one?", by="m 1"))
    assert [pair.question for pair in await kept.pairs("2.0")] == ["Good one?"]
    assert (await kept.count("2.0", "m 1")).pairs == 1
    assert await kept.refuse([("a.rst", "Bad one?")]) == 0
    assert await kept.allow([("a.rst", "Bad one?"), ("b.rst", "Bad one?")]) == 1
    assert await kept.made_by("2.0") == {new.id: ""}
    await kept.put(new.id, "m 1", pairs_of(new, "Bad one?", by="m 1"))
    assert [pair.question for pair in await kept.pairs("2.0")] == ["Bad one?"]


async def test_a_document_is_done_page_by_page(stores: Stores) -> None:
    kept, one = stores.pregenerated, document("a.rst")
    first, second = one.contexts[:2]
    await live(stores, one)

    def pair(of: ContextChunk, question: str, by: str) -> list[PregeneratedPair]:
        return finished([Made(of.id, question, "So.", "So it is.")], one.contexts, one.id, 1.0, by)

    by_rule = [*pair(first, "Old first?", "rules 1"), *pair(second, "Old second?", "rules 1")]
    await kept.put(one.id, "rules 1", by_rule)
    assert await kept.unfinished("1.0") == {}
    await kept.put(one.id, "m 1", pair(first, "New first?", "m 1"), [first.id], 1)
    assert [p.question for p in await kept.pairs("1.0")] == ["New first?", "Old second?"]
    assert await kept.made_by("1.0") == {one.id: "m 1"} and await kept.unfinished("1.0") == {one.id: 1}
    assert (await kept.count("1.0", "m 1")).done == 0
    await kept.put(one.id, "m 1", pair(second, "New second?", "m 1"), [second.id])
    assert [p.question for p in await kept.pairs("1.0")] == ["New first?", "New second?"]
    assert await kept.unfinished("1.0") == {} and (await kept.count("1.0", "m 1")).done == 1


async def test_what_takes_a_documents_place_is_noted_for_who_made_its_pairs(stores: Stores) -> None:
    kept = stores.pregenerated
    old, same, bare, gone = (document(f"{name}.rst") for name in "abcd")
    await live(stores, old, same, bare, gone)
    for one in (old, same, gone):
        await kept.put(one.id, "m 1", pairs_of(one, "Why?", by="m 1"))
    new, changed, added = document("a.rst", version="2"), document("c.rst", version="2"), document("e.rst")
    await live(stores, new, same, changed, added)
    await stores.corpora.sweep("1.0")
    assert await kept.made_by("1.0") == {new.id: "m 1", same.id: "m 1", changed.id: "", added.id: ""}
    assert await kept.unfinished("1.0") == {new.id: 0}
    assert [pair.document_id for pair in await kept.pairs("1.0")] == [same.id]
    await live(stores, document("a.rst", version="3"), same, changed, added)
    assert list((await kept.unfinished("1.0")).values()) == [0], "it was not done before, either"
