"""Docstrings as Google writes them, for the formats that show code: their sections as lists."""

from __future__ import annotations

import re

_SECTION = re.compile(
    r"^(?P<name>Args|Arguments|Parameters|Params|Attributes|Returns|Yields|Receives|Raises|Warns|See Also"
    r"|Examples?|Notes?|Warnings?|Tips?|References|Other Parameters|Keyword Arg(?:ument)?s|Deprecated|Todo"
    r"|Type [Pp]arameters|Functions|Methods|Classes|Modules):(?: *(?P<title>\S[^\n]*))?[ \t]*$"
)
_LISTED = frozenset(
    """args arguments parameters params attributes returns yields receives raises warns functions methods
    classes modules""".split()  # noqa: SIM905
) | {"other parameters", "keyword args", "keyword arguments", "type parameters"}
_ENTRY = re.compile(
    r"^(?P<name>\*{0,2}(?:[\w.`\[\],|]++| ++(?![ \t]*\())++)"
    r"(?:[ \t]*+\((?P<type>[^()\n]*+(?:\([^()]*+\)[^()\n]*+)*+)\))?:(?:[ \t]++(?P<said>\S.*)|[ \t]*+)$"
)


def as_markdown(docstring: str) -> str:
    """Return a docstring as Markdown: its sections under bold names, what they list as lists."""
    return _written(docstring, "`")


def as_rst(docstring: str) -> str:
    """Return a docstring as reStructuredText, with what its sections list as lists; titles become bold."""
    text = _written(docstring, "``")
    return _TITLE.sub(r"\n.. rubric:: \1\n", text)


_TITLE = re.compile(r"^(\S[^\n]*)\n([=~^\"#*-])\2{2,}[ \t]*$", re.M)
"""An underlined title, as in NumPy's docstrings."""


def _written(docstring: str, mark: str) -> str:
    lines = docstring.expandtabs(4).split("\n")
    out: list[str] = []
    position = 0
    while position < len(lines):
        found = _SECTION.match(lines[position])
        end = position + 1
        while end < len(lines) and (not lines[end].strip() or lines[end].startswith("  ")):
            end += 1
        body = lines[position + 1 : end]
        listed = bool(found and found["name"].lower() in _LISTED)
        # reStructuredText reads the others itself, and `Example::` is code
        known = found if mark == "`" or (listed and found and not found["title"]) else None
        if not known or not any(line.strip() for line in body):
            out.append(lines[position])
            position += 1
            continue
        width = min(len(line) - len(line.lstrip()) for line in body if line.strip())
        body = [line[width:] for line in body]
        out += ["", f"**{(known['title'] or known['name']).strip()}:**", ""]
        out += _entries(body, mark) if listed else body
        out.append("")
        position = end
    return "\n".join(out)


def _entries(lines: list[str], mark: str) -> list[str]:
    """Write `name (type): text` as items; what is indented below, or goes on, belongs to its item."""
    out: list[str] = []
    width = 0
    for line in lines:
        found = _ENTRY.match(line)
        depth = len(line) - len(line.lstrip())
        if found and not depth and (found["said"] or found["type"] or " " not in found["name"]):
            kind = f" ({found['type']})" if found["type"] else ""
            out.append(f"- {mark}{found['name'].strip('`')}{mark}{kind}: {found['said'] or ''}".rstrip())
            width = 0
        elif not line.strip():
            out.append("")
        elif not depth:
            goes_on = bool(out and out[-1].strip()) and " " in line.strip()
            out.append(f"  {line}" if goes_on else f"- {line}")
        else:
            width = width or depth
            out.append("  " + line[min(depth, width) :])
    return out
