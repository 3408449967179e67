"""Reading files that a document includes: inside the source's root only, and cut as its options say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from core.domain import RawDocument

MAX_INCLUDED_BYTES = 1_000_000
"""Size of one included file above which it is passed over; ours, a changelog of 20 years has 400 kB."""

_KEPT_FROM_READERS = frozenset(
    {".git", ".hg", ".svn", ".ssh", ".aws", ".netrc", ".npmrc", ".pypirc", ".git-credentials"}
)


def is_secret(root: Path, file: Path) -> bool:
    """Return True if a file below the root is where tools keep addresses with passwords, or keys.

    Links and includes of a document may lead to it, though it lies inside the source.
    """
    parts = file.relative_to(root).parts
    return any(part in _KEPT_FROM_READERS or part.startswith(".env") for part in parts)


def location(raw: RawDocument) -> Path | None:
    """Return where the document lies on disk, None where it came from elsewhere.

    `file` may be absolute, relative to the root, or relative to where the process runs.
    """
    if not raw.root:
        return None
    file = Path(raw.file or raw.path)
    inside = Path(raw.root) / file
    return file if not inside.exists() and file.exists() else inside


def read_within(root: str, base: Path, target: str) -> tuple[Path, str] | None:
    """Read `target` as seen from the folder `base`, None unless it is a text file inside `root`.

    A leading slash means the nearest folder above `base` (not above `root`) that has the file, as
    Sphinx's source folder does. Symbolic links are followed before the check, so none leads out.
    """
    if not root or not target or "\0" in target:
        return None
    try:
        inside = Path(root).resolve(strict=True)
        if target.startswith("/"):
            folders = [f for f in (base, *base.parents) if f.resolve().is_relative_to(inside)]
            candidates = [folder / target.lstrip("/") for folder in folders]
        else:
            candidates = [base / target]
        for candidate in candidates:
            file = candidate.resolve()
            if not file.is_relative_to(inside) or is_secret(inside, file):
                continue
            if file.is_file() and file.stat().st_size <= MAX_INCLUDED_BYTES:
                content = file.read_bytes()
                return None if b"\0" in content else (file, content.decode("utf-8-sig", "replace"))
    except (OSError, RuntimeError, ValueError):
        return None
    return None


def numbers(said: str, count: int) -> list[int]:
    """Read `1,3-5,8-` as line numbers that exist."""
    chosen: list[int] = []
    for part in said.split(","):
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        if first.isdigit() or (dash and last.isdigit()):
            low = int(first) if first.isdigit() else 1
            high = int(last) if last.isdigit() else count if dash else low
            chosen += range(max(low, 1), min(high, count) + 1)
    return chosen


def sliced(text: str, options: Mapping[str, str]) -> str:
    """Cut a file to what an include's options ask for."""
    if options.get("start-after") and (at := text.find(options["start-after"])) >= 0:
        text = text[at + len(options["start-after"]) :]
    if options.get("end-before") and (at := text.find(options["end-before"])) >= 0:
        text = text[:at]
    lines = text.splitlines()
    chosen: Iterable[str] = lines
    if options.get("pyobject"):
        chosen = _python_object(lines, options["pyobject"])
    elif options.get("lines"):
        chosen = [lines[i - 1] for i in numbers(options["lines"], len(lines))]
    elif "start-line" in options or "end-line" in options:
        try:
            chosen = lines[int(options.get("start-line") or 0) : int(options.get("end-line") or len(lines))]
        except ValueError:
            chosen = lines
    return "\n".join(chosen)


@lru_cache(maxsize=256)
def definition_of(name: str) -> re.Pattern[str]:
    """Return the pattern of the line that defines a function or class."""
    return re.compile(rf"^(\s*)(?:async\s+def|def|class)\s+{re.escape(name)}\b")


def _python_object(lines: list[str], name: str) -> list[str]:
    pattern = definition_of(name.rsplit(".", 1)[-1])
    for first, line in enumerate(lines):
        if found := pattern.match(line):
            depth = len(found.group(1))
            last = first + 1
            while last < len(lines) and (
                not lines[last].strip() or len(lines[last]) - len(lines[last].lstrip()) > depth
            ):
                last += 1
            return lines[first:last]
    return lines
