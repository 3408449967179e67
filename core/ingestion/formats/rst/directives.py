"""What each Sphinx directive means for a reader, as docutils nodes; files are included from the source."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from typing import Any

from core.domain import RawDocument
from core.ingestion.formats import parser_of
from core.ingestion.formats._shared import location, read_within, session, sliced
from core.ingestion.formats.rst.call import Call, described, registered
from core.ingestion.formats.rst.cards import button, card, panels
from core.ingestion.formats.rst.cells import PLOTS, is_hidden, seen
from core.ingestion.formats.rst.code import documented, module, summary
from core.ingestion.formats.rst.sphinx import (
    ADMONITIONS,
    AUTODOC,
    CODE,
    DOMAINS,
    DRAWINGS,
    DROPPED,
    ENDINGS,
    HAVE_CLASSES,
    LABELS,
    OBJECTS,
    TITLED,
    VERSIONS,
    for_html,
    object_id,
    text_of,
)
from core.text.tables import spread, table

MAX_INCLUDES = 200
"""Includes that one document may make in all, so that files that include each other end; ours."""
MAX_ROWS = 1_000
"""Rows of a table that are read from a file; ours."""
MAX_DEPTH = 10
"""Files that may include one another in a chain; ours."""
MAX_TERM = 100
"""Characters of an entry of an index that are kept; ours."""
_INDEXED = frozenset(
    {"single", "pair", "triple", "see", "seealso", "module", "keyword", "operator", "object", "exception"}
    | {"statement", "builtin"}
)
"""Kinds of entries of Sphinx's index, those of old among them."""


def run(call: Call) -> list[Any]:
    """Return the nodes of any directive, known or not."""
    name = call.name
    domain, _, local = name.rpartition(":")
    if name in ("role", "autosummary"):
        return _role(call) if name == "role" else summary(call)
    if "alt" in call.presets and name == "raw":  # what a substitution stands for
        return [call.nodes.Text(text_of("\n".join(call.content)) if "html" in call.argument else " ")]
    if name in DROPPED or (domain and local in DROPPED and name not in CODE and name != "rst:role"):
        return []
    if name == "todo" and not call.session.conf.shows_todos:
        return []
    if name in DRAWINGS:
        return _drawing(call)
    if name in CODE:
        if name in PLOTS and call.argument:  # the code is in a file, its caption stands here
            return call.body() or _drawing(call)
        hidden = is_hidden(name, call.options, call.session.conf.hidden_plots)
        return _drawing(call) if hidden else _code(call, CODE[name])
    if name in VERSIONS:
        return _version(call)
    if name == "class" and call.session.conf.domain not in HAVE_CLASSES:
        return call.body()  # docutils' own: how the text is styled
    if name in _HANDLERS:
        return _HANDLERS[name](call)
    if name in ADMONITIONS:
        return [
            call.make(
                "labelled", *call.body(with_head=True), label=f"**{LABELS.get(name, name.capitalize())}:**"
            )
        ]
    if name.startswith("auto") and name.removeprefix("auto") in AUTODOC:
        return documented(call)
    if own := call.session.conf.own.directives.get(name):
        return _code(call, "") if own == "code-block" else registered(call, own)
    if (not domain or domain.split(":")[0] in DOMAINS) and (local in OBJECTS or domain == "http"):
        return described(call)
    return _unknown(call)


def _unknown(call: Call) -> list[Any]:
    content = "\n".join(call.content)
    if language := session(content):  # a project's own (pip's `pip-cli`)
        return call.code(content, language)
    # An argument with a space is a title or text (`.. card:: Get started`); without, a name or a path.
    if " " not in call.argument.strip():
        return call.body()
    if len(call.content):
        return [
            call.nodes.paragraph("", "", call.nodes.strong("", "", *call.inline(call.argument))),
            *call.body(),
        ]
    return call.body(with_head=True)


