"""Titles of a documentation's other pages: what a `:doc:` or `:ref:` without a text of its own says."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path, PurePosixPath
from time import monotonic

from core.ingestion.formats._shared import heading_text

MAX_FILES = 3_000
"""Files looked through for titles; ours: the Python docs have 500."""
MAX_BYTES = 300_000
"""Size above which a file is not looked through; ours."""
CACHE_SECONDS = 300
"""How long titles are kept: one indexing run reads them once or twice, the next run again."""
_MARK = r"[=\-~^\"#*+.:_`']"
_TITLE = (
    rf"(?:(?P<over>{_MARK})(?P=over){{2,}}[ \t]*\n)?"
    rf"[ \t]*+(?P<title>\S[^\n]*)\n(?P<line>{_MARK})(?P=line){{2,}}[ \t]*$"
)
_FIRST = re.compile(rf"^{_TITLE}", re.M)
_LABELLED = re.compile(
    rf"^\.\.[ ]_(?P<labels>[^:\n`]+:[ \t]*\n(?:\s*+\.\. _[^:\n`]+:[ \t]*\n){{0,20}}+)\s*+{_TITLE}", re.M
)
"""A title with the labels above it, the last 21 of them."""


def document_title(folder: Path, document: Path, target: str) -> str:
    """Return the title of the page that `:doc:` names, empty where there is none."""
    try:
        place = PurePosixPath(document.parent.relative_to(folder).as_posix())
    except ValueError:
        return ""
    path = target.lstrip("/") if target.startswith("/") else str(place / target)
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return _titles(str(folder), int(monotonic() // CACHE_SECONDS))[0].get("/".join(parts), "")


def label_title(folder: Path, label: str) -> str:
    """Return the title that stands under `.. _label:` anywhere in the source, empty where there is none."""
    return _titles(str(folder), int(monotonic() // CACHE_SECONDS))[1].get(label.lower(), "")


@lru_cache(maxsize=8)
def _titles(folder: str, _period: int) -> tuple[dict[str, str], dict[str, str]]:
    documents: dict[str, str] = {}
    labels: dict[str, str] = {}
    root = Path(folder)
    files = (file for ending in ("*.rst", "*.txt", "*.inc") for file in root.rglob(ending))
    for _, file in zip(range(MAX_FILES), files, strict=False):
        try:
            if not file.resolve().is_relative_to(root.resolve()) or file.stat().st_size > MAX_BYTES:
                continue
            text = file.read_text("utf-8", "replace")
        except OSError:
            continue
        first = _FIRST.search(text)
        if first:
            name = file.relative_to(root).with_suffix("").as_posix()
            documents[name] = _plain(first.group("title"))
        for found in _LABELLED.finditer(text):
            for line in found.group("labels").splitlines():
                if label := line.strip().removeprefix(".. _").removesuffix(":").strip():
                    labels[label.lower()] = _plain(found.group("title"))
    return documents, labels


def _plain(title: str) -> str:
    return heading_text(re.sub(r":[\w:+-]{1,60}:`", "`", title).replace("\\", ""))
