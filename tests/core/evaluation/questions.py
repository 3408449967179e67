"""Labelled questions that a bag of words can tell apart."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

THINGS = (
    "kettle lid hinge spring",
    "pump valve gasket ring",
    "lamp bulb socket switch",
    "window frame glass handle",
    "bicycle chain pedal gear",
    "garden hose nozzle tap",
    "printer toner tray roller",
    "engine oil filter plug",
    "guitar string fret bridge",
    "oven door shelf timer",
    "phone screen battery case",
    "router cable antenna port",
)


def rewordings(thing: str) -> list[str]:
    """Return six ways to ask about a thing: each leaves out some of its words."""
    words = thing.split()
    return [f"How do I mend {' '.join(some)}?" for size in (3, 2) for some in combinations(words, size)][:6]


def lines(release: str = "") -> list[dict[str, str]]:
    """Return labelled lines, the original question of each topic first."""
    made = []
    for number, thing in enumerate(THINGS):
        for place, question in enumerate([f"How do I mend {thing}?", *rewordings(thing)]):
            line = {"topic": f"t{number}", "question": question}
            if not place:
                line["answer"] = f"Mend it with tool {number}."
            if release:
                line["release"] = release
            made.append(line)
    return made


def written(path: Path, *releases: str) -> Path:
    """Write labelled lines to a file; return its path."""
    rows = [json.dumps(line) for release in releases or ("",) for line in lines(release)]
    path.write_text("\n".join(rows) + "\n", "utf-8")
    return path
