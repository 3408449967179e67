"""Markdown as documentation tools write it: CommonMark and GitHub, MkDocs, Docusaurus, MyST."""

from __future__ import annotations

import re
from contextlib import ExitStack
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from mdit_py_plugins.admon import admon_plugin
from mdit_py_plugins.container import container_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.myst_blocks import myst_block_plugin
from mdit_py_plugins.myst_role import myst_role_plugin

from core.domain import Document, RawDocument
from core.errors import NoDocument
from core.ingestion import front_matter
from core.ingestion.formats._outline import Outline
from core.ingestion.formats._shared import (
    DRAWN,
    TAB_CHARACTERS,
    bullets,
    fence,
    heading_text,
    inline_code,
    labelled,
    location,
    starred,
)
from core.ingestion.formats.html.tags import soup_of
from core.ingestion.formats.html.to_markdown import HtmlWriter
from core.ingestion.formats.markdown import myst as _myst
from core.ingestion.formats.markdown import myst as _slugs
from core.ingestion.formats.markdown.extensions import is_contents, is_myst, prepared, told
from core.ingestion.formats.markdown.masking import Masked
from core.ingestion.formats.markdown.myst import Slug, slug_of
from core.ingestion.formats.markdown.pictures import pictured
from core.ingestion.formats.rst.sphinx import role
from core.ingestion.sites import name_of, site_of
from core.text.tables import table
from core.text.words import one_line

_HIGHLIGHTED = re.compile(r"^(?:#!|:::)[\w+-]+ (?=\S)")  # pymdownx: `#!python x = 1`
_ANCHOR = re.compile(
    r"""(?<!\s)\s*+\{:?\s*+(?=[#.:]|[\w-]+=)(?:#(?P<id>[\w.:-]++)|[^{}#]|#(?![\w.:-]))*+\}\s*$"""
)
_ALERT = re.compile(r"^\[!(\w+)\][-+]?\s*")
_CONTAINER = re.compile(r"^\s*+(?:\{?([\w:-]++)\}?|\{\s*+\.([\w-]++)[^}]*+\})\s*+(.*)$")


def parse(raw: RawDocument, text: str) -> Document:
    """Parse a Markdown document, with the anchors that its site gives to headings.

    Raises NoDocument for a page that its front matter keeps off the site.
    """
    front, body = front_matter.split(text)
    if front.hidden:
        raise NoDocument(f"{raw.path} is {front.hidden}, says its front matter")
    site = site_of(raw.root, location(raw))
    myst = site is None and is_myst(body)
    writer = MarkdownWriter(raw, myst=myst, slug=slug_of(raw, site, body, myst))
    if front.description and front.description.rstrip(".") not in body:
        writer.outline.add(front.description)
    variables = {**(site.variables if site else {}), **front.substitutions}
    writer.write(prepared(body, raw, site, variables, myst=myst))
    sections = writer.outline.sections()
    firsts = [section.headings[:1] for section in sections]
    # sections beside each other, or below some text, give the page no name
    beside = len(set(firsts)) > 1 and all(firsts)
    first = next((one[0] for one in firsts if one), raw.path)
    own = "" if beside else first if all(firsts) or not any(firsts) else name_of(raw.path) or first
    menu = site.name_of(file) if site and (file := location(raw)) else ""
    title = front.title or (menu if beside and menu else writer.title) or menu or own
    return Document(raw.path, title, raw.url, sections)


