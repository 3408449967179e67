"""A home in which Kettle is indexed, and the whole bot built on a copy of it.

    async with house(kettle, ollama_host="off") as bot:
        stage = FakeStage(bot)
        ...

What is built is the real thing throughout: MiniLM, SQLite, Chroma, tantivy, dispatch. Only the
platforms' and the model's servers are stood in for.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bot.app.bootstrap import build
from bot.dispatch.dispatch import Dispatch, dispatch_of
from bot.operations.application import Application
from core.settings import Settings, load_settings
from tests.journeys.kettle import write_kettle
from tests.shared_processes import SHARED
from tests.shared_vectors import one_for_all

PASSED = ("PATH", "HOME", "LANG", "OMP_NUM_THREADS", "PYTHONPATH")
"""Variables of the environment that a child process has, too."""


_READ: dict[tuple[str, str], Settings] = {}


def _settings(given: dict[str, Any]) -> Settings:
    """Read settings once for all homes that have the same: it takes a tenth of what a short journey takes."""
    places = {name: given[name] for name in ("home", "config")}
    rest = repr(sorted((name, value) for name, value in given.items() if name not in places))
    # pytest names the test that runs, so that no two would have the same environment
    around = sorted(pair for pair in os.environ.items() if pair[0] != "PYTEST_CURRENT_TEST")
    key = rest, repr(around)
    if key not in _READ:
        _READ[key] = load_settings(None, **given)
    return _READ[key].model_copy(update=places)


@dataclass(frozen=True)
class Kettle:
    """A folder with documentation, `corpora.toml`, and a home that holds its index."""

    folder: Path
    encoder_cache: Path

    @property
    def config(self) -> Path:
        return self.folder / "corpora.toml"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def settings(self, **given: Any) -> Settings:
        """Return settings for this home: nothing of the environment, no model, no platform."""
        quiet = {
            "home": self.home,
            "config": self.config,
            "ollama_host": "off",
            "playground": False,
            "questions_per_minute": 1000.0,
            "ollama_timeout": 5.0,
            "port": 0,
            "slack_bot_token": "",
            "slack_app_token": "",
            "discord_token": "",
            "database_url": "",
        }
        return _settings(quiet | given)

    def copy(self, folder: Path) -> Kettle:
        """Return the same in another folder, to be changed freely."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return replace(self, folder=folder)

    def variables(self, **more: str) -> dict[str, str]:
        """Return the environment of a child process that serves this home."""
        passed = {k: v for k, v in os.environ.items() if k in PASSED}
        return passed | {
            "THREADLORE_HOME": str(self.home),
            "THREADLORE_CONFIG": str(self.config),
            "THREADLORE_PLAYGROUND": "false",
            "OLLAMA_HOST": "off",
            "QUESTIONS_PER_MINUTE": "1000",
            "HF_HUB_OFFLINE": "1",
            **more,
        }


def opened(kettle: Kettle, what: str = "index") -> AbstractAsyncContextManager[Application]:
    """Build everything on a home for what is done there, with the processes and the encoder of all tests."""
    return build(kettle.settings(), what, one_for_all, SHARED)


def new_folder(folder: Path, encoder_cache: Path, url: str = "") -> Kettle:
    """Write Kettle's documentation, with a home in which nothing is indexed."""
    write_kettle(folder, url)
    kettle = Kettle(folder, encoder_cache)
    kettle.home.mkdir()
    (kettle.home / "models").symlink_to(encoder_cache)
    return kettle


async def new_kettle(folder: Path, encoder_cache: Path, *releases: str, url: str = "") -> Kettle:
    """Write Kettle's documentation, whose pages are at `url`, and index the named releases, or all."""
    kettle = new_folder(folder, encoder_cache, url)
    async with opened(kettle) as app:
        for release in releases or [""]:
            await app.corpus_manager.reindex(release)
    return kettle


@dataclass
class Bot:
    """The whole bot without a platform."""

    kettle: Kettle
    settings: Settings
    app: Application
    dispatch: Dispatch

    async def counts(self) -> dict[str, int]:
        """Return how much memory holds."""
        return dict((await self.app.corpus_manager.status())["memory"])


@asynccontextmanager
async def house(kettle: Kettle, **given: Any) -> AsyncIterator[Bot]:
    """Build everything on a home and close it at the end; `given` are settings."""
    settings = kettle.settings(**given)
    async with build(settings, "test", one_for_all, SHARED) as app:
        dispatch = dispatch_of(app)
        try:
            yield Bot(kettle, settings, app, dispatch)
        finally:
            await dispatch.stop()
