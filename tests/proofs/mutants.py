"""Mutants: one mistake at a time in a module, and whether its tests see it.

    python -m tests.proofs.mutants core/memory/scoring.py

Tests are collected once; each mutant is tried in a process that is forked from there, by the tests that run
its line, the quickest first, until one fails. What none of them sees is tried again by all tests of the
module, in a process that imports the mutant instead of exchanging its code.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.abc
import importlib.util
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pytest

from tests.proofs.mutations import Mutant, mutants, put

MEMORY, GUARD = "core/memory", "core/memory/guard"
PARTITIONS = f"{MEMORY}/partitions"
TESTS = {
    f"{MEMORY}/calibrated.py": ("calibrated", "../../bot/test_calibration_at_start"),
    f"{MEMORY}/carried_over.py": ("carried_over",),
    f"{MEMORY}/community.py": (
        *("community", "electorate", "verification", "arrivals", "distinctions", "rewordings", "weighing"),
        *("memory_properties", "recall", "../test_engine"),
    ),
    f"{MEMORY}/decision.py": ("decision", "distinctions", "calibrated"),
    f"{MEMORY}/facts.py": ("facts",),
    f"{GUARD}/meaning.py": ("guard",),
    f"{GUARD}/naming.py": ("guard",),
    f"{GUARD}/purpose.py": ("guard",),
    f"{GUARD}/replaced.py": ("guard",),
    f"{GUARD}/roles.py": ("guard",),
    f"{GUARD}/sense.py": ("guard",),
    f"{GUARD}/words.py": ("guard",),
    f"{MEMORY}/import_export.py": ("import_export",),
    f"{PARTITIONS}/arrivals.py": ("arrivals", "community"),
    f"{PARTITIONS}/partition.py": ("clusters", "arrivals", "vectors", "memory_properties"),
    f"{PARTITIONS}/partition_index.py": (
        *("language_of_pairs", "arrivals", "community", "rewordings", "verification"),
        "memory_properties",
    ),
    f"{PARTITIONS}/vectors.py": ("vectors", "clusters", "verification"),
    f"{MEMORY}/question_graph.py": ("../retrieval/test_question_graph", "../pipeline/test_graph_context"),
    f"{MEMORY}/recall.py": (
        *("recall", "community", "language_of_pairs", "distinctions", "rewordings", "arrivals"),
        *(
            "../test_second_look",
            "../test_engine",
            "../test_engine_rewordings",
            "../pipeline/test_community_evidence",
        ),
        "../pipeline/test_recipes",
    ),
    f"{MEMORY}/recognition.py": ("rewordings", "distinctions", "../test_engine_rewordings"),
    f"{MEMORY}/scoring.py": ("scoring", "electorate", "weighing", "prior", "verification", "clusters"),
    f"{MEMORY}/verification.py": ("verification",),
    "storage/serving/conversations.py": ("conversations", "voters"),
    "storage/memory/opinions.py": ("reactions", "opinions"),
}
"""Modules, and the tests that are to see their mistakes: files beside each other, or where else they are."""
LONGEST = 60
"""Seconds of a mutant's tests where those without a mistake are quick; one that loops is seen, too."""
SLOWER = 5
"""How many times as long as without a mistake a mutant's tests may take."""
SLOW = "tests/core/memory/test_prior.py::test_bertscore_ranks_a_rewording_above_another_subject"
"""Loads a model for ten seconds."""
OPTIONS = (
    *("-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--no-header", "--hypothesis-seed=1"),
    *("--deselect", SLOW),
)


