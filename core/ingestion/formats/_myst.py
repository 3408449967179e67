"""MyST's directives in Markdown fences: the same vocabulary as in reStructuredText."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from core.domain import RawDocument
from core.ingestion.formats._files import location, read_within
from core.ingestion.formats._outline import fence, labelled, one_line
from core.ingestion.formats._vocabulary import ADMONITIONS, AUTODOC, CODE, DROPPED, LABELS, TITLED, VERSIONS

MAX_DEPTH = 5
"""Files that may include one another in a chain; ours."""

# Docusaurus, VitePress and pandoc have these beside Sphinx's.
_CONTAINERS = frozenset(
    {"info", "success", "failure", "abstract", "example", "quote", "bug", "caution", "details"}
)


@dataclass(frozen=True, slots=True)
class Directive:
    """One `{name} argument` fence with its options and its text."""

    name: str
    argument: str
    options: dict[str, str]
    content: str


class Writer(Protocol):
    """What a directive needs of the document's writer."""

    def nested(self, text: str) -> list[str]:
        """Parse text to Markdown blocks."""


def is_admonition(name: str) -> bool:
    """Tell whether a container's name is what its text should be labelled with."""
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
    """Tell whether what it stands for may have headings of its own."""
    return given.name in ("include", "eval-rst") or given.name.removeprefix("auto") in AUTODOC


def sections(given: Directive, raw: RawDocument, depth: int) -> list[tuple[str, str, str]]:
    """Return (heading, anchor, text) of included files, embedded reStructuredText and documented code."""
    # These formats include each other, so neither can be imported before the other.
    from core.ingestion.formats import markdown, rst

    if depth >= MAX_DEPTH:
        return []
    if given.name == "include":
        file = location(raw)
        found = read_within(raw.root, file.parent, given.argument) if file else None
        if found is None:
            return []
        path, text = found
        inner = RawDocument(raw.path, raw.url, b"", "markdown", raw.root, str(path))
        if path.suffix in (".rst", ".txt"):
            parsed = rst.parse(inner, text).sections
        else:
            writer = markdown.MarkdownWriter(inner, myst=True, depth=depth + 1)
            writer.write(text)
            parsed = writer.outline.sections()
    else:
        options = "".join(f"   :{name}: {value}\n" for name, value in given.options.items())
        source = (
            given.content if given.name == "eval-rst" else f".. {given.name}:: {given.argument}\n{options}"
        )
        parsed = rst.parse(raw, source).sections
    return [(s.headings[-1] if s.headings else "", s.anchor, s.text) for s in parsed]


def blocks(given: Directive, writer: Writer) -> list[str]:
    """Write a directive in a fence as Markdown blocks."""
    if given.name in CODE or given.name == "literalinclude":
        language = given.argument.split()[:1]
        return [fence(given.content, language[0] if language else CODE.get(given.name) or "")]
    if given.name in DROPPED or opens_sections(given):
        return []
    if given.name == "math":
        return [f"$$\n{given.content.strip()}\n$$"]
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
