"""The simulation of votes: what is asked again in other words, what is learnt, and what is told of it."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np

from core.retrieval.features import FEATURES
from core.retrieval.ranking import DEFAULT_WEIGHTS
from evaluation.gold import read_gold
from evaluation.simulation.votes import BAD, COUNTS, Asked, play, product_of, reworded, stream, table

START = np.array([DEFAULT_WEIGHTS[name] for name in FEATURES])
TRUE = START + np.where(np.array(FEATURES) == "reference", 6.0, 0.0)


def asked(topics: int) -> list[Asked]:
    """Make topics of five questions whose right page is more of a reference than shipped weights like."""
    numbers = np.random.default_rng(0)
    found = []
    for topic in range(topics):
        vector = numbers.normal(size=8).astype(np.float32)
        for count in range(5):
            pages = numbers.uniform(0.0, 1.0, (12, len(FEATURES)))
            near = vector + 0.1 * numbers.normal(size=8).astype(np.float32)
            right = (np.arange(12) == np.argmax(pages @ TRUE)).astype(np.float64)
            hashes = tuple(f"{topic} {page}" for page in range(12))
            unit = near / np.linalg.norm(near)
            found.append(Asked(str(topic), count > 0, count == 0, pages, right, hashes, unit))
    return found


def test_votes_help_questions_that_nobody_voted_on() -> None:
    made = play(asked(60), 1)
    assert made["learnt 0 1000"][0] > made["shipped"][0] and made["learnt 0 1000"][3] == 1.0
    text = table({"Kettle": made})
    assert text.count("| Kettle |") == 2 and f"{made['shipped'][0]:.3f} → " in text
    assert all(f"{count:,} votes, {bad:.0%} bad" in text for count in COUNTS for bad in BAD)


def test_a_stream_is_for_what_is_right_but_for_bad_votes() -> None:
    some = asked(10)
    good = stream(some, 200, 0.0, START, random.Random(1))
    for (at, cited), net in good.items():
        assert cited == int(np.argmax(some[at].table @ START))
        assert (net > 0) == bool(some[at].right[cited])
    turned = stream(some, 200, 1.0, START, random.Random(1))
    assert turned == {key: -net for key, net in good.items()}


def test_a_question_in_other_words_has_no_words_of_others_but_polite_ones() -> None:
    lot = random.Random(0)
    text = "how do I pass a list of values to my task"
    said = {reworded(text, lot) for _ in range(30)}
    assert len(said) > 20 and text not in said
    assert sum(set(one.split()) <= set(text.split()) for one in said) > 10
    assert reworded("why so", lot)


def test_stackfaq_becomes_a_product_with_a_page_for_each_answer(tmp_path: Path) -> None:
    lines = [
        {"topic": "t", "question": "How do I boil?", "answer": "Press the button."},
        {"topic": "t", "question": "Boiling, how?"},
    ]
    data = tmp_path / "faq.jsonl"
    data.write_text("\n".join(map(json.dumps, lines)))
    product_of(data, tmp_path / "made")
    assert "Press the button." in (tmp_path / "made" / "docs" / "answer0.md").read_text()
    gold = read_gold(tmp_path / "made" / "gold.jsonl")
    assert [line.question for line in gold] == ["How do I boil?", "Boiling, how?"]
    assert gold[0].places["1"].files == ("answer0.md",)
