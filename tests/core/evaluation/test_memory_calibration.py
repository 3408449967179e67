"""`threadlore calibrate`: thresholds that labelled pairs give for an encoder."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from core.errors import UsageError
from core.memory.calibrated import FILE, read_calibration
from core.memory.guard import guard
from evaluation.simulation.data import Pair
from evaluation.simulation.memory_calibration import calibrate, choose_thresholds, fit_reach, reach_of
from tests.core.evaluation.questions import THINGS, rewordings, written
from tests.fakes import FakeEncoder


def at(cosine: float) -> np.ndarray:
    """Return a unit vector with that cosine to `at(1)`."""
    return np.array([cosine, np.sqrt(1 - cosine**2)], np.float32)


def no_guard(one: str, other: str) -> str:
    return ""


SAME = [(f"s{n}", cosine) for n, cosine in enumerate((0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5))]
DIFFERENT = [(f"d{n}", cosine) for n, cosine in enumerate((0.82, 0.72, 0.4, 0.3, 0.2))]
PAIRS = [Pair("q", name, True) for name, _ in SAME] + [Pair("q", name, False) for name, _ in DIFFERENT]
VECTORS = {"q": at(1.0)} | {name: at(cosine) for name, cosine in SAME + DIFFERENT}


def test_delta_is_the_lowest_that_reaches_the_precision_and_tau_the_highest_with_the_recall() -> None:
    found = choose_thresholds(PAIRS, VECTORS, no_guard, 0.8, 0.8)
    # from .5 on there are 10 right and 2 wrong: .83; from .55 on 9 and 2
    assert (found.delta, found.precision) == (pytest.approx(0.5, abs=2e-3), pytest.approx(10 / 12))
    assert found.tau == found.delta  # the highest with the recall is .6, the eighth of ten, but not above δ
    strict = choose_thresholds(PAIRS, VECTORS, no_guard, 1.0, 0.8)
    assert (strict.delta, strict.precision) == (pytest.approx(0.85, abs=2e-3), 1.0)
    assert (strict.tau, strict.recall) == (pytest.approx(0.6, abs=2e-3), 0.8)
    assert strict.curve[0][:2] == (pytest.approx(0.95), 1.0)
    assert strict.curve[-1][1:] == (pytest.approx(10 / 15), 1.0)


def test_pairs_that_the_guard_tells_apart_do_not_count_against_delta() -> None:
    def tells(one: str, other: str) -> str:
        return "They differ." if other == "d0" else ""

    assert choose_thresholds(PAIRS, VECTORS, tells, 1.0, 0.8).delta == pytest.approx(0.75, abs=2e-3)


def test_what_no_similarity_reaches_is_told_and_reuses_the_same_words_only() -> None:
    found = choose_thresholds([Pair("q", "d0", False), Pair("q", "s3", True)], VECTORS, no_guard, 1.0, 1.0)
    assert (found.delta, found.reached) == (1.0, False)


def test_a_rounded_threshold_reaches_the_precision_with_all_that_it_lets_through() -> None:
    near = [Pair("q", f"d{n}", False) for n in range(20)]
    pairs = [Pair("q", "s0", True), Pair("q", "s1", True), *near]
    vectors = {"q": at(1.0), "s0": at(0.9), "s1": at(0.8109)} | {pair.b: at(0.8105) for pair in near}
    found = choose_thresholds(pairs, vectors, no_guard, 0.95, 0.9)
    assert (found.delta, found.precision) == (pytest.approx(0.9, abs=2e-3), 1.0)


async def test_where_no_similarity_reaches_the_precision_the_calibration_stays(tmp_path: Path) -> None:
    before = await calibrate(pairs_file(tmp_path / "good.jsonl"), tmp_path, FakeEncoder(), guard, plots=False)
    rows = [json.dumps({"a": f"How do I {t}?", "b": f"How do I {t}?", "same": n % 4 == 0})
            for t in THINGS for n in range(8)]  # fmt: skip
    (tmp_path / "bad.jsonl").write_text("\n".join(rows), "utf-8")
    told: list[str] = []
    made = await calibrate(tmp_path / "bad.jsonl", tmp_path, FakeEncoder(), guard, tell=told.append)
    assert not made["reached"] and "bring more pairs, or lower --precision" in told[0] and len(told) == 1
    found = read_calibration(tmp_path)
    assert found is not None and (found.data, found.delta) == ("good.jsonl", before["delta"])


async def test_topics_of_several_releases_are_calibrated_as_those_of_one(tmp_path: Path) -> None:
    found = []
    for releases in (("1.0",), ("1.0", "2.0")):
        path = written(tmp_path / f"{len(releases)}.jsonl", *releases)
        found.append(await calibrate(path, tmp_path, FakeEncoder(), guard, plots=False))
    one, two = found
    assert two["reached"] and (two["delta"], two["tau"]) == (one["delta"], one["tau"])


async def tables() -> tuple[list[np.ndarray], list[list[str]]]:
    texts = [[f"How do I mend {thing}?", *rewordings(thing)] for thing in THINGS]
    return [await FakeEncoder().encode(some) for some in texts], texts


async def test_the_reach_rises_with_the_precision_that_is_wanted() -> None:
    topics, texts = await tables()
    lax, much = fit_reach(topics, 0.6, texts, guard)
    strict, little = fit_reach(topics, 0.999, texts, guard)
    assert lax.reach < strict.reach <= 1.0
    assert much >= little > 0.3
    assert 0 < lax.far == strict.far < 0.7


def test_the_reach_is_rounded_and_what_is_as_near_as_that_is_counted() -> None:
    margins, right = np.array([0.9009, 0.7009, 0.7004]), np.array([True, True, False])
    assert reach_of(margins, right, 1.0) == (0.9, 1), ".7 would reuse the wrong one, too"
    assert reach_of(margins, right, 0.6) == (0.7, 2)
    assert reach_of(margins[1:], right[1:], 0.9) == (1.0, 0)


async def test_a_guard_that_tells_everything_apart_leaves_nothing_to_fit() -> None:
    topics, texts = await tables()
    assert fit_reach(topics, 0.9, texts, lambda one, other: "They differ.")[1] == 0.0


def pairs_file(path: Path, same: int = 72, different: int = 60) -> Path:
    rows = [(f"How do I mend {t}?", r, True) for t in THINGS for r in rewordings(t)][:same]
    rows += [
        (f"How do I mend {one}?", rewordings(other)[place], False)
        for place in range(6)
        for one, other in zip(THINGS, THINGS[1:] + THINGS[:1], strict=True)
    ][:different]
    path.write_text(
        "\n".join(json.dumps(dict(zip("ab", row, strict=False)) | {"same": row[2]}) for row in rows), "utf-8"
    )
    return path


async def test_calibrate_writes_what_a_start_reads_and_names_data_and_encoder(tmp_path: Path) -> None:
    told: list[str] = []
    path = pairs_file(tmp_path / "pairs.jsonl")
    made = await calibrate(path, tmp_path / "home", FakeEncoder(), guard, plots=False, tell=told.append)
    found = read_calibration(tmp_path / "home")
    assert found is not None
    assert (found.encoder, found.data) == ("fake@256", "pairs.jsonl")
    assert (found.delta, found.tau) == (made["delta"], made["tau"])
    assert found.reach is None  # twelve topics are too few to fit to
    assert found.precision >= 0.95
    assert told == ["The decision that learns goes by δ: to fit it takes 20 questions with a rewording."]
    assert len(made["curve"]) > 3


async def test_questions_that_people_told_apart_count_as_pairs_that_are_not_the_same(tmp_path: Path) -> None:
    path = pairs_file(tmp_path / "pairs.jsonl")
    before = await calibrate(path, tmp_path, FakeEncoder(), no_guard, plots=False)
    close = [(f"boil the {t} water now", f"boil the {t} water soon") for t in THINGS]
    after = await calibrate(path, tmp_path, FakeEncoder(), no_guard, plots=False, apart=close)
    assert after["pairs"] == before["pairs"] + len(THINGS)
    assert after["delta"] > before["delta"], "what people told apart is not near enough any more"


async def test_calibrate_takes_labelled_questions_and_their_halves_as_well(tmp_path: Path) -> None:
    rows = [
        {"topic": f"t{n}", "question": question}
        for n in range(60)
        for question in (f"word{n} part{n} of it?", f"part{n} of thing{n}?", f"word{n} like thing{n}?")
    ]
    path = tmp_path / "topics.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    made = await calibrate(path, tmp_path, FakeEncoder(), guard, half="tune", plots=False)
    assert 40 < made["pairs"] < 4 * 60
    assert made["pairs"] % 4 == 0
    assert 0 < made["reach"] <= 1
    assert (tmp_path / FILE).exists()


async def test_too_few_pairs_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="12 same and 60 different pairs; it takes at least 20 of each"):
        await calibrate(pairs_file(tmp_path / "p.jsonl", same=12), tmp_path, FakeEncoder(), guard)
    with pytest.raises(UsageError, match="72 same and 0 different"):
        await calibrate(pairs_file(tmp_path / "p.jsonl", different=0), tmp_path, FakeEncoder(), guard)
    with pytest.raises(UsageError, match="must lie above 0"):
        await calibrate(written(tmp_path / "q.jsonl"), tmp_path, FakeEncoder(), guard, precision=1.5)
    assert not (tmp_path / FILE).exists()
