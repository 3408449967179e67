"""A docutils tree to sections of Markdown; it looks at tag names only, so docutils stays behind `rst.py`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from core.ingestion.formats._outline import Outline
from core.ingestion.formats._shared import (
    TAB_CHARACTERS,
    as_code,
    bullets,
    fence,
    inline_code,
    labelled,
    listed,
    unfolded,
)
from core.ingestion.formats.rst.definitions import goes_on, introduces
from core.ingestion.formats.rst.fields import written
from core.text.tables import spread, table
from core.text.words import one_line
from core.vocabulary import words_of

_WORDS = words_of(__package__)
_SILENT = frozenset(_WORDS["silent_nodes"].split())
_ADMONITIONS = frozenset(_WORDS["admonition_nodes"].split())


class Writer:
    """Writes one tree into an `Outline`.

    `labels` gives the title for a `:ref:` without text where its label stands in this document.
    """

    def __init__(self, labels: dict[str, str]) -> None:
        self.labels = labels
        self.outline = Outline()
        self._level = 0

    # --- sections ---------------------------------------------------------------------------------

    def document(self, tree: Any) -> None:
        """Write a whole document."""
        children = list(tree.children)
        # A field list before everything else is the page's metadata (`:orphan:`).
        if children and children[0].tagname in ("field_list", "docinfo"):
            children = children[1:]
        self._write(children)

    def _write(self, children: Iterable[Any]) -> None:
        for child in children:
            tag = child.tagname
            if tag == "section":
                title = next((c for c in child.children if c.tagname == "title"), None)
                self._level += 1
                self.outline.heading(
                    self._level, self.inline(title) if title is not None else "", _anchor(child["ids"])
                )
                self._write(c for c in child.children if c is not title)
                self._level -= 1
            elif tag == "desc":
                self._object(child)
            elif tag == "indexed":
                self.outline.index(child["terms"])
            elif tag == "tab" and sum(map(len, self.blocks(child))) > TAB_CHARACTERS:
                with self.outline.under(child["label"].strip("*").rstrip(":"), ""):
                    self._write(child.children)
            elif tag == "passage" or (tag in ("compound", "container") and _holds_desc(child)):
                self._write(child.children)
            else:
                self.outline.add(self.block(child))

    def _object(self, node: Any) -> None:
        if not node["heading"]:
            self._write(node.children)
            return
        with self.outline.under(node["heading"], node["anchor"], node.get("page", "")):
            self.outline.add("\n".join(inline_code(signature) for signature in node["signatures"]))
            self._write(node.children)

    # --- blocks -----------------------------------------------------------------------------------

    def blocks(self, node: Any) -> list[str]:
        """Write a node's children as blocks."""
        return [text for child in node.children if (text := self.block(child)).strip()]

    def block(self, node: Any) -> str:
        """Write one body element."""
        tag = node.tagname
        if tag in _SILENT:
            return self._image(node) if tag == "image" else ""
        writer: Callable[[Any], str] | None = getattr(self, f"_{tag}", None)
        if writer is not None:
            return writer(node)
        if tag in _ADMONITIONS:
            return labelled(f"**{tag.capitalize()}:**", self.blocks(node))
        if _is_inline(node) or (node.children and all(_is_inline(child) for child in node.children)):
            return one_line(self.inline(node))
        return "\n\n".join(self.blocks(node))

    def _paragraph(self, node: Any) -> str:
        said = one_line(self.inline(node))
        # stars with spaces inside make nothing bold: somebody meant a heading
        starred = _STARRED.fullmatch(said)
        return f"**{starred[1]}**" if starred else said

    def _markdown(self, node: Any) -> str:
        return str(node["text"])

    _rubric = _caption = _attribution = _paragraph

    def _labelled(self, node: Any) -> str:
        return labelled(node["label"], self.blocks(node))

    _tab = _labelled

    def _literal_block(self, node: Any) -> str:
        return fence(*unfolded(node.astext(), node.get("language", "") or _code_class(node)))

    _doctest_block = _literal_block

    def _math_block(self, node: Any) -> str:
        return f"$$\n{node.astext().strip()}\n$$"

    def _line_block(self, node: Any) -> str:
        lines = [self._line_block(c) if c.tagname == "line_block" else self.inline(c) for c in node.children]
        return "\n".join(line for line in lines if line.strip())

    def _bullet_list(self, node: Any) -> str:
        return bullets([self.blocks(entry) for entry in node.children])

    def _enumerated_list(self, node: Any) -> str:
        start = int(node.get("start", 1))
        if len(node.children) == 1 and node["enumtype"] == "upperalpha":  # an initial: "J. Doe"
            return labelled(
                f"{node['prefix']}{chr(64 + start)}{node['suffix']}", self.blocks(node.children[0])
            )
        return bullets([self.blocks(entry) for entry in node.children], start=start)

    def _definition_list(self, node: Any) -> str:
        if len(node.children) == 1 and (goes_on(node) or introduces(node)):
            term, *rest = (text for part in node.children[0].children for text in self._lines_of(part))
            if introduces(node):
                return labelled(one_line(term), rest)
            return "\n\n".join([one_line(f"{term} {' '.join(rest[:1])}"), *rest[1:]])
        entries = []
        for entry in node.children:
            names = [self.inline(c) for c in entry.children if c.tagname == "term"]
            kinds = [self.inline(c) for c in entry.children if c.tagname == "classifier"]
            term = ", ".join(names) + (f" ({', '.join(kinds)})" if kinds else "")
            body = [text for c in entry.children if c.tagname == "definition" for text in self.blocks(c)]
            entries.append([labelled(f"{one_line(term).rstrip(' :,')}:", body)])
        return bullets(entries)

    def _lines_of(self, part: Any) -> list[str]:
        return [self.inline(part)] if part.tagname == "term" else self.blocks(part)

    def _option_list(self, node: Any) -> str:
        entries = []
        for entry in node.children:
            names = [inline_code(option.astext()) for option in entry.children[0].children]
            entries.append([labelled(", ".join(names) + ":", self.blocks(entry.children[1]))])
        return bullets(entries)

    def _field_list(self, node: Any) -> str:
        return written(node, self.blocks)

    def _table(self, node: Any) -> str:
        caption = next((self.inline(c) for c in node.children if c.tagname == "title"), "")
        rows = [
            [
                (
                    one_line(" ".join(map(_in_a_cell, self.blocks(entry)))),
                    entry.get("morerows", 0) + 1,
                    entry.get("morecols", 0) + 1,
                )
                for entry in row.children
            ]
            for row in node.findall(lambda n: n.tagname == "row")
        ]
        heads = sum(len(head.children) for head in node.findall(lambda n: n.tagname == "thead"))
        if not heads and (lists := listed(rows)):
            return f"{caption}\n\n{lists}" if caption else lists
        return table(spread(rows, heads), one_line(caption), headed=heads > 0)

    def _image(self, node: Any) -> str:
        alternative = one_line(node.get("alt", ""))
        return alternative if " " in alternative else ""

    def _footnote(self, node: Any) -> str:
        label = next((c.astext() for c in node.children if c.tagname == "label"), "")
        body = [self.block(c) for c in node.children if c.tagname != "label"]
        mark = "^" if node.tagname == "footnote" else ""
        return labelled(f"[{mark}{label}]", body) if label else "\n\n".join(body)

    _citation = _footnote

    def _desc(self, node: Any) -> str:
        return "\n\n".join(["\n".join(inline_code(s) for s in node["signatures"]), *self.blocks(node)])

    def _topic(self, node: Any) -> str:
        title = next((self.inline(c) for c in node.children if c.tagname == "title"), "")
        blocks = self.blocks(node)
        return labelled(f"**{one_line(title)}:**", blocks) if title else "\n\n".join(blocks)

    _sidebar = _admonition = _topic

    def _system_message(self, node: Any) -> str:
        # docutils wraps what it could not read (a crooked table) into its complaint: the text is
        # still worth having, a directive's source is not.
        source = next((c.astext() for c in node.children if c.tagname == "literal_block"), "")
        return fence(source) if re.match(r"\s*[+=]{2}|\s*\+-", source) else ""

    # --- inline -----------------------------------------------------------------------------------

    def inline(self, node: Any) -> str:
        """Write text with its inline markup; links keep their text only."""
        tag = node.tagname
        if tag == "#text":
            return as_code(_dashed(str(node.astext())))
        if tag in ("literal", "math"):
            return inline_code(node.astext())
        if tag == "image":
            return self._image(node)
        if tag in ("target", "reference", "inline") and node.get("label_text"):
            return self.labels.get(node["label_text"]) or str(node.astext())
        if tag in ("footnote_reference", "citation_reference") and node.astext():
            return f"[{'^' * (tag[0] == 'f')}{node.astext()}]"
        if tag in ("raw", "system_message", "comment"):
            return ""
        if tag in ("problematic", "substitution_reference"):
            # Markup that docutils could not close (`*args`, `name_`): what was written is the text. Of a
            # replacement that is nowhere defined its name, and nothing where it is all there is.
            return _named(node)
        said, run = [], ""
        spelled = _dashed if tag == "title" else _spelled
        for child in node.children:
            if child.tagname == "#text" or (child.tagname == "problematic" and not child.astext().strip("*")):
                run += child.astext()  # stars that begin nothing are text
            else:
                run = _ROLE.sub("", run) if child.tagname == "literal" else run
                meant = child.tagname == "footnote_reference" and _TOLD_IN.search(run)
                said += [spelled(run), f"note {child.astext()}" if meant else self.inline(child)]
                run = ""
        inner = "".join([*said, spelled(run)])
        if tag == "strong" and inner.strip():
            inner = _DOUBLE.sub(r"`\1`", inner)
            return f"**{inner}**"
        if tag in ("emphasis", "title_reference") and inner.strip():
            return f"*{inner}*"
        return inner


