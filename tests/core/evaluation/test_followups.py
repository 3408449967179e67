"""The measurement of follow-ups on small conversations in both formats."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from core.domain import Turn
from core.errors import UsageError
from evaluation.followups.data import read_conversations
from evaluation.followups.measure import markdown, measure, write
from tests.fakes import FakeEncoder, FakeModel, FakeWords

CAST = [
    {
        "number": 7,
        "turn": [
            {
                "number": 1,
                "raw_utterance": "What is throat cancer?",
                "manual_rewritten_utterance": "What is throat cancer?",
                "passage": "Throat cancer begins in the cells of the throat.",
            },
            {
                "number": 2,
                "raw_utterance": "Is it treatable?",
                "manual_rewritten_utterance": "Is throat cancer treatable?",
                "passage": "Treatable forms of throat cancer are found early.",
            },
            {
                "number": 3,
                "raw_utterance": "Tell me about tiger sharks.",
                "manual_rewritten_utterance": "Tell me about tiger sharks.",
                "passage": "Tiger sharks live in warm seas.",
            },
            {"number": 4, "raw_utterance": "Why?", "manual_rewritten_utterance": "Why do they?"},
        ],
    },
    {
        "number": 8,
        "turn": [
            {
                "number": "1-1",
                "utterance": "How do kettles boil?",
                "manual_rewritten_utterance": "How do kettles boil?",
                "response": "Kettles boil water by a treatable coil.",
            }
        ],
    },
]
CANARD = [
    {
        "History": ["Frank Zappa", "Disbandment", *said],
        "QuAC_dialog_id": "C_1",
        "Question": question,
        "Question_no": number,
        "Rewrite": rewrite,
    }
    for number, said, question, rewrite in (
        (1, [], "What group disbanded?", "What group of Frank Zappa disbanded?"),
        (2, ["What group disbanded?", "The Mothers"], "When did they?", "When did the Mothers disband?"),
        (
            3,
            ["What group disbanded?", "The Mothers", "When did they?", "In late 1969"],
            "Why?",
            "Why did the Mothers disband?",
        ),
    )
]


def written(folder: Path, name: str, rows: object) -> Path:
    text = json.dumps(rows).encode()
    (folder / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return folder / name


def test_cast_is_read(tmp_path: Path) -> None:
    found = read_conversations(written(tmp_path, "2021_topics.json", CAST))
    assert found.name == "2021_topics"
    assert len(found.passages) == 4
    treatable, sharks = found.followups  # the fourth has no passage
    assert treatable.history == (
        Turn("user", "What is throat cancer?"),
        Turn("assistant", "Throat cancer begins in the cells of the throat."),
    )
    assert (treatable.text, treatable.person) == ("Is it treatable?", "Is throat cancer treatable?")
    assert treatable.rewritten and not sharks.rewritten
    assert treatable.half == sharks.half, "a conversation is in one half"


def test_canard_is_read(tmp_path: Path) -> None:
    found = read_conversations(written(tmp_path, "dev.json.gz", CANARD))
    assert [(p.title, p.text) for p in found.passages] == [
        ("Frank Zappa: Disbandment", "The Mothers"),
        ("Frank Zappa: Disbandment", "In late 1969"),
    ]
    (followup,) = found.followups  # the answer to the third is nowhere
    assert [(turn.role, turn.text) for turn in followup.history] == [
        ("user", "Frank Zappa: Disbandment"),
        ("user", "What group disbanded?"),
        ("assistant", "The Mothers"),
    ]


def test_what_is_given_several_times_counts_once(tmp_path: Path) -> None:
    assert len(read_conversations(written(tmp_path, "2022_flat.json", [*CAST, *CAST])).followups) == 2


def test_other_files_are_left_out(tmp_path: Path) -> None:
    written(tmp_path, "pairs.json", [["a", "b"]])
    (tmp_path / "turns.tsv").write_text("31_1\tWhat is throat cancer?\n", "utf-8")
    with pytest.raises(UsageError, match="no conversations in the format of CAsT or CANARD"):
        read_conversations(tmp_path)
    with pytest.raises(UsageError, match="There is no"):
        read_conversations(tmp_path / "missing")
    (tmp_path / "broken.json").write_text("[", "utf-8")
    with pytest.raises(UsageError, match=r"broken\.json is not JSON"):
        read_conversations(tmp_path)


async def test_figures(tmp_path: Path) -> None:
    conversations = read_conversations(written(tmp_path, "2021_topics.json", CAST))
    result, lines = await measure(conversations, FakeEncoder(), FakeWords())
    forms = result["follow-ups"]["forms"]
    assert result["follow-ups"]["n"] == 1
    # alone the message finds the coil before the cancer; completed it finds what the person's rewrite finds
    assert forms["message alone"]["found@1"] == 0.0
    assert forms["rules"]["found@1"] == forms["person's rewrite"]["found@1"] == 1.0
    assert forms["rules"]["kept@3"] == forms["rules"]["agreed@1"] == 1.0
    assert result["stand-alone"]["untouched"] == 1.0
    assert lines[0]["rules"] == "Is throat cancer treatable?"
    assert lines[0]["ranks"]["rules"] == 1
    write(tmp_path / "report", [{"encoder": "fake", **result}], lines)
    assert json.loads((tmp_path / "report" / "followups.json").read_text("utf-8"))[0]["passages"] == 4
    table = markdown([{"encoder": "fake", **result}])
    assert "| rules | 1.000 |" in table and "leave 1.000 of them" in table


async def test_the_model_is_measured_where_there_is_one(tmp_path: Path) -> None:
    conversations = read_conversations(written(tmp_path, "2021_topics.json", CAST))
    model = FakeModel(lambda prompts: {"base": "Is throat cancer treatable?"})
    result, _ = await measure(conversations, FakeEncoder(), FakeWords(), model=model)
    assert result["follow-ups"]["forms"]["model"]["found@1"] == 1.0
    assert len(model.calls) == 2, "one call for each message in a thread"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"Rewrite": "a", "Question": "b"}], "has an entry without 'QuAC_dialog_id'"),
        ([{"number": 1, "turn": [{"raw_utterance": "a", "passage": "b"}]}], "has an entry without 'number'"),
        ([{"number": 1, "turn": 5}], "has an entry that cannot be read"),
        ([{"number": 1, "turn": []}, 5], "has an entry that cannot be read"),
    ],
)
def test_files_without_what_their_format_has_are_named(tmp_path: Path, rows: object, said: str) -> None:
    (tmp_path / "talk.json").write_text(json.dumps(rows), "utf-8")
    with pytest.raises(UsageError, match=f"talk.json {said}"):
        read_conversations(tmp_path / "talk.json")


def test_files_that_are_cut_or_nested_too_deep_are_named(tmp_path: Path) -> None:
    (tmp_path / "talk.json.gz").write_bytes(gzip.compress(b'[{"turn": []}]' * 1000)[:-20])
    (tmp_path / "deep.json").write_text("[" * 100_000, "utf-8")
    for name in ("talk.json.gz", "deep.json"):
        with pytest.raises(UsageError, match=f"{name} is not JSON"):
            read_conversations(tmp_path / name)
