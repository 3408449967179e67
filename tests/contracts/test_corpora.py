"""What every `CorpusStore` does."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import numpy as np
import pytest

from core.domain import ContextChunk, content_hash
from core.errors import StorageError
from core.ports import Corpus
from core.text.words import window_hashes
from tests.contracts.conftest import Stores
from tests.contracts.samples import AWKWARD, UNWRITABLE, document, keep, kept_of, pair

MANY = [content_hash(str(number)) for number in range(1300)]


async def test_nothing_is_there_at_first(stores: Stores) -> None:
    corpora = stores.corpora
    assert await corpora.live() == {}
    assert await corpora.manifest("1.0") == ()
    assert await corpora.rows("1.0") == ()
    assert await corpora.page_hashes("1.0") == set()
    assert await corpora.runs() == ()
    await corpora.sweep("1.0")


async def test_empty_and_unknown_ids_find_nothing(stores: Stores) -> None:
    corpora = stores.corpora
    for ids in ([], ["nobody"]):
        assert await corpora.rows("1.0", ids) == ()
        assert await corpora.contexts(ids) == {}
        assert await corpora.vectors("e", ids) == {}
        assert await corpora.missing_vectors("e", ids) == set(ids)
    await corpora.put_vectors("e", {})


async def test_a_document_is_kept_but_not_live_before_a_swap(stores: Stores) -> None:
    corpora, kept = stores.corpora, document("a.rst")
    await corpora.put("1.0", kept)
    assert {row.document_id for row in await corpora.rows("1.0", [kept.id, "other"])} == {kept.id}
    assert await corpora.live() == {}
    assert await corpora.rows("1.0") == ()
    assert len(await corpora.rows("1.0", [kept.id])) == 4


async def test_the_same_document_again_changes_nothing(stores: Stores) -> None:
    corpora, kept = stores.corpora, document("a.rst")
    await corpora.put("1.0", kept)
    before = await corpora.rows("1.0", [kept.id])
    await corpora.put("1.0", kept)
    await corpora.put("1.0", replace(kept, title="Other", contexts=(), searches=()))
    assert await corpora.rows("1.0", [kept.id]) == before


async def test_rows_hold_what_indexes_need_in_reading_order(stores: Stores) -> None:
    corpora, kept = stores.corpora, document("a.rst", pieces=12)
    await corpora.put("1.0", kept)
    rows = await corpora.rows("1.0", [kept.id, kept.id])
    assert [row.id for row in rows] == [piece.id for piece in kept.searches]
    last = rows[-1]
    assert (last.context_id, last.document_id) == (kept.contexts[1].id, kept.id)
    assert last.title == "Title of a.rst usage"
    assert (last.text, last.embedded) == (kept.searches[-1].text, kept.searches[-1].embedded)
    assert last.text_hash == content_hash(last.embedded)


async def test_a_context_chunk_comes_back_whole(stores: Stores) -> None:
    corpora, kept = stores.corpora, document("a.rst", text=AWKWARD)
    await corpora.put("1.0", kept)
    found = await corpora.contexts([chunk.id for chunk in kept.contexts])
    assert found == {chunk.id: chunk for chunk in kept.contexts}
    assert isinstance(found[kept.contexts[0].id], ContextChunk)


async def test_a_swap_makes_exactly_these_documents_live(stores: Stores) -> None:
    corpora = stores.corpora
    old, new, other = document("a.rst"), document("a.rst", version="2"), document("b.rst", source="r")
    for kept in (old, new, other):
        await corpora.put("1.0", kept)
    await corpora.put("2.0", document("a.rst", release="2.0"))
    first = await corpora.swap("1.0", [old.id, other.id], "e1")
    await corpora.swap("2.0", [document("a.rst", release="2.0").id], "e1")
    second = await corpora.swap("1.0", [new.id, other.id, new.id], "e2")

    assert (first.generation, first.documents, first.chunks, first.encoder) == (1, 2, 8, "e1")
    assert (second.generation, second.documents, second.chunks, second.encoder) == (2, 2, 8, "e2")
    assert abs(second.built_at - time.time()) < 60
    assert await corpora.live() == {"1.0": second, "2.0": (await corpora.live())["2.0"]}
    assert [(d.id, d.source, d.path, d.hash) for d in await corpora.manifest("1.0")] == [
        (other.id, "r", "b.rst", other.hash),
        (new.id, "s", "a.rst", new.hash),
    ]
    assert {row.document_id for row in await corpora.rows("1.0")} == {new.id, other.id}
    pages = {chunk.hash for kept in (new, other) for chunk in kept.contexts}
    assert await corpora.page_hashes("1.0") == pages
    assert len(await corpora.rows("2.0")) == 4


async def test_pages_of_the_same_place_are_told_by_release(stores: Stores) -> None:
    corpora = stores.corpora
    old, new, gone = document("a.rst"), document("a.rst", release="2.0", text="new"), document("b.rst")
    building = document("a.rst", release="3.0")
    twice = document("a.rst", release="2.0", source="t", text="again")
    for release, kept in (("1.0", old), ("1.0", gone), ("2.0", new), ("2.0", twice), ("3.0", building)):
        await corpora.put(release, kept)
    await corpora.swap("1.0", [old.id], "e")
    await corpora.swap("2.0", [twice.id, new.id], "e")
    usage, intro = ("a.rst", "usage"), ("a.rst", "intro")
    found = await corpora.pages_like([usage, intro, ("b.rst", "usage"), ("a.rst", AWKWARD)])
    assert found == {
        usage: {"1.0": (old.contexts[1].page,), "2.0": (new.contexts[1].page, twice.contexts[1].page)},
        intro: {"1.0": (old.contexts[0].page,), "2.0": (new.contexts[0].page, twice.contexts[0].page)},
        ("b.rst", "usage"): {},
        ("a.rst", AWKWARD): {},
    }
    assert await corpora.pages_like([]) == {}


async def test_a_swap_to_nothing_leaves_an_empty_corpus(stores: Stores) -> None:
    corpora, kept = stores.corpora, document("a.rst")
    await corpora.put("1.0", kept)
    await corpora.swap("1.0", [kept.id], "e")
    empty = await corpora.swap("1.0", [], "e")
    assert (empty.documents, empty.chunks) == (0, 0)
    assert await corpora.rows("1.0") == ()


async def test_a_failing_swap_leaves_the_old_corpus(stores: Stores) -> None:
    corpora, kept, new = stores.corpora, document("a.rst"), document("a.rst", version="2")
    await corpora.put("1.0", kept)
    await corpora.put("1.0", new)
    live = await corpora.swap("1.0", [kept.id], "e")
    with pytest.raises(StorageError, match=r"1\.0"):
        await corpora.swap("1.0", [new.id, "swept away"], "e2")
    assert await corpora.live() == {"1.0": live}
    assert [d.id for d in await corpora.manifest("1.0")] == [kept.id]


async def test_a_reader_sees_the_old_or_the_new_corpus_whole(stores: Stores) -> None:
    corpora = stores.corpora
    sets = [[document(f"{n}.rst", version=v, pieces=1) for n in range(40)] for v in "12"]
    for kept in (*sets[0], *sets[1]):
        await corpora.put("1.0", kept)
    whole = [{piece.id for kept in some for piece in kept.searches} for some in sets]
    await corpora.swap("1.0", [kept.id for kept in sets[0]], "e")
    done = False

    async def write() -> None:
        nonlocal done
        for turn in range(12):
            await corpora.swap("1.0", [kept.id for kept in sets[turn % 2]], "e")
            await asyncio.sleep(0)
        done = True

    async def read() -> int:
        seen = 0
        while not done:
            rows = {row.id for row in await corpora.rows("1.0")}
            assert rows in whole
            assert len(await corpora.manifest("1.0")) == 40
            seen += 1
            await asyncio.sleep(0)
        return seen

    _, *reads = await asyncio.gather(write(), read(), read())
    assert min(reads) >= 1


async def test_many_documents_and_hashes_in_one_call(stores: Stores) -> None:
    corpora = stores.corpora
    documents = [document(f"{number}.rst", pieces=1) for number in range(30)]
    for kept in documents:
        await corpora.put("1.0", kept)
    ids = [*MANY, *(kept.id for kept in documents)]
    assert len(await corpora.rows("1.0", ids + ids)) == 60
    assert len(await corpora.contexts([*MANY, *(c.id for d in documents for c in d.contexts)])) == 60

    vectors = {key: np.full(3, place, np.float32) for place, key in enumerate(MANY)}
    await corpora.put_vectors("e", vectors)
    found = await corpora.vectors("e", MANY + MANY)
    assert len(found) == len(MANY)
    assert found[MANY[700]][0] == 700
    assert await corpora.missing_vectors("e", [*MANY, "new"]) == {"new"}


async def test_vectors_come_back_bit_for_bit(stores: Stores) -> None:
    awkward = np.array([0.1, -0.0, 1e-42, 3.4e38, np.nan, np.inf, 1 / 3], np.float32)
    wide = np.linspace(-1, 1, 384)  # float64 is narrowed
    await stores.corpora.put_vectors("e", {"h1": awkward, "h2": wide.astype(np.float32)[::-1], "h3": wide})  # type: ignore[dict-item]
    found = await stores.corpora.vectors("e", ["h1", "h2", "h3"])
    assert found["h1"].tobytes() == awkward.tobytes()
    assert found["h2"].tobytes() == wide.astype(np.float32)[::-1].tobytes()
    assert found["h3"].dtype == np.float32


async def test_what_is_kept_of_tokens_goes_with_the_vector_and_may_come_later(stores: Stores) -> None:
    corpora = stores.corpora
    await corpora.put_vectors("e", {"h1": np.ones(2, np.float32), "h2": np.ones(2, np.float32)})
    assert await corpora.missing_vectors("e", ["h1", "h2", "h3"], tokens=True) == {"h1", "h2", "h3"}
    later = {"h1": np.zeros(2, np.float32), "h3": np.ones(2, np.float32)}
    await corpora.put_vectors("e", later, {"h1": b"\x01\x00", "h3": b""})
    assert await corpora.tokens("e", ["h1", "h2", "h3", "h1"]) == {"h1": b"\x01\x00", "h3": b""}
    assert await corpora.missing_vectors("e", ["h1", "h2", "h3"], tokens=True) == {"h2"}
    assert (await corpora.vectors("e", ["h1"]))["h1"].tolist() == [1, 1], "a vector stays as it was"
    assert await corpora.tokens("other", ["h1"]) == {} and await corpora.tokens("e", []) == {}


async def test_a_vector_belongs_to_its_encoder_and_stays_as_it_was(stores: Stores) -> None:
    corpora = stores.corpora
    await corpora.put_vectors("e1", {"h": np.ones(2, np.float32)})
    await corpora.put_vectors("e1", {"h": np.zeros(2, np.float32)})
    await corpora.put_vectors("e2", {"h": np.zeros(2, np.float32)})
    assert (await corpora.vectors("e1", ["h"]))["h"].tolist() == [1, 1]
    assert (await corpora.vectors("e2", ["h"]))["h"].tolist() == [0, 0]
    assert await corpora.missing_vectors("e3", ["h"]) == {"h"}


async def test_a_sweep_keeps_what_is_live_or_remembered(stores: Stores) -> None:
    corpora = stores.corpora
    old, new, building = document("a.rst"), document("a.rst", version="2"), document("b.rst", release="2.0")
    await corpora.put("1.0", old)
    await corpora.put("1.0", new)
    await corpora.put("2.0", building)
    await keep(stores.memories, pair("p1", topic="how to run it"))
    await corpora.swap("1.0", [new.id], "e")
    one = np.ones(2, np.float32)
    texts = {kept.id: content_hash(kept.searches[0].embedded) for kept in (old, new, building)}
    topic = content_hash("how to run it")
    await corpora.put_vectors("e", dict.fromkeys((*texts.values(), topic, "nobody's"), one))

    assert (await corpora.leftovers("1.0"), await corpora.leftovers("2.0")) == (1, 1)
    await corpora.sweep("1.0")
    assert (await corpora.leftovers("1.0"), await corpora.leftovers("2.0")) == (0, 1)
    kept = {row.document_id for row in await corpora.rows("1.0", [old.id, new.id, building.id])}
    assert kept == {new.id, building.id}
    assert await corpora.contexts([old.contexts[0].id]) == {}
    assert len(await corpora.rows("1.0")) == 4
    gone = await corpora.missing_vectors("e", [*texts.values(), topic, "nobody's"])
    assert gone == {texts[old.id], "nobody's"}


async def test_a_sweep_keeps_the_windows_of_pages_that_are_there(stores: Stores) -> None:
    corpora, old, new = stores.corpora, document("a.rst"), document("a.rst", version="2")
    windows = {
        kept.id: set(window_hashes(kept.title, kept.contexts[0].heading, kept.contexts[0].page))
        for kept in (old, new)
    }
    await corpora.put("1.0", old)
    await corpora.put("1.0", new)
    await corpora.swap("1.0", [new.id], "e")
    for encoder in ("e", "given up"):
        await corpora.put_vectors(
            encoder, dict.fromkeys(windows[old.id] | windows[new.id], np.ones(2, np.float32))
        )
    await corpora.sweep("1.0")
    assert await corpora.missing_vectors("e", list(windows[new.id])) == set()
    assert (
        await corpora.missing_vectors("e", list(windows[old.id]))
        == windows[old.id] - windows[new.id]
        != set()
    )
    assert await corpora.missing_vectors("given up", list(windows[new.id])) == windows[new.id]


async def test_a_sweep_removes_vectors_of_an_encoder_that_no_corpus_uses(stores: Stores) -> None:
    corpora, kept = stores.corpora, document("a.rst")
    key, one = content_hash(kept.searches[0].embedded), np.ones(2, np.float32)
    await corpora.put("1.0", kept)
    for encoder in ("old", "new"):
        await corpora.put_vectors(encoder, {key: one})
        await corpora.swap("1.0", [kept.id], encoder)
    await corpora.sweep("1.0")
    assert await corpora.missing_vectors("old", [key]) == {key}
    assert await corpora.missing_vectors("new", [key]) == set()


async def test_a_run_counts_failures_until_it_succeeds(stores: Stores) -> None:
    corpora, source = stores.corpora, "folder:" + "ü/" * 300
    await corpora.note_run("1.0", source, "", [("a.bin", AWKWARD)])
    (good,) = await corpora.runs()
    assert (good.release, good.source, good.failures, good.error) == ("1.0", source, 0, "")
    assert good.skipped == (("a.bin", AWKWARD),)
    for _ in range(2):
        await corpora.note_run("1.0", source, "gone", [])
    (bad,) = await corpora.runs()
    assert (bad.failures, bad.error, bad.skipped) == (2, "gone", ())
    assert bad.succeeded_at == good.succeeded_at == good.at
    assert bad.at >= good.at
    await corpora.note_run("1.0", source, "", [])
    await corpora.note_run("2.0", source, "never read", [])
    again, other = sorted(await corpora.runs(), key=lambda run: run.release)
    assert (again.failures, again.error) == (0, "")
    assert (other.failures, other.succeeded_at) == (1, 0.0)


async def test_text_that_no_database_can_hold_costs_only_its_bad_characters(stores: Stores) -> None:
    corpora, kept = stores.corpora, document("a.rst", text=UNWRITABLE)
    await corpora.put("1.0", kept)
    await corpora.swap("1.0", [kept.id], "e")
    row = (await corpora.rows("1.0"))[0]
    assert kept_of(row.embedded) == kept_of(kept.searches[0].embedded)
    found = await corpora.contexts([chunk.id for chunk in kept.contexts])
    assert kept_of(found[kept.contexts[0].id].page) == kept_of(kept.contexts[0].page)
    assert {chunk.hash for chunk in found.values()} == await corpora.page_hashes("1.0")
    await corpora.note_run("1.0", "s", UNWRITABLE, [(UNWRITABLE, UNWRITABLE)])
    assert kept_of((await corpora.runs())[0].error) == kept_of(UNWRITABLE)


async def test_views_are_kept_by_page_and_maker_and_go_with_their_page(stores: Stores) -> None:
    corpora, old, new = stores.corpora, document("a.rst"), document("a.rst", version="2")
    await corpora.put("1.0", old)
    await corpora.put("1.0", new)
    corpus = await corpora.swap("1.0", [new.id], "e")
    here, gone = new.contexts[0].id, old.contexts[0].id
    given_up = Corpus("1.0", "other", 1, 0.0, 1, 1).views
    for by in (corpus.views, given_up):
        await corpora.put_views(by, {here: by.encode(), gone: b"old", "unknown": b"nobody's"})
    await corpora.put_views(corpus.views, {here: b"made anew"})
    assert await corpora.views(corpus.views, [here, gone, "unknown"]) == {here: b"made anew", gone: b"old"}
    assert await corpora.missing_views(corpus.views, [here, "unknown"]) == {"unknown"}
    assert await corpora.missing_views(given_up, [here]) == set()
    await corpora.sweep("1.0")
    assert await corpora.views(corpus.views, [here, gone]) == {here: b"made anew"}
    assert await corpora.missing_views(given_up, [here]) == {here}, "no corpus is of that encoder"


async def test_a_release_that_is_removed_leaves_nothing_behind(stores: Stores) -> None:
    corpora, gone, kept = stores.corpora, document("a.rst"), document("b.rst", release="2.0")
    for release, one in (("1.0", gone), ("2.0", kept)):
        await corpora.put(release, one)
        await corpora.swap(release, [one.id], "e")
        await corpora.note_run(release, "folder:docs", "", ())
    await corpora.remove("1.0")
    await corpora.sweep("1.0")
    assert (await corpora.live()).keys() == {"2.0"} and [run.release for run in await corpora.runs()] == [
        "2.0"
    ]
    assert await corpora.rows("1.0", [gone.id]) == () and await corpora.rows("2.0", [kept.id])
    await corpora.remove("9.9")
