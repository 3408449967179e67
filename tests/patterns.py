"""Every pattern of the product, with the ways in which it is used, for `test_patterns`."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
ROOMS = ("bot", "core", "storage", "evaluation")
METHODS = frozenset({"search", "match", "fullmatch", "sub", "subn", "findall", "finditer", "split"})
_TRIES_EVERYWHERE = METHODS - {"match", "fullmatch"}
_CALLED = re.compile(r"\bre\s*\.\s*\w")


@dataclass
class Collected:
    """A pattern, where it stands, and how it is used: `finditer` for all that tries at every place."""

    pattern: re.Pattern[Any]
    places: list[str] = field(default_factory=list)
    uses: set[str] = field(default_factory=set)


def modules() -> list[str]:
    """Return the names of all modules of the product; migrations run inside alembic only."""
    found = [
        info.name
        for room in ROOMS
        for info in pkgutil.walk_packages([str(ROOT / room)], f"{room}.")
        if "migrations" not in info.name and not info.name.endswith("__main__")
    ]
    return [*ROOMS, *found]


def patterns_in(value: object) -> list[re.Pattern[Any]]:
    """Return the patterns in a value: in containers, in classes of the product and in their instances."""
    return list(_patterns(value, 0, set()))


def collected(
    made: Mapping[str, Iterable[re.Pattern[Any]]], used: Mapping[str, str]
) -> tuple[list[Collected], list[str]]:
    """Return all patterns, and the places whose pattern nobody can tell without running them.

    `made` holds samples of what functions build, by `module:function`; a place inside a function that is
    listed there is known. `used` says how those are used that do not try at every place.
    """
    found: dict[tuple[Any, int], Collected] = {}
    unknown: list[str] = []

    def add(pattern: re.Pattern[Any], place: str, uses: set[str]) -> None:
        entry = found.setdefault((pattern.pattern, pattern.flags), Collected(pattern))
        entry.places.append(place)
        entry.uses |= uses

    for name in modules():
        module = importlib.import_module(name)
        held = {
            variable: patterns
            for variable, value in vars(module).items()
            # what another module made is met there
            if getattr(value, "__module__", name) == name or isinstance(value, re.Pattern)
            if (patterns := patterns_in(value))
        }
        uses = _uses(module) if held else {}
        for variable, patterns in held.items():
            for pattern in patterns:
                add(pattern, f"{name}.{variable}", uses.get(variable) or {"finditer"})
        for place, pattern, method in _inline(name, module, made, unknown):
            if method != "compile" or (pattern.pattern, pattern.flags) not in found:
                add(pattern, place, {"finditer" if method == "compile" else method})
    for place, built in made.items():
        for pattern in built:
            add(pattern, place, {used.get(place, "finditer")})
    return list(found.values()), unknown


def _patterns(value: object, depth: int, seen: set[int]) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
        return
    if depth > 6 or id(value) in seen or isinstance(value, (str, bytes, int, float)):
        return
    seen.add(id(value))
    inner: list[object] = []
    if isinstance(value, Mapping):
        inner = [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple, set, frozenset)):
        inner = list(value)
    elif type(value).__module__.split(".")[0] in ROOMS or (
        isinstance(value, type) and value.__module__.split(".")[0] in ROOMS
    ):
        inner = list(vars(value).values()) if hasattr(value, "__dict__") else []
        slots = getattr(type(value), "__slots__", ())
        inner += [getattr(value, slot, None) for slot in slots]
    for item in inner:
        yield from _patterns(item, depth + 1, seen)


@cache
def _tree(module: Any) -> ast.Module:
    return ast.parse(Path(module.__file__).read_text(encoding="utf-8"))


def _uses(module: Any) -> dict[str, set[str]]:
    """Return by variable how its patterns are used; one that is handed on tries at every place."""
    uses: dict[str, set[str]] = defaultdict(set)
    called: set[int] = set()
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in METHODS:
                uses[node.value.id].add("finditer" if node.attr in _TRIES_EVERYWHERE else node.attr)
                called.add(id(node.value))
            elif node.attr in ("pattern", "flags"):
                called.add(id(node.value))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in called:
            uses[node.id].add("finditer")
    return uses


def _inline(
    name: str, module: Any, made: Mapping[str, object], unknown: list[str]
) -> Iterator[tuple[str, re.Pattern[Any], str]]:
    if not _CALLED.search(Path(module.__file__).read_text(encoding="utf-8")):
        return
    for function, node in _calls(_tree(module), ""):
        place = f"{name}:{function}"
        method = node.func.attr  # type: ignore[attr-defined]
        try:
            given = compile(ast.Expression(node.args[0]), "<pattern>", "eval")
            pattern = eval(given, vars(module).copy())
            flags = _flags(node, module, method)
        except NameError:
            if function and place not in made:  # what stands outside of functions is met in a variable
                unknown.append(f"{place}, line {node.lineno}")
            continue
        if isinstance(pattern, re.Pattern):
            continue
        use = "finditer" if method in _TRIES_EVERYWHERE else method
        yield f"{place}, line {node.lineno}", re.compile(pattern, flags), use


def _flags(node: ast.Call, module: Any, method: str) -> int:
    at = {"compile": 1, "sub": 4, "subn": 4, "split": 3}.get(method, 2)
    given = node.args[at] if len(node.args) > at else None
    given = next((k.value for k in node.keywords if k.arg == "flags"), given)
    return eval(compile(ast.Expression(given), "<flags>", "eval"), vars(module).copy()) if given else 0


def _calls(node: ast.AST, function: str) -> Iterator[tuple[str, ast.Call]]:
    """Yield the calls of `re` in functions, with the function that each stands in."""
    for child in ast.iter_child_nodes(node):
        inner = function
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            inner = f"{function}.{child.name}".lstrip(".")
        if (
            isinstance(child, ast.Call)
            and isinstance(child.func, ast.Attribute)
            and isinstance(child.func.value, ast.Name)
            and child.func.value.id == "re"
            and child.func.attr in METHODS | {"compile"}
        ):
            yield inner, child
        yield from _calls(child, inner)
