"""MyST's directives in Markdown fences: the same vocabulary as in reStructuredText.

Docstrings that mkdocstrings (`::: package.module.Class`) shows become Markdown, too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from core.domain import RawDocument, Section
from core.ingestion import autodoc, front_matter
from core.ingestion.docstrings import as_markdown
from core.ingestion.formats import parser_of
from core.ingestion.formats._shared import (
    fence,
    inline_code,
    labelled,
    location,
    read_within,
    session,
    sliced,
)
from core.ingestion.formats.markdown import extensions as _extensions
from core.ingestion.formats.rst.cells import is_hidden, seen
from core.ingestion.formats.rst.sphinx import (
    ADMONITIONS,
    AUTODOC,
    CODE,
    DRAWINGS,
    DROPPED,
    ENDINGS,
    LABELS,
    TITLED,
    VERSIONS,
    conf_of,
    for_html,
)
from core.ingestion.sites import Site
from core.text.words import one_line

MAX_DEPTH = 5
"""Files that may include one another in a chain; ours."""

# Docusaurus, VitePress and pandoc have these beside Sphinx's.
_CONTAINERS = frozenset(
    {"info", "success", "failure", "abstract", "example", "quote", "bug", "caution", "details"}
)


_CARDS = frozenset({"card", "grid-item-card", "panels"})
_CARD_PART, _PANEL = re.compile(r"(?:\^{3,}|\+{3,})[ \t]*"), re.compile(r"-{3,}[ \t]*")
"""What stands between the head, the text and the foot of a card, and between panels."""
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,}|:{3,})")


@dataclass(frozen=True, slots=True)
class Directive:
    """One `{name} argument` fence with its options and its text."""

    name: str
    argument: str
    options: dict[str, str]
    content: str


class Writer(Protocol):
    """What a directive needs of the document's writer."""

    raw: RawDocument
    depth: int

    def nested(self, text: str) -> list[str]:
        """Parse text to Markdown blocks."""


def is_admonition(name: str) -> bool:
    """Return True if a container's name is what its text should be labelled with."""
    return name in ADMONITIONS or name in _CONTAINERS


def directive(info: str, content: str) -> Directive | None:
    """Read a fence as a directive, None where it is code."""
    found = re.match(r"\s*\{([\w:+-]+)\}\s*(.*)$", info)
    if not found:
        return None
    options: dict[str, str] = {}
    lines = content.split("\n")
    if lines and lines[0].strip() == "---":
        end = next((i for i, line in enumerate(lines[1:], 1) if line.strip() == "---"), 0)
        options = {k.strip(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:end])}
        lines = lines[end + 1 :]
    while lines and (option := re.match(r"\s*:([\w-]+):\s*(.*)$", lines[0])):
        options[option.group(1)] = option.group(2)
        lines = lines[1:]
    return Directive(found.group(1).lower(), found.group(2).strip(), options, "\n".join(lines))


def opens_sections(given: Directive) -> bool:
    """Return True if what it stands for may have headings of its own."""
    return (
        given.name in ("include", "literalinclude", "eval-rst", "documented")
        or given.name.removeprefix("auto") in AUTODOC
    )


def sections(given: Directive, raw: RawDocument, depth: int) -> Sequence[Section]:
    """Return what included files, embedded reStructuredText and documented code say.

    An included file's headings run from its outermost one; of the others it is the innermost alone.
    """
    # these formats include each other, so neither can be imported before the other
    markdown, rst = parser_of("markdown"), parser_of("rst")
    if depth >= MAX_DEPTH:
        return []
    if given.name == "documented":
        return _documented_code(given, raw)
    if given.name == "include":
        file = location(raw)
        found = read_within(raw.root, file.parent, given.argument) if file else None
        if found is None:
            return []
        path, text = found
        text = sliced(text, given.options)
        if "literal" in given.options or "code" in given.options:
            return [
                Section((), "", fence(text, given.options.get("code", "") or ENDINGS.get(path.suffix, "")))
            ]
        inner = RawDocument(raw.path, raw.url, b"", "markdown", raw.root, str(path))
        if path.suffix in (".rst", ".txt"):
            included: Sequence[Section] = rst.parse(inner, text).sections
            return included
        writer = markdown.MarkdownWriter(inner, myst=True, depth=depth + 1)
        writer.write_page(front_matter.split(text)[1])
        read: Sequence[Section] = writer.outline.sections()
        return read
    options = "".join(f"   :{name}: {value}\n" for name, value in given.options.items())
    source = given.content if given.name == "eval-rst" else f".. {given.name}:: {given.argument}\n{options}"
    return [replace(one, headings=one.headings[-1:]) for one in rst.parse(raw, source).sections]