def _code(call: Call, language: str | None) -> list[Any]:
    lines = seen(call.name, call.content)
    if language is None:
        # Their argument is the first line of the text: `.. productionlist:: name`.
        if call.name != "productionlist":
            lines = [*call.head, *lines]
        if call.name != "parsed-literal" or not lines:
            return call.code("\n".join(lines), "")
        text = "\n".join(lines)  # its markup is shown as such: `|release|`, `**here**`
        return [call.nodes.literal_block(text, "", *call.inline(text), language="")]
    first = call.argument.split()[:1]
    if len(call.head) > 1:
        lines = [*call.head[1:], *lines]
    if call.name.startswith(("click:", "doctest", "test", "jupyter", "exec")) or "plot" in call.name:
        first = []  # a name, not a language
    caption = call.options.get("caption", "")
    title = [call.nodes.paragraph("", "", *call.inline(caption))] if caption else []
    return title + call.code("\n".join(lines), first[0] if first else language)


def _version(call: Call) -> list[Any]:
    words = call.argument.split(None, 1)
    label = VERSIONS[call.name].format(words[0] if words else "").strip()
    body: list[Any] = []
    if len(words) > 1:
        text = words[1]
        if call.name == "deprecated-removed":
            removed, _, text = text.partition(" ")
            label += f", removed in version {removed}"
        if text:
            body.append(call.nodes.paragraph("", "", *call.inline(text)))
    body += call.body()
    return [call.make("labelled", *body, label=f"{label}:" if body else f"{label}.")]


def _admonition(call: Call) -> list[Any]:
    title = call.options.get("title") or call.argument
    label = f"**{title.strip().rstrip(':')}:**" if title else ""
    # The title may hold roles: it goes through the same inline parser as any text.
    text = "".join(node.astext() for node in call.inline(title)) if title else ""
    return [call.make("labelled", *call.body(), label=f"**{text.rstrip(':')}:**" if text else label)]


def _tab(call: Call) -> list[Any]:
    """Make a tab of its own kind: where it is long, the writer makes a section of it."""
    made = _admonition(call)
    if made[0].get("label"):
        made[0].tagname = "tab"
    return made


def _rubric(call: Call) -> list[Any]:
    return [call.nodes.paragraph("", "", call.nodes.strong("", "", *call.inline(call.argument)))]


def _body(call: Call) -> list[Any]:
    return call.body()


def _only(call: Call) -> list[Any]:
    return call.body() if for_html(call.argument) else []


def _prose(call: Call) -> list[Any]:
    return call.body(with_head=True)


def _image(call: Call) -> list[Any]:
    alternative = call.options.get("alt") or str(call.presets.get("alt", ""))
    return [call.nodes.image("", uri="", alt=alternative), *(call.body() if call.name != "image" else [])]


def _drawing(call: Call) -> list[Any]:
    """Return what is said about a drawing: its caption, else its description."""
    described = call.options.get("alt", "")
    said = call.options.get("caption") or (described if " " in described else "")
    return [call.nodes.paragraph("", "", *call.inline(said))] if said else []


def _changelog(call: Call) -> list[Any]:
    """Make a release of the `changelog` extension (SQLAlchemy's) a section of its own."""
    version, released = call.options.get("version", ""), call.options.get("released", "")
    node = call.make("desc", heading=version, signatures=[], anchor=object_id(f"change-{version}"))
    if released:
        node += call.nodes.paragraph("", f"Released: {released}")
    node += call.body()
    return [node]


def _program(call: Call) -> list[Any]:
    call.session.program = "" if call.argument == "None" else call.argument.replace(" ", "-")
    return []


def _index(call: Call) -> list[Any]:
    """Note what Sphinx's index lists the place under: `pair: loop; statement` is "loop statement"."""
    terms = []
    for line in (*call.head, *call.content):
        kind, colon, entry = line.strip().lstrip("! ").partition(":")
        if not colon or kind not in _INDEXED:
            kind, entry = "", line.strip()
        if kind not in ("see", "seealso"):
            entries = [entry] if kind else entry.split(",")
            terms += [" ".join(one.replace(";", " ").strip("! ").split()) for one in entries]
        else:
            terms.append(entry.partition(";")[0].strip())
    return [call.make("indexed", terms=[term[:MAX_TERM] for term in terms if term])]


