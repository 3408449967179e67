"""The second look at pages: what moves one above another."""

from __future__ import annotations

from core.domain import ContextChunk
from core.retrieval.rescoring import PageTerms, page_score
from core.text import query_terms

TERMS = query_terms("kettle filter lid")
RARITY = dict(zip(TERMS, (4.0, 2.0, 1.0), strict=True))


def score(
    page: str, passages: tuple[float, ...] = (0.5,), cosine: float = 0.4, title: str = "Title"
) -> float:
    chunk = ContextChunk("c", "a.md", title, "", "", page)
    return page_score(passages, cosine, PageTerms.of(chunk), TERMS, RARITY)


def test_a_page_is_better_for_each_thing_it_has_more_of() -> None:
    plain = score("nothing of it here")
    assert score("nothing of it here", (0.6,)) > plain
    assert score("nothing of it here", (0.5, 0.4)) > plain
    assert score("nothing of it here", cosine=0.6) > plain
    assert score("some filter of it") > plain
    assert score("nothing of it here", title="Kettles") > plain


def test_rare_terms_weigh_more_than_common_ones() -> None:
    assert score("with a kettle in it") > score("with a filter in it") > score("with a lid in it")


def test_terms_side_by_side_are_worth_more_than_apart() -> None:
    assert score("a kettle filter with a lid") > score("a filter, a kettle with lid")


def test_a_stub_is_worth_less_than_a_page() -> None:
    assert score("kettle " + "word " * 300) > score("kettle word")


def test_a_question_without_known_terms_is_scored_by_its_passages() -> None:
    page = PageTerms.of(ContextChunk("c", "a.md", "", "", "", "text"))
    assert page_score([0.9], 0.5, page, [], {}) > page_score([0.2], 0.5, page, [], {})
    assert page_score([0.9], 0.5, page, ["x"], {"x": 0.0}) > 0
