import math

import pytest

from core.generation.temperature import adaptive


def test_it_is_the_papers_formula_between_the_bounds() -> None:
    gap = 0.001
    assert adaptive([0.9, 0.5, 0.5 + gap]) == pytest.approx(math.exp(-250 * gap))


@pytest.mark.parametrize(
    ("scores", "wanted"),
    [([], 0.7), ([0.9], 0.7), ([0.5, 0.5], 1.0), ([0.2, 0.9], 0.7), ([0.9, 0.2, 0.9], 1.0)],
)
def test_the_smallest_gap_decides_and_a_single_score_has_none(scores: list[float], wanted: float) -> None:
    assert adaptive(scores) == wanted


def test_order_does_not_matter_and_the_bounds_hold() -> None:
    assert adaptive([0.3, 0.301, 0.9]) == adaptive([0.9, 0.301, 0.3])
    assert adaptive([0.5, 0.5], highest=0.8) == 0.8
