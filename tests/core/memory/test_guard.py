import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.memory.guard import guard
from tests.bench.guard_pairs import PRODUCTS, judged_pairs
from tests.effort import examples

GOLDEN = Path(__file__).parents[2] / "golden" / "guard.jsonl"
PAIRS = [json.loads(line) for line in GOLDEN.read_text("utf-8").splitlines() if line.strip()]
DIFFERENT = [pair for pair in PAIRS if not pair["same"]]
SAME = [pair for pair in PAIRS if pair["same"]]


def test_at_most_one_in_a_hundred_decisive_words_slips_through():
    assert len(DIFFERENT) >= 200
    passed = [(p["a"], p["b"]) for p in DIFFERENT if not guard(p["a"], p["b"])]
    assert len(passed) <= 0.01 * len(DIFFERENT), passed


@pytest.mark.parametrize(
    ("which", "passes", "blocks"),
    [
        ("pairs", {"tune": 3, "report": 9}, {"tune": 0, "report": 13}),
        ("wide", {"tune": 2, "report": 8, "chosen": 27}, {"tune": 3, "report": 8, "chosen": 22}),
    ],
)
def test_what_nearly_is_another_question_seldom_passes_and_rewordings_do(which, passes, blocks):
    judged = [(pair, objection) for pair, _one, _other, objection, _seconds in judged_pairs(which)]
    for split in passes:
        passed = [p["id"] for p, told in judged if not (p["same"] or told) and p["split"] == split]
        blocked = [p["id"] for p, told in judged if p["same"] and told and p["split"] == split]
        told = split != "report"  # nobody looks at which lines of that half fail
        assert len(passed) <= passes[split], passed if told else split
        assert len(blocked) <= blocks[split], blocked if told else split


def test_the_order_of_the_two_does_not_matter_in_the_sets_either():
    for which in ("pairs", "wide"):
        for pair, one, other, objection, _seconds in judged_pairs(which):
            names, releases = PRODUCTS[pair["product"]]
            assert bool(guard(other, one, names, releases)) == bool(objection), pair


def test_a_version_of_other_software_tells_apart_though_a_release_has_its_name():
    names, releases = ("Flask",), ("2.0", "2.3", "3.1")
    asked, remembered = "Does it work with Werkzeug 2.3?", "Does it work with Werkzeug 3.1?"
    assert guard(asked, remembered, names, releases)
    assert not guard("Does it work in 2.3?", "Does it work in Flask 2.3?", names, releases)


def test_rewordings_pass():
    assert len(SAME) >= 100
    blocked = [(p["a"], p["b"], guard(p["a"], p["b"])) for p in SAME if guard(p["a"], p["b"])]
    assert len(blocked) <= 0.05 * len(SAME), blocked


def test_order_of_the_two_does_not_matter():
    for pair in PAIRS:
        assert bool(guard(pair["a"], pair["b"])) == bool(guard(pair["b"], pair["a"])), pair


def test_the_difference_is_named_in_one_sentence():
    assert guard("How do I enable caching?", "How do I disable caching?") == (
        "One asks about enable, the other about disable."
    )
    assert (
        guard("Set the limit to 10 MB?", "Set the limit to 100 MB?")
        == "One asks about 10, the other about 100."
    )
    assert "`SECRET_KEY`" in guard("What is SECRET_KEY?", "What is SESSION_KEY?")


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        ("How do I configure the red widget?", "How do I configure the blue widget?", "red|blue"),
        ("How do I get the timer?", "How do I set the timer?", "get|set"),
        ("How do I install it on Debian?", "How do I install it on Fedora?", "debian|fedora"),
        ("How do I deploy with Docker?", "How do I deploy with it?", "Docker|it"),
        ("How do I open the front lid?", "How do I open the kettle spout lid?", "front|kettle spout"),
        ("How do I add a table?", "How do I add a column?", "table|column"),
        ("How do I restore a backup?", "How do I create a backup?", "restore|create"),
        ("How do I restore a backup?", "How do I create a picture?", ""),
        ("Add a table to the big dashboard of kettles?", "Put a column where timers of kettles stand?", ""),
    ],
)
def test_what_was_replaced_is_named_where_little_else_differs(a, b, told):
    one, _, other = told.partition("|")
    assert guard(a, b) == (told and f"One asks about {one}, the other about {other}.")
    assert guard(b, a) == (told and f"One asks about {other}, the other about {one}.")


def test_identifiers_in_words_are_the_same():
    assert guard("How do I set SECRET_KEY?", "How do I set the secret key?") == ""
    assert guard("How do I use app.route?", "How do I use route() of the app object?") == ""


def test_product_and_release_do_not_tell_questions_apart():
    names, releases = ("Flask", "flask"), ("2.0", "2.3", "3.1")
    assert guard("How do I flash in Flask 2.3?", "How do I flash?", names, releases) == ""
    assert guard("How do I flash in flask?", "How do I flash?", names, releases) == ""


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("What changed between 2.0 and 2.3?", "What changed between 2.3 and 3.1?"),
        ("What changed between 2.0 and 2.3?", "What changed in 2.3?"),
        ("How do I flash on Python 3.8?", "How do I flash on Python 3.12?"),
        ("How do I use Flask-Login?", "How do I use Flask-WTF?"),
    ],
)
def test_compared_releases_and_other_software_do(a, b):
    assert guard(a, b, ("Flask",), ("2.0", "2.3", "3.1"))


@given(st.text(max_size=200), st.text(max_size=200))
@settings(max_examples=examples(150), deadline=None)
def test_any_text_is_survived_and_equals_itself(a, b):
    assert guard(a, a) == ""
    guard(a, b, ("Flask",), ("2.3",))