def _glossary(call: Call) -> list[Any]:
    """Make each entry a section of its own under its terms, with the anchor that Sphinx gives the first."""
    terms: list[str] = []
    made: list[Any] = []
    used = set[str]()
    begin, lines = -1, [*call.content, "end"]
    for number, line in enumerate(lines):
        if not line.strip() or line.startswith((" ", "\t")):
            begin = number if terms and begin < 0 and line.strip() else begin
            continue
        if begin >= 0:
            made.append(_term(call, terms, call.content[begin:number], used))
            terms, begin = [], -1
        if not line.startswith(".. ") and line.strip() != "..":
            terms.append(line.split(" : ")[0].strip())
    return made


def _term(call: Call, terms: Sequence[str], told: Any, used: set[str]) -> Any:
    texts = ["".join(node.astext() for node in call.inline(term)) for term in terms]
    anchor = object_id(f"term-{texts[0]}")  # one that is no other's and not the prefix alone
    anchor = "" if anchor == "term" or anchor in used else anchor
    used.add(anchor)
    node = call.make("desc", heading=", ".join(texts), signatures=[], anchor=anchor)
    told.trim_left(min(len(line) - len(line.lstrip()) for line in told if line.strip()))
    node += call.parsed(told)
    return node


def _role(call: Call) -> list[Any]:
    """Note a role of the document's own: `.. role:: code-py(code)`."""
    name, _, base = call.argument.rstrip(")").partition("(")
    if base.strip():
        base = base.strip().lower()
        if base == "raw" and "html" not in call.options.get("format", ""):
            base = "comment"  # for print
        call.session.roles[name.strip().lower()] = base
    return []


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


def _csv(call: Call) -> list[Any]:
    """Return a table whose rows are in a file; docutils itself reads those that are on the page."""
    base = location(call.session.raw)
    found = read_within(call.session.raw.root, base.parent, call.options.get("file", "")) if base else None
    if found is None:
        return call.body()
    mark = {"tab": "\t", "space": " "}.get(call.options.get("delim", ","), call.options.get("delim", ",")[:1])
    heads = call.options.get("header-rows", "")
    lines = [*call.options.get("header", "").splitlines(), *found[1].splitlines()[:MAX_ROWS]]
    rows = [[(cell, 1, 1) for cell in row] for row in csv.reader(lines, delimiter=mark or ",") if row]
    headed = "header" in call.options or (heads.isdigit() and int(heads) > 0)
    return [call.make("markdown", text=table(spread(rows), call.argument, headed=headed))]


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


_HANDLERS: dict[str, Callable[[Call], list[Any]]] = {
    **dict.fromkeys(("include", "literalinclude"), include),
    **dict.fromkeys(("image", "figure", "thumbnail"), _image),
    "changelog": _changelog,
    "csv-table": _csv,
    "glossary": _glossary,
    "index": _index,
    "program": _program,
    **dict.fromkeys(("module", "currentmodule", "py:module", "py:currentmodule"), module),
    **dict.fromkeys(("rubric", "centered", "subtitle"), _rubric),
    **dict.fromkeys(TITLED, _admonition),
    **dict.fromkeys(("card", "grid-item-card"), card),
    "panels": panels,
    "link-button": button,
    **dict.fromkeys(("tab", "group-tab", "tab-item", "code-tab-item"), _tab),
    "only": _only,
    **dict.fromkeys(("ifconfig", "hlist", "tabs", "tab-set", "container", "acks", "div",
                     "grid", "grid-item", "cpp:namespace"), _body),
    **dict.fromkeys(("epigraph", "highlights", "pull-quote", "compound"), _prose),
}  # fmt: skip
