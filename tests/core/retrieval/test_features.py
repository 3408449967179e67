"""What the second look sees of pages, and what it makes of it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from core.domain import ContextChunk
from core.retrieval.features import FEATURES, Candidate, PageView, features, is_name, packed
from core.retrieval.live import SeenPage, is_of_making, views_of
from core.retrieval.ranking import DEFAULT_RANKING
from core.text.words import index_terms, query_terms, windows

TERMS = query_terms("kettle filter --lid")
RARITY = dict.fromkeys(TERMS, 1.0) | {"kettl": 4.0, "filter": 2.0}
QUERY = np.array([1.0, 0.0], np.float32)


def seen(*pages: Candidate) -> list[dict[str, float]]:
    table = features(pages, TERMS, RARITY, QUERY)
    return [dict(zip(FEATURES, row, strict=True)) for row in table.tolist()]


def viewed(chunk: ContextChunk, terms: list[str]) -> PageView:
    (view,) = views_of([SeenPage.read(packed(chunk, {}, {}))], terms)
    return view


def page(
    text: str,
    heading: str = "Guide",
    near: float = 0.4,
    vectors: list[list[float]] | None = None,
    **given: object,
) -> Candidate:
    view = viewed(ContextChunk("c", "a.md", "Title", heading, "", text), TERMS)
    rows = None if vectors is None else np.array(vectors, np.float32)
    return Candidate(view, 0.5, near, rows, **given)  # type: ignore[arg-type]


def test_a_line_that_says_it_counts_and_not_only_the_whole_page() -> None:
    text = f"A kettle filter stands here. {'More words follow. ' * 20}\n\nAnd the --lid is far below."
    together, apart = seen(page("A kettle with a filter and a --lid."), page(text))
    assert together["joint"] > apart["joint"]
    assert together["identifiers"] == apart["identifiers"] == 1.0


def test_the_best_window_is_compared_where_windows_are_kept() -> None:
    text = f"{'One sentence is here. ' * 12}\n\nAnother one."
    count = len(viewed(ContextChunk("c", "", "", "", "", text), []).held) - 3
    kept, unknown = seen(page(text, vectors=[[0.1, 0.0]] * (count - 1) + [[0.9, 0.0]]), page(text))
    assert kept["sentence"] == pytest.approx(0.9) and unknown["sentence"] == pytest.approx(0.4)


def test_pages_of_one_document_speak_for_each_other() -> None:
    other = page("A kettle with a filter.", document="d")
    beside, alone = seen(page("Nothing.", document="d"), other, page("Nothing.", document="e"))[::2]
    assert beside["document"] > alone["document"] == 0.0


def test_terms_side_by_side_and_rare_ones_count_more() -> None:
    pair, apart = seen(page("the kettle filter"), page("a filter for any kettle"))
    assert pair["pairs"] > apart["pairs"] == 0.0
    rare, common = seen(page("a kettle"), page("a filter"))
    assert rare["joint"] > common["joint"] > 0


@pytest.mark.parametrize(
    ("question", "counts"),
    [("what does fill_lid(2) do", 0.0), ("pot.fill_lid fails", 0.0), ("fill_lid gives me cold water", 0.9)],
)
def test_the_entry_that_a_question_shows_as_code_is_no_less_for_being_a_reference(
    question: str, counts: float
) -> None:
    terms = ["fill_lid", "water"]
    headings = ("API > fill_lid()", "API > pour()", "Guide > fill_lid()")
    chunks = [ContextChunk("c", "a.md", "Title", heading, "", "Fills it.") for heading in headings]
    pages = [
        Candidate(viewed(chunk, terms), 0.5, 0.4, None, reference=reference)
        for chunk, reference in zip(chunks, (0.9, 0.9, 0.0), strict=True)
    ]
    table = features(pages, terms, {"fill_lid": 3.0, "water": 1.0}, QUERY, question)
    assert table[:, FEATURES.index("reference")].tolist() == [counts, 0.9, 0.0]


def test_headings_count_for_every_window() -> None:
    named, not_named = seen(page("it is red", "Parts > Kettle"), page("it is red"))
    assert named["joint"] > not_named["joint"]


@pytest.mark.parametrize(
    ("heading", "is_code"),
    [
        ("API > Flask.route()", True),
        ("API > SECRET_KEY", True),
        ("Guide > Quickstart", False),
        ("How to run", False),
    ],
)
def test_names_of_things_in_code(heading: str, is_code: bool) -> None:
    assert is_name(heading) is is_code


def test_the_shipped_weights_order_pages_and_prefer_prose_to_references() -> None:
    guide = page("A kettle with a filter and a --lid.", near=0.6)
    same = page("A kettle with a filter and a --lid.", near=0.6, reference=1.0)
    scores = DEFAULT_RANKING.scores(features([page("Nothing."), same, guide], TERMS, RARITY, QUERY))
    assert scores[2] > scores[1] > scores[0]


def test_the_shipped_weights_are_those_of_the_features() -> None:
    assert set(DEFAULT_RANKING.weights) == set(FEATURES)


@pytest.mark.parametrize("of_change", [False, True])
def test_old_release_notes_rank_below_new_ones_and_guides(of_change: bool) -> None:
    text = "A kettle with a filter and a --lid."
    old, new, guide = (page(text, age=age) for age in (0.75, 0.0, None))
    table = features([old, new, guide], TERMS, RARITY, QUERY, "Is that gone?" if of_change else "How?")
    told = [dict(zip(FEATURES, row, strict=True)) for row in table.tolist()]
    assert [(one["older"], one["changed"], one["notes"]) for one in told] == [
        (0.75, float(of_change), float(not of_change)),
        (0.0, float(of_change), float(not of_change)),
        (0.0, 0.0, 0.0),
    ]
    scores = DEFAULT_RANKING.scores(table)
    # what asks for a change is answered by notes, however old
    assert scores[1] > scores[0] and (of_change or scores[2] > scores[0])
    if of_change:
        assert scores[1] > scores[2]


def test_pages_for_contributors_rank_below_others_unless_they_are_asked_for() -> None:
    pages = page("A kettle."), page("A kettle.", making=True)
    column = FEATURES.index("making")
    for question, told in (("How do I filter it?", 1.0), ("How do I contribute a filter?", 0.0)):
        table = features(pages, TERMS, RARITY, QUERY, question)
        guide, other = DEFAULT_RANKING.scores(table)
        assert table[:, column].tolist() == [0.0, told] and bool(guide > other) is bool(told)


@pytest.mark.parametrize(
    ("path", "making"),
    [
        ("contributing.rst", True),
        ("docs/html/development/ci.rst", True),
        ("en/latest/internals/protocol/", True),
        ("CODE_OF_CONDUCT.md", True),
        ("server/development-server.rst", False),
        ("guide/contrib.rst", False),
        ("", False),
    ],
)
def test_pages_for_contributors_are_known_by_their_path(path: str, making: bool) -> None:
    assert is_of_making(path) is making


def test_no_pages_and_no_known_terms_are_no_error() -> None:
    assert features([], TERMS, RARITY, QUERY).shape == (0, len(FEATURES))
    assert np.isfinite(features([page("text")], ["x"], {"x": 0.0}, QUERY)).all()
    assert np.isfinite(features([page("")], [], {}, QUERY)).all()


def test_what_is_kept_of_a_page_tells_of_any_terms_what_the_page_does() -> None:
    text = "The kettle filter, kettle filter and --lid.\n\n```\nkettle.lid = filter\n```\n\nOne kettle."
    chunk = ContextChunk("c", "a.md", "Kettles", "Guide > The filter of a kettle", "", text)
    kept = packed(chunk, {}, {})
    terms = {"kettl", "filt", "--lid", "lid", "teapot"}
    other = ContextChunk("d", "b.md", "Lids", "", "", "Nothing of it, but a lid.")
    view, beside = views_of([SeenPage.read(kept), SeenPage.read(packed(other, {}, {}))], sorted(terms))
    body = index_terms(text)
    of_term = dict(zip(view.columns, view.counts.tolist(), strict=True))
    assert of_term == {term: body.count(term) for term in terms}
    assert view.pairs == {(a, b) for a, b in pairwise(body) if {a, b} <= terms}
    parts = [{term for term, at in view.columns.items() if row[at]} for row in view.held]
    assert parts[3:] == [terms & set(index_terms(window)) for window in windows(text)]
    assert parts[:3] == [{"kettl"}, {"filt", "kettl"}, {"filt", "kettl"}]
    assert view.length == len(body) and (view.has("lid"), view.has("teapot")) == (True, False)
    assert [beside.has(term) for term in ("lid", "kettl", "unheard")] == [True, False, False]
    assert beside.counts.sum() == 1 and beside.pairs == frozenset()
    assert views_of([], ["lid"]) == [] and views_of([SeenPage.read(kept)], [])[0].length == len(body)


def test_what_raises_a_page_adds_up_to_how_far_it_is_above_the_average() -> None:
    table = np.random.default_rng(0).random((5, len(FEATURES)))
    scores = DEFAULT_RANKING.scores(table)
    assert np.allclose(DEFAULT_RANKING.lifts(table).sum(axis=1), scores - scores.mean())
    assert DEFAULT_RANKING.lifts(table[:0]).shape == (0, len(FEATURES))


def test_a_contracted_word_is_no_name_and_says_nothing() -> None:
    assert query_terms("I don't know what's wrong, it can’t and won't start, isn't it") == query_terms(
        "know wrong start"
    )
    assert query_terms("the user's kettle") == ["user", "kettl"]
    assert query_terms("o'clock") == index_terms("o'clock")