class Trials:
    """A plugin of pytest that tries mutants instead of running the tests that were collected."""

    def __init__(self, module: Path, tried: Sequence[Mutant]) -> None:
        self.module, self.tried = module, tried
        self.unseen: list[Mutant] = []
        self.failed = ""
        self._imported: ModuleType | None = None
        self._longest = 20 * LONGEST

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests as they are, noting lines and times; then every mutant in a process of its own."""
        name = str(self.module).removesuffix(".py").replace("/", ".")
        self._imported = importlib.import_module(name)
        lines = self._lines(session)
        original, began = self.module.read_text(encoding="utf-8"), time.monotonic()
        if lines is None or self._sees(session, original, session.items):
            self.failed = "the tests fail without any mistake"
            return True
        self._longest = max(LONGEST, SLOWER * int(time.monotonic() - began))
        for number, mutant in enumerate(self.tried, 1):
            covering = [item for item in session.items if _meets(mutant, lines[item.nodeid][0])]
            covering.sort(key=lambda item: lines[item.nodeid][1])
            if not self._sees(session, mutant.source, covering or session.items):
                self.unseen.append(mutant)
            if number % 50 == 0:
                print(f"{number} of {len(self.tried)}, {len(self.unseen)} not seen so far", flush=True)
        return True

    def _lines(self, session: pytest.Session) -> dict[str, tuple[set[int], float]] | None:
        """Return which lines of the module each test runs, and its seconds; None if one fails."""
        with tempfile.NamedTemporaryFile("r") as told:

            def run() -> int:
                found = {}
                for number, item in enumerate(session.items):
                    began, ran = time.monotonic(), set[int]()
                    _traced(str(self.module.absolute()), ran)
                    _run(session, item, session.items[number + 1 : number + 2])
                    found[item.nodeid] = sorted(ran), time.monotonic() - began
                Path(told.name).write_text(json.dumps(found))
                return int(session.testsfailed)

            if _forked(run, 20 * LONGEST):
                return None
            return {name: (set(ran), seconds) for name, (ran, seconds) in json.load(told).items()}

    def _sees(self, session: pytest.Session, source: str, items: Sequence[pytest.Item]) -> bool:
        imported = self._imported
        assert imported is not None

        def run() -> int:
            put(imported, source)
            for number, item in enumerate(items):
                _run(session, item, items[number + 1 : number + 2])
                if session.testsfailed:
                    return 1
            return 0

        return _forked(run, self._longest) != 0


def _meets(mutant: Mutant, ran: set[int]) -> bool:
    return any(line in ran for line in range(mutant.first, mutant.last + 1))


def _traced(file: str, ran: set[int]) -> None:
    """Note the lines of a file that run from now on, in every thread."""

    def local(frame: FrameType, event: str, _: object) -> Any:
        ran.add(frame.f_lineno)
        return local

    def calls(frame: FrameType, event: str, _: object) -> Any:
        return local(frame, event, _) if frame.f_code.co_filename == file else None

    sys.settrace(calls)
    threading.settrace(calls)


def _run(session: pytest.Session, item: pytest.Item, following: Sequence[pytest.Item]) -> None:
    after = following[0] if following else None
    session.config.hook.pytest_runtest_protocol(item=item, nextitem=after)


def _forked(run: Callable[[], int], seconds: int) -> int:
    """Run something in a child that says nothing; return its status, other than 0 if it takes too long."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    code = 1
    try:
        signal.alarm(seconds)
        with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing):
            os.dup2(nothing.fileno(), 1)
            os.dup2(nothing.fileno(), 2)
            code = run()
    finally:
        os._exit(code)


class Instead(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports a mutant in the place of its module."""

    def __init__(self, module: Path, source: str) -> None:
        self._name = str(module).removesuffix(".py").replace("/", ".")
        self._source, self._place = source, module

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


def imported_and_seen(module: Path, mutant: Mutant) -> bool:
    """Return True if all tests fail on a mutant that is imported from the beginning, in a fresh process."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(mutant.source)
        file.flush()
        command = [sys.executable, "-m", "tests.proofs.mutants", str(module), "--imported", file.name]
        child = os.posix_spawn(sys.executable, command, dict(os.environ))
        return os.waitpid(child, 0)[1] != 0


def main() -> None:
    """Try the mutants of a module and print those that nobody saw."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.mutants", description=__doc__)
    parser.add_argument("module", choices=list(TESTS))
    parser.add_argument("--most", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--imported", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    module, begun = Path(given.module), time.monotonic()
    folder = MEMORY if given.module.startswith("core") else "contracts"
    tests = [_file(folder, name) for name in TESTS[given.module]]
    if given.imported:
        sys.exit(_imported(module, given.imported.read_text("utf-8"), tests))
    every = list(mutants(module.read_text(encoding="utf-8")))
    tried = random.Random(given.seed).sample(every, min(given.most, len(every)))
    trials = Trials(module, sorted(tried, key=lambda mutant: mutant.first))
    pytest.main([*OPTIONS, "-s", *tests], plugins=[trials])
    if trials.failed:
        sys.exit(trials.failed)
    missed = [mutant for mutant in trials.unseen if not imported_and_seen(module, mutant)]
    for mutant in missed:
        print(f"not seen, {mutant.what}", flush=True)
    killed, seconds = len(tried) - len(missed), time.monotonic() - begun
    print(f"{module}: {killed} of {len(tried)} mutants seen ({killed / len(tried):.1%}), {seconds:.0f} s")


def _file(folder: str, name: str) -> str:
    """Return the file of tests of a name in a folder of tests, or of a path from there."""
    place = Path("tests", folder, f"{name}.py" if "/" in name else f"test_{name}.py")
    return os.path.normpath(place)


def _imported(module: Path, source: str, tests: Sequence[str]) -> int:
    """Run all tests on a mutant that is imported in the place of its module."""
    sys.meta_path.insert(0, Instead(module, source))
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
        signal.alarm(LONGEST * 20)
        return int(pytest.main([*OPTIONS, *tests]))


if __name__ == "__main__":
    main()