def _documented_code(given: Directive, raw: RawDocument) -> list[Section]:
    """Return what mkdocstrings shows of an object of the code, under the anchors that it gives."""
    markdown = parser_of("markdown")
    kind = autodoc.kind_of(raw.root, given.argument)
    options = {} if given.options.get("members", "").lower() == "false" else given.options
    entries = autodoc.documented(raw.root, kind, given.argument, "", options) if kind else ()
    found: list[Section] = []
    for entry in entries:
        writer = markdown.MarkdownWriter(raw, depth=MAX_DEPTH)
        text = _extensions.plain(as_markdown(entry.docstring))
        body = writer.nested(text) if text.strip() else []
        shown = [inline_code(entry.signature)] if entry.signature else []
        if shown or body:
            found.append(Section((entry.heading,), entry.name, "\n\n".join([*shown, *body])))
    return found


def _without_parts(given: Directive) -> str:
    """Return the text of a card without the lines that part it; in code they are code."""
    kept, fence_ = [], ""
    for line in given.content.split("\n"):
        opened = _FENCE.match(line)
        if opened and not fence_:
            fence_ = opened[1]
        elif opened and line.strip().startswith(fence_) and not line.strip().strip(fence_[0]):
            fence_ = ""
        elif not fence_ and (
            _CARD_PART.fullmatch(line) or (given.name == "panels" and _PANEL.fullmatch(line))
        ):
            line = ""
        kept.append(line)
    return "\n".join(kept)


def blocks(given: Directive, writer: Writer) -> list[str]:
    """Write a directive in a fence as Markdown blocks."""
    if opens_sections(given):  # inside of a list or a note: its headings are only bold there
        found = sections(given, writer.raw, writer.depth)
        return [
            block
            for one in found
            for block in [*(f"**{heading}**" for heading in one.headings[-1:]), one.text]
        ]
    if given.name in DRAWINGS:
        return writer.nested(given.options.get("caption") or given.options.get("alt", ""))
    if given.name in CODE:
        if is_hidden(given.name, given.options, conf_of(writer.raw).hidden_plots):
            return writer.nested(given.options.get("caption", ""))
        language = CODE.get(given.name) or ""
        if said := given.argument.split()[:1]:
            language = said[0]
        content = "\n".join(seen(given.name, given.content.split("\n")))
        return [fence(content, "python" if language in ("ipython", "ipython3", "python3") else language)]
    if given.name in DROPPED or (given.name == "only" and not for_html(given.argument)):
        return []
    if given.name == "math":
        return [f"$$\n{given.content.strip()}\n$$"]
    if given.name in _CARDS:
        given = replace(given, content=_without_parts(given))
    known = given.name in VERSIONS or given.name in TITLED or is_admonition(given.name)
    if not known and (language := session(given.content)):  # a project's own (pip's `pip-cli`)
        return [fence(given.content, language)]
    return written(given, writer.nested(given.content), writer)


