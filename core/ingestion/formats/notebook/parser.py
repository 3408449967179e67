"""Jupyter notebooks: their Markdown as Markdown, their code with its language, and short text outputs.

No picture, widget or base64 is read; of an output in HTML only its tables are. A heading's anchor is the one
that Jupyter, nbviewer and nbconvert make, or Sphinx's where a `conf.py` stands above the notebook.
"""

from __future__ import annotations

import json
import logging
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import nbformat

from core.domain import Document, RawDocument
from core.errors import SourceError
from core.ingestion.formats._outline import Outline
from core.ingestion.formats._shared import fence, location
from core.ingestion.formats.html.tags import soup_of
from core.ingestion.formats.html.to_markdown import HtmlWriter
from core.ingestion.formats.markdown import myst as _slugs
from core.ingestion.formats.markdown import parser as markdown
from core.ingestion.formats.rst import parser as rst
from core.ingestion.formats.rst.sphinx import conf_of
from core.ingestion.sites import site_of
from core.text.words import one_line

# What is a little wrong in other people's notebooks (cells without ids) is no news.
logging.getLogger("traitlets").setLevel(logging.CRITICAL)

MAX_CELLS = 5_000
MAX_OUTPUT_LINES = 20
"""Lines of one output that are kept; ours: what a result looks like, not all of it."""
MAX_OUTPUT_CHARACTERS = 1_500
MAX_ROWS = 20
"""Rows of a table in an output that are kept, its header included; ours."""

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]|[\x00-\x08\x0b\x0c\x0e-\x1f]")
# `<Figure size 640x480 with 1 Axes>`, `[<matplotlib.lines.Line2D at 0x7f…>]`, `alt.Chart(...)`
_OBJECT = re.compile(
    r"^\W*<[\w.\s]+(?: object)? at 0x[0-9a-f]+|^<Figure size|^<IPython\.|^[\w.]+\(\.\.\.\)$|^\w+\(\)$"
)
_MAGIC = re.compile(r"^%%(?P<name>\w++)[^\n]*+\n")
_MAGICS = {
    **{
        name: name for name in ("bash", "html", "javascript", "latex", "sql", "perl", "ruby", "r", "markdown")
    },
    "sh": "bash",
    "script": "bash",
    "js": "javascript",
    "svg": "xml",
}


def parse(raw: RawDocument, text: str) -> Document:
    """Parse a notebook of any version; raises SourceError, with what to do, for what is none."""
    notebook = _read(raw, text)
    language = _language(notebook.get("metadata") or {})
    sphinx = bool(conf_of(raw).folder) and site_of(raw.root, location(raw)) is None
    writer = markdown.MarkdownWriter(raw, slug=_slugs.docutils if sphinx else _slugs.jupyter, myst=sphinx)
    for cell in notebook["cells"]:
        _write(cell, writer, language)
    sections = writer.outline.sections()
    named = (notebook.get("metadata") or {}).get("title")
    title = named if isinstance(named, str) and named.strip() else writer.title
    title = title or next((section.headings[0] for section in sections if section.headings), "")
    return Document(raw.path, one_line(title) or raw.path, raw.url, sections)


