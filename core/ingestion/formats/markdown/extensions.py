"""What documentation tools add to Markdown: included, turned into what the parser reads, or taken out.

pymdownx and Material (tabs, blocks, keys, icons, attribute lists), mkdocstrings' references, Hugo's
shortcodes, Liquid's and GitBook's tags, VuePress' and Docusaurus' containers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from markdown_it.tree import SyntaxTreeNode

from core.domain import RawDocument
from core.ingestion import front_matter
from core.ingestion.formats._shared import location
from core.ingestion.formats.markdown import mdx as _mdx
from core.ingestion.formats.markdown.masking import Masked, cut_out
from core.ingestion.formats.markdown.pictures import are_badges
from core.ingestion.formats.markdown.snippets import Includes
from core.ingestion.sites import Site

MAX_DEPTH = 20
"""Blocks inside each other above which they are not told apart any more; ours."""

_TAB = re.compile(r'^(?P<indent>[ \t>]*)===[!+]?[ \t]+"(?P<label>[^"\n]*)"[ \t]*$', re.M)
_ADMONITION = re.compile(
    r"^(?P<indent>[ \t]*)(?P<mark>!!!|\?\?\?\+?)[ \t]+(?P<kinds>[\w-]+(?:[ \t]+[\w-]+)*)"
    r'(?P<title>[ \t]+"[^\n]*")?[ \t]*$',
    re.M,
)
_CONTAINER = re.compile(
    r"^(?P<indent>[ \t]*)(?P<mark>:{3,})[ \t]*(?P<name>[\w-]+)[ \t]*\[(?P<title>[^\n]*)\]"
    r"[ \t]*+(?:\{[^}\n]{0,300}+\}[ \t]*+)?$",
    re.M,
)
_OBJECT = re.compile(
    r"^(?:#{1,6}[ \t]+)?:::[ \t]+(?P<name>[A-Za-z_]\w*(?:\.\w+)+|[a-z_]\w*)[ \t]*\n"
    r"(?P<options>(?:[ \t]++[^\n]*+\n|\n(?=[ \t]++\S))*+)",
    re.M,
)
_BLOCK = re.compile(
    r"^(?P<indent>[ \t]*+)(?P<mark>/{3,}+)[ \t]*+(?P<name>[\w-]*+)[ \t]*+(?:\|[ \t]*+(?P<title>[^\n]*))?$"
)
_OPTION = re.compile(r"^\s*(?:\w[\w-]*:.*|\{.*\}|)$")

# Attribute lists: `{: #id .class key="value" }`, `{ .class }`, `{:toc}`
_LIST = (
    r"""\{:?[ \t]*(?:(?:[#.][\w.:/-]++|[\w:-]++=(?:"[^"\n]*"|'[^'\n]*'|[^\s}"']++))[ \t]*+)++\}"""
    r"""|\{:[^{}\n]*\}"""
)
_LISTS = re.compile(rf"(?<=[)\]*_>~^\ue001])[ \t]?(?:{_LIST})")
_OWN_LIST = re.compile(rf"^[ \t]*(?:{_LIST})[ \t]*$\n?", re.M)
_ITEM_LIST = re.compile(
    r"^(?P<before>(?![ \t]*#)[^\n]*\S)[ \t]+(?:\{:[^{}\n]*\}|\{[ \t]*+\.[^{}\n]*\})[ \t]*$"
    r"(?!\n[ \t]*(?:={3,}|-{3,}))",
    re.M,
)
_ABOVE_CONTENTS = re.compile(r"\W{0,4}(?:table of )?contents\W{0,4}", re.IGNORECASE)
_BANNER = re.compile(r"<h1\b[^<>]*\bcenter\b[^<>]*>[^<>]*</h1>", re.IGNORECASE)
_EMPTY_LINK = re.compile(r"!?\[\]\([^)\n]{0,1000}+\)(?:\{[^}\n]{0,300}+\})?")
_KEYS = re.compile(r"(?<![+\w])\+\+([\w\"-]+(?:\+[\w\"-]+)*)\+\+(?![+\w])")
_ICON = re.compile(
    r":(?:material|fontawesome|octicons|simple|lucide|custom|bootstrap|tabler)-[\w/-]+:(?:\{[^}\n]{0,300}+\})?"
)
_SIGNS = {
    "warning": "⚠",
    **dict.fromkeys(("white_check_mark", "heavy_check_mark", "ballot_box_with_check", "check_mark"), "✓"),
    **dict.fromkeys(("x", "negative_squared_cross_mark", "heavy_multiplication_x", "no_entry"), "✗"),
}
"""What a cell of a table says with an emoji."""
_EMOJI = re.compile(r"(?<![\w:/`]):([a-z][a-z0-9_+-]{1,40}|x):(?![\w:/])")
_MARKED = re.compile(r"(?<![=\w])==(?=\S)([^=\n]+?)(?<=\S)==(?![=\w])")
_INSERTED = re.compile(r"(?<!\^)\^\^(?=\S)([^^\n]+?)(?<=\S)\^\^(?!\^)")
_RAISED = re.compile(r"(?<![\^\\\w$])\^([^\s^]{1,20})\^(?![\^\w])")
_ANNOTATED = re.compile(r"((?:#|//|--|;|/\*|<!--)[ \t]*\(\d+\))!(?=\s)")
_CRITIC = re.compile(r"\{(?P<mark>\+\+|--|==|>>|~~)(?P<said>[^{}]*)\}")
_LONGEST_CRITIC = 400
"""Characters of a mark of CriticMarkup; longer ones are text in braces."""
_ABBREVIATION = re.compile(r"^[ \t]*\*\[[^\]\n]+\]:[^\n]*$\n?", re.M)
_CONTENTS = re.compile(
    r"^[ \t]*\[{1,2}_?toc_?\]{1,2}[ \t]*$|^[ \t]*[*-][ \t][^\n]*+\n[ \t]*\{:toc[^}\n]*\}[ \t]*$", re.M | re.I
)
_REFERENCE = re.compile(r"(?<![\w\])!\\])\[(?P<text>[^\[\]\n]*)\]\[(?P<target>[^\[\]\n]*)\]")

_SHORTCODE = re.compile(
    r"\{\{[<%][ \t]*+(?P<close>/?)[ \t]*+(?P<name>[\w/.-]++)"
    r"(?P<given>(?:[^\n>%{]++|[>%](?!\}\})|\{(?!\{[<%]))*+)[>%]\}\}"
)
_LIQUID = re.compile(r"\{%-?[ \t]*+(?P<name>\w++)(?P<given>[^%\n]*?)-?%\}")
_HIGHLIGHT = re.compile(
    r"\{(?:%|\{<)-?[ \t]*+highlight[ \t]++(?P<language>[\w+#-]++)"
    r"(?:[^\n%>{]++|%(?!\})|>(?!\}\})|\{(?!%|\{<))*+(?:%|>\})\}[ \t]*+\n?+"
    r"(?P<code>(?:[^{]++|\{(?!(?:%|\{<)-?[ \t]*(?:end|/[ \t]*)?highlight\b))*+)"
    r"\{(?:%|\{<)-?[ \t]*+(?:end|/[ \t]*+)highlight[ \t]*+-?(?:%|>\})\}"
)
_TITLE = re.compile(
    r"""(?:title|label|name|header|text|tabName)\s*[=:]\s*["“]([^"”]{0,300}+)["”]|^\s*["“]([^"”]*)["”]"""
)
_CALLOUTS = frozenset(
    """note tip info warning danger caution important hint alert callout admonition""".split()  # noqa: SIM905
)
_VARIABLE = re.compile(r"\{\{[ \t]*([\w.]+)[ \t]*\}\}")
MAX_PASSES = 5
"""Imported pages that may import one another in a chain; ours."""

_MYST = re.compile(
    r"^[^\S\n]*(?:`{3,}|~{3,}|:{3,})\{|(?<![^\s(\[*_])\{[\w:+-]+\}`[^`\s]|^\([\w.:-]+\)=[^\S\n]*$", re.M
)
"""Directives, roles and targets; no role is the end of code: "`/teas/{name}`", "`at ${place}`"."""
_MDX = re.compile(r"^import\s[^\n]*\bfrom\s*['\"](?:@|\.{1,2}/)", re.M)


def is_myst(text: str) -> bool:
    """Return True if a page is written in MyST, by its directives, roles and targets."""
    return bool(_MYST.search(text))


def prepared(
    text: str, raw: RawDocument, site: Site | None, variables: Mapping[str, str], *, myst: bool = False
) -> str:
    """Return a page's text with what it includes, and without what only its tools understand."""
    includes = Includes(raw, site)
    here = location(raw)

    def ready(text: str, file: Path | None, depth: int) -> str:
        text = includes.expanded(text, file)
        is_mdx = (file or Path(raw.path)).suffix == ".mdx" or (site and site.kind == "docusaurus")
        if is_mdx or (not myst and _MDX.search(text) and _MDX.search(Masked(text).text)):
            base = (file or here or Path()).parent

            def change(text: str, file: Path) -> str:
                return ready(front_matter.split(text)[1], file, depth + 1) if depth < MAX_PASSES else ""

            text = _mdx.plain(text, lambda target: includes.read(target, base), change)
        return text

    return plain(ready(text, here, 0), variables, myst=myst)


def plain(text: str, variables: Mapping[str, str] | None = None, *, myst: bool = False) -> str:
    """Return a page's text as Markdown without extensions; code stays as it is.

    `variables` are those of MkDocs' macros. MyST's own containers and comments are left to the parser.
    """
    hidden = Masked(text)
    hidden.change_code(lambda code: _ANNOTATED.sub(r"\1", code))
    hidden.change_cells()
    shown = cut_out(hidden.text, "<!--", "-->", "@include")
    shown = _HIGHLIGHT.sub(
        lambda found: hidden.sign(
            f"```{found['language']}\n{hidden.shown(_whole_lines(found['code']))}\n```"
        ),
        shown,
    )
    shown = _tags(cut_out(shown, "{% comment %}", "{% endcomment %}"))
    if variables:
        shown = _VARIABLE.sub(lambda found: variables.get(found[1].removeprefix("extra."), found[0]), shown)
    if not myst:
        shown = _OBJECT.sub(lambda found: hidden.sign(_documented(found)) + "\n", _blocks(shown))
        shown = _CONTAINER.sub(r"\g<indent>\g<mark> \g<name> \g<title>", shown)
    shown = _TAB.sub(r'\g<indent>!!! tab "\g<label>"', shown)
    shown = _ADMONITION.sub(_named, shown)
    hidden.text = _inline(shown)
    return hidden.restored()


def _whole_lines(code: str) -> str:
    """Return code without the line that its closing tag stands on."""
    return code.rstrip(" \t").removesuffix("\n")


def _documented(found: re.Match[str]) -> str:
    """Write mkdocstrings' `::: package.module` as a directive; a bare word is another tool's container."""
    if "." not in found["name"] and not found["options"].strip():
        return found[0].rstrip("\n")
    members = re.search(r"^[ \t]+members:[ \t]*(\S[^\n]*)?((?:\n[ \t]+-[^\n]*)*)", found["options"], re.M)
    named = " ".join(re.findall(r"[A-Za-z_]\w*", f"{members[1] or ''} {members[2]}")) if members else ""
    return f"```{{documented}} {found['name']}\n:members: {named}\n```"


def _named(found: re.Match[str]) -> str:
    """Leave one kind and the title: `!!! note inline end "Mind"`, `!!! warning annotate`."""
    kind, *_ = found["kinds"].split()
    title = (found["title"] or "").strip()
    words = found["kinds"].split()[1:]
    if words and not title and not set(words) <= {"inline", "end", "annotate"}:
        title = f'"{" ".join(words)}"'  # `!!! note Mind the gap`
    return f"{found['indent']}{found['mark']} {kind}{' ' + title if title else ''}"


def _blocks(text: str) -> str:
    """Turn pymdownx's blocks (`/// tab | Linux` … `///`) into indented ones."""
    if "///" not in text:
        return text
    out: list[str] = []
    opened: list[tuple[str, str]] = []
    head = False
    for line in text.split("\n"):
        found = _BLOCK.match(line)
        if found and not found["name"] and any(mark == found["mark"] for mark, _ in opened):
            while opened and opened.pop()[0] != found["mark"]:
                pass
            out.append("")
            continue
        indent = "".join(more for _, more in opened)
        if found and found["name"]:
            name, title = found["name"].lower(), (found["title"] or "").strip().replace('"', "'")
            if len(opened) >= MAX_DEPTH:
                continue
            opens = name not in (
                "html",
                "caption",
                "figure-caption",
                "table-caption",
                "define",
            )
            if opens:
                kind = "tab" if name == "tab" or (name in ("details", "admonition") and title) else name
                out += ["", f"{indent}{found['indent']}!!! {kind}" + (f' "{title}"' if title else ""), ""]
            opened.append((found["mark"], found["indent"] + "    " if opens else ""))
            head = True
            continue
        if head and line.strip() and line.startswith("    ") and _OPTION.match(line):
            continue  # an option of the block
        head = head and not line.strip()
        out.append(indent + line if line.strip() else "")
    return "\n".join(out)


def _tags(text: str) -> str:
    """Write tabs and notes of Hugo's shortcodes and of Liquid as labels, and take the other tags out."""

    def label(name: str, given: str) -> str:
        titled = _TITLE.search(given)
        title = next((said for said in titled.groups() if said), "") if titled else ""
        if name in ("tab", "tab-item", "details", "expand", "step", "cardpane"):
            return f"\n\n**{title}:**\n\n" if title else ""
        if name in _CALLOUTS:
            said = "Note" if name in ("alert", "callout", "admonition") else name.capitalize()
            return f"\n\n**{title or said}:** "
        if name in ("glossary_tooltip", "term", "abbr"):
            return title
        return ""

    def shortcode(found: re.Match[str]) -> str:
        return "" if found["close"] else label(found["name"].lower(), found["given"])

    def liquid(found: re.Match[str]) -> str:
        return "" if found["name"].startswith("end") else label(found["name"].lower(), found["given"])

    return _LIQUID.sub(liquid, _SHORTCODE.sub(shortcode, text))


def _settled(found: re.Match[str]) -> str:
    """Return what CriticMarkup leaves: what is added, marked or new, not what is deleted or noted."""
    mark, said = found["mark"], found["said"]
    closing = "<<" if mark == ">>" else mark
    if len(said) > _LONGEST_CRITIC or not said.endswith(closing) or (mark == "~~" and "~>" not in said):
        return found[0]
    said = said.removesuffix(closing)
    return said.partition("~>")[2] if mark == "~~" else said if mark in ("++", "==") else ""


def _inline(text: str) -> str:
    text = _CONTENTS.sub("", text)
    text = _ABBREVIATION.sub("", text)
    text = _EMPTY_LINK.sub("", text)
    text = _LISTS.sub("", _OWN_LIST.sub("", text))
    text = _ITEM_LIST.sub(r"\g<before>", text)
    text = _CRITIC.sub(_settled, text)
    text = _KEYS.sub(lambda found: "+".join(key.strip('"').capitalize() for key in found[1].split("+")), text)
    text = _ICON.sub("", text)
    text = _EMOJI.sub(lambda found: _SIGNS.get(found[1], found[0]), text)
    text = _MARKED.sub(r"\1", text)
    text = _RAISED.sub(r"\1", _INSERTED.sub(r"\1", text))
    # Links keep their text only, so where a reference leads does not matter; `[^1]` is a footnote.
    return _REFERENCE.sub(
        lambda found: found[0] if found["target"][:1] == "^" else found["text"] or found["target"], text
    )


def told(nodes: Sequence[SyntaxTreeNode]) -> list[SyntaxTreeNode]:
    """Return what a page tells: without its contents, badges, and the banner right above its own heading.

    The banner is a centred heading in HTML: it names the whole documentation.
    """
    kept = [node for node in nodes if not is_contents(node) and not are_badges(node)]
    kept = [
        node for node in kept if not (node.type == "paragraph" and _ABOVE_CONTENTS.fullmatch(_source(node)))
    ]
    above = [
        one
        for one, after in pairwise(kept)
        if after.type == "heading" and one.type == "html_block" and _BANNER.fullmatch(one.content.strip())
    ]
    return [node for node in kept if node not in above]


def is_contents(node: SyntaxTreeNode) -> bool:
    """Return True for a list of at least two links to places on the same page, and of nothing else."""
    lines = [one for one in node.walk() if one.type == "inline"] if node.type == "bullet_list" else []
    return len(lines) > 1 and all(
        [child.type for child in line.children] == ["link"]
        and str(line.children[0].attrs.get("href", "")).startswith("#")
        for line in lines
    )


def _source(paragraph: SyntaxTreeNode) -> str:
    return "".join(child.content for child in paragraph.children)