class MarkdownWriter:
    """Rewrites Markdown: links keep their text, directives and containers become labels."""

    def __init__(
        self, raw: RawDocument, *, myst: bool = False, depth: int = 0, slug: Slug = _slugs.github
    ) -> None:
        self.raw = raw
        self.myst = myst
        self.depth = depth
        self.outline = Outline()
        self.title = ""
        self._floor = 1
        self._slug = slug
        self._seen: dict[str, int] = {}
        self._target = ""

    def write(self, text: str) -> None:
        """Write a document, opening a section at each heading and at each long tab."""
        for node in told(self._tree(text).children):
            self._write(node)

    def write_page(self, text: str) -> None:
        """Write a text that was not prepared yet: a notebook's cell."""
        self.write(prepared(text, self.raw, site_of(self.raw.root, location(self.raw)), {}, myst=self.myst))

    def _write(self, node: SyntaxTreeNode) -> None:
        directive = self._directive_of(node)
        if node.type == "heading":
            self._heading(node)
        elif node.type == "myst_target":
            self._target = node.content.strip()
        elif node.type == "html_block" and re.search(r"<h[1-6]\b", node.content, re.I):
            HtmlWriter(self.outline).write(soup_of(node.content))
        elif directive and _myst.opens_sections(directive):
            for one in _myst.sections(directive, self.raw, self.depth):
                with ExitStack() as opened:
                    for heading in one.headings:
                        opened.enter_context(self.outline.under(heading, one.anchor, one.page))
                    self.outline.add(one.text)
        elif tab := self._tab(node):
            self._write_tab(*tab)
        else:
            for block in self.block(node):
                self.outline.add(block)

    def _tab(self, node: SyntaxTreeNode) -> tuple[str, list[SyntaxTreeNode]] | None:
        """Return the label and the content of a tab, or of a set of tabs, which has no label."""
        if node.type == "admonition" and node.meta.get("tag") == "tab":
            label = next((inline(c) for c in node.children if c.type == "admonition_title"), "")
            return label, [c for c in node.children if c.type != "admonition_title"]
        if node.type == "container_any" and (found := _CONTAINER.match(node.info)) and "{" in node.info:
            if found.group(1) in ("tab-set", "tabs"):
                return "", list(node.children)
            if found.group(1) in ("tab-item", "tab"):
                return found.group(3), list(node.children)
        return None

    def _write_tab(self, label: str, children: list[SyntaxTreeNode]) -> None:
        blocks = [block for child in children for block in self.block(child) if block.strip()]
        if blocks and re.match(r":[\w-]+:", blocks[0]):
            children, blocks = children[1:], blocks[1:]  # MyST's options
        label = one_line(label)
        if not label:
            for child in children:
                self._write(child)
        elif sum(map(len, blocks)) <= TAB_CHARACTERS:
            self.outline.add(labelled(f"**{label}:**", blocks))
        else:
            floor, self._floor = self._floor, self.outline.level + 2
            with self.outline.under(label, ""):
                for child in children:
                    self._write(child)
            self._floor = floor

    def _heading(self, node: SyntaxTreeNode) -> None:
        said = pictured(node)
        text = (inline(node.children[0]) if node.children else "") if said is None else said
        explicit = _ANCHOR.search(text)
        if explicit:
            text = re.sub(r"(?<=\s)#++$", "", text[: explicit.start()])  # "## Title ## {#id}"
        name = heading_text(text)
        level = int(node.tag[1])
        anchor = (explicit["id"] if explicit else "") or self._target or self._slug(name, self._seen, level)
        self._target = ""
        level = max(level, self._floor)
        if level == 1 and not self.title:
            self.title = name
        self.outline.heading(level, name, anchor)

    def _tree(self, text: str) -> SyntaxTreeNode:
        return SyntaxTreeNode(_parser(self.myst).parse(text, {}))

    # --- blocks -----------------------------------------------------------------------------------

    def blocks(self, node: SyntaxTreeNode) -> list[str]:
        """Return a node's children as Markdown blocks."""
        return [block for child in node.children for block in self.block(child) if block.strip()]

    def nested(self, text: str) -> list[str]:
        """Parse text inside a directive to Markdown blocks."""
        hidden = Masked(text)
        hidden.change_cells()
        return self.blocks(self._tree(hidden.restored()))

    def block(self, node: SyntaxTreeNode) -> list[str]:
        """Return one node as Markdown blocks."""
        kind = node.type
        if kind == "paragraph":
            return self._paragraph(node)
        if kind == "heading":
            return [f"**{heading_text(_ANCHOR.sub('', inline(node.children[0])))}**"] if node.children else []
        if kind in ("fence", "colon_fence"):
            directive = self._directive_of(node)
            if directive:
                return _myst.blocks(directive, self)
            language = _language(node.info)
            return [] if language in DRAWN else [fence(node.content, language)]
        if kind == "code_block":
            return [fence(node.content)]
        if kind == "bullet_list":
            return [] if is_contents(node) else [bullets([self.blocks(entry) for entry in node.children])]
        if kind == "ordered_list":
            return [
                bullets(
                    [self.blocks(entry) for entry in node.children], start=int(node.attrs.get("start", 1))
                )
            ]
        if kind == "table":
            return [
                table([[inline(c) for c in row.children] for part in node.children for row in part.children])
            ]
        if kind == "html_block":
            return HtmlWriter(Outline()).blocks(soup_of(node.content))
        if kind == "blockquote":
            return self._quote(node)
        if kind == "admonition":
            title = next((inline(c) for c in node.children if c.type == "admonition_title"), "")
            body = [b for c in node.children if c.type != "admonition_title" for b in self.block(c)]
            return [labelled(f"**{one_line(title)}:**", body)] if title.strip() else body
        if kind == "container_any":
            return self._container(node)
        if kind == "dl":
            return [bullets(self._definitions(node))]
        if kind == "footnote_block":
            return [labelled(f"[{f.meta.get('label', '')}]", self.blocks(f)) for f in node.children]
        if kind in (
            "hr",
            "myst_target",
            "myst_line_comment",
            "myst_block_break",
            "footnote_anchor",
        ):
            return []
        if kind == "inline":
            return [one_line(inline(node))]
        return self.blocks(node)

    def _paragraph(self, node: SyntaxTreeNode) -> list[str]:
        return [one_line(inline(node.children[0]))] if node.children else []

    def _quote(self, node: SyntaxTreeNode) -> list[str]:
        body = self.blocks(node)
        alert = _ALERT.match(body[0]) if body else None
        if alert:
            return [labelled(f"**{alert.group(1).capitalize()}:**", [body[0][alert.end() :], *body[1:]])]
        return body

    def _container(self, node: SyntaxTreeNode) -> list[str]:
        found = _CONTAINER.match(node.info)
        name, title = (
            ((found.group(1) or found.group(2) or "").lower(), found.group(3)) if found else ("", "")
        )
        if "{" in node.info:
            children = self.blocks(node)
            directive = _myst.Directive(name, title, {}, "")
            # Options stand as the first paragraph there.
            if children and re.match(r":[\w-]+:", children[0]):
                children = children[1:]
            return _myst.written(directive, children, self)
        label = title.strip() or (name.capitalize() if _myst.is_admonition(name) else "")
        return [labelled(f"**{label.strip('[]')}:**", self.blocks(node))] if label else self.blocks(node)

    def _definitions(self, node: SyntaxTreeNode) -> list[list[str]]:
        entries: list[list[str]] = []
        terms: list[str] = []
        for child in node.children:
            if child.type == "dt":
                terms.append(one_line("".join(inline(c) for c in child.children)))
            elif child.type == "dd":
                entries.append(
                    [
                        labelled(f"{', '.join(terms)}:", self.blocks(child))
                        if terms
                        else "\n\n".join(self.blocks(child))
                    ]
                )
                terms = []
        return entries

    def _directive_of(self, node: SyntaxTreeNode) -> _myst.Directive | None:
        return _myst.directive(node.info, node.content) if node.type in ("fence", "colon_fence") else None


def _language(info: str) -> str:
    found = re.match(r"\s*+(?:\{\s*+)?\.?([\w+#.-]++)", info)
    return found.group(1) if found else ""


@lru_cache(maxsize=2)
def _parser(myst: bool) -> MarkdownIt:
    parser = MarkdownIt("gfm-like", {"linkify": False})
    parser.use(admon_plugin).use(deflist_plugin).use(footnote_plugin)
    parser.use(container_plugin, name="any", validate=_named)
    if myst:
        parser.use(myst_role_plugin).use(myst_block_plugin)
    return parser


def _named(params: str, *_: Any) -> bool:
    return bool(params.strip())


def inline(node: SyntaxTreeNode) -> str:
    """Return text with its inline markup; links keep their text only."""
    kind = node.type
    if kind == "text":
        return starred(str(node.content))
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
        mark = re.match(r"<(br|li)\b", node.content, re.I)
        return {"br": " ", "li": " • "}[mark[1].lower()] if mark else ""
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
