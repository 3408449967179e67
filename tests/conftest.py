"""Fixtures that many tests share."""

from __future__ import annotations

import asyncio
import fcntl
import gc
import logging
import os
import shutil
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

UNNEEDED = str(Path(__file__).parent / "unneeded")
"""What stands there is found before a library of the same name, in processes that a test starts, too."""
if UNNEEDED not in sys.path:
    sys.path.insert(0, UNNEEDED)
    known = [path for path in [os.environ.get("PYTHONPATH")] if path]
    os.environ["PYTHONPATH"] = os.pathsep.join([UNNEEDED, str(Path(__file__).parents[1]), *known])

from tests.effort import Effort, examples, sorted_out  # noqa: E402
from tests.shared_statements import share  # noqa: E402

if TYPE_CHECKING:
    from selenium import webdriver

    from tests.journeys.house import Kettle

MEMORY, ROOM = "/dev/shm", 4_000_000_000
"""A folder in memory, and the bytes that must be free there for the tests' homes."""

# as `make test` has it: else every process of a run compiles what it imports, the tests alone for 20 s
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

share()
# one example takes a third of a second where others have the machine, too; a change is tried with the same
# examples everywhere, and `pytest --hypothesis-profile=explore` looks for new ones
bearing = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.register_profile("explore", bearing, max_examples=2000)

for folder in ("endurance", "journeys", "platforms", "reindex"):
    pytest.register_assert_rewrite(f"tests.{folder}")

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
# every commit of a test's database waits for the disk, some thirty a journey; in memory it does not
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)


LONGEST_FIRST = (
    "tests/journeys/test_forgetting_words.py",
    "tests/reindex/",
    "tests/endurance/",
    "tests/journeys/test_page.py",
    "tests/proofs/",
    "tests/journeys/test_damaged_files.py",
    "tests/journeys/test_editors.py",
    "tests/platforms/test_playground",
    "tests/journeys/test_controls.py",
    "tests/journeys/test_widget_page.py",
    "tests/journeys/test_dashboard_page.py",
    "tests/journeys/test_one_database.py",
    "tests/journeys/test_command_line.py",
    "tests/journeys/test_memory_at_work.py",
    "tests/test_architecture_figures.py",
    "tests/journeys/test_stop.py",
    "tests/journeys/test_live_history.py",
    "tests/journeys/",
    "tests/bot/",
    "tests/storage/",
)
"""Files that take longest: begun first, they do not end last while another process has nothing to do.

What is light comes at the end, in small files.
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a person run everything."""
    told = "play every journey on every stage, and what is slow and held by another test"
    parser.addoption("--thorough", action="store_true", help=told)


def pytest_configure(config: pytest.Config) -> None:
    """Say how much is tried, before the tests are read."""
    Effort.is_thorough = bool(config.getoption("--thorough"))
    settings.register_profile("same", bearing, derandomize=True, max_examples=examples(100))
    settings.load_profile("same")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is for `--thorough`; put what takes longest first, the rest in its order."""
    items[:], left = sorted_out(items)
    if left:
        config.hook.pytest_deselected(items=left)

    def rank(item: pytest.Item) -> int:
        places = (place for place, begin in enumerate(LONGEST_FIRST) if item.nodeid.startswith(begin))
        return next(places, len(LONGEST_FIRST))

    items.sort(key=rank)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for garbage in what tests make, not in all that is imported for them, and seldom.

    Every process collects all tests; looking for garbage meanwhile was a sixth of it.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 50, 50)
        gc.enable()


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes by their argument: what is packed holds the time, and a test has one name everywhere."""
    return argname if isinstance(val, bytes) else None


@pytest.fixture(scope="session")
def encoder_cache() -> Path:
    """Return a folder that keeps the exported encoder between test runs.

    Whoever comes first exports it; another process that tests beside this one waits for that.
    """
    from core.models.embedding.encoder import PACKAGED, load_encoder  # numpy reads the variables above

    folder = Path(__file__).parent.parent / ".threadlore" / "models"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".making").open("w") as making:
        fcntl.flock(making, fcntl.LOCK_EX)
        load_encoder(PACKAGED, folder).close()
    return folder


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory, encoder_cache: Path) -> Kettle:
    """Return Kettle with all its releases indexed, not to be changed; the first to ask indexes it."""
    from tests.journeys.house import Kettle, new_kettle

    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    with (shared / "kettle.making").open("w") as making:
        fcntl.flock(making, fcntl.LOCK_EX)
        if not (shared / "kettle").exists():
            made = tmp_path_factory.mktemp("made") / "kettle"
            asyncio.run(new_kettle(made, encoder_cache))
            made.rename(shared / "kettle")
    return Kettle(shared / "kettle", encoder_cache)


@pytest.fixture
def kettle(indexed: Kettle, tmp_path: Path) -> Kettle:
    """Return a copy of Kettle that a test may do anything to."""
    return indexed.copy(tmp_path / "kettle")


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """Start Chromium once for all that look at pages; skip where there is none."""
    from tests.platforms import browser

    yield from browser.chromium(tmp_path_factory.mktemp("profile"))


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    """Give the next test the log as it was: a command line that runs in a test sets up its own."""
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    known = _levels()
    yield
    root.handlers[:] = handlers
    changed = {name: known.get(name, logging.NOTSET) for name, _ in _levels().items() - known.items()}
    for name, before in changed.items():  # no other: setting one empties what each logger remembers
        logging.getLogger(name).setLevel(before)
    if root.level != level:
        root.setLevel(level)


def _levels() -> dict[str, int]:
    """Return the level of every logger but the root."""
    named = logging.Logger.manager.loggerDict.items()
    return {name: logger.level for name, logger in named if isinstance(logger, logging.Logger)}


@pytest.fixture(autouse=True)
def _web_apps_go() -> Iterator[None]:
    """Let go of the web applications of a test: aiohttp keeps 1,024 of their handlers, and with those of a
    playground the whole bot, 110 MB each.
    """
    yield
    cached = getattr(sys.modules.get("aiohttp.web_app"), "_cached_build_middleware", None)
    if cached is not None:
        cached.cache_clear()
