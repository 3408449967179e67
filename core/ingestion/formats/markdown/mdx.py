"""MDX (Docusaurus and others) to plain Markdown: no imports, comments, components or expressions.

Tabs and admonitions become what MkDocs has for them (`!!! tab "Linux"`), an imported partial its text, a
table of properties and a field a list, and every other component its children.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from core.ingestion.formats._shared import fence, item, labelled
from core.ingestion.formats.markdown.masking import Element, Masked, braces_of, cut_out, tree_of
from core.ingestion.formats.markdown.properties import headed, listed, text_of
from core.ingestion.formats.rst.sphinx import ENDINGS
from core.text.words import one_line

Read = Callable[[str], tuple[Path, str] | None]
"""Reads an imported file, `./_part.mdx` or `@site/docs/_part.mdx`; None where it may not be read."""


_IMPORT = re.compile(
    r"""^import\s++(?:(?P<name>[\w$]++)\s*+(?:,\s*+)?)?(?:\*\s*+as\s++[\w$]++|\{[^}]{0,1000}+\})?\s*+"""
    r"""(?:from\s*+)?["'](?P<path>[^"'\n]++)["'][ \t]*+;?[ \t]*$""",
    re.M,
)
_EXPORT = re.compile(r"^export\s+(?:const|let|var|default|function|async)\b", re.M)
_EXPLICIT_ID = re.compile(
    r"^(#{1,6}[^\n]*)(?<![ \t])[ \t]*\{\s*+/\*\s*+(#[\w.:-]++)\s*+\*/\s*+\}[ \t]*$", re.M
)
_TABS = frozenset({"TabItem", "Tab", "Tabs.Tab", "TabPanel", "CodeGroupItem"})
_TITLED = frozenset(
    {"Accordion", "AccordionItem", "Expandable", "Step", "Card", "LinkCard", "Details", "Collapse"}
)
_CALLOUTS = frozenset(
    {"note", "tip", "info", "warning", "danger", "caution", "important", "check", "success"}
)
_GONE = frozenset({"style", "script", "svg", "iframe", "video", "head", "Head"})
_KEPT = frozenset(
    """table thead tbody tfoot tr th td caption ul ol li dl dt dd kbd code pre br sub sup b strong i em
    blockquote h1 h2 h3 h4 h5 h6""".split()  # noqa: SIM905
)
_VALUES = re.compile(r"""label\s*:\s*["']([^"']*)["']\s*,\s*value\s*:\s*["']([^"']*)["']""")
_VALUES_TURNED = re.compile(r"""value\s*:\s*["']([^"']*)["']\s*,\s*label\s*:\s*["']([^"']*)["']""")
_MARKS = ("label", "title", "header", "name", "value")
_ICONS = {
    **dict.fromkeys(("Check", "CheckIcon", "Checkmark", "CheckCircle", "Yes"), "✓"),
    **dict.fromkeys(("Cross", "CrossIcon", "XIcon", "X", "XCircle", "No"), "✗"),
}
"""What a cell of a table says with a component."""
_PAGES = (".mdx", ".md", ".markdown")
_SNIPPETS = re.compile(r"Snippet|Command|Terminal|Code")
_FIELD = re.compile(r"Field|Param|Prop|Attr|Option|Arg")
_FIELDS = ("path", "query", "body", "header", "name", "prop")
"""Properties that name what a field describes, as Mintlify's `<ParamField path="id" type="string">`."""


def plain(text: str, read: Read, change: Callable[[str, Path], str]) -> str:
    """Return MDX as Markdown; `change` prepares an imported page as the page itself is prepared."""
    text = _EXPLICIT_ID.sub(r"\1 {\2}", text)
    hidden = Masked(text)
    # Templates between backticks are code only where an expression holds them.
    hidden.text = cut_out(cut_out(hidden.text, "{/*", "*/}"), "<!--", "-->")
    imports = {}
    for found in _IMPORT.finditer(hidden.text):
        if found["name"]:
            imports[found["name"]] = found["path"]
    hidden.text = _without_exports(_IMPORT.sub("", hidden.text))
    writer = _Writer(hidden, imports, read, change)
    tree = tree_of(hidden.text)
    if tree is not None:
        hidden.text = writer.children(tree)
    hidden.text = _expressions(hidden.text, hidden)
    return hidden.restored()