_STARRED = re.compile(r"\*{2,3} ([^*]{1,80}[^*\s]) ?\*{2,3}")
_TOLD_IN = re.compile(r"(?<![\w-])(?:or|and|see|also|in|of|from|by|with|per|to)\s\Z", re.IGNORECASE)
"""What stands before a footnote that is a word of its sentence: "see [1]_ for more"."""
_ROLE = re.compile(r"(?<!\S):(?:[a-z]{1,12}:){1,2}\Z")
"""A role before code, with one backtick too many for a role; one within code is the text itself."""


_DOUBLE = re.compile(r"``([^`]+)``")
"""Code within bold print, where reStructuredText has no markup."""


_DASH = re.compile(r"(?<=[^\s-])---(?=[^\s-])|(?<= )---(?= )")


def _dashed(text: str) -> str:
    """Write a dash as pages show it: "here---there" is "here—there"."""
    return _DASH.sub("—", text)


def _spelled(text: str) -> str:
    return as_code(_dashed(text))


def _named(node: Any) -> str:
    written = str(node.astext())
    name = re.fullmatch(r"\|([^|\n]+)\|", written)
    if name is None:
        return written
    return "" if node.parent.astext().strip() == written else name[1]


def _anchor(ids: list[str]) -> str:
    """Choose a section's anchor as Sphinx does: a numbered id only where there is no other."""
    return next((name for name in ids if not re.fullmatch(r"id\d+", name)), ids[0] if ids else "")


