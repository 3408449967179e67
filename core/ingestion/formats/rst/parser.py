"""reStructuredText with Sphinx's directives and roles, read by docutils without Sphinx.

docutils keeps directives and roles in global tables; here its state machine is subclassed instead,
so that nothing of the process changes and every unknown directive or role is understood as text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from docutils import frontend, nodes, utils
from docutils.parsers.rst import Parser, states
from docutils.statemachine import StringList
from docutils.transforms.references import Footnotes, PropagateTargets, Substitutions

from core.domain import Document, RawDocument
from core.errors import NoDocument
from core.ingestion.formats._shared import location
from core.ingestion.formats.rst import directives as _directives
from core.ingestion.formats.rst.call import Call, Session
from core.ingestion.formats.rst.doctree import Writer
from core.ingestion.formats.rst.slips import indent_what_goes_on, mended, part_bullets
from core.ingestion.formats.rst.sphinx import DOCUTILS, Conf, conf_of, parted, role, text_of
from core.ingestion.formats.rst.titles import document_title, label_title
from core.text.words import one_line

MAX_LINE = 10_000
"""Characters of one line; docutils' own limit, against which its patterns are safe."""


def parse(raw: RawDocument, text: str) -> Document:
    """Parse a reST document to its sections, with the anchors that Sphinx would give them.

    Raises NoDocument for a file that `conf.py` says is a template.
    """
    session = Session(raw, conf_of(raw), texts=[text])
    if _is_template(location(raw), session.conf):
        raise NoDocument(f"{raw.path} is a template, says `templates_path` in conf.py")
    whole = "\n\n".join(part for part in (session.conf.prolog, text, session.conf.epilog) if part)
    tree = _tree(whole, session)
    labels = {
        name: title.astext()
        for section in tree.findall(nodes.section)
        for title in section.findall(nodes.title)
        if title.parent is section
        for name in section["names"]
    }
    writer = Writer(labels)
    writer.document(tree)
    title = next((node.astext() for node in tree.findall(nodes.title)), "")
    sections = writer.outline.sections()
    # sections beside each other are none of them the page's: each stands for itself, as in Sphinx' contents
    beside = sum(isinstance(child, nodes.section) for child in tree.children) > 1
    named = "" if beside and all(one.headings for one in sections) else one_line(title) or raw.path
    return Document(raw.path, named, raw.url, sections)


def _is_template(file: Path | None, conf: Conf) -> bool:
    if file is None or not conf.templates:
        return False
    return any(
        file.resolve().is_relative_to(Path(conf.folder, name).resolve()) for name in conf.templates if name
    )


def _tree(text: str, session: Session) -> Any:
    settings = _settings().copy()
    document = utils.new_document(session.raw.path, settings)
    inliner = states.Inliner()
    inliner.interpreted = _Roles(session)
    as_written, captions = inliner.parse, session.conf.captions
    inliner.parse = lambda text, *more: as_written(mended(text, captions), *more)
    parser = Parser(inliner=inliner)
    parser.state_classes = _STATES
    document.session = session
    parser.parse("\n".join(line[:MAX_LINE] for line in text.split("\n")), document)
    for name, value in session.conf.substitutions.items():
        if name not in document.substitution_defs:
            document.substitution_defs[name] = nodes.substitution_definition("", nodes.Text(value))
            document.substitution_names[name.lower()] = name
    _tame(document)
    for transform in (Substitutions, PropagateTargets, Footnotes):
        transform(document).apply()
    return document


def _tame(document: Any) -> None:
    """Empty substitutions that stand for each other until they would fill the memory."""
    sizes: dict[str, int] = {}
    definitions = document.substitution_defs

    def size(name: str) -> int:
        key = name if name in definitions else document.substitution_names.get(name.lower(), "")
        if key and key not in sizes:
            sizes[key] = 0  # what refers to itself is docutils' to find
            inner = [ref["refname"] for ref in definitions[key].findall(nodes.substitution_reference)]
            sizes[key] = len(definitions[key].astext()) + sum(size(ref) for ref in inner)
            if sizes[key] > MAX_LINE:
                definitions[key].clear()
                sizes[key] = 0
        return sizes.get(key, 0)

    for name in list(definitions):
        size(name)


@lru_cache(maxsize=1)
def _settings() -> Any:
    settings = frontend.get_default_settings(Parser)
    # Silence on every channel, no file read behind our back, and Sphinx's way of numbering ids.
    settings.report_level = settings.halt_level = 6
    settings.warning_stream = False
    settings.file_insertion_enabled = settings.raw_enabled = False
    settings.auto_id_prefix = "id"
    settings.syntax_highlight = "none"
    settings.line_length_limit = MAX_LINE + 1
    return settings


