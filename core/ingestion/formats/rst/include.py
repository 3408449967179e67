"""Sphinx's `include` and `literalinclude`: other files of the source, cut as their options say."""

from __future__ import annotations

from typing import Any

from core.domain import RawDocument
from core.ingestion.formats import parser_of
from core.ingestion.formats._files import location, read_within, sliced
from core.ingestion.formats.rst.call import Call
from core.ingestion.formats.rst.vocabulary import ENDINGS

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
    text = sliced(text, call.options)
    if "code" in call.options or call.name == "literalinclude":
        language = call.options.get("language") or call.options.get("code") or ENDINGS.get(file.suffix, "")
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
    for section in (
        parser_of("markdown").parse(RawDocument(raw.path, raw.url, b"", "markdown"), text).sections
    ):
        heading = section.headings[-1] if section.headings else ""
        made.append(call.make("desc", heading=heading, signatures=[], anchor=section.anchor))
        made[-1] += call.make("markdown", text=section.text)
    return made
