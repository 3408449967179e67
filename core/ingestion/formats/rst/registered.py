"""Directives and roles that `conf.py` and a project's own extensions register; they are read, never run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MAX_NAMES = 300
"""Words of a `conf.py` that may name an extension; ours."""
MAX_BYTES = 300_000
"""Size above which an extension is not looked at; ours."""
_MODULE = re.compile(r"(?!sphinx)[A-Za-z]\w*(?:\.\w+)*")
_PREFIXES = "zzzeeksphinx_module_prefixes"
_DEPTH = 5
"""Classes that may be based on each other in one file until one of Sphinx comes; ours."""
_BASES = {
    "Cmdoption": "option",
    "ObjectDescription": "object",
    "GenericObject": "object",
    "ConfigurationValue": "object",
    "CodeBlock": "code-block",
    "Target": "target",
}
"""What a directive is, by the class of Sphinx that it is based on."""


@dataclass(slots=True)
class Registered:
    """What a project registers: `directives` are `object`, `command`, `option`, `target` or `code-block`.

    A `command` is an object to which the options below it belong.
    """

    directives: dict[str, str] = field(default_factory=dict)
    roles: set[str] = field(default_factory=set)
    short: re.Pattern[str] | None = None
    """Short names of modules, which stand in targets and are not shown: `_orm.` on SQLAlchemy's pages."""


def registered(conf: Path, tree: ast.Module, root: Path) -> Registered:
    """Read what `conf.py`, whose tree this is, and the extensions that lie beside it register."""
    found = Registered(short=_short(tree))
    for module in (tree, *_extensions(conf, tree, root)):
        classes = {node.name: node for node in ast.walk(module) if isinstance(node, ast.ClassDef)}
        functions = {node.name: node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)}
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                _add(found, node, node.func.attr, classes, functions)
    return found


def _short(tree: ast.Module) -> re.Pattern[str] | None:
    names = [
        name
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
        if _PREFIXES in {_name(target) for target in node.targets}
        for name in map(_string, node.value.keys)
        if name
    ]
    return before_dots(names) if names else None


def before_dots(names: list[str]) -> re.Pattern[str]:
    """Return what finds any of these names with the dot behind it, at the beginning of a longer name."""
    return re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, names))})\.")


def _add(
    found: Registered,
    call: ast.Call,
    method: str,
    classes: dict[str, ast.ClassDef],
    functions: dict[str, ast.FunctionDef],
) -> None:
    given: dict[Any, Any] = dict(enumerate(call.args)) | {str(k.arg): k.value for k in call.keywords}
    name = _string(given.get(0, given.get("directivename", given.get("name"))))
    if method in ("add_object_type", "add_crossref_type") and name:
        kind = "target" if method == "add_crossref_type" else "object"
        parser = functions.get(_name(given.get(3, given.get("parse_node"))))
        if parser and any(_string(node) == "std:program" for node in ast.walk(parser)):
            kind = "command"
        found.directives[name.lower()] = kind
        role = _string(given.get(1, given.get("rolename")))
        found.roles.add((role or name).lower())
    elif (
        method == "add_directive" and name and (kind := _kind(_name(given.get(1, given.get("cls"))), classes))
    ):
        found.directives[name.lower()] = kind


def _kind(name: str, classes: dict[str, ast.ClassDef]) -> str:
    for _ in range(_DEPTH):
        if name in _BASES:
            return _BASES[name]
        bases = [_name(base) for base in classes[name].bases] if name in classes else []
        known = [_BASES[base] for base in bases if base in _BASES]
        if known or not bases:
            return known[0] if known else ""
        name = bases[0]
    return ""


def _name(node: Any) -> str:
    if isinstance(node, ast.Subscript):  # ObjectDescription[str]
        node = node.value
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _string(node: Any) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _extensions(conf: Path, tree: ast.Module, root: Path) -> Iterator[ast.Module]:
    """Yield the code of the extensions that lie in a folder of the documentation or of what is around it."""
    # a helper may put the list of them together, so any name counts that is that of a file
    names = [said for node in ast.walk(tree) if _MODULE.fullmatch(said := _string(node))]
    try:
        around = [f for f in (conf.parent, conf.parent.parent) if f.resolve().is_relative_to(root)]
        folders = [*around, *(sub for f in around for sub in sorted(f.iterdir()) if sub.is_dir())]
    except OSError:
        return
    for name in dict.fromkeys(names[:MAX_NAMES]):
        path = name.replace(".", "/")
        for file in (folder / place for folder in folders for place in (f"{path}.py", f"{path}/__init__.py")):
            try:
                if not file.is_file() or not file.resolve().is_relative_to(root) or file.samefile(conf):
                    continue
                if file.stat().st_size <= MAX_BYTES:
                    yield ast.parse(file.read_text("utf-8", "replace"))
            except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
                pass
            break
