"""Small documents for the parsing tests."""

from __future__ import annotations

from pathlib import Path

from core.domain import Document, RawDocument, Section
from core.ingestion.parsing import parse


def parsed(text: str | bytes, kind: str, root: Path | None = None, path: str = "docs/page.rst") -> Document:
    content = text if isinstance(text, bytes) else text.encode()
    if root is None:
        return parse(RawDocument(path, "https://docs.example/page/", content, kind))
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return parse(RawDocument(path, "https://docs.example/page/", content, kind, str(root), str(file)))


def body(text: str, kind: str, root: Path | None = None, path: str = "docs/page.rst") -> str:
    return "\n\n".join(section.text for section in parsed(text, kind, root, path).sections)


def section(document: Document, heading: str) -> Section:
    return next(s for s in document.sections if s.headings and s.headings[-1] == heading)
