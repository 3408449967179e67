"""One directive as it is written, what those of a document share, and those that describe an object."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from core.domain import RawDocument
from core.ingestion.formats.rst.sphinx import CALLABLE, Conf, object_id


@dataclass(slots=True)
class Session:
    """What directives of one document share while it is parsed."""

    raw: RawDocument
    conf: Conf
    module: str = ""
    program: str = ""
    roles: dict[str, str] = field(default_factory=dict)
    """Roles that the document defines, with those that they are based on."""
    classes: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    included: int = 0
    listed: int = 0
    texts: list[str] = field(default_factory=list)
    """What is parsed, docstrings too: it knows of which words a name is made."""


@dataclass(slots=True)
class Call:
    """One directive as written; `nodes` is docutils' module, handed over so that it has one door."""

    name: str
    head: Any
    options: dict[str, str]
    content: Any
    offset: int
    state: Any
    session: Session
    presets: dict[str, Any]
    nodes: Any

    @property
    def argument(self) -> str:
        """Return the argument on one line."""
        return " ".join(line.strip() for line in self.head)

    def make(self, tag: str, *children: Any, **attributes: Any) -> Any:
        """Make a node of our own, that only the writer knows."""
        node = self.nodes.Element("", *children, **attributes)
        node.tagname = tag
        return node

    def inline(self, text: str) -> list[Any]:
        """Parse a text as inline markup."""
        found, _ = self.state.inline_text(text, self.state.state_machine.abs_line_number())
        return list(found)

    def parsed(self, lines: Any) -> list[Any]:
        """Parse lines as body elements: a copy, so that lines which are put in shift none around them."""
        holder = self.nodes.Element()
        lines = lines[:]
        lines.disconnect()
        self.state.nested_parse(lines, self.offset, holder)
        return list(holder.children)

    def body(self, *, with_head: bool = False) -> list[Any]:
        """Parse the content, after the argument where that is text as well."""
        if not with_head or not len(self.head):
            return self.parsed(self.content) if len(self.content) else []
        lines = self.head[:]
        lines[0] = lines[0].strip()
        return self.parsed(lines) + self.body()

    def code(self, text: str, language: str) -> list[Any]:
        """Make a code block."""
        return [self.nodes.literal_block(text, text, language=language)] if text.strip() else []


_SIGNED = re.compile(
    r"^(?:(?:class|exception|async|static|abstract|final|property|classmethod)\s+)*"
    r"(@?[\w.:$~/<>{}*-]+?)\s*(?:\[|\(|=|:\s|\s|$)"
)
_DIRECTIVE = re.compile(r"(?:\.\.\s+)?([\w:+.-]*\w)(?:::|\s|$)")
"""The name of a directive, that may be described as it is written: `.. index:: <entries>`."""
# In C the name is the last word before the parameters, the array or the end: `const char *name[3]`.
_C_NAME = re.compile(r"(?<![A-Za-z_])([A-Za-z_][\w.:~]{0,300}+)\s*(?:\(|\[|=|;|\{|$)")
_ESCAPED = re.compile(r"\\(?=[*_`|\\ ])")
"""A backslash that escapes markup; in `separator="\\n"` it is part of the value."""
_ROLE = re.compile(r":[\w:+-]{1,40}:`([^`]{1,200})`|``?([^`]{1,200})``?")
"""What stands in the option of a directive with its markup, where only the text is shown."""
_SHORTENED = re.compile(r"(?<![\w.=])(?<!= )~(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_])")
"""What an annotation of a signature does not show: `~typing.Callable`; a default `~re.I` is the value."""
_PYTHON = frozenset({"", "py"})
_C = frozenset({"c", "cpp"})
_STANDARD = {"option": "cmdoption", "cmdoption": "cmdoption", "envvar": "envvar", "confval": "confval"}
_UNLINKED = frozenset({"noindex", "no-index", "no-index-entry", "nocontentsentry", "no-contents-entry"})
_HOLDING = frozenset({"class", "exception", "interface", "struct", "union", "enum"})


