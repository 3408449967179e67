"""A PDF, or a folder of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from core.catalogue import SourceOptions, SourceSpec, Text
from core.domain import RawDocument
from core.ingestion.sources._files import FileReader
from core.ports import Workers
from core.settings import Settings


class Options(SourceOptions):
    """`path` is a PDF or a folder of them; a relative one starts at the folder of `corpora.toml`."""

    path: Text


class PdfSource:
    """Read PDFs; what they hold is cut by page, and cited with the page's number."""

    def __init__(self, spec: SourceSpec, workers: Workers) -> None:
        options = cast(Options, spec.options)
        self.name = f"pdf:{options.path}{spec.suffix}"
        self._spec = spec
        self._place = spec.resolve(options.path)
        self._workers = workers
        self.skipped: list[tuple[str, str]] = []

    def documents(self) -> Iterator[RawDocument]:
        """Yield each PDF; raises SourceError where there is none."""
        self.skipped = []
        yield from self._reader().documents()

    def reach(self, seconds: float) -> None:
        """Look whether there is a PDF; raises SourceError."""
        self._reader().look()

    def _reader(self) -> FileReader:
        if not self._place.exists():
            raise self._spec.error(f"There is no {self._place}; correct `path`")
        if self._place.is_file():
            folder, only = self._place.parent, [self._place.name]
        else:
            folder, only = self._place, []
        spec = replace(self._spec, include=self._spec.include or ("**/*.[pP][dD][fF]",), format="pdf")
        return FileReader(spec, folder, folder, spec.url, self.skipped, self._workers, only=only)


def open_source(spec: SourceSpec, settings: Settings, workers: Workers) -> PdfSource:
    """Build the source of PDFs."""
    return PdfSource(spec, workers)
