"""mkdocstrings' `::: package.module.Class`: docstrings as Google writes them, to Markdown."""

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
    r"(?:[ \t]*+\((?P<type>[^()\n]*+(?:\([^()]*+\)[^()\n]*+)*+)\))?:[ \t]++(?P<said>\S.*)$"
)


def as_markdown(docstring: str) -> str:
    """Return a docstring as Markdown: its sections under bold names, what they list as lists."""
    lines = docstring.expandtabs(4).split("\n")
    out: list[str] = []
    position = 0
    while position < len(lines):
        found = _SECTION.match(lines[position])
        end = position + 1
        while end < len(lines) and (not lines[end].strip() or lines[end].startswith("  ")):
            end += 1
        body = lines[position + 1 : end]
        if not found or not any(line.strip() for line in body):
            out.append(lines[position])
            position += 1
            continue
        width = min(len(line) - len(line.lstrip()) for line in body if line.strip())
        body = [line[width:] for line in body]
        name = found["name"]
        out += ["", f"**{(found['title'] or name).strip()}:**", ""]
        out += _entries(body) if name.lower() in _LISTED else body
        out.append("")
        position = end
    return "\n".join(out)


def _entries(lines: list[str]) -> list[str]:
    """Write `name (type): text` as items; what is indented below belongs to its item."""
    out: list[str] = []
    for line in lines:
        found = _ENTRY.match(line)
        if found:
            kind = f" ({found['type']})" if found["type"] else ""
            out.append(f"- `{found['name'].strip('`')}`{kind}: {found['said']}")
        elif line.strip() and not line.startswith(" "):
            out.append(f"- {line}")
        else:
            out.append(line)
    return out
