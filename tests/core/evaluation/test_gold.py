"""Reading labelled questions, and what counts as found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.errors import UsageError
from evaluation.gold import Place, holds_any, is_right, parse_line, rank_of, read_gold
from tests.core.evaluation.small import GOLD, line, write

GOLDEN = Path(__file__).parents[2] / "golden"


def test_each_half_has_its_own_lines(tmp_path: Path) -> None:
    path = write(tmp_path)
    assert len(read_gold(path)) == len(GOLD)
    assert [g.id for g in read_gold(path, "report")] == ["report"]
    assert "report" not in {g.id for g in read_gold(path, "tune")}


@pytest.mark.parametrize("name", ["flask.jsonl", "click.jsonl"])
def test_the_golden_sets_are_read_whole(name: str) -> None:
    lines = read_gold(GOLDEN / name)
    assert len(lines) == len((GOLDEN / name).read_text("utf-8").splitlines())
    assert {len(g.places) > 1 for g in lines if g.type == "comparison"} == {True}
    assert all(g.places for g in lines if g.answerable)


def test_bad_lines_are_all_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    bad = [
        "{no json",
        "[1]",
        json.dumps(line("a", "") | {"question": "  "}),
        json.dumps(line("b", "q?") | {"evidence": "x", "gold_file": ""}),
        json.dumps(line("c", "q?") | {"history": ["hello"]}),
        json.dumps(line("d", "q?")),
        "",
        json.dumps(line("d", "q again?")),
    ]
    path.write_text("\n".join(bad), "utf-8")
    with pytest.raises(UsageError) as error:
        read_gold(path)
    told = str(error.value)
    for wanted in ("line 1: no JSON", "line 2", 'line 3: "question"', "line 4", "line 5", "and 1 more"):
        assert wanted in told
    assert "line 6:" not in told


def test_a_half_that_is_empty_says_so(tmp_path: Path) -> None:
    entry = line("a", "q?")
    del entry["split"]
    with pytest.raises(UsageError, match="--half all"):
        read_gold(write(tmp_path, [entry]), "report")
    with pytest.raises(UsageError, match="cannot be read"):
        read_gold(tmp_path / "nowhere.jsonl")


def test_text_is_compared_without_markup_and_by_whole_words() -> None:
    assert holds_any("Set `MAX_COOKIE_SIZE` to\n **4093** bytes", ["max_cookie_size to 4093"])
    assert holds_any("see timedelta(days=31).", ["31 days||timedelta(days=31)"])
    assert holds_any(r"pass \*args here", ["*args"])
    assert holds_any("it doesn’t matter", ["doesn't matter"])
    assert not holds_any("14093 bytes", ["4093"])
    assert not holds_any("subdomains", ["domain"])
    assert holds_any("flask[async] is needed", ["flask[async]"])


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("It takes 20 minutes.", True),
        ("It takes 120 minutes.", False),
        ("It takes 20.5 minutes.", False),
        ("20, and the workers wait. Not 45 though.", False),
    ],
)
def test_an_answer_is_right_with_all_and_only_what_it_may_say(answer: str, right: bool) -> None:
    gold = parse_line(line("a", "q?", must_contain=["20"], must_not_contain=["45"]))
    assert is_right(gold, answer) is right


def test_words_may_be_inflected_in_an_answer() -> None:
    gold = parse_line(line("a", "q?", must_contain=["worker||thread"]))
    assert is_right(gold, "Workers stay busy") and is_right(gold, "threads") and not is_right(gold, "working")


def test_the_first_passage_of_the_right_release_page_and_words_counts() -> None:
    place = Place(("a.md", "b.md"), ("twenty||20",))
    found = [
        ("2.0", "a.md", "20"),  # another release
        ("1.0", "c.md", "20"),  # another page
        ("1.0", "a.md", "nothing"),
        ("1.0", "b.md", "Twenty!"),
    ]
    assert rank_of({"1.0": place}, found) == 4
    assert rank_of({"1.0": place}, found[:3]) == 0
    assert rank_of({"1.0": place}, [("", "a.md", "20")]) == 1


def test_a_comparison_has_to_be_hit_in_every_release() -> None:
    places = {"1.0": Place(("a",), ("x",)), "2.0": Place(("a",), ("y",))}
    both = [("1.0", "a", "x"), ("2.0", "b", "y"), ("1.0", "a", "x"), ("2.0", "a", "y")]
    assert rank_of(places, both) == 2
    assert rank_of(places, both[:3]) == 0
