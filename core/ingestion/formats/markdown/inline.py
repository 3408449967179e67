"""What stands inside of a line of Markdown, as plain text with code and strength marked."""

from __future__ import annotations

import re

from markdown_it.tree import SyntaxTreeNode

from core.ingestion.formats._outline import inline_code, one_line
from core.ingestion.formats.rst.sphinx import role

_HIGHLIGHTED = re.compile(r"^(?:#!|:::)[\w+-]+ (?=\S)")  # pymdownx: `#!python x = 1`


def inline(node: SyntaxTreeNode) -> str:
    """Return text with its inline markup; links keep their text only."""
    kind = node.type
    if kind == "text":
        return str(node.content)
    if kind == "code_inline":
        return inline_code(_HIGHLIGHTED.sub("", node.content))
    if kind == "softbreak":
        return " "
    if kind == "hardbreak":
        return "\n"
    if kind == "image":
        alternative = one_line(node.content)
        return alternative if " " in alternative else ""
    if kind == "html_inline":
        return " " if re.match(r"<br\b", node.content, re.I) else ""
    if kind == "myst_role":
        shown = role(str(node.meta.get("name", "")), node.content)
        return inline_code(shown.text) if shown.code else shown.text
    if kind == "footnote_ref":
        return f"[{node.meta.get('label', '')}]" if node.meta.get("label") else ""
    inner = "".join(inline(child) for child in node.children)
    if kind == "strong" and inner.strip():
        return f"**{inner}**"
    if kind == "em" and inner.strip():
        return f"*{inner}*"
    return inner
