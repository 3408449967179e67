"""Documents in a folder on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from core.catalogue import SourceOptions, SourceSpec, Text
from core.domain import RawDocument
from core.ingestion.formats import MAX_DOCUMENT_BYTES
from core.ingestion.sources._files import FileReader
from core.ports import Workers
from core.settings import Settings


class Options(SourceOptions):
    """`path` is a folder; a relative one starts at the folder of `corpora.toml`."""

    path: Text


class FolderSource:
    """Read the documents below a folder."""

    def __init__(self, spec: SourceSpec, workers: Workers, max_bytes: int = MAX_DOCUMENT_BYTES) -> None:
        options = cast(Options, spec.options)
        self.name = f"folder:{options.path}{spec.suffix}"
        self._spec = spec
        self._folder = spec.resolve(options.path)
        self._max_bytes = max_bytes
        self._workers = workers
        self.skipped: list[tuple[str, str]] = []

    def documents(self) -> Iterator[RawDocument]:
        """Yield each document; raises SourceError where the folder is missing or holds none."""
        self.skipped = []
        yield from self._reader().documents()

    def reach(self, seconds: float) -> None:
        """Look whether the folder holds a file that is meant; raises SourceError."""
        self._reader().look()

    def _reader(self) -> FileReader:
        if not self._folder.is_dir():
            if self._folder.exists():
                raise self._spec.error(
                    f"{self._folder} is no folder; name its folder, and the file in `include`"
                )
            raise self._spec.error(f"The folder {self._folder} does not exist; correct `path`")
        folder, url = self._folder, self._spec.url
        return FileReader(self._spec, folder, folder, url, self.skipped, self._workers, self._max_bytes)


def open_source(spec: SourceSpec, settings: Settings, workers: Workers) -> FolderSource:
    """Build the source of a folder."""
    return FolderSource(spec, workers)
