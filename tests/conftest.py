"""Fixtures that many tests share."""

from __future__ import annotations

import os
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
