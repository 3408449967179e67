"""Where documents come from: each module here is one kind of source, under its own name.

A kind has `class Options(SourceOptions)`, the keys it takes in `corpora.toml`, and
`def open_source(spec: SourceSpec, settings: Settings, workers: Workers) -> Source`, which does no I/O. What
others wrote is parsed by `workers` where that may take long. Modules whose name starts with an underscore are
helpers; those that work in a worker import little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from core.catalogue import SourceKinds
from core.ingestion.formats import names

if TYPE_CHECKING:
    from core.catalogue import SourceOptions, SourceSpec
    from core.ports import Source, Workers
    from core.settings import Settings

_ENDING = re.compile(r"(?<=[^/])\.[A-Za-z][A-Za-z0-9]*$")
_INDEX = re.compile(r"(?:^|/)_?index$")


class Kinds(SourceKinds):
    """The options of each kind of source, by its name; a module is loaded when it is asked for."""

    @property
    def formats(self) -> tuple[str, ...]:
        """Return the names of the formats there are."""
        return names()

    def __init__(self) -> None:
        self._names = sorted(m.name for m in iter_modules(__path__) if not m.name.startswith("_"))

    def __getitem__(self, kind: str) -> type[SourceOptions]:
        if kind not in self._names:
            raise KeyError(kind)
        options: type[SourceOptions] = _module(kind).Options
        return options

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def open_source(spec: SourceSpec, settings: Settings, workers: Workers) -> Source:
    """Build the source that `corpora.toml` describes; nothing is read yet."""
    source: Source = _module(spec.kind).open_source(spec, settings, workers)
    return source


def _module(kind: str) -> Any:
    """Return what has a kind's `Options` and `open_source`: its file, or `source.py` of its package."""
    module = import_module(f"{__name__}.{kind}")
    return import_module(f"{module.__name__}.source") if hasattr(module, "__path__") else module


def page_url(template: str, path: str, page: str | None = None) -> str:
    """Write the link of a document: `{page}` is its path without the ending, `{path}` with it.

    `page` is where its site publishes it, if that is known to be another place than its path says.

    Where the template has `{page}/`, pages are folders on the site and an index page is the folder
    itself, as Sphinx's dirhtml, MkDocs and Hugo lay them out.
    """
    page = _ENDING.sub("", path) if page is None else page
    folder = _INDEX.sub("", page)
    if not page:
        template = template.replace("{page}/", "{page}")
    if folder != page and "{page}/" in template:
        template = template.replace("{page}/", "{page}/" if folder else "")
        page = folder
    parts = {"{page}": quote(page), "{path}": quote(path)}
    return re.sub(r"\{page\}|\{path\}", lambda found: parts[found[0]], template)
