"""What a paper's table comes to here, as values that are kept as JSON and written as Markdown."""

from __future__ import annotations

import json
import tomllib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from evaluation.tables import grid

MODEL = "needs a model"
"""What stands where a row cannot be measured without one."""
BELOW = "needs a model: written below"
WRITTEN = "-written"
"""What a section's rows that a model wrote are kept under, behind its name."""
NONE = "–"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows beside a paper's; the first column names them, the last says what differs in this row."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A paper: what was run, its tables, and what differs and why."""

    name: str
    title: str
    run: str
    tables: tuple[Table, ...]
    differs: tuple[str, ...]


def printed(paper: str) -> dict[str, Any]:
    """Return what a paper printed and what differs here, from `printed.toml`; lists as tuples."""
    told = tomllib.loads(Path(__file__).with_name("printed.toml").read_text("utf-8"))[paper]
    return {name: _tuples(value) for name, value in told.items()}


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def keep(folder: Path, section: Section) -> None:
    """Write a section's figures to a folder; blocking."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(asdict(section), indent=1, ensure_ascii=False)
    (folder / f"{section.name}.json").write_text(text + "\n", "utf-8")


def kept(folder: Path, name: str) -> Section | None:
    """Return a section that was kept, None where there is none; blocking."""
    path = folder / f"{name}.json"
    if not path.is_file():
        return None
    entry: dict[str, Any] = json.loads(path.read_text("utf-8"))
    tables = tuple(
        Table(one["title"], tuple(one["columns"]), tuple(map(tuple, one["rows"]))) for one in entry["tables"]
    )
    return Section(entry["name"], entry["title"], entry["run"], tables, tuple(entry["differs"]))


def with_written(section: Section, written: Section | None) -> Section:
    """Add the rows that a model wrote, which are run apart; rows that needed one say where they stand."""
    if written is None:
        return section
    names = {row[0] for table in written.tables for row in table.rows if row[-1] != MODEL}
    tables = [
        replace(
            table,
            rows=tuple(
                (*row[:-1], BELOW) if row[-1] == MODEL and row[0] in names else row for row in table.rows
            ),
        )
        for table in section.tables
    ]
    told = " ".join(filter(None, (section.run, written.run)))
    differs = (*section.differs, *written.differs)
    return replace(section, run=told, tables=(*tables, *written.tables), differs=differs)


def markdown(section: Section) -> str:
    """Write a section as Markdown."""
    parts = [f"## {section.title}", section.run]
    for table in section.tables:
        parts += [f"**{table.title}**", grid(table.columns, table.rows, margin=" ")]
    parts += ["What differs, and why:", "\n".join(f"- {said}" for said in section.differs)]
    return "\n\n".join(parts)


def share(value: float | None, digits: int = 3) -> str:
    """Write a share, or that there is none."""
    return NONE if value is None else f"{value:.{digits}f}"


def percent(value: float | None, digits: int = 1) -> str:
    """Write a share as a percentage, or that there is none."""
    return NONE if value is None else f"{value * 100:.{digits}f} %"
