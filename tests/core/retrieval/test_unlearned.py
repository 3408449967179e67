"""While a release learns its sentences, those of the pages that a question is about are read at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from core.domain import ContextChunk, Document, Queries, Section, content_hash
from core.errors import EncoderError
from core.ingestion.chunking import chunk
from core.ports import Matrix
from core.ports.corpora import Indexes
from core.retrieval import unlearned
from core.retrieval.confidence import MARGIN_OF
from core.retrieval.features import FEATURES
from core.retrieval.found import Found
from core.retrieval.look import Look, Pool
from core.retrieval.search import Searcher
from core.text.words import window_texts
from tests.fakes import FakeCorpora, FakeEncoder, FakeVectors, FakeWords

QUESTION = Queries("How do I rinse the filter with water?", "rinse filter water")
NOISE = "The filter of a kettle is a part of it. The plate is hot. People drink much tea every day. "
ANSWER = "Pull the latch. Rinse the filter with water from the tap, and let it dry in the sun."


class Tokens(FakeEncoder):
    """Tells tokens, too: each word is one."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[int] = []
        self.fails = False

    async def encode_tokens(self, texts: Sequence[str]) -> tuple[Matrix, list[Matrix]]:
        self.calls.append(len(texts))
        if self.fails and len(texts) > 1:
            raise EncoderError("it is gone")
        return await self.encode(texts), [await self.encode(text.split()) for text in texts]


async def unread(
    pages: int, encoder: FakeEncoder, known: bool = True
) -> tuple[Searcher, FakeCorpora, Matrix]:
    """Index pages in memory, their passages embedded and their sentences not."""
    store, vectors, words = FakeCorpora(), FakeVectors(), FakeWords()
    texts = {f"{n}.md": f"{NOISE * 9} Number {n}." for n in range(pages)} | {"answer.md": ANSWER}
    cut = [
        chunk(
            Document(path, path[:-3], "", (Section((path[:-3],), "", text),)),
            release="1.0",
            source="s",
            count_tokens=encoder.count_tokens,
            max_tokens=256,
        )
        for path, text in texts.items()
    ]
    for document in cut:
        await store.put("1.0", document)
    corpus = await store.swap("1.0", [document.id for document in cut], encoder.name)
    rows = await store.rows("1.0")
    table = await encoder.encode([row.embedded for row in rows])
    kept = {content_hash(row.embedded): vector for row, vector in zip(rows, table, strict=True)}
    await store.put_vectors(encoder.name, kept)
    await vectors.upsert(corpus.collection, [row.id for row in rows], table)
    await words.upsert(corpus.collection, [(row.id, row.title, row.text) for row in rows])

    async def named(_name: str) -> FakeEncoder:
        return encoder

    searcher = Searcher(Indexes(store, vectors, words), encoders=named if known else None)
    await searcher.load()
    return searcher, store, await encoder.encode([QUESTION.base])


async def lacking(store: FakeCorpora, encoder: FakeEncoder, pages: Sequence[ContextChunk]) -> int:
    texts = {key for page in pages for key in window_texts(page)}
    return len(await store.missing_vectors(encoder.name, list(texts), tokens=True))


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> list[Pool]:
    """Return the pools that pages were chosen from."""
    seen: list[Pool] = []
    found = Look.found

    async def noted(look: Look, pool: Pool, *given: object) -> Found:
        seen.append(pool)
        return await found(look, pool, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Look, "found", noted)
    return seen


async def test_the_best_pages_are_read_before_they_are_put_in_order(tables: list[Pool]) -> None:
    encoder = Tokens()
    searcher, _, vectors = await unread(20, encoder)
    assert searcher.learning == {"1.0"}
    found = await searcher.search(QUESTION, vectors, "1.0")
    assert found.evidence[0].chunk.path == "answer.md"
    (pool,) = tables
    with_tokens = pool.table[:, FEATURES.index("tokens")] != 0
    assert len(pool.keys) == 21 == len(set(pool.keys)) == len(pool.views) == len(pool.passages)
    assert with_tokens.tolist() == [True] * unlearned.PAGES + [False] * 9
    assert max(encoder.calls) <= unlearned.TOGETHER
    encoder.calls.clear()
    again = await searcher.search(QUESTION, vectors, "1.0")
    assert again.evidence == found.evidence
    assert set(encoder.calls) == {1}, "all but the question is kept"


