"""Labelled questions: topics with their rewordings, of our own form or StackFAQ's, and labelled pairs."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from defusedxml import ElementTree

from core.domain import Vector, content_hash
from core.errors import UsageError
from core.system.json_parts import lines_of
from core.text.words import one_line

Half = Literal["all", "tune", "report"]
FORM = '{"topic": "…", "question": "…", "answer"?: "…", "release"?: "…"}'
PAIR_FORM = '{"a": "…", "b": "…", "same": true}'
FEWEST = 20
"""Least pairs of either kind, and least topics to fit a decision: fewer say nothing about 95 %."""


@dataclass(frozen=True, slots=True)
class Line:
    """A question and what it is about: two lines of one topic and release have the same right answers."""

    topic: str
    question: str
    answer: str = ""
    release: str = ""


@dataclass(frozen=True, slots=True)
class Topic:
    """What people ask for one release: the first question on it, rewordings, and right answers."""

    name: str
    release: str
    question: str
    rewordings: tuple[str, ...]
    answers: tuple[str, ...]
    is_other: bool = False
    """Whether nobody asks it in other words, so that whatever is reused for it is wrong."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two questions, and whether one answer serves both."""

    a: str
    b: str
    same: bool


def read_topics(path: Path) -> tuple[Topic, ...]:
    """Read a file of lines, or a StackFAQ file or folder; blocking.

    The first line of a topic and release is its original question. Raises UsageError that names the
    line and what is wrong with it.
    """
    if path.is_dir():
        path = next((p for name in ("*.xml", "*.jsonl") for p in sorted(path.glob(name))), path)
    text = _text(path, f"of lines {FORM}")
    lines = _threads(path, text) if path.suffix.lower() == ".xml" else _lines(path, text)
    topics = _grouped(lines)
    if sum(len(topic.rewordings) for topic in topics) == 0:
        raise UsageError(f"{path} has no topic with a second question; rewordings are what is simulated.")
    return topics


def half_of(topics: Iterable[Topic], half: Half) -> tuple[Topic, ...]:
    """Return the topics of a half; which one a topic is in follows from its name alone."""
    wanted = {"tune": 0, "report": 1}
    return tuple(t for t in topics if half == "all" or int(content_hash(t.name), 16) % 2 == wanted[half])


def for_releases(topics: Iterable[Topic], releases: Sequence[str]) -> tuple[Topic, ...]:
    """Return each topic once for every release, with other right answers and the same questions."""
    return tuple(
        replace(topic, release=release, answers=tuple(f"In {release}: {text}" for text in topic.answers))
        for topic in topics
        for release in releases
    )


def others_of(
    questions: Sequence[str], releases: Sequence[str], lot: random.Random
) -> tuple[tuple[Topic, ...], tuple[Topic, ...]]:
    """Return questions without rewordings as topics: the half that is remembered, and that which is asked."""
    shuffled = lot.sample(questions, len(questions))
    made = [
        Topic(f"other {number}", release, text, (), (f"The answer to: {text}",), is_other=True)
        for number, text in enumerate(shuffled)
        for release in releases or ("",)
    ]
    half = len(made) // 2
    return tuple(made[:half]), tuple(replace(topic, rewordings=(topic.question,)) for topic in made[half:])


def read_others(path: Path) -> tuple[str, ...]:
    """Read questions, one a line of text, each once; blocking. Raises UsageError."""
    rows = lines_of(_text(path, "with one question a line"))
    return tuple(dict.fromkeys(row.strip() for row in rows if row.strip()))


