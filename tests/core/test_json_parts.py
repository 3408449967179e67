"""JSON in parts says what JSON in one go says, however little of it is there at a time."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.system.json_parts import lines_of, members, written

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.sampled_from(["messages", "threads", "guild", "a"]) | st.text(), VALUES)


class Dripping(io.StringIO):
    """A file that gives few characters at a time, whatever is asked for."""

    def read(self, size: int | None = -1, /) -> str:
        return super().read(3)


def whole(text: str, *listed: str) -> dict[str, Any]:
    """Put the members together again; a listed one that holds no list, or an empty one, is as it is."""
    found: dict[str, Any] = {}
    for name, value in members(Dripping(text), *listed):
        if name in listed and isinstance(json.loads(text)[name], list):
            found.setdefault(name, []).append(value)
        else:
            found[name] = value
    return found


@given(OBJECTS, st.sampled_from([None, 1]))
def test_members_are_those_of_the_whole(thing: dict[str, Any], indent: int | None) -> None:
    text = json.dumps(thing, indent=indent)
    empty = [name for name in ("messages", "threads") if thing.get(name) == []]
    assert whole(text, "messages", "threads") == {k: v for k, v in thing.items() if k not in empty}


@given(VALUES, st.integers(0, 4))
def test_what_is_written_in_parts_reads_as_the_whole(thing: Any, depth: int) -> None:
    assert json.loads("".join(written(thing, depth))) == thing


@pytest.mark.parametrize(
    "text", ['{"a": 1', '{"a": [1, }', "{1: 2}", '{"a" 1}', "{", '{"messages": [1 2]}', "nul"]
)
def test_what_is_no_json_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        list(members(Dripping(text), "messages"))


@pytest.mark.parametrize("text", ["[1, 2]", "3", '"x"', "null"])
def test_what_is_no_object_has_no_members(text: str) -> None:
    assert list(members(Dripping(text), "messages")) == []


@given(st.lists(st.text()))
def test_lines_of_json_are_read_as_they_were_written(texts: list[str]) -> None:
    for end in ("\n", "\r\n"):
        file = "".join(json.dumps(text, ensure_ascii=False) + end for text in texts)
        assert [json.loads(line) for line in lines_of(file)] == texts