def _without_exports(text: str) -> str:
    out: list[str] = []
    last = 0
    while found := _EXPORT.search(text, last):
        depth, position = 0, found.end()
        while position < len(text):
            sign = text[position]
            depth += (sign in "{[(") - (sign in "}])")
            if depth <= 0 and (
                text.startswith("\n\n", position) or (sign == "\n" and text[position - 1] in ";})`")
            ):
                break
            position += 1
        out.append(text[last : found.start()])
        last = position
    return "".join([*out, text[last:]])


# --- writing --------------------------------------------------------------------------------------------


class _Writer:
    def __init__(
        self, hidden: Masked, imports: dict[str, str], read: Read, change: Callable[[str, Path], str]
    ) -> None:
        self._hidden = hidden
        self._imports = imports
        self._read = read
        self._change = change

    def children(self, element: Element) -> str:
        return "".join(part if isinstance(part, str) else self._element(part) for part in element.parts)

    def _element(self, element: Element) -> str:
        name, props = element.name, element.props
        if name in _GONE:
            return ""
        if name in _ICONS and not element.parts and not self._imports.get(name, "").endswith(_PAGES):
            return _ICONS[name]
        if name in _KEPT:
            if name == "br":
                return "<br/>"
            return f"<{name}>{self.children(element)}</{name}>"
        if name == "img":
            alternative = self._said(props.get("alt", ""))
            return f"![{alternative}](image)" if " " in alternative else ""
        if name in self._imports:
            return self._imported(element)
        if name in ("CodeBlock", "Code") and (code := self._code(element)):
            return code
        if name in ("Tabs", "CodeGroup") or name.endswith("Tabs"):
            return self._tabs(element)
        if name in _TABS:
            return self._labelled(element, "tab", self._label(props))
        kind = name.lower() if name[:1].isupper() else ""
        if kind in ("admonition", "callout", "aside", "alert"):
            kind = self._said(props.get("type", "")) or "note"
        if kind in _CALLOUTS:
            return self._labelled(element, kind, self._said(props.get("title", "")) or kind.capitalize())
        if name == "summary":
            return f"\n\n**{self.children(element).strip()}**\n\n"
        if name in _TITLED and (title := self._label(props)):
            body = self.children(element).strip() or self._said(props.get("description", ""))
            return self._labelled(element, "tab", title) if body else ""
        return self._other(element)

    def _other(self, element: Element) -> str:
        """Return what a component of any other name says: its children, or what its properties hold."""
        body = self.children(element)
        if not body.strip():
            return self._held(element) or body
        field = next((said for key in _FIELDS if (said := self._said(element.props.get(key, "")))), "")
        if field and "type" in element.props and _FIELD.search(element.name):
            return f"\n\n{self._field(field, element.props, body)}\n\n"
        # A block's text stands indented below its tag, where Markdown would take it for code.
        return f"\n\n{_dedented(body)}\n\n" if "\n" in body else body

    def _held(self, element: Element) -> str:
        """Return the reference or the code that the properties of a component hold, "" for others."""
        values = {key: self._hidden.shown(value) for key, value in element.props.items()}
        told = ""
        if _SNIPPETS.search(element.name):
            code = next((said for key in ("text", "code", "command") if (said := values.get(key))), "")
            told = fence(text_of(code))
        told = told or next(filter(None, map(listed, values.values())), "")
        return f"\n\n{self._hidden.sign(told)}\n\n" if told else ""

    def _field(self, name: str, props: dict[str, str], body: str) -> str:
        is_required = "required" in props and props["required"] != "false"
        kind, default = (self._said(props.get(key, "")) for key in ("type", "default"))
        head = headed(name, kind, default, is_required)
        return item([labelled(f"{head}:", [_dedented(body).strip("\n")])], "- ")

    def _tabs(self, element: Element) -> str:
        values = element.props.get("values", "")
        labels = {value: label for label, value in _VALUES.findall(values)}
        labels.update(_VALUES_TURNED.findall(values))
        items = re.findall(r"""["']([^"']+)["']""", element.props.get("items", ""))
        tabs = [part for part in element.parts if isinstance(part, Element) and part.name in _TABS]
        for number, tab in enumerate(tabs):
            value = tab.props.get("value", "").strip("\"'")
            if "label" not in tab.props and value in labels:
                tab.props["label"] = labels[value]
            elif not self._label(tab.props) and number < len(items):
                tab.props["label"] = items[number]
        return f"\n\n{_dedented(self.children(element))}\n\n"

    def _labelled(self, element: Element, kind: str, label: str) -> str:
        body = _dedented(self.children(element)).strip("\n")
        if not body.strip():
            return ""
        if not label:
            return f"\n\n{body}\n\n"
        indented = "\n".join(f"    {line}" if line.strip() else "" for line in body.split("\n"))
        label = one_line(label).replace('"', "'")
        return f'\n\n!!! {kind} "{label}"\n\n{indented}\n\n'

    def _label(self, props: dict[str, str]) -> str:
        return next((said for mark in _MARKS if (said := self._said(props.get(mark, "")))), "")

    def _said(self, value: str) -> str:
        """Return a property as text: its string, or the words of the markup that it holds."""
        value = self._hidden.shown(value).strip()
        if value[:1] in "\"'`" and value[-1:] == value[:1]:
            value = value[1:-1]
        return one_line(re.sub(r"<[^>]{0,300}+>|\{[^}]{0,300}+\}", " ", value))

    def _code(self, element: Element) -> str:
        inner = self._hidden.shown("".join(part for part in element.parts if isinstance(part, str))).strip()
        inner = inner or element.props.get("code", "")
        named = re.fullmatch(r"\{?\s*([\w$]+)\s*\}?", inner)
        language = self._said(element.props.get("language", element.props.get("lang", "")))
        if named and named[1] in self._imports:
            found = self._read(self._imports[named[1]].rpartition("!")[2])
            if found is None:
                return "\n\n"
            inner, language = found[1], language or ENDINGS.get(found[0].suffix, "")
        else:
            inner = re.sub(r"\A\{?\s*`|`\s*\}?\Z", "", inner)
        return f"\n\n{self._hidden.sign(fence(inner, language))}\n\n" if inner.strip() else ""

    def _imported(self, element: Element) -> str:
        path = self._imports[element.name]
        body = self.children(element) if element.parts else ""
        if path.endswith(_PAGES):
            found = self._read(path)
            if found is not None:
                return f"\n\n{self._hidden_text(self._change(found[1], found[0]))}\n\n{body}"
        elif _is_known(element.name):
            del self._imports[element.name]
            return self._element(element)
        return self._other(element)

    def _hidden_text(self, text: str) -> str:
        inner = Masked(text)
        # Its code joins the page's, under new signs.
        return re.sub("\ue000\\d+\ue001", lambda found: self._hidden.sign(inner.shown(found[0])), inner.text)


