"""Pairs made of documents, searched beside the passages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.domain import ContextChunk, Hit, Queries
from core.ingestion.pregeneration.pairs import Made, finished
from core.ports import ASKED, TOLD, Corpus, PregeneratedPair, entries
from core.ports.corpora import Indexes
from core.retrieval.pregenerated import FIELDS, LivePairs, PairView, joined
from core.retrieval.ranking import DEFAULT_RANKING, POOL
from core.retrieval.search import Searcher
from tests.contracts.samples import document
from tests.fake_pregenerated import FakePregenerated
from tests.fakes import FakeCorpora, FakeEncoder, FakeVectors, FakeWords

CORPUS = Corpus("1.0", "e", 1, 0.0, 1, 1)
PAGES = tuple(ContextChunk(f"c{n}", "a/b.md", "Kettle", f"H{n}", f"https://x/{n}", "text") for n in range(3))


def made(*asked: tuple[int, str, str]) -> list[PregeneratedPair]:
    return finished([Made(PAGES[n].id, q, a, a) for n, q, a in asked], PAGES, "d", 0.0, "rules 1")


async def index(pairs: list[PregeneratedPair]) -> tuple[LivePairs, FakeVectors, FakeWords, FakeEncoder]:
    live, vectors, words, encoder = LivePairs.of(CORPUS, pairs), FakeVectors(), FakeWords(), FakeEncoder()
    held = [entry for pair in pairs for entry in entries(pair)]
    await words.upsert(live.collection, [(key, "", text) for key, text, _ in held])
    matrix = await encoder.encode([text for _, text, _ in held])
    await vectors.upsert(live.collection, [key for key, _, _ in held], matrix)
    return live, vectors, words, encoder


async def test_the_page_whose_pair_is_asked_comes_first_by_every_field() -> None:
    pairs = made(
        (0, "How do I boil water?", "Press the red lever."),
        (1, "Which lid is the right one?", "The glass one."),
        (1, "What does the whistle do?", "It sings."),
        (2, "How do I clean it?", "With vinegar."),
    )
    live, vectors, words, encoder = await index(pairs)
    query = (await encoder.encode(["what does the whistle do"]))[0]
    assert (await live.pages(vectors, words, query, ["whistl"]))[0] == "c1"
    query = (await encoder.encode(["press the red lever"]))[0]
    assert (await live.pages(vectors, words, query, ["red", "lever"]))[0] == "c0"


async def test_each_field_finds_by_itself_and_weighs_what_it_is_told_to() -> None:
    pairs = made((0, "How do I boil water?", "Use steam."), (1, "What is steam?", "Hot water that boils."))
    live, vectors, words, encoder = await index(pairs)
    query = (await encoder.encode(["steam"]))[0]
    lists = await live.by_field(vectors, words, query, ["steam"])
    assert tuple(lists) == FIELDS
    assert [hit.chunk_id for hit in lists["question_words"]] == ["c1"]
    assert [hit.chunk_id for hit in lists["answer_words"]] == ["c0"]
    only = dict.fromkeys(FIELDS, 0.0)
    assert joined(lists, {**only, "answer_words": 1.0}) == ["c0"]
    assert joined(lists, {**only, "answer_words": 0.5, "question_words": 1.0}) == ["c1", "c0"]
    weights = {**only, "question_words": 1.0}
    assert await live.pages(vectors, words, query, ["steam"], weights) == ["c1"]


async def test_what_is_not_live_is_never_found() -> None:
    pairs = made((0, "How do I boil water?", "Press the lever."), (1, "Which lid?", "The glass one."))
    _, vectors, words, encoder = await index(pairs)
    live = LivePairs.of(CORPUS, pairs[1:])
    query = (await encoder.encode(["how do I boil water"]))[0]
    assert await live.pages(vectors, words, query, ["boil", "water"]) == ["c1"]
    assert await LivePairs.of(CORPUS, []).pages(vectors, words, query, ["boil"]) == []


async def test_the_columns_are_those_of_the_best_question_and_the_best_answer() -> None:
    asked = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
    view = PairView(asked, None, (frozenset({"a"}), frozenset({"b"})), (frozenset({"a", "b"}), frozenset()))
    row = view.columns(np.array([0.0, 1.0], np.float32), {"a": 1.0, "b": 3.0})
    assert row == (1.0, 0.0, pytest.approx(0.75), pytest.approx(1.0))
    assert view.columns(np.array([0.0, 1.0], np.float32), {})[2:] == (0.0, 0.0)


async def test_a_pair_brings_a_page_that_its_own_words_would_not() -> None:
    corpora, vectors, words, encoder = FakeCorpora(), FakeVectors(), FakeWords(), FakeEncoder()
    kept = document("a.rst", text="plain")
    await corpora.put("1.0", kept)
    corpus = await corpora.swap("1.0", [kept.id], encoder.name)
    rows = await corpora.rows("1.0")
    await words.upsert(corpus.collection, [(row.id, row.title, row.text) for row in rows])
    store = FakePregenerated(corpora)
    made_of = [Made(kept.contexts[1].id, "How do I moor a zeppelin?", "With a rope.", "With a rope.")]
    pairs = finished(made_of, kept.contexts, kept.id, 0.0, "rules 1")
    await store.put(kept.id, "rules 1", pairs)
    live = LivePairs.of(corpus, pairs)
    await words.upsert(live.collection, [(key, "", text) for pair in pairs for key, text, _ in entries(pair)])
    searcher = Searcher(Indexes(corpora, vectors, words), pairs=store)
    await searcher.load()
    queries, query = Queries("moor a zeppelin", "moor zeppelin"), await encoder.encode(["moor a zeppelin"])
    found = await searcher.search(queries, query, "1.0")
    assert [item.chunk.id for item in found.evidence] == [kept.contexts[1].id]
    assert (await searcher.without_pairs().search(queries, query, "1.0")).evidence == ()
    alone = await searcher.by_pairs().search(queries, query, "1.0")
    assert [item.chunk.id for item in alone.evidence] == [kept.contexts[1].id]
    assert searcher.has_pairs() and not searcher.without_pairs().has_pairs()
    heavy = replace(DEFAULT_RANKING, weights={**DEFAULT_RANKING.weights, "question_terms": 9.0})
    assert (await searcher.by(heavy).search(queries, query, "1.0")).evidence[0].score > found.evidence[
        0
    ].score


async def test_a_page_that_only_its_pair_brought_makes_no_surer_of_an_answer() -> None:
    corpora, vectors, words, encoder = FakeCorpora(), FakeVectors(), FakeWords(), FakeEncoder()
    many = [document(f"a{n + 10}.rst", pieces=1, text="steam") for n in range(POOL // 2)]
    far = document("far.rst", pieces=1, text="nothing")
    for one in (*many, far):
        await corpora.put("1.0", one)
    corpus = await corpora.swap("1.0", [one.id for one in (*many, far)], encoder.name)
    rows = await corpora.rows("1.0")
    await words.upsert(corpus.collection, [(row.id, "", row.text) for row in rows])
    query = await encoder.encode(["steam"])
    page = far.contexts[0].id
    of_page = {row.context_id: row.id for row in rows}
    near = np.concatenate([query, await encoder.encode(["something else"])])
    await vectors.upsert(corpus.collection, [of_page[page], of_page[many[0].contexts[0].id]], near)
    store = FakePregenerated(corpora)
    pairs = finished([Made(page, "What is steam?", "Air.", "Air.")], far.contexts, far.id, 0.0, "rules 1")
    await store.put(far.id, "rules 1", pairs)
    name = LivePairs.of(corpus, pairs).collection
    await words.upsert(name, [(key, "", text) for pair in pairs for key, text, _ in entries(pair)])
    searcher = Searcher(Indexes(corpora, vectors, words), pairs=store)
    await searcher.load()
    asked = Queries("steam", "steam")
    look = searcher.look(asked, query, "1.0")
    pool = await look.pool() if look else None
    assert pool is not None and pool.brought == {page} and pool.passages[page], "it is found, but far below"
    found = await searcher.search(asked, query, "1.0")
    without = await searcher.without_pairs().search(asked, query, "1.0")
    assert (found.signs.sentence, found.signs.joint) == (without.signs.sentence, without.signs.joint)
    assert found.confidence == without.confidence


def test_ids_tell_the_field() -> None:
    [pair] = made((0, "Why?", "So."))
    assert [key[0] for key, _, _ in entries(pair)] == [ASKED, TOLD]
    assert pair.asked == "[a/Kettle] Why?" and pair.told == "[a/Kettle] So."
    assert set(pair.record()) == {
        "Question",
        "Answer",
        "FullAnswer",
        "Summary",
        "Url",
        "Title",
        "Category",
        "Date",
    }


class Told:
    """Indexes that hold what they are told to, best first; they note how many were asked for."""

    def __init__(self, names: list[str]) -> None:
        self.hits = [Hit(name, 1.0 - place / 10_000) for place, name in enumerate(names)]
        self.asked: list[int] = []

    async def search(self, collection: str, query: object, k: int) -> Any:
        self.asked.append(k)
        return [self.hits[:k]] if isinstance(query, np.ndarray) else self.hits[:k]


async def test_of_each_field_forty_are_joined_however_near_those_of_another_are() -> None:
    pairs = made(*((n % 3, f"Question {n}?", f"Answer {n}.") for n in range(200)))
    live = LivePairs.of(CORPUS, pairs)
    asked, told = ([key + pair.id for pair in pairs] for key in (ASKED, TOLD))
    # all questions come before any answer; the answers of the last forty are the best of theirs
    vectors, words = Told([*asked, *told[160:], *told[:160]]), Told([*told, *asked])
    found = await live.nearest(vectors, words, np.ones(2, np.float32), ["x"])  # type: ignore[arg-type]
    assert vectors.asked == words.asked == [80, 320]
    # by equal reciprocal rank: three fields have the first pairs first, one the last forty
    assert [pair.id for pair in found] == [pair.id for pair in pairs[:8]]
    near = Told([*asked[:60], *told[:60]])
    await live.nearest(near, near, np.ones(2, np.float32), ["x"])  # type: ignore[arg-type]
    assert sorted(near.asked) == [80, 80, 320, 320], "what holds no more is not asked on and on"


async def test_the_nearest_pairs_are_found_without_going_through_all() -> None:
    pairs = made((0, "How do I boil water?", "Press the red lever."), (1, "Which lid?", "The glass one."))
    live, vectors, words, encoder = await index(pairs)

    class Unread(dict[str, Any]):
        def __iter__(self) -> Any:
            raise AssertionError("all pairs are looked at")

        values = items = keys = __iter__  # type: ignore[assignment]

    query = (await encoder.encode(["which lid"]))[0]
    live = replace(live, of_page=Unread(live.of_page), by_id=Unread(live.by_id))
    found = await live.nearest(vectors, words, query, ["lid"])
    assert found[0].question == "Which lid?"
