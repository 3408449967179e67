"""Mutants: one mistake at a time in a module, and whether its fast tests see it.

    python -m tests.proofs.mutants core/memory/scoring/score.py --most 60 --seed 1

Each mutant is tried in a process that is forked from one that has imported the libraries; nothing of the
mutant's files is written.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib.abc
import importlib.util
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

TESTS = {
    "core/memory/scoring/score.py": ("core/memory/test_scoring.py", "core/memory/test_electorate.py",
                                     "core/memory/test_prior.py"),
    "core/memory/scoring/vote_weighting.py": ("core/memory/test_electorate.py", "contracts/test_voters.py"),
    "core/memory/decision.py": ("core/memory/test_decision.py", "core/memory/test_distinctions.py",
                                "core/memory/test_calibrated.py"),
    "core/memory/partitions/partition.py": ("core/memory/test_clusters.py", "core/memory/test_arrivals.py",
                                            "core/memory/test_vectors.py"),
    "storage/serving/conversations.py": ("contracts/test_conversations.py",),
}  # fmt: skip
"""Modules, and the fast tests that are to see their mistakes (in `tests`)."""
LONGEST = 120
"""Seconds of a mutant's tests; one that loops is seen, too."""
COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COUNTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
}  # fmt: skip


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """Yield every mutant of a module: where and what it is, and its source."""
    tree = ast.parse(source)
    for number, node in enumerate(ast.walk(tree)):
        for way in range(3):
            if not _mutate(copy.deepcopy(node), way):
                break
            changed = copy.deepcopy(tree)
            at = next(one for n, one in enumerate(ast.walk(changed)) if n == number)
            before = ast.unparse(at) if isinstance(at, ast.expr | ast.stmt) else ""
            _mutate(at, way)
            after = ast.unparse(at) if isinstance(at, ast.expr | ast.stmt) else ""
            line = getattr(node, "lineno", 0)
            yield (
                f"line {line}: {before[:70]} -> {after[:70]}",
                ast.unparse(ast.fix_missing_locations(changed)),
            )


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
    elif isinstance(node, ast.Return) and way == 0 and node.value is not None:
        node.value = ast.Constant(None)
    else:
        return False
    return True


def _is_text(node: ast.BinOp) -> bool:
    return any(isinstance(side, ast.JoinedStr | ast.List | ast.Tuple) for side in (node.left, node.right))


class Instead(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports a mutant in the place of its module."""

    def __init__(self, name: str, source: str, place: Path) -> None:
        self._name, self._source, self._place = name, source, place

    def find_spec(self, name: str, path: object, target: object = None) -> object:
        """Return where the mutant is; None for any other module."""
        if name != self._name:
            return None
        return importlib.util.spec_from_file_location(name, self._place, loader=self)

    def create_module(self, spec: object) -> None:
        """Leave it to Python."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the mutant."""
        exec(compile(self._source, str(self._place), "exec"), module.__dict__)


def seen(module: Path, source: str, tests: list[str]) -> bool:
    """Return True if the tests fail on a mutant, in a process of its own."""
    child = os.fork()
    if child == 0:
        with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing):
            os.dup2(nothing.fileno(), 1)
            os.dup2(nothing.fileno(), 2)
            signal.alarm(LONGEST)
            sys.meta_path.insert(
                0, Instead(str(module).removesuffix(".py").replace("/", "."), source, module)
            )
            import pytest

            os._exit(
                int(pytest.main(["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--no-header", *tests]))
            )
    return os.waitpid(child, 0)[1] != 0


def main() -> None:
    """Try the mutants of a module and print those that nobody saw."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.mutants")
    parser.add_argument("module", choices=list(TESTS))
    parser.add_argument("--most", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    import hypothesis.stateful  # noqa: F401
    import numpy  # noqa: F401
    import pytest  # noqa: F401
    import sqlalchemy.ext.asyncio  # noqa: F401

    module, begun = Path(given.module), time.monotonic()
    tests = [f"tests/{name}" for name in TESTS[given.module]]
    source = module.read_text(encoding="utf-8")
    if seen(module, ast.unparse(ast.parse(source)), tests):
        sys.exit("the tests fail without any mistake")
    every = list(mutants(source))
    tried = random.Random(given.seed).sample(every, min(given.most, len(every)))
    missed = []
    for what, mutant in tried:
        if not seen(module, mutant, tests):
            missed.append(what)
            print(f"not seen, {what}", flush=True)
    share = 1 - len(missed) / max(1, len(tried))
    print(
        f"{module}: {len(tried)} of {len(every)} mutants, {share:.0%} seen, {time.monotonic() - begun:.0f} s"
    )


if __name__ == "__main__":
    main()