class _Roles:
    """Reads roles as Sphinx displays them, known or not."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._folder = Path(session.conf.folder) if session.conf.folder else None
        file = location(session.raw)
        self._file = file.resolve() if file else None

    def __call__(self, rawsource: str, text: str, role: str, lineno: int) -> tuple[list[Any], list[Any]]:
        """Return the nodes of one piece of interpreted text and no messages."""
        said = utils.unescape(text, True)
        default = self._session.conf.default_role
        if not role and said.startswith(".") and not (default and said.strip(".")):
            return [nodes.literal(said, said)], []  # a file's ending: what has no role is as it is written
        return [self._node(role or default or "obj", said)], []

    def _node(self, name: str, text: str) -> Any:
        name = self._session.roles.get(name.lower(), name)
        if name.lower() in _STYLES:
            return getattr(nodes, _STYLES[name.lower()])(text, text)
        if name.lower() == "raw":
            return nodes.Text(text_of(text))
        if name.lower() == "comment":
            return nodes.Text("")
        conf = self._session.conf
        text = conf.own.short.sub("", text) if conf.own.short else text
        shown = role(name, text, conf.captions, conf.own.roles)
        if shown.code:
            return nodes.literal(shown.text, shown.text)
        said = parted(shown.text, self._session.texts) if shown.document else shown.text
        if self._folder and self._file:
            if shown.document:
                said = document_title(self._folder, self._file, shown.document) or said
            elif shown.label:
                said = label_title(self._folder, shown.label) or said
        return nodes.inline(said, said, label_text=shown.label)


_STYLES = {"math": "math", "strong": "strong", "emphasis": "emphasis"}


class _Directives:
    """Mixed into each of docutils' states: every directive is ours, but for tables and substitutions."""

    nested_sm_cache: list[Any] = []  # noqa: RUF012 - docutils' own; shared with it, it would hand out its states

    def __init__(self, state_machine: Any, debug: bool = False) -> None:
        super().__init__(state_machine, debug)  # type: ignore[call-arg]
        self.nested_sm_kwargs = {"state_classes": _STATES, "initial_state": "Body"}

    def list_item(self: Any, indent: int) -> Any:
        """Return the node of an item and whether a blank line ended it."""
        machine = self.state_machine
        indent_what_goes_on(machine.input_lines, machine.line_offset, indent)
        return states.Body.list_item(self, indent)

    def directive(self: Any, match: Any, **presets: Any) -> tuple[list[Any], bool]:
        """Return the nodes of one directive and whether a blank line ended it."""
        name = match.group(1).lower()
        if name in DOCUTILS:
            before = self.state_machine.line_offset
            found, blank = states.Body.directive(self, match, **presets)
            if not any(isinstance(node, nodes.system_message) for node in found):
                return found, blank
            self.state_machine.goto_line(
                self.state_machine.abs_line_offset() - self.state_machine.line_offset + before
            )
        block, _, offset, blank = self.state_machine.get_first_known_indented(match.end(), strip_top=0)
        call = _call(self, name, block, offset, presets)
        return _directives.run(call), blank or self.state_machine.is_next_line_blank()


def _call(state: Any, name: str, block: StringList, offset: int, presets: dict[str, Any]) -> Call:
    """Tell a directive's argument, options and content apart, whatever options there are."""
    position = 0
    options: dict[str, str] = {}
    # The argument stands on the directive's line; lines that follow it at once belong to it.
    if block and block[0].strip():
        while position < len(block) and block[position].strip() and not _option(block[position]):
            position += 1
    head = block[:position]
    if not position:
        position = min(1, len(block))
    last = ""
    depth = _depth(block[position]) if position < len(block) else 0
    while position < len(block) and block[position].strip():
        found = _option(block[position]) if _depth(block[position]) == depth else None
        if found:
            last = found.group(1).lower()
            options[last] = (found.group(2) or "").strip()
        elif last and _depth(block[position]) > depth:
            options[last] += "\n" + block[position].strip()
        else:
            break
        position += 1
    content = block[position:]
    while content and not content[0].strip():
        content.trim_start()
        position += 1
    while content and not content[-1].strip():
        content.trim_end()
    return Call(
        name, head, options, content, offset + position, state, state.document.session, presets, nodes
    )


def _option(line: str) -> re.Match[str] | None:
    return _OPTION.match(line.lstrip(" "))


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


_OPTION = re.compile(r":([\w-][\w :.+-]*):(?:\s+(.*))?$")

_CONSTRUCTS = [
    # docutils knows no underscore in a directive's name, extensions do.
    (_Directives.directive, re.compile(r"\.\.[ ]+(\w[\w:.+-]*?)[ ]?::([ ]+|$)"))
    if method is states.Body.directive
    else (method, pattern)
    for method, pattern in states.Body.explicit.constructs
]


def _text(self: Any, match: Any, context: Any, next_state: Any) -> Any:
    """Read a paragraph from its second line on."""
    part_bullets(self.state_machine.input_lines, self.state_machine.line_offset)
    return states.Text.text(self, match, context, next_state)


_OWN = {states.Text: {"text": _text}}
_EXPLICIT = SimpleNamespace(patterns=states.Body.explicit.patterns, constructs=_CONSTRUCTS)
_STATES = tuple(
    type(
        state.__name__,
        (_Directives, state),
        {"explicit": _EXPLICIT} if issubclass(state, states.Body) else _OWN.get(state, {}),
    )
    for state in states.state_classes
)
