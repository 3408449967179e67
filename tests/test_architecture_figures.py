"""The architecture stays as small as it is: limits of what is measured, and the measure itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.architecture_counts import count, cycles_of
from tests.architecture_figures import main, play, table
from tests.architecture_picture import draw

ROOT = Path(__file__).parent.parent
FILES = {"question": 114, "vote": 35, "reindex": 68}
"""Files that each journey may run through: as on 2026-11-23, and since then calculations, slips of the
keyboard, people's default releases, labels of code, limits that are kept, the line before the model, what
other releases say, and which Python is needed; fewer since 2026-11-24, when files that are only used together
were joined; and then several processes, the log of answers and the reuse of remembered ones. In the evening
files of one subject were joined once more (docs/decisions, P-22). Since 2026-11-27 the line of questions in a
process, the order of connections to the database, and how old a corpus's notes are and where their words
stand, worked out once. Since 2026-11-29 statuses of HTTP, lines of logs, what is told to be otherwise than it
was, and titles of sections that a page has twice; of reading, names in code that look like markup.
Since 2026-11-30 what an answer says that came or went, beside defaults; of reading, pictures that are no
text; words of languages without spaces, and accents. Since 2026-12-01 changes as other languages tell them;
of reading, which pages stay; and which evidence says a statement, apart from what is wrong with it."""

STALE = 0.04
"""How far a figure in docs/architecture.md may be off."""


@pytest.fixture(scope="module")
def played() -> dict[str, Any]:
    return play(ROOT)


@pytest.fixture(scope="module")
def counted() -> dict[str, Any]:
    return count(ROOT)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree of three modules: two import each other, one of them for type checking only."""
    (tmp_path / "bot" / "app").mkdir(parents=True)
    (tmp_path / "core").mkdir()
    (tmp_path / "bot" / "__init__.py").write_text('"""Nothing but words."""\n')
    (tmp_path / "bot" / "app" / "one.py").write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from bot.app.two import Two\n"
        "def wide(self, a, b, c, d, *, e, f): ...\n"
        "def wider(a, b, c, d, *, e, f, g): ...\n"
    )
    (tmp_path / "bot" / "app" / "two.py").write_text(
        "import core.three\nfrom bot.app import one\nclass Two:\n    def long(self):\n"
        + "        pass\n" * 50
    )
    (tmp_path / "core" / "three.py").write_text(
        "try:\n    pass\nexcept (ValueError, Exception):\n    pass\nexcept ValueError:\n    pass\n"
    )
    return tmp_path


def test_a_tree_is_counted(tree: Path) -> None:
    found = count(tree)
    assert (found["files"], found["lines"], found["largest_lines"]) == (3, 65, 54)
    assert found["cycles"] == [["bot.app.one", "bot.app.two"]]
    assert (found["import_cycles"], found["modules_in_cycles"]) == (1, 2)
    assert (found["functions"], found["long_functions"]) == (3, 1)
    assert found["functions_with_many_parameters"] == 1
    assert found["broad_excepts"] == 1
    assert found["fullest_folders"] == {"bot/app": 2, "core": 1}


def test_a_circle_through_several_modules_is_one_cycle() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set(), "e": {"a"}}
    assert cycles_of(graph) == [["a", "b", "c"]]


def test_two_trees_stand_side_by_side(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--static", "--root", f"before={tree}", "--root", f"now={tree}"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["|  | before | now |", "|---|---:|---:|", "| files of product code | 3 | 3 |"]


def test_the_code_has_no_import_cycle_and_no_crowded_folder(counted: dict[str, Any]) -> None:
    assert counted["cycles"] == []
    assert counted["fullest_folder"] <= 14


@pytest.mark.parametrize("journey", FILES)
def test_a_journey_runs_through_no_more_files_than_it_did(played: dict[str, Any], journey: str) -> None:
    assert 0 < played[journey]["files"] <= FILES[journey], played[journey]["through"]


def test_a_journey_runs_through_the_files_that_it_is_told_by(played: dict[str, Any]) -> None:
    through = {name: set(figures["through"]) for name, figures in played.items()}
    assert {"core/engine.py", "bot/conversation/questions.py"} <= through["question"]
    assert {"core/engine.py", "bot/interactions/reactions.py"} <= through["vote"]
    assert {"core/ingestion/indexer.py", "core/ingestion/formats/markdown/parser.py"} <= through["reindex"]
    assert "core/models/ollama/client.py" not in through["vote"], "a vote calls no model"


def test_the_table_tells_of_journeys(played: dict[str, Any], counted: dict[str, Any]) -> None:
    told = table({"now": counted | {"journeys": played}})
    assert f"| one 👎: files | {played['vote']['files']} |" in told


def test_the_table_of_the_document_is_of_today(played: dict[str, Any], counted: dict[str, Any]) -> None:
    told = _figures((ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"))
    today = _figures(table({"now": counted | {"journeys": played}}))
    stale = {
        title: (told.get(title), figure)
        for title, figure in today.items()
        if told.get(title) != pytest.approx(figure, rel=STALE, abs=2)
    }
    assert stale == {}, "python -m tests.architecture_figures: put its figures into docs/architecture.md"


def _figures(text: str) -> dict[str, float]:
    """Return the last figure of each line of a table, by its title."""
    found = re.findall(r"^\| ([^|]+) \|(?:.*\|)? ([\d,.]+) \|$", text, re.MULTILINE)
    return {title: float(figure.replace(",", "")) for title, figure in found}


def test_the_picture_is_of_the_rooms_as_they_are() -> None:
    kept = (ROOT / "docs" / "architecture.svg").read_text(encoding="utf-8")
    assert kept == draw(ROOT), "python -m tests.architecture_figures --picture docs/architecture.svg"
    assert len(kept) < 300_000