def _read(raw: RawDocument, text: str) -> Mapping[str, Any]:
    """Read a notebook as one of version 4; what is not quite as the schema says is taken as it is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Validation is nbformat's; it tells a logger of what it finds and goes on.
            found: Any = nbformat.reads(text, as_version=4)
    except (
        nbformat.reader.NotJSONError,
        nbformat.ValidationError,
        json.JSONDecodeError,
        AttributeError,
        KeyError,
        TypeError,
        ValueError,
    ) as error:
        raise _broken(raw, one_line(str(error))[:120] or type(error).__name__) from None
    cells = found.get("cells")
    if not isinstance(cells, list):
        raise _broken(raw, "it has no cells")
    if not all(isinstance(cell, dict) and _is_text(cell.get("source")) for cell in cells):
        raise _broken(raw, "one of its cells has no text")
    if len(cells) > MAX_CELLS:
        raise SourceError(
            f"{raw.path} has more than {MAX_CELLS:,} cells; split it or leave it out of the source."
        )
    return dict(found)


def _broken(raw: RawDocument, why: str) -> SourceError:
    return SourceError(
        f"{raw.path} is no notebook that can be read ({why}); save it again with Jupyter or leave it out"
        " of the source."
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(line, str) for line in value)
    )


def _text(value: object) -> str:
    return "".join(value) if isinstance(value, list) else str(value or "")


def _language(metadata: Mapping[str, Any]) -> str:
    for place, name in (("language_info", "name"), ("kernelspec", "language"), ("kernelspec", "name")):
        said = (metadata.get(place) or {}).get(name) if isinstance(metadata.get(place), dict) else None
        if isinstance(said, str) and said.strip():
            language = said.strip().lower()
            return "python" if re.fullmatch(r"i?python[23]?|conda-.*", language) else language
    return "python"


def _write(cell: Mapping[str, Any], writer: markdown.MarkdownWriter, language: str) -> None:
    given = cell.get("metadata")
    metadata: Mapping[str, Any] = given if isinstance(given, dict) else {}
    tags = {str(tag).replace("_", "-") for tag in metadata.get("tags") or ()}
    if "remove-cell" in tags or metadata.get("nbsphinx") == "hidden":
        return
    source, kind = _text(cell.get("source")), cell.get("cell_type")
    if kind == "markdown":
        writer.write_page(source)
    elif kind == "raw":
        _write_raw(source, str(metadata.get("raw_mimetype") or metadata.get("format") or ""), writer)
    elif kind == "code":
        if source.strip() and "remove-input" not in tags:
            magic = _MAGIC.match(source)
            writer.outline.add(fence(source, _MAGICS.get(magic["name"], language) if magic else language))
        if "remove-output" not in tags:
            outputs = cell.get("outputs")
            for block in _outputs(outputs if isinstance(outputs, list) else (), writer):
                writer.outline.add(block)


def _write_raw(source: str, mime: str, writer: markdown.MarkdownWriter) -> None:
    """Write a raw cell where it says that it is text for the pages."""
    if mime in ("text/restructuredtext", "text/x-rst"):
        for section in rst.parse(writer.raw, source).sections:
            writer.outline.add(section.text)
    elif mime in ("text/markdown", "text/x-markdown"):
        writer.write_page(source)


def _outputs(outputs: Sequence[Any], writer: markdown.MarkdownWriter) -> Iterator[str]:
    printed = ""
    for output in outputs:
        kind = output.get("output_type") if isinstance(output, dict) else ""
        if kind == "stream":
            # Progress bars and warnings go to the other stream.
            printed += _text(output.get("text")) if output.get("name", "stdout") == "stdout" else ""
            continue
        if printed.strip():
            yield _short(printed)
        printed = ""
        if kind == "error":
            yield _short(f"{output.get('ename') or 'Error'}: {_text(output.get('evalue'))}")
        elif kind in ("execute_result", "display_data", "pyout") and isinstance(output.get("data"), dict):
            yield from _shown(output["data"], writer)
    if printed.strip():
        yield _short(printed)


def _shown(data: Mapping[str, Any], writer: markdown.MarkdownWriter) -> Iterator[str]:
    """Return a result in the form that says most as text."""
    if (html := _text(data.get("text/html"))) and "<table" in html.lower():
        soup = soup_of(html)
        tables = [t for t in soup.find_all("table") if not t.find_parent("table")]
        written = [_cut(block) for tag in tables for block in HtmlWriter(Outline()).block(tag)]
        if any(block.strip() for block in written):
            yield from (block for block in written if block.strip())
            return
    if said := _text(data.get("text/markdown")).strip():
        yield from writer.nested(said)
        return
    plain = _text(data.get("text/plain")).strip()
    if plain and not _OBJECT.match(plain) and not any(str(mime).startswith("image/") for mime in data):
        yield _short(plain)


def _short(text: str) -> str:
    """Return an output as a block of text: without colours, of a bar that moves its last state, and cut."""
    lines = [
        line.rsplit("\r", 1)[-1].rstrip() for line in _ANSI.sub("", text.replace("\r\n", "\n")).split("\n")
    ]
    while lines and not lines[0].strip():
        del lines[0]
    kept = "\n".join(lines[:MAX_OUTPUT_LINES])
    if len(kept) > MAX_OUTPUT_CHARACTERS:
        kept = kept[:MAX_OUTPUT_CHARACTERS].rsplit("\n", 1)[0]
    return fence(kept if len(kept) >= len("\n".join(lines).rstrip()) else f"{kept.rstrip()}\n…")


def _cut(block: str) -> str:
    lines = block.split("\n")
    return "\n".join([*lines[:MAX_ROWS], "| … |"] if len(lines) > MAX_ROWS + 1 else lines)
