"""Fixtures that many tests share."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="session")
def encoder_cache() -> Path:
    """Return a folder that keeps the exported encoder between test runs."""
    folder = Path(__file__).parent.parent / ".threadlore" / "models"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    """Give the next test the log as it was: a command line that runs in a test sets up its own."""
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    yield
    root.setLevel(level)
    root.handlers[:] = handlers


@pytest.fixture(autouse=True)
def _web_apps_go() -> Iterator[None]:
    """Let go of the web applications of a test: aiohttp keeps 1,024 of their handlers, and with those of a
    playground the whole bot, 110 MB each.
    """
    yield
    cached = getattr(sys.modules.get("aiohttp.web_app"), "_cached_build_middleware", None)
    if cached is not None:
        cached.cache_clear()
