"""What the four fields of pairs weigh, learnt from what each of them finds."""

from __future__ import annotations

from core.domain import Hit
from core.retrieval.pregenerated import EQUAL, FIELDS
from evaluation.gold import GoldLine
from evaluation.tuning.fields import Fielded, best_weights, quality_of

LINE = GoldLine(id="q", type="fact", question="?", release="2.0", split="tune")


def found(right: str, **by_field: str) -> Fielded:
    """Let each field find the pages that are named by single letters."""
    lists = {name: [Hit(key, 1.0) for key in by_field.get(name, "")] for name in FIELDS}
    return Fielded(LINE, ((lists, frozenset(right)),))


GOOD = [found("x", question_vector="x", answer_vector="abc", answer_words="abc", question_words="bax")] * 3


def test_the_field_that_finds_weighs_most() -> None:
    weights = best_weights(GOOD)
    assert weights != EQUAL and weights["answer_vector"] < 1.0
    assert quality_of(GOOD, [weights] * 3).mrr == 1.0 > quality_of(GOOD, [EQUAL] * 3).mrr


def test_where_nothing_is_better_all_weigh_the_same() -> None:
    assert best_weights([found("x", question_vector="x")]) == EQUAL
    assert best_weights([found("x", question_vector="a")]) == EQUAL


def test_a_question_is_as_good_as_its_worst_search() -> None:
    one, other = found("x", question_vector="x"), found("y", question_vector="abcdy")
    both = Fielded(LINE, (*one.searches, *other.searches))
    assert quality_of([both], [EQUAL]).mrr == 0.2 and quality_of([both], [EQUAL]).hit3 == 0.0
    none = Fielded(LINE, (*both.searches, ({}, frozenset())))
    assert quality_of([none], [EQUAL]).mrr == 0.0
