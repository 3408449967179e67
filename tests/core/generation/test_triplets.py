"""Triplets read by rule and by the model, and which of them are told."""

from __future__ import annotations

import pytest

from core.errors import ModelMalformed
from core.generation.triplets import LONGEST, MOST, Triplet, by_model, by_rule, parsed, within
from tests.fakes import FakeModel

TABLE = """\
Limits:

| Option | Default | Unit |
| --- | --- | --- |
| `--retries` | 8 | times |
| `--wait` |  | s |

| | |
| :-- | --- |
| `string` | text without a slash \\| the default |
"""


def test_definitions_are_triplets() -> None:
    page = "- `rule`: the URL rule as string.\n- **endpoint** – a name.\n- plain: no term of its own\n"
    assert by_rule(page) == [("rule", "is", "the URL rule as string."), ("endpoint", "is", "a name.")]


def test_a_table_says_of_each_row_what_stands_under_each_column() -> None:
    assert by_rule(TABLE) == [
        ("--retries", "has the Default", "8"),
        ("--retries", "has the Unit", "times"),
        ("--wait", "has the Unit", "s"),
        ("string", "is", "text without a slash | the default"),
    ]


def test_options_belong_to_the_heading() -> None:
    page = "Whether debug mode is on.\n\nDefault: `False`\n\n- Type: bool\n"
    told = by_rule(page, "API > Application > Flask.debug(value)")
    assert told == [("Flask.debug", "has the default", "False"), ("Flask.debug", "has the type", "bool")]
    assert by_rule(page) == [], "of nothing"


def test_what_is_long_or_says_nothing_is_no_triplet() -> None:
    assert by_rule(f"- `a`: {'b' * (LONGEST + 1)}\n- `same`: Same\n") == []


def test_a_triplet_is_a_sentence() -> None:
    assert Triplet("Flask.debug", "has the default", "False").sentence == "Flask.debug has the default False."


def test_only_triplets_with_both_ends_in_the_context_are_told() -> None:
    told = [
        Triplet("--port", "sets", "the port"),
        Triplet("--port", "has the default", "8000"),
        Triplet("--porter", "sets", "the port"),
        Triplet("port", "is", "800"),
    ]
    context = "With `--port` you set THE  port; 8000 is usual.\n"
    assert within(told, context) == told[:2], "an end is whole words: 800 is not in 8000"
    many = [Triplet("a", f"r{n}", "b") for n in range(MOST + 5)]
    assert len(within([*many, *many], "a b")) == MOST


async def test_the_model_s_triplets_are_taken_where_they_are_whole() -> None:
    good = {"head": "`--port`", "relation": "sets", "tail": "the port"}
    bad = [{"head": "x", "relation": "y"}, {"head": 1, "relation": "y", "tail": "z"}, "none", good]
    model = FakeModel(lambda prompts: {"triplets": [good, *bad]})
    assert await by_model(model, ["With `--port` </passage> you set the port."]) == [
        ("--port", "sets", "the port")
    ]
    assert "‹/passage> you" in model.calls[0].prompts[1].content, "a text cannot close its tag"
    assert await by_model(FakeModel(lambda prompts: {"triplets": "none"}), ["x"]) == []
    with pytest.raises(ModelMalformed):
        await by_model(FakeModel(lambda prompts: ModelMalformed("No JSON.")), ["x"])


CARD = (
    "<s><triplet> Punta Cana <subj> La Altagracia Province <obj> located in the administrative territorial "
    "entity <subj> Dominican Republic <obj> country <triplet> Higuey <subj> La Altagracia Province <obj> "
    "located in the administrative territorial entity</s><pad><pad>"
)
"""Written by hand in the form of REBEL's model card: a head with two tails, and another head."""


def test_what_rebel_writes_is_read_as_its_model_card_does() -> None:
    place = "located in the administrative territorial entity"
    assert parsed(CARD) == [
        ("Punta Cana", place, "La Altagracia Province"),
        ("Punta Cana", "country", "Dominican Republic"),
        ("Higuey", place, "La Altagracia Province"),
    ]
    assert parsed("<triplet>Flask<subj>Pallets<obj>developer") == [("Flask", "developer", "Pallets")]


@pytest.mark.parametrize(
    "written",
    [
        "",
        "no tags at all",
        "<triplet> a <subj> b",
        "<triplet> a <obj> is",
        "<subj> b <obj> is",
        "<triplet> a <subj> <obj> is",
        "<triplet> a <subj> b <obj> </s>",
        "<triplet> a <subj> A <obj> is",
        "<obj><subj><triplet>",
        f"<triplet> {'a' * (LONGEST + 1)} <subj> b <obj> is",
        f"<triplet> a <subj> b <obj> {'is ' * LONGEST}",
    ],
)
def test_what_rebel_writes_out_of_turn_or_too_long_is_no_triplet(written: str) -> None:
    assert parsed(written) == []
    whole = "<triplet> c <subj> d <obj> part of"
    assert parsed(f"{whole} {written}")[:1] == [
        ("c", "part of" if written[:1] in ("", "<") else "part of " + written, "d")
    ]


def test_rebel_s_triplets_are_limited_and_told_once() -> None:
    many = " ".join(f"<triplet> a{n} <subj> b <obj> part of" for n in range(MOST + 5))
    assert len(parsed(many)) == MOST and parsed(f"{many} {many}") == parsed(many)
