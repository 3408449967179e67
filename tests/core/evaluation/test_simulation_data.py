"""Labelled questions and pairs, as they are read and sorted."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.errors import UsageError
from evaluation.simulation.data import (
    Pair,
    by_name,
    enough_of,
    for_releases,
    grouped,
    half_of,
    has_topics,
    others_of,
    pairs_of,
    read_others,
    read_pairs,
    read_topics,
    stream,
)
from tests.core.evaluation.questions import written

XML = """<root>
<qapair><rephr> Make tea? </rephr><rephr>*</rephr><rephr>Brew   tea &amp; serve?</rephr>
<question>How is tea made?</question><answer> Boil water. </answer><answer>Ask someone.</answer></qapair>
<qapair><rephr>Bake bread?</rephr><question>How is bread baked?</question></qapair>
</root>"""


def test_lines_are_grouped_by_topic_and_release_with_the_first_as_the_original(tmp_path: Path) -> None:
    rows = [
        {"topic": 1, "question": "A?", "answer": "x"},
        {"topic": "2", "question": "B?", "release": "1.0"},
        {"topic": 1, "question": "A again?", "answer": "y"},
        {"topic": 1, "question": "A once more?", "answer": "x"},
        {"topic": "2", "question": "B again?", "release": "2.0"},
    ]
    path = tmp_path / "lines.jsonl"
    path.write_text("\n\n".join(json.dumps(row) for row in rows), "utf-8")
    first, *others = read_topics(path)
    assert (first.name, first.question, first.rewordings) == ("1", "A?", ("A again?", "A once more?"))
    assert first.answers == ("x", "y")
    assert [(topic.release, topic.question) for topic in others] == [("1.0", "B?"), ("2.0", "B again?")]
    assert others[0].answers == ("The answer to 2.",)


@pytest.mark.parametrize(
    ("row", "said"),
    [("{", ":1: this is no"), ("[]", ":1: this is no"), ('{"topic": "a"}', ":1: topic and question")],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, row: str, said: str) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text(row, "utf-8")
    with pytest.raises(UsageError, match=said):
        read_topics(path)


def test_data_without_rewordings_and_files_that_are_not_there_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text('{"topic": "a", "question": "A?"}', "utf-8")
    with pytest.raises(UsageError, match="no topic with a second question"):
        read_topics(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_topics(tmp_path / "none.jsonl")


def test_stackfaq_is_read_from_its_file_or_folder(tmp_path: Path) -> None:
    (tmp_path / "faq.xml").write_text(XML, "utf-8")
    tea, bread = read_topics(tmp_path)
    assert read_topics(tmp_path / "faq.xml") == (tea, bread)
    assert tea.question == "How is tea made?"
    assert tea.rewordings == ("Make tea?", "Brew tea & serve?")
    assert tea.answers == ("Boil water.", "Ask someone.")
    assert bread.rewordings == ("Bake bread?",)
    (tmp_path / "faq.xml").write_text("<root>", "utf-8")
    with pytest.raises(UsageError, match="not well-formed"):
        read_topics(tmp_path)


def test_halves_are_disjoint_and_go_by_the_name_alone(tmp_path: Path) -> None:
    topics = read_topics(written(tmp_path / "q.jsonl", "1.0", "2.0"))
    tune, report = half_of(topics, "tune"), half_of(topics, "report")
    assert {t.name for t in tune} | {t.name for t in report} == {t.name for t in topics}
    assert not {t.name for t in tune} & {t.name for t in report}
    assert half_of(topics, "all") == topics


def test_every_rewording_is_asked_once_for_each_release(tmp_path: Path) -> None:
    topics = for_releases(read_topics(written(tmp_path / "q.jsonl")), ("1.0", "2.0"))
    assert {a for t in topics if t.release == "1.0" for a in t.answers}.isdisjoint(
        a for t in topics if t.release == "2.0" for a in t.answers
    )
    rounds = stream(topics, 5, 1)
    lines = [line for one in rounds for line in one]
    assert len(lines) == len(set(lines)) == 2 * 12 * 6
    assert max(map(len, rounds)) - min(map(len, rounds)) <= 1
    assert stream(topics, 5, 1) == rounds != stream(topics, 5, 2)


def test_of_other_questions_one_half_is_remembered_and_the_other_asked(tmp_path: Path) -> None:
    path = tmp_path / "others.txt"
    path.write_text("A?\n\nB?\nC?\nA?\nD?\n", "utf-8")
    texts = read_others(path)
    assert texts == ("A?", "B?", "C?", "D?")
    remembered, asked = others_of(texts, (), random.Random(1))
    assert {t.question for t in remembered} | {t.question for t in asked} == set(texts)
    assert [len(remembered), len(asked)] == [2, 2]
    assert all(topic.rewordings == (topic.question,) and topic.is_other for topic in asked)
    assert not any(topic.rewordings for topic in remembered)
    with pytest.raises(UsageError, match="one question a line"):
        read_others(tmp_path / "none.txt")


def test_pairs_are_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(
        '{"a": "A?", "b": "B?", "same": true}\n\n{"a": "A?", "b": "C?", "same": false}\n', "utf-8"
    )
    pairs = read_pairs(path)
    assert pairs == (Pair("A?", "B?", True), Pair("A?", "C?", False))
    assert not has_topics(path)
    with pytest.raises(UsageError, match="1 same and 1 different pairs; it takes at least 20 of each"):
        enough_of(pairs, path)
    path.write_text('{"a": "A?", "b": "B?", "same": "yes"}', "utf-8")
    with pytest.raises(UsageError, match=":1: this is no labelled pair"):
        read_pairs(path)


def test_pairs_that_are_the_same_make_groups() -> None:
    pairs = [Pair("a", "b", True), Pair("c", "b", True), Pair("a", "d", False), Pair("e", "f", False)]
    assert sorted(map(sorted, grouped(pairs))) == [["a", "b", "c"], ["d"], ["e"], ["f"]]


def test_topics_give_each_rewording_with_its_own_and_the_nearest_other_question(tmp_path: Path) -> None:
    path = written(tmp_path / "q.jsonl")
    assert has_topics(path)
    topics = read_topics(path)[:3]
    lot = np.random.default_rng(0)
    texts = [text for t in topics for text in (t.question, *t.rewordings)]
    made = lot.normal(size=(len(texts), 4)).astype(np.float32)
    vectors = dict(zip(texts, made / np.linalg.norm(made, axis=1, keepdims=True), strict=True))
    pairs = pairs_of(topics, vectors)
    assert sum(pair.same for pair in pairs) == len(pairs) / 2 == 18
    by_release = [replace(t, release=release) for t in topics for release in ("1.0", "2.0")]
    assert {*pairs_of(by_release, vectors)} == {*pairs}, "a topic of another release is no other topic"
    alone = [*topics[:2], replace(topics[2], release="9.0")]
    assert {pair.same for pair in pairs_of(alone, vectors)[24:]} == {True}, "there is none of its release"
    assert by_name(by_release) == [[t.question, *t.rewordings] for t in topics]
    for pair in pairs[1::2]:
        others = [t.question for t in topics if pair.b not in t.rewordings]
        assert pair.a == max(others, key=lambda text: float(vectors[text] @ vectors[pair.b]))


def test_a_byte_order_mark_and_odd_ends_of_lines_are_no_part_of_a_text(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    rows = [{"topic": "t", "question": question} for question in ("A?", "one\u2028two")]
    lines = "\r\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_bytes(f"\ufeff{lines}\r\n".encode())
    assert has_topics(path) and read_topics(path)[0].rewordings == ("one\u2028two",)
    path.write_text('\ufeff{"a": "x\u2029", "b": "y", "same": true}\n', "utf-8")
    assert read_pairs(path) == (Pair("x\u2029", "y", True),)
    path.write_text("\ufeffHow?\nHow?\n", "utf-8")
    assert read_others(path) == ("How?",)


def test_what_is_nested_too_deep_or_has_a_topic_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text("[" * 100_000, "utf-8")
    assert not has_topics(path)
    for read in (read_pairs, read_topics):
        with pytest.raises(UsageError, match=":1: this is no"):
            read(path)
    path.write_text('{"topic": true, "question": "A?"}', "utf-8")
    with pytest.raises(UsageError, match=":1: topic and question must be texts"):
        read_topics(path)
