"""One mistake at a time in the source of a module, and how it is put in the place of what was imported."""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COUNTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
}  # fmt: skip
ROOMS = ("core", "storage", "bot", "evaluation", "tests")
SHOWN = 90


@dataclass(frozen=True)
class Mutant:
    """A module with one mistake: the lines of the original where it is, what it is, and its source."""

    first: int
    last: int
    what: str
    source: str


def mutants(source: str) -> Iterator[Mutant]:
    """Yield every mutant of a module. Decorators and annotations are left alone."""
    tree = ast.parse(source)
    quiet = {id(inner) for node in ast.walk(tree) for one in _left_alone(node) for inner in ast.walk(one)}
    for number, node in enumerate(ast.walk(tree)):
        for way in range(3):
            if id(node) in quiet or not _mutate(copy.deepcopy(node), way):
                break
            changed = copy.deepcopy(tree)
            at = next(one for n, one in enumerate(ast.walk(changed)) if n == number)
            before = _said(at)
            _mutate(at, way)
            first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
            if isinstance(node, ast.If):
                last = node.test.end_lineno or first
            text = ast.unparse(ast.fix_missing_locations(changed))
            yield Mutant(first, last, f"line {first}: {before} -> {_said(at)}", text)


def _left_alone(node: ast.AST) -> Iterator[ast.AST]:
    yield from getattr(node, "decorator_list", ())
    for name in ("annotation", "returns"):
        if (found := getattr(node, name, None)) is not None:
            yield found


def _said(node: ast.AST) -> str:
    text = ast.unparse(node.test if isinstance(node, ast.If) else node)
    return f"{'if ' if isinstance(node, ast.If) else ''}{text.splitlines()[0][:SHOWN]}"


def _mutate(node: ast.AST, way: int) -> bool:
    """Make one mistake in a node; False where there is none of that number."""
    if isinstance(node, ast.Compare) and way < len(node.ops) and type(node.ops[way]) in COMPARED:
        node.ops[way] = COMPARED[type(node.ops[way])]()
    elif isinstance(node, ast.BinOp) and way == 0 and type(node.op) in COUNTED and not _is_text(node):
        node.op = COUNTED[type(node.op)]()
    elif isinstance(node, ast.BoolOp) and way == 0:
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.IfExp | ast.If) and way < 2:
        node.test = ast.Constant(bool(way))
    elif isinstance(node, ast.Constant) and way == 0 and isinstance(node.value, bool | int | float):
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    elif isinstance(node, ast.Return) and way == 0 and _says_something(node.value):
        node.value = ast.Constant(None)
    elif isinstance(node, ast.UnaryOp) and way == 0 and isinstance(node.op, ast.Not):
        node.op, node.operand = ast.Not(), ast.UnaryOp(ast.Not(), node.operand)
    else:
        return False
    return True


def _says_something(value: ast.expr | None) -> bool:
    return value is not None and not (isinstance(value, ast.Constant) and value.value is None)


def _is_text(node: ast.BinOp) -> bool:
    return any(isinstance(side, ast.JoinedStr | ast.List | ast.Tuple) for side in (node.left, node.right))


def put(module: ModuleType, source: str) -> None:
    """Make an imported module do what a mutant does: code, defaults and constants are exchanged in place.

    So whoever has imported its functions and classes meets the mistake. What was computed at import elsewhere
    stays as it was.
    """
    fresh = ModuleType(module.__name__)
    fresh.__file__, fresh.__package__ = module.__file__, module.__package__
    there = sys.modules[module.__name__]
    sys.modules[module.__name__] = fresh  # dataclasses look their module up
    try:
        exec(compile(source, str(module.__file__), "exec"), fresh.__dict__)
    finally:
        sys.modules[module.__name__] = there
    for name, new in list(vars(fresh).items()):
        old = vars(module).get(name)
        if name.startswith("__") or old is None or _exchanged(old, new, module.__name__):
            continue
        if isinstance(new, bool | int | float | str | tuple | frozenset) and new != old:
            for other in _importers(name, old):
                setattr(other, name, new)


def _importers(name: str, old: Any) -> Iterator[ModuleType]:
    for other in list(sys.modules.values()):
        if getattr(other, "__name__", "").partition(".")[0] in ROOMS and vars(other).get(name) is old:
            yield other


def _exchanged(old: Any, new: Any, home: str) -> bool:
    """Give a function, or everything in a class, the code of another; True if it was one of these."""
    old, new = getattr(old, "__func__", old), getattr(new, "__func__", new)
    if isinstance(old, property) and isinstance(new, property):
        return _exchanged(old.fget, new.fget, home)
    if isinstance(old, FunctionType) and isinstance(new, FunctionType):
        if old.__module__ == home and len(old.__code__.co_freevars) == len(new.__code__.co_freevars):
            old.__code__, old.__defaults__ = new.__code__, new.__defaults__
            old.__kwdefaults__ = new.__kwdefaults__
        wrapped = getattr(old, "__wrapped__", None), getattr(new, "__wrapped__", None)
        return (all(wrapped) and _exchanged(*wrapped, home)) or True
    if isinstance(old, type) and isinstance(new, type):
        for name, part in vars(new).items():
            if old.__module__ == home and name in vars(old):
                _exchanged(vars(old)[name], part, home)
        return True
    return False