def _in_a_cell(block: str) -> str:
    """Return a block as it fits into a cell of a table: what is said in lines of code one after another."""
    if not block.startswith("```"):
        return block
    told: list[str] = []
    opened, goes_on = 0, False
    for line in filter(None, map(str.strip, block.split("\n")[1:-1])):
        said = line.removesuffix("\\").rstrip()
        if told and (goes_on or opened > 0 or said[:1] in ")]}."):
            told[-1] += f" {said}"
        else:
            told.append(said)
            opened = 0
        opened += sum(map(said.count, "([{")) - sum(map(said.count, ")]}"))
        goes_on = said != line
    return ", ".join(map(inline_code, told))


def _is_inline(node: Any) -> bool:
    return node.tagname in (
        "#text", "literal", "reference", "inline", "emphasis", "strong", "title_reference", "superscript",
        "subscript", "footnote_reference", "citation_reference", "math", "problematic", "abbreviation",
        "substitution_reference", "generated",
    )  # fmt: skip


def _holds_desc(node: Any) -> bool:
    return any(True for _ in node.findall(lambda n: n.tagname in ("desc", "section")))


def _code_class(node: Any) -> str:
    classes = [c for c in node.get("classes", []) if c not in ("code", "literal-block")]
    return classes[0] if classes else ""
