"""The files that commands wrote out of the home, so that forgetting finds them again."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from core.system.private_files import private

WRITTEN = "exports.txt"
"""File of the home that lists them, one absolute path a line, and ids after it, apart by tabs."""
_KEYS = ("id", "pair_id", "answer_id", "Path")
"""Keys of a line that name an answer, a pair or a page."""


def note(home: Path, path: Path, ids: Iterable[str] = ()) -> None:
    """Remember that a file holds what people said; `ids` are answers and pairs that a report shortens."""
    with open(home / WRITTEN, "a", encoding="utf-8", opener=private) as file:
        file.write("\t".join([str(path.absolute()), *ids]) + "\n")


def noted(home: Path) -> dict[Path, set[str]]:
    """Return the files that were written and are still there, with the answers and pairs in them."""
    try:
        lines = (home / WRITTEN).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    found: dict[Path, set[str]] = {}
    for line in lines:
        name, *ids = line.split("\t")
        if Path(name).is_file():
            found.setdefault(Path(name), set()).update(ids)
    return found


def clean(home: Path, ids: Collection[str], forms: Sequence[bytes]) -> list[str]:
    """Take out of the exported JSONL files answers and pairs, by id, what is made of pages, by their paths,
    and texts; return other files that hold any of them. Those in the home are removed: they are reports,
    which can be written anew.
    """
    left: list[str] = []
    for path, told in noted(home).items():
        try:
            if _has_lines(path):
                _clean_lines(path, ids, forms)
            elif not told.isdisjoint(ids) or any(form in path.read_bytes() for form in forms):
                if path.resolve().is_relative_to(home.resolve()):
                    path.unlink()
                else:
                    left.append(str(path))
        except OSError:  # on a disk that may only be read: named, so that somebody does it
            left.append(str(path))
    return left


def _has_lines(path: Path) -> bool:
    """Return True if a file is a JSON object a line, whatever it is called."""
    if path.suffix in (".jsonl", ".json"):
        return path.suffix == ".jsonl"
    with open(path, "rb") as file:
        return file.read(1) == b"{"


def _clean_lines(path: Path, ids: Collection[str], forms: Sequence[bytes]) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if _ids(line).isdisjoint(ids) and not any(form in line for form in forms)]
    if len(kept) < len(lines):
        fresh = path.with_name(f"{path.name}.forgetting")
        with open(fresh, "wb", opener=private) as file:
            file.writelines(kept)
        fresh.replace(path)


def _ids(line: bytes) -> set[str]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return set()
    if not isinstance(row, dict):
        return set()
    pages = row.get("retrieved") or ()
    paths = [p.get("path", "") if isinstance(p, dict) else str(p).partition(": ")[2] for p in pages]
    return {str(name) for name in (*(row.get(key, "") for key in _KEYS), *paths)} - {""}
