"""The shipped weights are learnt from the questions of several products, and each is judged by the others."""

from __future__ import annotations

import numpy as np

from core.domain import ContextChunk
from core.retrieval.features import FEATURES
from core.retrieval.ranking import DEFAULT_WEIGHTS
from evaluation.answers.expected import Expected, Section
from evaluation.gold import GoldLine, Place
from evaluation.tuning.examples import Example, Search
from tests.fitting.shipped import OF_PAIRS, fitted, is_of, left_out


def asked(product: str, count: int = 30) -> list[Example]:
    """Make questions whose right page is always the one with the nearest sentence."""
    random = np.random.default_rng(len(product))
    found = []
    for n in range(count):
        table = random.random((5, len(FEATURES)))
        table[:, [FEATURES.index(name) for name in OF_PAIRS]] = 0.0
        right = np.arange(5) == table[:, FEATURES.index("sentence")].argmax()
        line = GoldLine(f"{product} {n}", "fact", "?", "2.0", places={"2.0": Place(("a.md",), ())})
        found.append(Example(line, (Search("2.0", tuple("abcde"), table, right),)))
    return found


def test_what_finds_the_right_page_weighs_most_and_pairs_stay_as_they_are() -> None:
    weights = dict(zip(FEATURES, fitted(asked("kettle")), strict=True))
    assert max(weights, key=lambda name: weights[name]) == "sentence"
    assert {name: weights[name] for name in OF_PAIRS} == {name: DEFAULT_WEIGHTS[name] for name in OF_PAIRS}


def test_a_product_is_judged_by_what_the_others_teach() -> None:
    told = left_out({"kettle": asked("kettle"), "oven": asked("oven")})
    assert list(told) == ["kettle", "oven"] and all("hit@8 1.000" in one for one in told.values())


def test_a_section_has_the_sections_inside_of_it() -> None:
    line = Expected(
        "q",
        "kettle",
        "2.0",
        "howto",
        "?",
        True,
        "tune",
        sections=(Section("a.md", "Filter"), Section("b.md")),
    )

    def page(path: str, heading: str) -> ContextChunk:
        return ContextChunk("c", path, "Manual", heading, "", "text")

    assert is_of(line, page("a.md", "Care > `Filter` > Latch")) and is_of(line, page("b.md", "Lid"))
    assert not is_of(line, page("a.md", "Filters")) and not is_of(line, page("c.md", "Filter"))
