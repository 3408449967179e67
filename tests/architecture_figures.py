"""Measure the architecture: how large the code is, how it hangs together, what one question runs through.

    python -m tests.architecture_figures                                     a table of this tree
    python -m tests.architecture_figures --root before=../old --root now=.   two trees side by side
    python -m tests.architecture_figures --json                              everything, the lists too
    python -m tests.architecture_figures --static                            without playing the journeys
    python -m tests.architecture_figures --picture docs/architecture.svg     draw the rooms

The journeys are played on the small test home of the tree that is measured, in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.architecture_counts import LONG_FUNCTION, MANY_PARAMETERS, count
from tests.architecture_picture import draw

ROOT = Path(__file__).resolve().parent.parent
ENCODER = ROOT / ".threadlore" / "models"
"""Where the tests keep the exported encoder."""
SECONDS = 600
"""Longest that the journeys may take, on a busy machine too."""
ROWS = {
    "files of product code": "files",
    "lines": "lines",
    "lines of the median file": "median_lines",
    "lines of the largest file": "largest_lines",
    "folders with modules": "folders",
    "modules in the fullest folder": "fullest_folder",
    "functions": "functions",
    f"functions over {LONG_FUNCTION} lines": "long_functions",
    f"functions with over {MANY_PARAMETERS} parameters": "functions_with_many_parameters",
    "import cycles (imports for type checking included)": "import_cycles",
    "modules in import cycles": "modules_in_cycles",
    "broad excepts per 1,000 lines": "broad_excepts_per_1000_lines",
}
JOURNEYS = {"question": "one question, written by the model", "vote": "one 👎", "reindex": "one reindex"}


def measure(root: Path, played: bool = True) -> dict[str, Any]:
    """Return every figure of a tree; `played` adds `journeys`."""
    root = root.resolve()
    return count(root) | ({"journeys": play(root)} if played else {})


def play(root: Path) -> dict[str, Any]:
    """Return what the journeys of a tree run through; raises CalledProcessError where one fails there."""
    script = ROOT / "tests" / "architecture_journeys.py"
    environment = os.environ | {"PYTHONPATH": str(root), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-P", script, root, ENCODER],
        env=environment,
        cwd=root,
        stdout=subprocess.PIPE,
        timeout=SECONDS,
        check=True,
    )
    return dict(json.loads(done.stdout))


def table(measured: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the figures of one tree or several as a table in Markdown, a column for each."""
    lines = [_row("", list(measured)), "|---|" + "---:|" * len(measured)]
    lines += [_row(title, [_text(f[key]) for f in measured.values()]) for title, key in ROWS.items()]
    for name, title in JOURNEYS.items():
        if all("journeys" in figures for figures in measured.values()):
            counted = [figures["journeys"][name] for figures in measured.values()]
            lines.append(_row(f"{title}: files", [_text(c["files"]) for c in counted]))
            lines.append(_row(f"{title}: functions", [_text(c["functions"]) for c in counted]))
    return "\n".join(lines)


def _row(title: str, cells: Sequence[str]) -> str:
    return f"| {title} | {' | '.join(cells)} |"


def _text(figure: float) -> str:
    return f"{figure:,}" if isinstance(figure, int) else f"{figure:,.2f}".rstrip("0").rstrip(".")


def _named(given: str) -> tuple[str, Path]:
    name, _, path = given.rpartition("=")
    return name or Path(path).resolve().name, Path(path)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures, or draw the picture."""
    parser = argparse.ArgumentParser(prog="python -m tests.architecture_figures")
    parser.add_argument("--root", action="append", metavar="[NAME=]PATH", help="tree to measure (this one)")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--static", action="store_true", help="play no journeys")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw the rooms as SVG instead")
    given = parser.parse_args(arguments)
    if given.picture:
        given.picture.write_text(draw(ROOT), encoding="utf-8")
        return
    trees = dict(map(_named, given.root or [f"now={ROOT}"]))
    measured = {name: measure(path, not given.static) for name, path in trees.items()}
    print(json.dumps(measured, indent=2) if given.json else table(measured))


if __name__ == "__main__":
    main()
