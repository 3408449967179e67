"""Sphinx's `include` and `literalinclude`: other files of the source, cut as their options say."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from core.domain import RawDocument
from core.ingestion.formats import markdown
from core.ingestion.formats._call import Call
from core.ingestion.formats._files import location, read_within

MAX_INCLUDES = 200
"""Includes that one document may make in all, so that files that include each other end; ours."""
MAX_DEPTH = 10
"""Files that may include one another in a chain; ours."""


def include(call: Call) -> list[Any]:
    """Return the nodes of an included file, none where it may not or cannot be read."""
    session = call.session
    base = session.files[-1] if session.files else location(session.raw)
    if base is None or session.included >= MAX_INCLUDES:
        return []
    session.included += 1
    # The path may be followed by options on the same line only in broken files.
    found = read_within(session.raw.root, base.parent, call.argument)
    if found is None or found[0] in session.files or len(session.files) > MAX_DEPTH:
        return []
    file, text = found
    text = _slice(text, call.options)
    if "code" in call.options or call.name == "literalinclude":
        language = call.options.get("language") or call.options.get("code") or _ENDINGS.get(file.suffix, "")
        return call.code(text, language)
    if "literal" in call.options:
        return call.code(text, "")
    if file.suffix.lower() in (".md", ".markdown") or "parser" in call.options:
        return _markdown(call, text)
    session.files.append(file)
    holder = call.state.parent
    lines = type(call.content)([line[:10_000] for line in text.expandtabs().splitlines()], source=str(file))
    # As docutils does it: titles in the file belong to the document's own hierarchy.
    call.state.nested_parse(
        lines, 0, holder, match_titles=isinstance(holder, call.nodes.document | call.nodes.section)
    )
    session.files.pop()
    return []


def _markdown(call: Call, text: str) -> list[Any]:
    raw = call.session.raw
    made = []
    for section in markdown.parse(RawDocument(raw.path, raw.url, b"", "markdown"), text).sections:
        heading = section.headings[-1] if section.headings else ""
        made.append(call.make("desc", heading=heading, signatures=[], anchor=section.anchor))
        made[-1] += call.make("markdown", text=section.text)
    return made


def _slice(text: str, options: dict[str, str]) -> str:
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
        chosen = [lines[i - 1] for i in _numbers(options["lines"], len(lines))]
    elif "start-line" in options or "end-line" in options:
        try:
            chosen = lines[int(options.get("start-line") or 0) : int(options.get("end-line") or len(lines))]
        except ValueError:
            chosen = lines
    return "\n".join(chosen)


def _python_object(lines: list[str], name: str) -> list[str]:
    pattern = re.compile(rf"^(\s*)(?:async\s+def|def|class)\s+{re.escape(name.rsplit('.', 1)[-1])}\b")
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


def _numbers(said: str, count: int) -> list[int]:
    """Read `1,3-5,8-` as line numbers that exist."""
    chosen: list[int] = []
    for part in said.split(","):
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        if first.isdigit() or (dash and last.isdigit()):
            low = int(first) if first.isdigit() else 1
            high = int(last) if last.isdigit() else count if dash else low
            chosen += range(max(low, 1), min(high, count) + 1)
    return chosen


_ENDINGS = {
    f".{ending}": language
    for language, endings in {
        "python": "py pyi",
        "bash": "sh",
        "javascript": "js",
        "html": "html",
        "json": "json",
        "toml": "toml",
        "yaml": "yaml yml",
        "c": "c h",
        "cpp": "cpp hpp",
        "rust": "rs",
        "go": "go",
        "sql": "sql",
        "ini": "ini cfg",
        "css": "css",
        "xml": "xml",
    }.items()
    for ending in endings.split()
}
