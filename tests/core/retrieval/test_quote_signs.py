"""What tells a quote that holds the answer from one that does not."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from core.domain import ContextChunk, Evidence
from core.retrieval.confidence import (
    PAGES,
    QUOTE_JUDGEMENT,
    Judgement,
    QuoteSigns,
    quote_signs,
)

CHUNK = ContextChunk(
    "c1", "d1", "2.0", "timer.md", "https://kettle.example", "Timer", "Timer", "It rings.", "h1"
)


def pages(*scores: float) -> list[Evidence]:
    return [Evidence(n, CHUNK, score, ()) for n, score in enumerate(scores, start=1)]


def test_identifiers_and_code_are_looked_for_in_the_quote() -> None:
    terms = ["--timer", "ring_twice", "bell"]
    told = quote_signs(0.9, 0.4, terms, "> Set `--timer`.\n\n```\nkettle\n```", pages(3.0))
    assert told == QuoteSigns(0.9, 0.4, 0.5, 1.0, 1 / PAGES)
    assert quote_signs(0.9, 0.4, ["bell"], "> Set `--timer`.", pages(3.0)).names == 0.0


@pytest.mark.parametrize(
    ("scores", "share"),
    [
        ((10.0, 9.5, 8.0, 1.0), 2 / PAGES),
        ((10.0, 8.9), 1 / PAGES),
        ((-1.0, -1.05, -2.0, -3.0), 2 / PAGES),
        ((0.0,) * PAGES, 1.0),
    ],
)
def test_rivals_are_the_pages_that_are_as_good_as_the_best(scores: tuple[float, ...], share: float) -> None:
    assert quote_signs(0.9, 1.0, ["bell"], "text", pages(*scores)).rivals == share


def test_the_share_of_a_quote_is_how_likely_the_ranking_takes_its_section_for_the_right_one() -> None:
    part, other = replace(CHUNK, page="It rings twice."), replace(CHUNK, heading="Lid", page="It shuts.")
    found = [Evidence(1, CHUNK, 2.0, ()), Evidence(2, part, 1.0, ()), Evidence(3, other, 1.0, ())]
    of_lid = math.exp(1.0) / (math.exp(2.0) + 2.0 * math.exp(1.0))
    assert quote_signs(0.9, 1.0, [], "", found, {CHUNK.hash}).share == pytest.approx(1.0 - of_lid)
    assert quote_signs(0.9, 1.0, [], "", found, {other.hash}).share == pytest.approx(of_lid)
    assert quote_signs(0.9, 1.0, [], "", found, {"gone"}).share == 0.0


def test_the_margin_of_a_quote_is_that_of_its_best_page_and_nothing_where_none_is_known() -> None:
    other = replace(CHUNK, heading="Lid", page="It shuts.")
    found = [Evidence(1, CHUNK, 2.0, (), 0.2), Evidence(2, other, 1.0, (), 0.3), Evidence(3, CHUNK, 0.5)]
    assert quote_signs(0.9, 1.0, [], "", found, {CHUNK.hash}).margin == 0.2
    assert quote_signs(0.9, 1.0, [], "", found, {CHUNK.hash, other.hash}).margin == 0.3
    assert quote_signs(0.9, 1.0, [], "", found, {"gone"}).margin is None
    both = {CHUNK.hash, other.hash}
    assert quote_signs(0.9, 1.0, [], "", found, both, [found[:1], found[1:]]).margin == 0.2, (
        "the lesser search"
    )
    assert quote_signs(0.9, 1.0, [], "", found, {other.hash}, [found[:1], found[1:]]).margin == 0.3
    assert quote_signs(0.9, 1.0, [], "", pages(1.0), {CHUNK.hash}).margin is None


def test_without_pages_there_are_no_rivals() -> None:
    assert quote_signs(0.0, 0.0, [], "", []) == QuoteSigns()


def test_nothing_is_said_to_be_surer_than_anybody_knows() -> None:
    sure = QuoteSigns(1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.3)
    assert QUOTE_JUDGEMENT.confidence(sure) == QUOTE_JUDGEMENT.most == 0.8
    assert QUOTE_JUDGEMENT.level_of(sure) == "sure"
    assert Judgement({"found": 9.0}).confidence(sure) > 0.99


def test_a_quote_of_unlikely_pages_that_holds_nothing_of_the_question_is_not_shown() -> None:
    poor = QuoteSigns(0.5, 0.1, 0.0, 0.0, 0.5, 0.1)
    middling = QuoteSigns(0.8, 0.5, 0.0, 0.0, 0.3, 0.4)
    assert QUOTE_JUDGEMENT.level_of(poor) == "none" and QUOTE_JUDGEMENT.level_of(middling) == "close"
    far = replace(poor, margin=1.0)
    assert QUOTE_JUDGEMENT.level_of(far) == "none", "whether it is shown goes by the other signs"


def test_where_the_margin_is_not_known_weights_do_that_were_fitted_without_it() -> None:
    shown = QUOTE_JUDGEMENT.shown
    assert shown is not None and "margin" not in shown.coefficients
    for held in (0.0, 0.5, 1.0):
        unknown = QuoteSigns(0.9, held, 0.0, 0.0, 0.1, 0.5)
        assert QUOTE_JUDGEMENT.confidence(unknown) == min(shown.confidence(unknown), QUOTE_JUDGEMENT.most)
        assert QUOTE_JUDGEMENT.confidence(replace(unknown, margin=0.0)) < QUOTE_JUDGEMENT.confidence(unknown)
