"""Count a tree of product code: sizes, folders, long functions, import cycles, broad excepts."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOMS = ("bot", "core", "storage", "evaluation")
"""The folders of product code."""
LONG_FUNCTION, MANY_PARAMETERS = 50, 6
"""Lines of a function and its parameters (without self and cls); what has more is counted."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """A file of product code: its dotted name, its place under the root, its lines and its syntax tree."""

    name: str
    path: str
    lines: int
    tree: ast.Module

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]

    @property
    def has_code(self) -> bool:
        """Return False for a package's `__init__.py` that holds nothing but its docstring."""
        docstring = ast.get_docstring(self.tree, clean=False) is not None
        return not self.path.endswith("__init__.py") or len(self.tree.body) > docstring


def modules_of(root: Path) -> list[Module]:
    """Read every module of the rooms under a root, sorted by path; database revisions are left out."""
    found = []
    for room in ROOMS:
        for file in sorted((root / room).rglob("*.py")):
            path = file.relative_to(root).as_posix()
            if "/migrations/versions/" not in path:
                text = file.read_text(encoding="utf-8")
                name = path[:-3].replace("/", ".").removesuffix(".__init__")
                found.append(Module(name, path, text.count("\n"), ast.parse(text)))
    return found


def functions_of(module: Module) -> Iterator[Function]:
    """Yield every function and method of a module."""
    for node in ast.walk(module.tree):
        if isinstance(node, Function):
            yield node


def length(function: Function) -> int:
    """Return the lines of a function, decorators left out."""
    return (function.end_lineno or function.lineno) - function.lineno + 1


def parameters(function: Function) -> int:
    """Return how many parameters callers may give; self and cls are none."""
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return len([argument for argument in named if argument.arg not in ("self", "cls")])


def is_broad(handler: ast.ExceptHandler) -> bool:
    """Return True if an except clause catches everything."""
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(
        kind is None or (isinstance(kind, ast.Name) and kind.id in ("Exception", "BaseException"))
        for kind in caught
    )


def imports_of(module: Module, names: set[str]) -> set[str]:
    """Return the modules that a module imports anywhere in it, for type checking too."""
    found: set[str] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in names else node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return (found & names) - {module.name}


def cycles_of(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the circles of a graph of imports: modules that all reach each other, largest first."""
    reached = {start: _reachable(graph, start) for start in graph}
    circles = {
        tuple(sorted(other for other in there if start in reached[other]))
        for start, there in reached.items()
        if start in there
    }
    return sorted((list(circle) for circle in circles), key=len, reverse=True)


def _reachable(graph: Mapping[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += graph[name]
    return seen


def count(root: Path) -> dict[str, object]:
    """Count the product code under a root; each key is one figure."""
    modules = modules_of(root)
    coded = [module for module in modules if module.has_code]
    functions = [function for module in coded for function in functions_of(module)]
    handlers = [n for m in coded for n in ast.walk(m.tree) if isinstance(n, ast.ExceptHandler)]
    names = {module.name for module in modules}
    cycles = cycles_of({module.name: imports_of(module, names) for module in modules})
    folders = Counter(module.folder for module in modules if not module.path.endswith("__init__.py"))
    largest = max(coded, key=lambda module: module.lines)
    lines = sum(module.lines for module in coded)
    broad = sum(map(is_broad, handlers))
    return {
        "files": len(coded),
        "lines": lines,
        "median_lines": median(module.lines for module in coded),
        "largest_lines": largest.lines,
        "largest_file": largest.path,
        "folders": len(folders),
        "fullest_folder": max(folders.values()),
        "fullest_folders": dict(folders.most_common(5)),
        "functions": len(functions),
        "long_functions": sum(length(function) > LONG_FUNCTION for function in functions),
        "functions_with_many_parameters": sum(parameters(f) > MANY_PARAMETERS for f in functions),
        "import_cycles": len(cycles),
        "modules_in_cycles": sum(map(len, cycles)),
        "cycles": cycles,
        "broad_excepts": broad,
        "broad_excepts_per_1000_lines": round(1000 * broad / lines, 2),
    }
