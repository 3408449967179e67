"""One file or package per format, named as `RawDocument.format` is: `parse(raw, text) -> Document`.

The folder is the registry. A file, or its package, may say more of its format in `KIND`; a package has
`parse` in `parser.py`, so that a format's endings are known before its libraries are loaded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from core.domain import RawDocument, content_hash

MAX_DOCUMENT_BYTES = 5_000_000
"""Size above which a document is passed over; ours: the longest page of the Python docs has 0.5 MB."""
MAX_PICTURED_BYTES = 50_000_000
"""The same for what is mostly pictures and fonts."""
MKDOCS = ("mkdocs.yml", "mkdocs.yaml", "zensical.yml", "zensical.toml")
DOCUSAURUS = tuple(f"docusaurus.config.{ending}" for ending in ("js", "ts", "mjs", "cjs", "mts"))
CONFIGURATIONS = ("conf.py", "source/conf.py", *MKDOCS, *DOCUSAURUS)
"""What says, above a document, how its site is made: versions, anchors, roles, links."""
ANYTHING = frozenset({"", "application/octet-stream", "binary/octet-stream"})
"""Media types by which a server says that it does not know: the ending alone tells the format."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What is to be known of a format before it is parsed.

    Files with these `endings` are read as such, and what a website sends under these `media` types; under
    `shared` ones, which others use for much else, where the ending says so, too. What `is_binary` is read
    from bytes, not from text. `reaching` finds what includes other files or documents code.
    """

    endings: tuple[str, ...] = ()
    media: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
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


def most_bytes(media: str) -> int:
    """Return the size above which what a website sends under a media type is passed over."""
    name = _media(tuple(__path__)).get(media)
    return kind_of(name).max_bytes if name else MAX_DOCUMENT_BYTES


def told_by(media: str, path: str) -> str | None:
    """Return the format of what a website sends, by its media type and the path's ending; None for none.

    An ending that is known says more than the media type of a text.
    """
    ending = format_of(path)
    if media in _media(tuple(__path__)):
        return ending or _media(tuple(__path__))[media]
    return ending if ending and (media in ANYTHING or media in kind_of(ending).shared) else None


def parser_of(name: str) -> Any:
    """Load what has a format's `parse`: its file, or `parser.py` of its package."""
    module = import_module(f"{__name__}.{name}")
    return import_module(f"{module.__name__}.parser") if hasattr(module, "__path__") else module


@lru_cache(maxsize=4)
def _names(folders: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(m.name for m in iter_modules(folders) if not m.name.startswith("_")))


@lru_cache(maxsize=4)
def _media(folders: tuple[str, ...]) -> Mapping[str, str]:
    return {media: name for name in _names(folders) for media in kind_of(name).media}


@lru_cache(maxsize=4)
def _endings(folders: tuple[str, ...]) -> Mapping[str, str]:
    return {ending: name for name in _names(folders) for ending in kind_of(name).endings}


def configured(raw: RawDocument) -> str:
    """Return a digest of the configurations that stand above a document in its root; empty for none."""
    if not raw.root:
        return ""
    root, found = Path(raw.root).resolve(), list[str]()
    for folder in (root / (raw.file or raw.path)).resolve().parents:
        if not folder.is_relative_to(root):
            break
        for name in CONFIGURATIONS:
            with suppress(OSError):
                status = (folder / name).stat()
                found.append(_digest(str(folder / name), status.st_mtime_ns, status.st_size))
    return content_hash(*found) if found else ""


@lru_cache(maxsize=64)
def _digest(path: str, _modified: int, _size: int) -> str:
    return content_hash(Path(path).read_bytes().decode("latin-1"))