def written(given: Directive, body: list[str], writer: Writer) -> list[str]:
    """Put what a directive's name means before its text."""
    name, argument = given.name, given.argument
    if name in DROPPED:
        return []
    if name in VERSIONS:
        version, _, text = argument.partition(" ")
        body = [*writer.nested(text), *body]
        label = VERSIONS[name].format(version)
        return [labelled(f"{label}:" if body else f"{label}.", body)]
    if is_admonition(name):
        body = [*writer.nested(argument), *body]
        return [labelled(f"**{LABELS.get(name, name.capitalize())}:**", body)]
    if name in TITLED or (" " in argument and body):
        title = one_line(" ".join(writer.nested(argument)))
        return [labelled(f"**{title.rstrip(':')}:**", body)] if title else body
    if name in ("image", "figure"):
        alternative = given.options.get("alt", "")
        return [alternative, *body] if " " in alternative else body
    return body


Slug = Callable[[str, dict[str, int], int], str]
"""Makes the anchor of a heading of a level; the dictionary counts what the page has had before."""
_MKDOCS = re.compile(
    r"^[ \t]*(?:!!!|\?\?\?\+?)[ \t]+\w|^[ \t]*===[!+]?[ \t]+\"|^[ \t]*-+8<-+[ \t]+[\"']", re.M
)


def slug_of(raw: RawDocument, site: Site | None, text: str, myst: bool) -> Slug:
    """Choose how headings get their anchors: by the site's configuration, else by the page's own marks."""
    if site is not None:
        mkdocs = pymdownx if site.slugs else python_markdown
        return mkdocs if site.kind == "mkdocs" else docusaurus
    if myst or conf_of(raw).folder:
        return docutils
    return python_markdown if _MKDOCS.search(text) else github


def github(heading: str, seen: dict[str, int], level: int = 2) -> str:
    """Return GitHub's anchor: punctuation goes, each space is a dash, `-1` for the second."""
    base = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
    name = base
    while name in seen:
        seen[base] += 1
        name = f"{base}-{seen[base]}"
    seen[name] = 0
    return name


def docusaurus(heading: str, seen: dict[str, int], level: int = 2) -> str:
    """Return GitHub's anchor, but none for a page's title, which has no id there."""
    anchor = github(heading, seen)
    return "" if level == 1 else anchor


def python_markdown(heading: str, seen: dict[str, int], level: int = 2) -> str:
    """Return MkDocs' anchor: plain letters only, one dash for spaces and dashes, `_1` for the second."""
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode("ascii")
    plain = re.sub(r"[^\w\s-]", "", plain).strip().lower()
    return _counted(re.sub(r"[-\s]+", "-", plain), seen)


def pymdownx(heading: str, seen: dict[str, int], level: int = 2) -> str:
    """Return the anchor of pymdownx's slugs in lower case: as GitHub's, but `_1` for the second."""
    plain = re.sub(r"[^\w\- ]", "", unicodedata.normalize("NFC", heading).strip().lower())
    return _counted(plain.replace(" ", "-"), seen)


def docutils(heading: str, seen: dict[str, int], level: int = 2) -> str:
    """Return Sphinx's and MyST's anchor: letters, digits, single dashes; `id1` where it is taken or empty."""
    plain = unicodedata.normalize("NFKD", heading.lower()).encode("ascii", "ignore").decode("ascii")
    name = re.sub(r"^[-0-9]+|-+$", "", re.sub(r"[^a-z0-9]+", "-", plain))
    if name and name not in seen:
        seen[name] = 1
        return name
    seen["\0"] = seen.get("\0", 0) + 1
    return f"id{seen[chr(0)]}"


def jupyter(heading: str, seen: dict[str, int], level: int = 2) -> str:
    """Return Jupyter's anchor: the text with dashes for spaces; of two that are alike the first is linked."""
    return re.sub(r"\s+", "-", heading.strip())


def _counted(name: str, seen: dict[str, int]) -> str:
    while not name or name in seen:
        numbered = re.fullmatch(r"(.*)_(\d+)", name)
        name = f"{numbered[1]}_{int(numbered[2]) + 1}" if numbered else f"{name}_1"
    seen[name] = 0
    return name
