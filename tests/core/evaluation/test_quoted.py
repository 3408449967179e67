"""How likely a quote holds the answer is learnt from quotes that do and that do not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.errors import UsageError
from core.retrieval.confidence import QUOTE_JUDGEMENT, QuoteSigns
from evaluation.answers.expected import read_expected
from evaluation.answers.scores import Scored, keep
from evaluation.tuning.quoted import (
    ENOUGH,
    MOST,
    SIGNS,
    are_shown,
    learnt,
    left_out,
    quotes,
    refitted,
    rows_of,
    told,
)

PRODUCTS = ("kettle", "toaster", "oven")


def scored(key: str, *, found: float, right: bool, **given: Any) -> Scored:
    """Make what was said to a question: a quote whose pages were `found` that likely, right or not."""
    made: dict[str, Any] = {
        "product": "kettle",
        "kind": "howto",
        "half": "tune",
        "question": "how?",
        "answerable": True,
        "has_code": False,
        "text": "So.",
        "route": "quote",
        "release": "2.0",
        "confidence": 0.7,
        "refused": False,
        "missing": () if right else ("a plug",),
        "signs": dict.fromkeys(SIGNS, 0.5) | {"found": found},
    }
    return Scored(id=key, **(made | given))


def many(product: str, half: str = "tune", flipped: int = 0) -> list[Scored]:
    """Make thirty quotes that are right where pages are likely, but for each tenth, and two to refuse."""
    some = [
        scored(
            f"{product}-{half}-{n}",
            found=n / 30,
            right=(n >= 15) != (n % 10 == flipped),
            product=product,
            half=half,
        )
        for n in range(30)
    ]
    outside = [
        scored(f"{product}-no-{n}", found=0.1 * n, right=False, product=product, half=half, answerable=False)
        for n in (1, 2)
    ]
    return [*some, *outside]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for product in PRODUCTS:
        keep(tmp_path, product, [*many(product), *many(product, "report")])
    return tmp_path


def test_quotes_of_likely_pages_are_likelier_right_on_a_product_left_out(folder: Path) -> None:
    rows = quotes(rows_of([folder]))
    assert len(rows.scored) == 3 * 32 and set(rows.products) == set(PRODUCTS)
    likely = left_out(rows)
    is_right = rows.right
    assert likely[is_right].mean() > 0.6 > 0.4 > likely[~is_right].mean()
    assert likely.max() <= MOST
    weights = learnt(rows)
    assert weights.signs[SIGNS.index("found")] > 0 and np.allclose(weights.signs[1:], 0.0, atol=1e-6)


def test_another_folder_teaches_the_weights_and_not_how_often_quotes_are_right(
    folder: Path, tmp_path: Path
) -> None:
    easy = tmp_path / "easy"
    easy.mkdir()
    always = [scored(f"easy-{n}", found=n / 30, right=n > 2, product="easy") for n in range(30)]
    keep(easy, "easy", always)
    alone, both = (learnt(quotes(rows_of(folders))) for folders in ([folder], [folder, easy]))
    rows = quotes(rows_of([folder]))
    assert abs(float(both.of(rows).mean()) - float(rows.right.mean())) < 0.05
    assert abs(float(both.of(rows).mean()) - float(alone.of(rows).mean())) < 0.05


def test_what_is_shown_goes_by_the_weights_that_are_kept_for_it(folder: Path) -> None:
    nothing = dict.fromkeys(SIGNS, 0.0)
    keep(folder, "poor", [scored(f"poor-{n}", found=0.0, right=False, signs=nothing) for n in range(4)])
    rows = rows_of([folder])
    shown = are_shown(rows)
    poor = [one.id.startswith("poor") for one in rows.scored]
    assert not shown[poor].any() and 50 < shown.sum() < 90
    hidden = sum(one.answerable for one, there in zip(rows.scored, shown, strict=True) if not there)
    figures = told(rows, rows, left_out(rows))
    assert figures["questions"] == 100 and figures["answerable_refused"] == round(hidden / 94, 3)


def test_each_product_counts_alike_however_many_questions_it_has(tmp_path: Path) -> None:
    keep(tmp_path, "kettle", many("kettle"))
    turned = [scored(f"many-{n}", found=n / 120, right=n < 60, product="oven") for n in range(120)]
    keep(tmp_path, "oven", turned)
    once = learnt(rows_of([tmp_path]))
    keep(tmp_path, "oven", [*turned, *(replace(one, id=f"{one.id}-again") for one in turned)])
    assert np.allclose(learnt(rows_of([tmp_path])).signs, once.signs, atol=0.01)


def test_what_was_refused_for_its_quote_teaches_nothing(folder: Path) -> None:
    before = learnt(rows_of([folder]))
    hidden = [
        scored(f"hidden-{n}", found=0.99, right=False, route="abstain", refused=True) for n in range(30)
    ]
    keep(folder, "hidden", hidden)
    after = learnt(rows_of([folder]))
    assert np.array_equal(before.signs, after.signs) and before.bias == after.bias


def test_a_home_learns_how_far_the_shipped_judgement_is_to_be_believed() -> None:
    judgement, words = refitted([*many("kettle"), *many("kettle", "report", flipped=5)])
    assert judgement is not None and "64" not in words and "32 of them" in words
    signs = dict.fromkeys(SIGNS, 0.5)
    sure, unsure = (judgement.confidence(QuoteSigns(**(signs | {"found": p}))) for p in (0.9, 0.1))
    assert unsure < ENOUGH < sure <= MOST
    assert (judgement.shown, judgement.most) == (QUOTE_JUDGEMENT.shown, QUOTE_JUDGEMENT.most)


def test_what_gains_nothing_on_the_other_half_is_not_kept() -> None:
    turned = [scored(f"r{n}", found=n / 30, right=n < 15, half="report", product="kettle") for n in range(30)]
    judgement, words = refitted([*many("kettle"), *turned])
    assert judgement is None and "left as it is" in words


@pytest.mark.parametrize(
    "few", [many("kettle")[:5], [*many("kettle"), *many("kettle", "report")[:19]]], ids=["tune", "report"]
)
def test_too_few_quotes_teach_nothing(few: list[Scored]) -> None:
    with pytest.raises(UsageError, match="needs 20"):
        refitted(few)


def test_golden_lines_are_asked_as_far_as_they_stand_alone(tmp_path: Path) -> None:
    base = {
        "id": "timer",
        "type": "fact",
        "split": "tune",
        "question": "what is the default of the timer?",
        "release": "2.0",
        "gold_file": "timer.md",
        "evidence": ["45 minutes"],
    }
    lines = [
        base,
        base | {"id": "must", "must_contain": ["45"]},
        base | {"id": "turn", "history": [{"role": "user", "text": "hi"}]},
        {"id": "moon", "type": "out_of_scope", "split": "report", "question": "how far is the moon?"},
        {"id": "new", "type": "unknown_release", "split": "tune", "question": "and in 9.9?"},
    ]
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    first, must, moon = read_expected(path, product="Kettle")
    assert (first.must, must.must, moon.must) == (("45 minutes",), ("45",), ())
    assert first.sections[0].page == "timer.md" and first.product == "Kettle"
    assert (first.answerable, moon.answerable, moon.half) == (True, False, "report")


def test_the_shipped_weights_say_what_they_were_fitted_on() -> None:
    from core.retrieval.confidence import QUOTES

    kept = json.loads(QUOTES.read_text())
    assert set(kept["coefficients"]) == set(SIGNS) and kept["fitted"]["by"].startswith("python -m ")
    assert 0 < kept["shown"]["close"] < kept["enough"] < kept["most"] <= MOST
