"""The files that commands wrote out of the home, so that forgetting finds them again."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path

from core.files import private

WRITTEN = "exports.txt"
"""File of the home that lists them, one absolute path a line."""


def note(home: Path, path: Path) -> None:
    """Remember that a file holds what people said."""
    with open(home / WRITTEN, "a", encoding="utf-8", opener=private) as file:
        file.write(f"{path.absolute()}\n")


def noted(home: Path) -> list[Path]:
    """Return the files that were written and are still there."""
    try:
        lines = (home / WRITTEN).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    return [path for path in map(Path, dict.fromkeys(lines)) if path.is_file()]


def clean(home: Path, pairs: Collection[str], forms: Sequence[bytes]) -> list[str]:
    """Take pairs, by id, and texts out of the exported JSONL files; return other files that hold a text."""
    left: list[str] = []
    for path in noted(home):
        try:
            if path.suffix == ".jsonl":
                _clean_lines(path, pairs, forms)
            elif any(form in path.read_bytes() for form in forms):
                left.append(str(path))
        except OSError:  # on a disk that may only be read: named, so that somebody does it
            left.append(str(path))
    return left


def _clean_lines(path: Path, pairs: Collection[str], forms: Sequence[bytes]) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if _id(line) not in pairs and not any(form in line for form in forms)]
    if len(kept) < len(lines):
        fresh = path.with_name(f"{path.name}.forgetting")
        with open(fresh, "wb", opener=private) as file:
            file.writelines(kept)
        fresh.replace(path)


def _id(line: bytes) -> str:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    return str(row.get("id", "")) if isinstance(row, dict) else ""
