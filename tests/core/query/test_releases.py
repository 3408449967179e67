import json
from pathlib import Path

from core.domain import Question, Turn
from core.query.releases import resolve
from tests.core.query.products import PRODUCTS

GOLDEN = Path(__file__).parents[2] / "golden" / "releases.jsonl"
CASES = [json.loads(line) for line in GOLDEN.read_text("utf-8").splitlines() if line.strip()]


def _resolved(case):
    history = tuple(Turn(t["role"], t["text"], release=t.get("release", "")) for t in case.get("history", ()))
    question = Question(case["question"], history=history, release=case.get("given", ""))
    got = resolve(question, PRODUCTS[case["product"]], case.get("channel", ""))
    return got.release, list(got.named), list(got.unknown), got.comparison


def _wanted(case):
    return case["release"], case["named"], case["unknown"], case["comparison"]


def test_golden_list():
    assert len(CASES) >= 150
    wrong = [
        f"{case['id']} {case['question']!r}: wanted {_wanted(case)}, got {_resolved(case)}"
        for case in CASES
        if _resolved(case) != _wanted(case)
    ]
    assert len(wrong) <= 0.02 * len(CASES), "\n".join(wrong)


def test_no_foreign_version_is_taken():
    taken = []
    for case in CASES:
        _, named, unknown, _ = _resolved(case)
        if set(named) - set(case["named"]) or set(unknown) - set(case["unknown"]):
            taken.append((case["question"], named, unknown))
    assert not taken
