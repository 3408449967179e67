"""What only `make thorough` runs is held by a test that `make test` runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.effort import examples, sorted_out

HERE = Path(__file__).parent


def marked() -> Iterator[tuple[Path, str]]:
    """Yield each file that marks something with what it says holds that."""
    for file in sorted(HERE.rglob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "thorough":
                (held_by,) = node.args
                assert isinstance(held_by, ast.Constant) and isinstance(held_by.value, str)
                yield file, held_by.value


def plays(file: Path) -> dict[str, bool]:
    """Return the tests of a file, each with whether all of it is left to `make thorough`."""
    return {
        node.name: any(
            isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == "thorough"
            for one in node.decorator_list
        )
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_what_is_left_out_is_held_by_a_test_that_is_not() -> None:
    found = list(marked())
    assert len(found) > 5
    for file, held_by in found:
        where, _, name = held_by.rpartition("::")
        there = file.parent / where if where else file
        assert plays(there).get(name) is False, f"{file.name}: {held_by}"


def test_fewer_examples_are_tried_but_never_none() -> None:
    assert 1 <= examples(1) <= examples(10) <= examples(100) <= 100


def test_what_is_not_marked_is_played(request) -> None:
    played, left = sorted_out([request.node])
    assert (played, left) == ([request.node], [])
