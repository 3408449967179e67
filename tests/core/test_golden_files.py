"""The golden sets are well formed; `tests/golden/check_evidence.py` checks what they claim."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

GOLDEN = Path(__file__).parents[1] / "golden"
FLASK_RELEASES = ("2.0", "2.3", "3.1")
TYPES = {
    "fact",
    "differs",
    "removed",
    "added",
    "howto",
    "followup",
    "unknown_release",
    "out_of_scope",
    "comparison",
    "identifier",
    "reworded",
}
REQUIRED = {
    "id",
    "type",
    "split",
    "question",
    "release",
    "history",
    "answer",
    "must_contain",
    "must_not_contain",
    "gold_file",
    "evidence",
}
OPTIONAL = {
    "ask_release",
    "standalone",
    "by_release",
    "not_in",
    "group",
    "rewords",
    "unknown",
    "absent",
    "tags",
}
TAGS = {"foreign-number", "patch-release", "near", "far"}

# At least this many lines of each kind, so that one answer more or less does not move a share by much.
MINIMUM = {
    "flask": {
        ("fact", "howto", "identifier"): 30,
        ("differs", "removed", "added"): 24,
        ("followup",): 14,
        ("unknown_release",): 8,
        ("out_of_scope",): 20,
        ("comparison",): 8,
        ("reworded",): 10,
    },
    "click": {
        ("fact", "howto", "identifier"): 15,
        ("differs", "removed", "added"): 12,
        ("followup",): 8,
        ("unknown_release",): 4,
        ("out_of_scope",): 10,
        ("comparison",): 4,
        ("reworded",): 5,
    },
}

Line = dict[str, Any]


def read(name: str) -> list[Line]:
    return [json.loads(text) for text in (GOLDEN / f"{name}.jsonl").read_text("utf-8").splitlines()]


def releases_of(name: str) -> tuple[str, ...]:
    """Name the releases, the latest at the end."""
    path = GOLDEN / f"{name}.corpora.toml"
    if not path.exists():
        return FLASK_RELEASES
    releases = tomllib.loads(path.read_text("utf-8"))["release"]
    return tuple(release["name"] for release in sorted(releases, key=lambda r: r.get("latest", False)))


def names(text: str, release: str) -> bool:
    return re.search(rf"(?<![\d.]){re.escape(release)}(?:\.\d+)?(?!\d|\.\d)", text) is not None


def holds(text: str, wanted: str) -> bool:
    return any(option.strip().lower() in text.lower() for option in wanted.split("||"))


pytestmark = pytest.mark.parametrize("name", sorted(MINIMUM))


def test_every_line_has_the_fields_of_its_type(name: str) -> None:
    for line in read(name):
        label = line["id"]
        assert set(line) >= REQUIRED, label
        assert set(line) <= REQUIRED | OPTIONAL, label
        assert line["type"] in TYPES, label
        assert line["split"] in ("tune", "report"), label
        assert line["question"].strip() == line["question"] != "", label
        assert set(line.get("tags", ())) <= TAGS, label
        assert ("absent" in line) == (line["type"] == "out_of_scope"), label
        assert ("unknown" in line) == (line["type"] == "unknown_release"), label
        assert ("standalone" in line) == (line["type"] == "followup"), label
        assert ("by_release" in line) == (line["type"] == "comparison"), label
        assert ("rewords" in line) == (line["type"] == "reworded"), label
        answerable = line["type"] not in ("out_of_scope", "unknown_release")
        assert bool(line["gold_file"]) == bool(line["evidence"]) == answerable, label
        for turn in line["history"]:
            assert set(turn) == {"role", "text"}, label
            assert turn["role"] in ("user", "assistant"), label


def test_ids_and_questions_are_unique(name: str) -> None:
    lines = read(name)
    assert max(Counter(line["id"] for line in lines).values()) == 1
    asked = Counter(
        (line["question"].lower(), line.get("ask_release"), str(line["history"])) for line in lines
    )
    assert max(asked.values()) == 1, asked.most_common(1)


def test_there_are_enough_of_every_kind(name: str) -> None:
    counts = Counter(line["type"] for line in read(name))
    for kinds, least in MINIMUM[name].items():
        assert sum(counts[kind] for kind in kinds) >= least, kinds
    answered = Counter(line["release"] for line in read(name) if line["evidence"])
    assert min(answered[release] for release in releases_of(name)) >= 10


def test_releases_are_known_and_follow_from_what_is_asked(name: str) -> None:
    known = releases_of(name)
    for line in read(name):
        if line["type"] == "unknown_release":
            assert line["release"] == "", line["id"]
            assert line["unknown"] in line["question"], line["id"]
            assert not any(names(line["question"], release) for release in known), line["id"]
            continue
        assert line["release"] in known, line["id"]
        assert set(line.get("not_in", ())) <= set(known) - {line["release"]}, line["id"]
        assert set(line.get("by_release", ())) <= set(known), line["id"]
        said = [line["question"], *(turn["text"] for turn in line["history"])]
        named = any(names(text, line["release"]) for text in said)
        assert named or line.get("ask_release", known[-1]) == line["release"], line["id"]
        if line["type"] == "comparison":
            assert len(line["by_release"]) >= 2, line["id"]
            assert line["by_release"][line["release"]]["evidence"] == line["evidence"], line["id"]


def test_alternatives_are_written_right_and_evidence_is_short(name: str) -> None:
    for line in read(name):
        parts = [line, *line.get("by_release", {}).values()]
        texts = [*line["must_contain"], *line["must_not_contain"], *line.get("absent", ())]
        for part in parts:
            texts += part["evidence"]
            if part["gold_file"]:
                for path in part["gold_file"].split("||"):
                    assert re.fullmatch(r"[\w/-]+\.(rst|md)", path), (line["id"], path)
        for text in texts:
            for option in text.split("||"):
                assert option.strip() == option != "", (line["id"], text)
                assert len(option.split()) <= 12, (line["id"], option)


def test_the_model_answer_passes_its_own_check(name: str) -> None:
    for line in read(name):
        for wanted in line["must_contain"]:
            assert holds(line["answer"], wanted), (line["id"], wanted)
        for unwanted in line["must_not_contain"]:
            assert not holds(line["answer"], unwanted), (line["id"], unwanted)


def test_questions_of_a_group_have_different_answers(name: str) -> None:
    lines = read(name)
    groups: dict[str, list[Line]] = {}
    for line in lines:
        if "group" in line:
            groups.setdefault(line["group"], []).append(line)
    assert all("group" in line for line in lines if line["type"] == "differs")
    for group, members in groups.items():
        assert len({line["release"] for line in members}) == len(members) > 1, group
        assert len({(line["answer"], *line["evidence"]) for line in members}) > 1, group


def test_the_halves_are_balanced_and_keep_relatives_together(name: str) -> None:
    lines = read(name)
    split = {line["id"]: line["split"] for line in lines}
    for kind in TYPES:
        halves = Counter(line["split"] for line in lines if line["type"] == kind)
        assert abs(halves["tune"] - halves["report"]) <= 1, kind
    of_group: dict[str, set[str]] = {}
    for line in lines:
        if "group" in line:
            of_group.setdefault(line["group"], set()).add(line["split"])
        if "rewords" in line:
            assert split[line["rewords"]] == line["split"], line["id"]
    assert all(len(halves) == 1 for halves in of_group.values())