async def test_no_more_is_read_for_a_question_than_it_can_wait_for(
    monkeypatch: pytest.MonkeyPatch, tables: list[Pool]
) -> None:
    monkeypatch.setattr(unlearned, "CHARACTERS", 3_000)
    encoder = Tokens()
    searcher, store, vectors = await unread(20, encoder)
    evidence = (await searcher.search(QUESTION, vectors, "1.0")).evidence
    read = [await lacking(store, encoder, [item.chunk]) == 0 for item in evidence]
    assert len(read) == 8 and 0 < sum(read) <= 5 and read == sorted(read, reverse=True), (
        "those read come first"
    )


async def test_where_others_have_pages_read_a_question_does_not_wait_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unlearned, "QUESTIONS", 0)
    encoder = Tokens()
    searcher, store, vectors = await unread(20, encoder)
    found = await searcher.search(QUESTION, vectors, "1.0")
    assert len(found.evidence) == 8 and await lacking(store, encoder, [found.evidence[0].chunk])
    assert found.is_blind, "what is quoted of it is not sure"
    monkeypatch.setattr(unlearned, "QUESTIONS", 2)
    assert not (await searcher.search(QUESTION, vectors, "1.0")).is_blind


async def test_after_some_seconds_what_is_embedded_by_then_counts(
    monkeypatch: pytest.MonkeyPatch, tables: list[Pool]
) -> None:
    monkeypatch.setattr(unlearned, "SECONDS", -1.0)
    encoder = Tokens()
    searcher, store, vectors = await unread(20, encoder)
    found = await searcher.search(QUESTION, vectors, "1.0")
    assert len(found.evidence) == 8 and found.is_blind and set(encoder.calls) == {1}
    assert await lacking(store, encoder, [found.evidence[0].chunk])


async def test_where_nothing_can_be_embedded_a_question_is_answered_without() -> None:
    encoder = Tokens()
    searcher, _, vectors = await unread(20, encoder)
    encoder.fails = True
    found = await searcher.search(QUESTION, vectors, "1.0")
    assert len(found.evidence) == 8
    assert await searcher.windows_near(await searcher.sections(found.evidence), vectors) == {}
    encoder.fails = False
    assert (await searcher.search(QUESTION, vectors, "1.0")).evidence[0].chunk.path == "answer.md"


async def test_an_encoder_without_tokens_reads_sentences_as_well(tables: list[Pool]) -> None:
    encoder = FakeEncoder()
    searcher, _, vectors = await unread(20, encoder)
    found = await searcher.search(QUESTION, vectors, "1.0")
    assert (
        found.evidence[0].chunk.path == "answer.md" and not tables[0].table[:, FEATURES.index("tokens")].any()
    )
    before = encoder.encoded
    await searcher.search(QUESTION, vectors, "1.0")
    assert encoder.encoded == before


async def test_sections_are_read_for_what_is_quoted_and_a_release_that_knows_its_sentences_reads_none() -> (
    None
):
    encoder = Tokens()
    searcher, _, vectors = await unread(20, encoder)
    evidence = (await searcher.search(QUESTION, vectors, "1.0")).evidence
    near = await searcher.windows_near(await searcher.sections(evidence), vectors)
    assert set(near) == {item.chunk.id for item in evidence} and all(near.values())
    unknown, _, _ = await unread(20, Tokens(), known=False)
    evidence = (await unknown.search(QUESTION, vectors, "1.0")).evidence
    assert await unknown.windows_near(await unknown.sections(evidence), vectors) == {}
    learnt, _, _ = await unread(20, counting := Tokens())
    learnt.learning.clear()
    await learnt.search(QUESTION, vectors, "1.0")
    assert sum(counting.calls) == 1, "only the question's tokens"
    assert np.isfinite(vectors).all()


async def test_how_far_a_page_stands_out_is_known_once_all_sentences_are() -> None:
    searcher, store, vectors = await unread(MARGIN_OF, Tokens())
    before = await searcher.search(QUESTION, vectors, "1.0")
    assert before.evidence and {item.margin for item in before.evidence} == {None}, "twelve of them are read"
    live = searcher._live["1.0"]
    for page in (await store.contexts(list(live.document_of))).values():
        await searcher._pages.learn([page], live.corpus)
    searcher.learning.clear()
    after = await searcher.search(QUESTION, vectors, "1.0")
    margins = {item.chunk.path: item.margin or 0.0 for item in after.evidence}
    others = [margin for path, margin in margins.items() if path != "answer.md"]
    assert margins["answer.md"] > 0.02 > 0.0 > max(others)
