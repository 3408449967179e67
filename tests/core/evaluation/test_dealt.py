"""Dealt corpora are what an indexed one would be: the second look reads the same of their pages."""

from __future__ import annotations

from core.domain import ContextChunk
from core.retrieval.features import bits_of, packed
from core.retrieval.live import SeenPage
from core.text.words import window_texts
from tests.benchmarks.dealt import tokens_of, vector_of, view_of


def test_what_is_kept_of_a_dealt_page_is_what_an_index_keeps() -> None:
    text = f"{'A kettle boils water. ' * 12}\n\nAnother one, with `--lid`.\n\n- An item.\n- A second one."
    page = ContextChunk("c", "a.md", "Kettles", "Boiling, Pouring", "", text)
    texts = window_texts(page)
    kept = packed(
        page,
        {key: vector_of(text) for key, text in texts.items()},
        {key: bits_of(tokens_of(text)) for key, text in texts.items()},
    )
    dealt, indexed = SeenPage.read(view_of(page)), SeenPage.read(kept)
    assert (dealt.numbers == indexed.numbers).all() and (dealt.ends == indexed.ends).all()
    assert dealt.vectors is not None and indexed.vectors is not None and dealt.tokens and indexed.tokens
    assert dealt.vectors.shape == indexed.vectors.shape
    for own, other in zip(dealt.tokens, indexed.tokens, strict=True):
        assert own.shape[1] == other.shape[1] and len(own) >= len(other) > 0
