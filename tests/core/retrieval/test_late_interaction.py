"""The tokens of a question against those of pages: what is kept of them, and what it tells."""

import numpy as np
import pytest

from core.domain import ContextChunk
from core.retrieval.confidence import MARGIN_OF, margins
from core.retrieval.features import (
    FEATURES,
    WINDOWS,
    Candidate,
    PageView,
    bits_of,
    features,
    matches,
    nearest,
    packed,
)
from core.retrieval.live import SeenPage
from core.text.words import window_hashes, windows

CHANCE = np.random.default_rng(3)


def some_tokens(count: int, dimensions: int = 20) -> np.ndarray:
    rows = CHANCE.normal(size=(count, dimensions)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def read(bits: bytes, dimensions: int = 20) -> np.ndarray:
    return np.frombuffer(bits, np.uint8).reshape(-1, -(-dimensions // 8))


def test_a_token_is_as_near_as_the_signs_of_the_nearest_one() -> None:
    question, texts = some_tokens(4), [some_tokens(7), some_tokens(1), some_tokens(30)]
    found = nearest(question, [read(bits_of(text)) for text in texts])
    for row, text in zip(found, texts, strict=True):
        signs = np.where(text > 0, 1.0, -1.0) / np.sqrt(20)
        assert row == pytest.approx(np.max(question @ signs.T, axis=1), abs=1e-5)


def test_a_page_counts_by_all_its_windows_and_by_its_best_one() -> None:
    question, pages = some_tokens(4), [[some_tokens(5), some_tokens(9)], [some_tokens(6)]]
    both, one = ([read(bits_of(text)) for text in page] for page in pages)
    near = nearest(question, both)
    assert matches(question, [both, one]) == pytest.approx(
        [(near.max(axis=0).mean() + near.mean(axis=1).max()) / 2, nearest(question, one).mean()]
    )


def test_how_far_a_page_stands_out_is_told_where_enough_others_were_looked_at() -> None:
    table = np.zeros((MARGIN_OF + 1, len(FEATURES)))
    table[:-1, FEATURES.index("tokens")] = [0.9, *[0.4] * (MARGIN_OF - 1)]
    found = margins(table)
    usual = (0.9 + 0.4 * (MARGIN_OF - 1)) / MARGIN_OF
    assert found[:2] == [pytest.approx(0.9 - usual), pytest.approx(0.4 - usual)] and found[-1] is None
    assert margins(table, are_some_unknown=True) == [None] * len(table)
    assert margins(table[:-1], are_some_unknown=True) == found[:-1]
    assert margins(table[1:]) == [None] * MARGIN_OF, "the last one's tokens are not known"
    assert margins(table[:0]) == []


def test_texts_without_tokens_are_near_nothing() -> None:
    none = np.zeros((0, 3), np.uint8)
    full = read(bits_of(some_tokens(3)))
    question = some_tokens(2)
    assert nearest(question, []).shape == (0, 2) and not nearest(question, [none, none]).any()
    assert nearest(some_tokens(0), [full]).shape == (1, 0)
    empty, beside = nearest(question, [none, full])
    assert not empty.any() and (beside == nearest(question, [full])[0]).all()


def test_what_is_kept_of_a_page_is_read_back() -> None:
    text = f"{'One sentence is here. ' * 12}\n\nAnother one.\n\n{'And a third stands below. ' * 12}"
    chunk = ContextChunk("c", "a.md", "Title", "Guide", "", text)
    hashes = window_hashes("Title", "Guide", text)
    vectors = dict(zip(hashes, some_tokens(len(hashes)), strict=True))
    tokens = {key: some_tokens(at) for at, key in enumerate(hashes)}
    kept = packed(chunk, vectors, {key: bits_of(rows) for key, rows in tokens.items()})
    seen = SeenPage.read(kept)
    assert len(windows(text)) == len(hashes) > 2 and seen.tokens is not None and seen.vectors is not None
    assert np.allclose(seen.vectors, np.stack(list(vectors.values())), atol=1e-3)
    for bits, rows in zip(seen.tokens, tokens.values(), strict=True):
        assert bits.shape == (len(rows), 3) and bits.tobytes() == bits_of(rows)
    lacking = SeenPage.read(packed(chunk, vectors, {}))
    assert lacking.tokens is None and lacking.vectors is not None
    assert SeenPage.read(packed(chunk, {}, {})).vectors is None
    assert (lacking.numbers == seen.numbers).all() and (lacking.ends == seen.ends).all()


def candidate(tokens: list[np.ndarray] | None) -> Candidate:
    parts = WINDOWS + len(tokens or [0])
    view = PageView({}, np.zeros((parts, 0), np.bool_), np.zeros(0, np.int64), frozenset(), 10)
    bits = None if tokens is None else tuple(read(bits_of(rows)) for rows in tokens)
    return Candidate(view, 0.5, 0.4, None, bits)


def test_a_page_that_holds_each_word_is_told_from_one_that_holds_some() -> None:
    question = some_tokens(3)
    whole, half = [question.copy(), some_tokens(5)], [question[:1].copy(), some_tokens(5)]
    query = np.zeros(2, np.float32)
    table = features([candidate(half), candidate(whole)], [], {}, query, asked=question)
    column = table[:, FEATURES.index("tokens")]
    assert column[1] > column[0] > 0.0
    for pool, asked in (([candidate(whole), candidate(None)], question), ([candidate(whole)], None)):
        table = features(pool, [], {}, query, asked=asked)
        assert not table[:, FEATURES.index("tokens")].any(), "where not all are known it tells nothing"
