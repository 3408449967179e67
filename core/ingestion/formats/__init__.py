"""One file or package per format, named as `RawDocument.format` is: `parse(raw, text) -> Document`."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def parser_of(name: str) -> Any:
    """Load what has a format's `parse`: its file, or `parser.py` of its package."""
    module = import_module(f"{__name__}.{name}")
    return import_module(f"{module.__name__}.parser") if hasattr(module, "__path__") else module