def stream(topics: Iterable[Topic], rounds: int, seed: int) -> list[list[Line]]:
    """Return the rewordings of all topics, shuffled and cut into rounds of about the same length."""
    lines = [
        Line(topic.name, question, release=topic.release) for topic in topics for question in topic.rewordings
    ]
    random.Random(seed).shuffle(lines)
    cuts = [len(lines) * number // rounds for number in range(rounds + 1)]
    return [lines[start:end] for start, end in pairwise(cuts)]


def read_pairs(path: Path) -> tuple[Pair, ...]:
    """Read labelled pairs, one JSON object a line; blocking. Raises UsageError that names the line."""
    rows = lines_of(_text(path, f"of lines {PAIR_FORM}"))
    found = []
    for number, row in enumerate(rows, start=1):
        if not row.strip():
            continue
        try:
            line: Any = json.loads(row)
        except (ValueError, RecursionError):
            line = None
        values = [line.get(key) for key in ("a", "b", "same")] if isinstance(line, Mapping) else [None] * 3
        if not (isinstance(values[0], str) and isinstance(values[1], str) and isinstance(values[2], bool)):
            raise UsageError(f"{path}:{number}: this is no labelled pair; write {PAIR_FORM}.")
        found.append(Pair(values[0], values[1], values[2]))
    return tuple(found)


def has_topics(path: Path) -> bool:
    """Return True if a file holds labelled questions, as a simulation reads them, not pairs; blocking."""
    if path.is_dir() or path.suffix.lower() == ".xml":
        return True
    try:
        with path.open(encoding="utf-8-sig") as file:
            first: Any = json.loads(next((row for row in file if row.strip()), ""))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(first, Mapping) and "topic" in first


def enough_of(pairs: Sequence[Pair], path: Path) -> None:
    """Raise UsageError where there are too few pairs of either kind to choose by."""
    same = sum(pair.same for pair in pairs)
    if min(same, len(pairs) - same) < FEWEST:
        raise UsageError(
            f"{path} has {same} same and {len(pairs) - same} different pairs; "
            f"it takes at least {FEWEST} of each, and some hundreds to be sure."
        )


def grouped(pairs: Sequence[Pair]) -> list[list[str]]:
    """Return the questions in groups that one answer serves, joined over every pair that is the same."""
    root: dict[str, str] = {}

    def find(text: str) -> str:
        while root.setdefault(text, text) != text:
            root[text] = root[root[text]]
            text = root[text]
        return text

    for pair in pairs:
        a, b = find(pair.a), find(pair.b)
        if pair.same:
            root[b] = a
    groups: dict[str, list[str]] = {}
    for text in root:
        groups.setdefault(find(text), []).append(text)
    return list(groups.values())


def pairs_of(topics: Sequence[Topic], vectors: Mapping[str, Vector]) -> tuple[Pair, ...]:
    """Return every rewording with its own question, and with the nearest of another topic of its release.

    Where a release has no other topic, there is no pair that is not the same.
    """
    originals = np.stack([vectors[topic.question] for topic in topics])
    made = []
    for topic in topics:
        others = [
            number
            for number, other in enumerate(topics)
            if other.release == topic.release and other.name != topic.name
        ]
        for asked in topic.rewordings:
            made.append(Pair(topic.question, asked, True))
            if others:
                nearest = others[int(np.argmax(originals[others] @ vectors[asked]))]
                made.append(Pair(topics[nearest].question, asked, False))
    return tuple(made)


def by_name(topics: Iterable[Topic]) -> list[list[str]]:
    """Return the questions of each topic, each once, over all of its releases; the first is its original."""
    found: dict[str, dict[str, None]] = {}
    for topic in topics:
        found.setdefault(topic.name, {}).update(dict.fromkeys((topic.question, *topic.rewordings)))
    return [list(questions) for questions in found.values()]


def _text(path: Path, wanted: str) -> str:
    """Read a file; raises UsageError that says what is wanted."""
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"{path} cannot be read ({reason}); name a file {wanted}.") from None


def _grouped(lines: Iterable[Line]) -> tuple[Topic, ...]:
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        groups.setdefault((line.topic, line.release), []).append(line)
    return tuple(
        Topic(
            name,
            release,
            group[0].question,
            tuple(line.question for line in group[1:] if line.question),
            tuple(dict.fromkeys(line.answer for line in group if line.answer)) or (f"The answer to {name}.",),
        )
        for (name, release), group in groups.items()
    )


def _lines(path: Path, text: str) -> Iterator[Line]:
    for number, row in enumerate(lines_of(text), start=1):
        if not row.strip():
            continue
        try:
            found: Any = json.loads(row)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, Mapping):
            raise UsageError(f"{path}:{number}: this is not one JSON object; write {FORM}.")
        values = [found.get(key, "") for key in ("topic", "question", "answer", "release")]
        if isinstance(values[0], int) and not isinstance(values[0], bool):
            values[0] = str(values[0])
        if not all(isinstance(value, str) for value in values) or not values[0] or not values[1].strip():
            raise UsageError(f"{path}:{number}: topic and question must be texts; write {FORM}.")
        yield Line(*values)


def _threads(path: Path, text: str) -> Iterator[Line]:
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:  # the latter for entities, which may be bombs
        raise UsageError(f"{path} is not well-formed XML ({error}).") from None
    for number, thread in enumerate(root.iter("qapair")):
        question, *_ = [*_texts(thread, "question"), ""]
        answers = _texts(thread, "answer")
        yield Line(str(number), question, answers[0] if answers else "")
        # an asterisk stands between two groups of rewordings
        yield from (Line(str(number), reworded) for reworded in _texts(thread, "rephr") if reworded != "*")
        yield from (Line(str(number), "", answer) for answer in answers[1:])


def _texts(thread: ElementTree.Element, tag: str) -> list[str]:
    found = (one_line("".join(element.itertext())) for element in thread.iter(tag))
    return [text for text in found if text]
