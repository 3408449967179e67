"""Reading the documents of a folder: which files, in which order, and what is passed over."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.catalogue import SourceSpec
from core.domain import RawDocument
from core.errors import TooCostly
from core.ingestion.formats import MAX_DOCUMENT_BYTES, endings, format_of, kind_of
from core.ingestion.formats._files import is_secret
from core.ingestion.sources import page_url
from core.ingestion.sources._routes import HEAD_BYTES, Patterns, place_of
from core.ports import Workers

_PASSED_OVER = frozenset({"node_modules", "__pycache__"})
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class FileReader:
    """Read the files that a source means, sorted by path.

    `folder` is where patterns start; files may lie anywhere in `root`, which links cannot leave.
    `only` names files instead of all that the patterns mean, and no folder is looked through. What was
    passed over is appended to `skipped` as (path, reason).
    """

    def __init__(
        self,
        spec: SourceSpec,
        root: Path,
        folder: Path,
        url: str,
        skipped: list[tuple[str, str]],
        workers: Workers,
        largest: int = MAX_DOCUMENT_BYTES,
        only: Sequence[str] = (),
    ) -> None:
        self._spec = spec
        self._root = root.resolve()
        self._folder = folder
        self._url = url
        self._skipped = skipped
        self._workers = workers
        self._max_bytes = largest
        self._only = tuple(only)
        self._include = Patterns(spec.include)
        self._exclude = Patterns(spec.exclude)

    def documents(self) -> Iterator[RawDocument]:
        """Yield each document; raises SourceError where there is none to read."""
        found = False
        for path in self._only or sorted(self._paths()):
            document = self._document(path)
            if isinstance(document, str):
                self._skipped.append((path, document))
            else:
                found = True
                yield document
        if not found:
            raise self._spec.error(self._nothing())

    def _paths(self) -> Iterator[str]:
        def unreadable(error: OSError) -> None:
            place = Path(error.filename or self._folder)
            self._skipped.append(
                (place.relative_to(self._folder).as_posix(), f"unreadable: {error.strerror}")
            )

        for where, folders, files in os.walk(self._folder, onerror=unreadable):
            below = Path(where).relative_to(self._folder)
            for name in folders:
                if os.path.islink(os.path.join(where, name)):  # walk does not follow it
                    self._skipped.append(((below / name).as_posix(), "a link to a folder"))
            folders[:] = [name for name in folders if self._entered((below / name).as_posix())]
            for name in files:
                path = (below / name).as_posix()
                if self._meant(path):
                    yield path

    def _entered(self, path: str) -> bool:
        name = path.rpartition("/")[2]
        if self._exclude.match(path):
            return False
        if name.startswith(".") or name in _PASSED_OVER:
            return self._include.names(name)
        return True

    def _meant(self, path: str) -> bool:
        if self._exclude.match(path):
            return False
        if self._spec.include:
            return self._include.match(path)
        hidden = path.rpartition("/")[2].startswith(".")
        return not hidden and format_of(path) is not None

    def _document(self, path: str) -> RawDocument | str:
        """Read a file, or say why not."""
        file_format = self._spec.format or format_of(path)
        if not file_format:
            name = path.rpartition("/")[2]
            if "." in name.lstrip("."):
                return f"its ending is none of {' '.join(endings())}; say `format` to have it read"
            file_format = "text"
        try:
            path.encode("utf-8")
            file = (self._folder / path).resolve(strict=True)
            if not file.is_relative_to(self._root):
                return "a link that leaves the folder"
            if is_secret(self._root, file):
                return "a file for tools, not for readers"
            status = file.stat()
            if not stat.S_ISREG(status.st_mode):
                return "not a plain file"
            kind, limit = kind_of(file_format), self._max_bytes
            if kind.max_bytes > MAX_DOCUMENT_BYTES:  # mostly pictures: its size says little of its text
                limit = max(limit, kind.max_bytes)
            if status.st_size > limit:
                return f"too large: {status.st_size:,} bytes, at most {limit:,}"
            content = file.read_bytes()
        except UnicodeEncodeError:
            return "its name is not UTF-8"
        except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, before Python 3.13
            return f"unreadable: {getattr(error, 'strerror', None) or error}"
        if content.startswith(_UTF_16) and not kind.is_binary:
            try:
                content = content.decode("utf-16").encode()
            except UnicodeDecodeError:
                return "binary"
        if b"\0" in content and not kind.is_binary:
            return "binary"
        if not content.strip():
            return "empty"
        if content.startswith(_LFS_POINTER):
            return "its content is in Git LFS, which is not fetched"
        given = (str(self._root), str(file), str(self._folder.resolve()), content[:HEAD_BYTES])
        try:
            page, reason = self._workers.run(place_of, *given)
        except TooCostly as error:
            return str(error)
        if reason:
            return reason
        return RawDocument(
            path=path,
            url=page_url(self._url, path, page if "{page}" in self._url else None),
            content=content,
            format=file_format,
            root=str(self._root),
            file=str(file),
        )

    def _nothing(self) -> str:
        if self._skipped:
            path, reason = self._skipped[0]
            return f"None of the files in {self._folder} can be read: {path} is {reason}"
        meant = ", ".join(self._spec.include) or "file that ends in " + " ".join(endings())
        return f"Nothing in {self._folder} matches {meant}; correct `path` or `include`"
