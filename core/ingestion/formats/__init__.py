"""One file or package per format, named as `RawDocument.format` is: `parse(raw, text) -> Document`.

The folder is the registry. A file, or its package, may say more of its format in `KIND`; a package has
`parse` in `parser.py`, so that a format's endings are known before its libraries are loaded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

MAX_DOCUMENT_BYTES = 5_000_000
"""Size above which a document is passed over; ours: the longest page of the Python docs has 0.5 MB."""
MAX_PICTURED_BYTES = 50_000_000
"""The same for what is mostly pictures and fonts."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What is to be known of a format before it is parsed.

    Files with these `endings` are read as such. What `is_binary` is read from bytes, not from text.
    `reaching` finds what includes other files or documents code.
    """

    endings: tuple[str, ...] = ()
    is_binary: bool = False
    max_bytes: int = MAX_DOCUMENT_BYTES
    reaching: re.Pattern[bytes] | None = None


def names() -> tuple[str, ...]:
    """Return the names of the formats there are."""
    return _names(tuple(__path__))


def kind_of(name: str) -> Kind:
    """Return what is to be known of a format."""
    kind: Kind = getattr(import_module(f"{__name__}.{name}"), "KIND", Kind())
    return kind


def endings() -> Mapping[str, str]:
    """Return the format of each ending that can be read without a `format`."""
    return _endings(tuple(__path__))


def format_of(path: str) -> str | None:
    """Return the format that a path's ending stands for."""
    return endings().get(path[path.rfind(".") :].lower()) if "." in path else None


def parser_of(name: str) -> Any:
    """Load what has a format's `parse`: its file, or `parser.py` of its package."""
    module = import_module(f"{__name__}.{name}")
    return import_module(f"{module.__name__}.parser") if hasattr(module, "__path__") else module


@lru_cache(maxsize=4)
def _names(folders: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(m.name for m in iter_modules(folders) if not m.name.startswith("_")))


@lru_cache(maxsize=4)
def _endings(folders: tuple[str, ...]) -> Mapping[str, str]:
    return {ending: name for name in _names(folders) for ending in kind_of(name).endings}