def described(call: Call) -> list[Any]:
    """Return an object as a node with its heading, its signatures and the anchor that Sphinx gives it."""
    session = call.session
    domain, _, kind = call.name.rpartition(":")
    joined = re.sub(r"\\\n\s*", "", "\n".join(call.head))
    signatures = [_ESCAPED.sub("", line.strip()) for line in joined.split("\n") if line.strip()]
    if not signatures:
        return call.body()
    if domain == "http":
        signatures = [f"{kind.upper()} {signatures[0]}"]
    name = _name(signatures[0], domain, kind)
    python = domain in _PYTHON and kind not in _STANDARD and kind != "describe"
    if python:
        signatures = [_SHORTENED.sub("", signature) for signature in signatures]
    outer = session.classes[-1] if python and session.classes else ""
    full = f"{outer}.{name}" if outer and not name.startswith(f"{outer}.") else name
    shown = [s.replace(name, full, 1) if outer and not s.startswith(outer) else s for s in signatures]
    if call.options.get("type"):
        shown[0] += f": {_unmarked(call.options['type'])}"
    if call.options.get("value"):
        shown[0] += f" = {call.options['value']}"
    node = call.make(
        "desc",
        heading=f"{full}()" if kind in CALLABLE and not kind.startswith("decorator") else full,
        signatures=shown,
        anchor="" if _UNLINKED & call.options.keys() else _anchor(call, domain, kind, full),
    )
    if kind in _HOLDING and python:
        session.classes.append(full)
    if default := call.options.get("default"):
        label = call.nodes.strong("", "Default:")
        node += call.nodes.paragraph("", "", label, call.nodes.Text(" "), *call.inline(default))
    node += call.body()
    if kind in _HOLDING and python and session.classes:
        session.classes.pop()
    return [node]


def registered(call: Call, kind: str) -> list[Any]:
    """Return what a project's own directive describes (`Registered.directives`)."""
    if kind == "option":
        return described(replace(call, name="option"))
    if kind == "target":  # the section that follows has its title
        return call.body()
    made = described(replace(call, name=f"std:{call.name}"))
    if kind == "command" and call.argument:
        call.session.program = call.argument.split()[0]
    if len(call.content) or not call.argument:
        return made
    # a section for it follows, or is around it
    code = [call.nodes.literal(line, line) for line in map(str.strip, call.head)]
    return [call.nodes.paragraph("", "", one) for one in code]


def _unmarked(text: str) -> str:
    def shown(found: re.Match[str]) -> str:
        said, target, _ = (found[1] or found[2]).partition(" <")
        return said.rpartition(".")[2] if said.startswith("~") and not target else said

    return _ROLE.sub(shown, text)


def _name(signature: str, domain: str, kind: str) -> str:
    if domain == "http" or kind == "describe":
        return signature
    if kind == "directive" and (name := _DIRECTIVE.match(signature)):
        return name[1]
    found = (_C_NAME.search if domain in _C else _SIGNED.match)(signature)
    return found.group(1) if found else signature


def _anchor(call: Call, domain: str, kind: str, name: str) -> str:
    if domain == "std" or (kind in _STANDARD and not domain):
        program = f"{call.session.program}-" if "option" in kind and call.session.program else ""
        return object_id(f"{_STANDARD.get(kind, kind)}-{program}{name}")
    if domain in ("cpp", "rst:directive") or kind == "describe":
        return ""  # C++ has mangled names, a plain description none
    if domain == "c":
        return object_id(f"c.{name}")
    if domain == "http":
        return object_id(name.lower().replace("/", "-"))
    if domain == "rst":
        return object_id(f"{kind}-{name}")
    module = call.options.get("module", call.session.module) if domain in _PYTHON else ""
    return object_id(f"{module}.{name}" if module else name)
