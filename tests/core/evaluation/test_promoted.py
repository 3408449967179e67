"""What people voted good, asked again: what is the same, what is not, and how the report says it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from core.domain import Answer, Citation, Question
from core.errors import ModelUnavailable
from evaluation.answers.promoted import compare, replay, write
from tests.contracts.samples import pair
from tests.fakes import FakeEncoder

CITED = Citation(1, "Dashboard", "https://k/2.0/dashboard", "2.0", "dashboard.rst", "h1")
SAID = "The dashboard listens on port 9090 by default [1]."
PAIR = pair(answer=SAID, release="2.0", citations=(CITED,), question="Which port?")


def now(text: str = SAID, **given: object) -> Answer:
    return replace(Answer("a1", text, "quote", "2.0", (CITED,)), **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (now(), ()),
        (now("By default the dashboard listens on port 9090 [1]."), ()),
        (now(route="abstain", text="I don't know."), ("would not be answered any more",)),
        (now(SAID.replace("9090", "9191")), ("no longer `9090` and now `9191`",)),
        (now(citations=(replace(CITED, url="https://k/2.0/faq"),)), ("other pages: not https://k/2.0/dash",)),
        (now(citations=(replace(CITED, hash="h2"),)), ("The pages it cites say something else",)),
        (now(release="1.5"), ("answered for 1.5 instead of 2.0",)),
        (
            now(SAID.replace("9090", "80"), citations=(replace(CITED, url="https://k/x"),)),
            ("other pages", "now `80`"),
        ),
    ],
)
def test_each_difference_is_named(answer: Answer, words: tuple[str, ...]) -> None:
    found = compare(PAIR, answer, 0.97)
    assert len(found) == len(words)
    assert all(word in change for word, change in zip(words, found, strict=True))


def test_an_answer_with_the_same_facts_may_still_be_another_one() -> None:
    found = compare(PAIR, now("Port 9090 belongs to nobody."), 0.6)
    assert found == ("It says something else (similarity 0.60).",)


def test_what_was_voted_good_for_every_release_is_not_compared_by_release() -> None:
    assert compare(replace(PAIR, release="*"), now(), 1.0) == ()


async def test_each_pair_is_asked_for_its_release_and_a_failure_is_a_difference(tmp_path: Path) -> None:
    asked: list[tuple[str, str]] = []

    async def draft(question: Question) -> Answer:
        asked.append((question.text, question.release))
        if question.release == "1.0":
            raise ModelUnavailable("The server is down; start it.")
        return now()

    pairs = [
        PAIR,
        replace(PAIR, id="p2", release="1.0"),
        replace(PAIR, id="p3", release="1.0+2.0"),
        replace(PAIR, id="p4", release="*"),
    ]
    found = [item async for item in replay(pairs, draft, FakeEncoder())]
    assert asked == [("Which port?", release) for release in ("2.0", "1.0", "", "")]
    assert [bool(item.changes) for item in found] == [False, True, True, False]
    assert "The server is down" in found[1].changes[0]
    assert found[0].similarity == pytest.approx(1.0)

    write(tmp_path / "new" / "folder", found, {"model": "none"})
    report = json.loads((tmp_path / "new" / "folder" / "promoted.json").read_text(encoding="utf-8"))
    assert (report["replayed"], report["changed"], report["model"]) == (4, 2, "none")
    assert [item["pair_id"] for item in report["pairs"]] == ["p1", "p2", "p3", "p4"]
    text = (tmp_path / "new" / "folder" / "promoted.md").read_text(encoding="utf-8")
    assert "2 of 4 would change" in text and "## p2, 1.0" in text and "## p1" not in text
