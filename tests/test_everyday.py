"""The list of what people get every day (tests/everyday.md) names tests that exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LIST = ROOT / "tests" / "everyday.md"
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def rows() -> list[tuple[str, str]]:
    """Return each line of the tables: what people get, and the cell with its tests."""
    found = re.findall(r"^\| (.+) \| (.+) \|$", LIST.read_text(encoding="utf-8"), re.MULTILINE)
    return [(what, held) for what, held in found if what != "what people get"]


@cache
def functions_of(path: str) -> frozenset[str]:
    """Return the names of the test functions of a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(
        node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    )


def test_every_line_is_held_by_tests_that_exist() -> None:
    found = rows()
    assert len(found) > 50
    for what, held in found:
        named = NAMED.findall(held)
        assert named, f"nothing holds {what!r}"
        assert NAMED.sub("", held).strip(" ,") == "", f"{held!r} names something that is no test"
        for path, name in named:
            assert (ROOT / path).is_file() and name in functions_of(path), f"{path}::{name} is gone"


def test_no_line_stands_there_twice() -> None:
    whats = [what for what, _ in rows()]
    assert len(whats) == len(set(whats))


@pytest.mark.parametrize("part", ["about 2 GB", "minutes", "still installing"])
def test_make_run_announces_what_it_installs(part: str) -> None:
    ready = (ROOT / "Makefile").read_text(encoding="utf-8").partition("$(VENV)/ready:")[2]
    announced, _, installed = ready.partition("pip install")
    assert part in announced and installed
