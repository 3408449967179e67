"""Two reports question by question, what a judge says of them, and the overlap of what answers name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import UsageError
from evaluation.answers.compared import compare, good, markdown, read
from evaluation.answers.judges import Judge, Verdicts
from evaluation.answers.overlap import entities, overlap, triplets
from evaluation.metrics import sign_test
from evaluation.plots import draw_comparison
from evaluation.report import write
from tests.fakes import FakeModel


def told(key: str, **given: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "configuration": "all",
        "id": key,
        "type": "fact",
        "question": f"what is {key}?",
        "rank": 1,
        "abstained": False,
        "refused": False,
        "right": True,
        "answer": f"{key} [1].",
        "truth": key,
        "ms": 5.0,
    }
    return made | given


def report(folder: Path, lines: list[dict[str, Any]], model: str = "") -> Path:
    folder.mkdir()
    (folder / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "evaluation.json").write_text(json.dumps({"model": model}))
    return folder


FIRST = [
    told("a"),
    told("b", right=False, rank=3, answer="wrong"),
    told("c", type="out_of_scope", right=None, abstained=True, answer=""),
    told("d", right=None, abstained=True, answer=""),
    told("gone"),
]
SECOND = [
    told("a"),
    told("b", rank=2, answer="right"),
    told("c", type="out_of_scope", right=None, answer="made up"),
    told("d", answer="long and wrong", right=False),
    told("a", configuration="base", right=False),
]


async def test_reports_are_compared_by_the_questions_that_both_have(tmp_path: Path) -> None:
    first, second = read(report(tmp_path / "A", FIRST)), read(report(tmp_path / "B", SECOND))
    result = await compare(first, second)
    assert (result["questions"], result["only"], result["same"]) == (4, [1, 0], 1)
    assert (result["both"], result["first_only"], result["second_only"], result["neither"]) == (1, 1, 1, 1)
    assert result["good"] == [0.5, 0.5] and result["chance"] == 1.0
    assert result["found_higher"] == [0, 1] and result["abstained"] == [2, 0]
    assert result["by_type"]["fact"]["second_only"] == 1
    plots = draw_comparison(result, tmp_path / "out")
    write(tmp_path / "out", "comparison", result, markdown(result, plots))
    page = (tmp_path / "out" / "comparison.md").read_text()
    assert "| what is b? | fact | B | 3 → 2 |" in page and "what is a?" not in page
    assert plots and all((tmp_path / "out" / name).stat().st_size > 1000 for name in plots)
    assert all(f"({name})" in page for name in plots)


def test_what_cannot_be_compared_says_why(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no questions\.jsonl"):
        read(tmp_path)
    with pytest.raises(UsageError, match="no configuration 'dense'; it has: all, base"):
        read(report(tmp_path / "B", SECOND), "dense")


async def test_reports_without_a_question_in_common_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no question in common"):
        await compare(read(report(tmp_path / "A", FIRST[-1:])), read(report(tmp_path / "B", SECOND)))


def test_silence_is_good_only_where_there_is_no_answer() -> None:
    assert [good(line) for line in FIRST[:4]] == [True, False, True, False]
    assert good(told("x", right=None, answer="", rank=1)), "without answers a hit is good"


def test_the_sign_test_is_exact() -> None:
    assert sign_test(0, 0) == 1.0 and sign_test(1, 1) == 1.0
    assert sign_test(0, 5) == pytest.approx(2 / 32) and sign_test(6, 1) == pytest.approx(2 * 8 / 128)


class Reader:
    """Judges the longer answer better (`long`), or always the first one (`first`)."""

    def __init__(self, likes: str) -> None:
        self.likes = likes

    def __call__(self, prompts: Any) -> dict[str, Any]:
        one, two = prompts[1].content.split('<answer number="')[1:]
        longest = "1" if len(one) > len(two) else "2"
        return {"reasoning": "r", "better": "1" if self.likes == "first" else longest}


@pytest.mark.parametrize(("likes", "wins"), [("long", (0, 2, 0)), ("first", (0, 0, 3))])
async def test_a_judge_is_asked_in_both_orders_and_named(
    tmp_path: Path, likes: str, wins: tuple[int, ...]
) -> None:
    model = FakeModel(Reader(likes))
    judge = Judge(model, Verdicts(tmp_path / "v.jsonl"))
    mine, yours = ("wrong", "short", "one"), ("wrong and longer", "a longer answer", "another")
    first = [told("a"), *(told(key, answer=text) for key, text in zip("bcd", mine, strict=True))]
    second = [told("a"), *(told(key, answer=text) for key, text in zip("bcd", yours, strict=True))]
    if likes == "long":
        second[-1] = first[-1]
    sides = read(report(tmp_path / "A", first, model.name)), read(report(tmp_path / "B", second, "other"))
    result = await compare(*sides, judge)
    verdicts = result["judged"]
    assert (verdicts["first"], verdicts["second"], verdicts["by_position"]) == wins
    assert sum(verdicts["win_rate"]) == pytest.approx(1.0)
    assert result["own"] == [True, False]
    assert f"**{model.name} judges its own answers in A.**" in markdown(result)
    calls = len(model.calls)
    await compare(*sides, judge)
    assert len(model.calls) == calls, "verdicts are kept"


def test_entities_are_code_options_numbers_and_names() -> None:
    text = "Set `SECRET_KEY` before --debug, to 3.1 [1], as Flask and url_for() do. Then stop."
    assert entities(text) == {"secret_key", "--debug", "3.1", "flask", "url_for"}
    ends = [(head, tail) for head, _between, tail in triplets(text)]
    assert ("secret_key", "--debug") in ends and ("--debug", "3.1") in ends


def test_overlap_is_one_for_the_same_and_none_for_other_things() -> None:
    gold = ["`PORT` is 5000 by default."]
    assert overlap(["`PORT` is 5000 by default."], gold) == {"entities": 1.0, "triplets": 1.0}
    assert overlap(["`HOST` is 80 by default."], gold) == {"entities": 0.0, "triplets": 0.0}
    assert overlap(["Set `PORT`, then 80."], gold)["entities"] == 0.5
    assert overlap(["nothing"], ["named"]) == {}


def test_a_report_is_read_with_all_that_answers_may_hold_and_a_broken_one_is_named(tmp_path: Path) -> None:
    row = {"id": "a", "configuration": "all", "answer": "one\u2028two\x85three"}
    (tmp_path / "evaluation.json").write_text("{}", "utf-8")
    (tmp_path / "questions.jsonl").write_text(json.dumps(row, ensure_ascii=False) + "\n", "utf-8")
    assert read(tmp_path).lines["a"]["answer"] == "one\u2028two\x85three"
    (tmp_path / "questions.jsonl").write_text('{"id": "a"}\n', "utf-8")
    with pytest.raises(UsageError, match="has a report that cannot be read"):
        read(tmp_path)
    with pytest.raises(UsageError, match=r"has no questions\.jsonl"):
        read(tmp_path / "evaluation.json")
