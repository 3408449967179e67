"""The page on gaps for those who write the documentation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.rendering.gaps import digest_text
from core.insights.gaps import heading_of, page
from core.insights.statistics import Failing, Gap, Unserved

NOW = 1_763_700_000.0  # 2025-11-21
PAGE = ("Configuration: Logging", "https://kettle.example/2.0/configuration#logging")


def asked(question: str, why: Failing = "abstained", release: str = "2.0", days: int = 1) -> Unserved:
    return Unserved("a", question, question, release, NOW - days * 86_400, why, PAGE)


def test_the_page_can_be_filed_as_it_is() -> None:
    gaps = [
        Gap(
            (
                asked("How do I rotate the log?"),
                asked("is there a way to rotate logs every night", "voted down", days=3),
                asked("How do I rotate the log?", "escalated", release="1.5", days=9),
            )
        ),
        Gap((Unserved("b", "tea", "Does it make tea?", "2.0", NOW, "abstained"),)),
    ]
    assert page(gaps, "Kettle", 30, NOW) == (
        "# What the Kettle documentation does not answer\n\n"
        "4 questions that people asked in public from 2025-10-22 to 2025-11-21 and that got no answer, or "
        "not a good one, by release and topic. *Abstained*: the pages found did not answer it. *Voted "
        "down* and *corrected*: people said that the answer was wrong. *Escalated*: it was put to a "
        "person.\n\n"
        "| Release | Topics | Questions | Abstained | Voted down | Escalated | Corrected |\n"
        "|---|---|---|---|---|---|---|\n"
        "| 2.0 | 2 | 3 | 2 | 1 | 0 | 0 |\n"
        "| 1.5 | 1 | 1 | 0 | 0 | 1 | 0 |\n\n"
        "## Kettle 2.0\n\n"
        "### 1. How do I rotate the log?\n\n"
        "- Asked 2 times, last on 2025-11-20: 1 abstained, 1 voted down\n"
        "- Also asked as: “is there a way to rotate logs every night”\n"
        "- Nearest page: [Configuration: Logging](https://kettle.example/2.0/configuration#logging)\n"
        "- Suggested: a section “Rotate the log” there, or a page of its own\n\n"
        "### 2. Does it make tea?\n\n"
        "- Asked once on 2025-11-21: 1 abstained\n"
        "- Nearest page: none\n"
        "- Suggested: a page “Tea”\n\n"
        "## Kettle 1.5\n\n"
        "### 1. How do I rotate the log?\n\n"
        "- Asked once on 2025-11-12: 1 escalated\n"
        "- Nearest page: [Configuration: Logging](https://kettle.example/2.0/configuration#logging)\n"
        "- Suggested: a section “Rotate the log” there, or a page of its own\n"
    )


def test_what_was_answered_since_is_marked_and_comes_last() -> None:
    done, open_ = replace(asked("How do I rotate the log?"), resolved=True), asked("Does it make tea?")
    gaps = [Gap((done, done)), Gap((open_,)), Gap((asked("And milk?"), replace(open_, resolved=True)))]
    told = page(gaps, "Kettle", 30, NOW)
    assert told.index("milk") < told.index("rotate the log") and told.count("answered since") == 2
    assert "2 abstained; 1 answered since\n" in told and "2 abstained; answered since\n" in told
    listed = digest_text(gaps, "Kettle", 7)
    assert "(2 abstained; answered since)" in listed and "(1 abstained)" in listed


def test_without_gaps_the_page_says_so() -> None:
    assert "was answered." in page([], "Kettle", 7, NOW) and "##" not in page([], "Kettle", 7, NOW)


@pytest.mark.parametrize(
    ("question", "heading"),
    [
        ("How do I rotate the log?", "Rotate the log"),
        ("hi, is it possible to run two dashboards side by side?", "Run two dashboards side by side"),
        ("Does anyone know how to protect the API with OAuth?", "Protect the API with OAuth"),
        ("What is the best way to drain a queue?", "Drain a queue"),
        ("What does prefetch_count do?", "Prefetch_count"),
        ("Can I use Redis?", "Use Redis"),
        ("Why is my worker killed after an hour?", "Why is my worker killed after an hour"),
        ("What is a dead letter queue", "A dead letter queue"),
        ("How?", "How"),
    ],
)
def test_a_heading_is_suggested(question: str, heading: str) -> None:
    assert heading_of(question) == heading


def test_what_people_write_cannot_break_the_page_or_call_anybody() -> None:
    rude = "# How\n```\ndo I\n> call <@U1> and @everyone\n" + "very " * 99
    shown = page([Gap((asked(rude),))], "Kettle", 7, NOW)
    assert "```" not in shown and "<@" not in shown and "@everyone" not in shown
    assert [line for line in shown.split("\n") if line.startswith("#")] == [
        "# What the Kettle documentation does not answer",
        "## Kettle 2.0",
        next(line for line in shown.split("\n") if line.startswith("### 1. How do I")),
    ]
    assert max(len(line) for line in shown.split("\n")) < 400