def _is_known(name: str) -> bool:
    """Return True if a component does what its name says wherever it was imported from."""
    return (
        "Tab" in name
        or name in ("Admonition", "CodeBlock", "Details")
        or name in _TITLED
        or name.lower() in _CALLOUTS
    )


def _expressions(text: str, hidden: Masked) -> str:
    """Take expressions out of the text; a string stays, and so does what a heading's anchor is."""
    out: list[str] = []
    last = position = 0
    braces = braces_of(text)
    while (start := text.find("{", position)) >= 0:
        if text[start - 1 : start] == "\\":
            out.append(text[last : start - 1])
            last, position = start, start + 1
            continue
        end = braces.get(start, -1)
        inner = text[start + 1 : end - 1].strip() if end > 0 else ""
        if end < 0 or inner.startswith("#") or "\n\n" in inner:
            position = start + 1
            continue
        out.append(text[last:start])
        shown = hidden.shown(inner)
        literal = re.fullmatch(r"""(?:"([^"]*)"|'([^']*)'|`([^`]*)`)""", shown, re.S)
        if literal:
            out.append(next((said for said in literal.groups() if said is not None), ""))
        last = position = end
    out.append(text[last:])
    return "".join(out).replace("\\}", "}")


def _dedented(text: str) -> str:
    """Move a text out to the left by what all of its lines are indented by."""
    first, *lines = text.split("\n")
    # The first line may begin behind a tag.
    width = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join([first.lstrip(), *(line[width:] if line.strip() else "" for line in lines)])
