"""Files of a folder as documents: which a source reads, and where the page of each is on its site.

The latter is what `{page}` stands for in a source's `url`. MkDocs and Docusaurus publish the folder of their
pages, wherever the source begins; Docusaurus drops numbers that order files, and takes `slug` and `id` from
the front matter (its routing rules, versions 2 and 3).
"""

from __future__ import annotations

import codecs
import errno
import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.catalogue import SourceSpec
from core.domain import RawDocument
from core.errors import TooCostly
from core.ingestion import front_matter
from core.ingestion.formats import MAX_DOCUMENT_BYTES, endings, format_of, kind_of
from core.ingestion.formats._shared import is_for_tools, is_secret, without_nul
from core.ingestion.sites import Site, left_out, site_of
from core.ingestion.sources import page_url
from core.ports import Unread, Workers

HEAD_BYTES = front_matter.MAX_CHARACTERS * 4
"""Bytes of a file that may be front matter."""
_PAGES = (".md", ".mdx", ".markdown")
_ORDER = re.compile(r"^(?P<number>\d+)\s*[-_.]+\s*(?P<rest>[^-_.\s].*)$")
_DATED = re.compile(r"^\d+[-_.]\d")  # a date or a version: `2021-01-02-news`, `7.0-notes`


def place_of(root: str, file: str, folder: str, head: bytes) -> tuple[str | None, str]:
    """Return the place of a file's page (`page_of`), and why it is no page of its own (`left_out`).

    `head` is the beginning of what the file holds. What others wrote is read for it: for a worker.
    """
    site = site_of(root, Path(file))
    return page_of(site, Path(file), Path(folder), head), left_out(site, root, Path(file), head)


def page_of(site: Site | None, file: Path, folder: Path, content: bytes) -> str | None:
    """Return the place of a file's page below the address of its source; None where its path says it all.

    `folder` is where the source begins.
    """
    if file.suffix.lower() not in _PAGES and not (site and file.suffix == ".ipynb"):
        return None
    text = content[:HEAD_BYTES].decode("utf-8-sig", "replace").replace("\r\n", "\n")
    front = front_matter.split(text)[0]
    place = site.place(file) if site else None
    if site is None or place is None:
        if not front.slug or not file.is_relative_to(folder):
            return None
        return _slugged(front.slug, file.relative_to(folder).parent.as_posix())
    docs, base = place
    # A source that begins at the pages or inside of them leaves their own address to its `url`.
    before = f"{base}/" if base and docs.is_relative_to(folder) and docs != folder else ""
    inner = file.relative_to(docs)
    left = 0 if docs.is_relative_to(folder) else len(folder.relative_to(docs).parts)
    if site.kind == "mkdocs":
        page = inner.with_suffix("").as_posix()
        page = re.sub(r"(?:^|(?<=/))README$", "index", page)
    else:
        page = _docusaurus(inner, front.slug, front.id)
    return (before + "/".join(page.split("/")[left:])).rstrip("/")


def _docusaurus(inner: Path, slug: str, identity: str) -> str:
    folders = [_unnumbered(part) for part in inner.parent.parts]
    if slug:
        return _slugged(slug, "/".join(folders))
    # An index is its folder; so is a page that is called like its folder.
    if inner.stem.lower() in ("index", "readme", inner.parent.name.lower()):
        return "/".join(folders)
    return "/".join([*folders, identity or _unnumbered(inner.stem)])


def _unnumbered(name: str) -> str:
    found = _ORDER.match(name)
    return found["rest"] if found and not _DATED.match(name) else name


def _slugged(slug: str, folder: str) -> str:
    if slug.startswith("/"):
        return slug.strip("/")
    parts = [part for part in folder.split("/") if part not in ("", ".")]
    for part in slug.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


_PIECE = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]/]{0,200}\]|\{[^{}/]*\}|.", re.DOTALL)


class Patterns:
    """Match paths below a folder, as `pathlib` globs do.

    `**/` stands for any number of folders, none included; `*`, `?`, `[…]` and `{a,b}` for parts of
    one name. A pattern that matches a folder takes everything in it.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._written = tuple(patterns)
        self._expression = re.compile("|".join(map(_translated, patterns)) or r"(?!)", re.DOTALL)

    def match(self, path: str) -> bool:
        """Return True if the path, with `/` between its parts, or a folder it lies in, is meant."""
        return self._expression.fullmatch(path) is not None

    def names(self, folder: str) -> bool:
        """Return True if a pattern spells this folder's name out."""
        return any(folder in pattern.split("/") for pattern in self._written)


def _translated(pattern: str) -> str:
    pattern = pattern.removeprefix("./").strip("/")
    inside = "" if pattern.endswith("**") else "(?:/.*)?"
    return "".join(_piece(found[0]) for found in _PIECE.finditer(pattern)) + inside


def _piece(text: str) -> str:
    if text == "**/":
        return "(?:[^/]+/)*"
    if text == "**":
        return ".*"
    if text == "*":
        return "[^/]*"
    if text == "?":
        return "[^/]"
    if text.startswith("[") and len(text) > 2:
        inside = text[1:-1].replace("\\", "\\\\").replace("[", "\\[")
        return f"[{'^/' + inside[1:] if inside.startswith('!') else inside}]"
    if text.startswith("{") and len(text) > 1:
        alternatives = text[1:-1].split(",")
        return f"(?:{'|'.join(''.join(_piece(f[0]) for f in _PIECE.finditer(a)) for a in alternatives)})"
    return re.escape(text)


_PASSED_OVER = frozenset({"node_modules", "__pycache__"})
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


def _unreadable(error: Exception) -> str:
    """Say why a file cannot be read: `Unread`, unless nothing lies there any more."""
    told = f"unreadable: {getattr(error, 'strerror', None) or error}"
    return told if not isinstance(error, OSError) or error.errno in _GONE else Unread(told)


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

    def look(self) -> None:
        """Look for a file that is meant, without reading it; raises SourceError where there is none."""
        if not self._only and next(self._paths(), None) is None:
            raise self._spec.error(self._nothing())

    def _paths(self) -> Iterator[str]:
        def unreadable(error: OSError) -> None:
            place = Path(error.filename or self._folder)
            self._skipped.append((f"{place.relative_to(self._folder).as_posix()}/", _unreadable(error)))

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
        read = self._read(path, file_format)
        if isinstance(read, str):
            return read
        file, content = read
        is_named = self._include.names(path.rpartition("/")[2])
        if is_for_tools(path, content[:HEAD_BYTES]) and not is_named:
            return "a file for tools, not for readers"
        given = (str(self._root), str(file), str(self._folder.resolve()), content[:HEAD_BYTES])
        try:
            page, reason = self._workers.run(place_of, *given)
        except TooCostly as error:
            return Unread(error)
        is_text = self._spec.format or any(pattern.endswith(".txt") for pattern in self._spec.include)
        if reason and not (is_named or (is_text and path.endswith(".txt"))):
            return reason
        return RawDocument(
            path=path,
            url=page_url(self._url, path, page if "{page}" in self._url else None),
            content=content,
            format=file_format,
            root=str(self._root),
            file=str(file),
        )

    def _read(self, path: str, file_format: str) -> tuple[Path, bytes] | str:
        """Return where a file really lies and what it holds, or say why it is no document."""
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
                return Unread(f"too large: {status.st_size:,} bytes, at most {limit:,}")
            content = file.read_bytes()
        except UnicodeEncodeError:
            return "its name is not UTF-8"
        except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, before Python 3.13
            return _unreadable(error)
        if content.startswith(_UTF_16) and not kind.is_binary:
            try:
                content = content.decode("utf-16").encode()
            except UnicodeDecodeError:
                return Unread("binary")
        said = content if kind.is_binary else without_nul(content)
        if said is None:
            return Unread("binary")
        if not said.strip():
            return "empty"
        if said.startswith(_LFS_POINTER):
            return Unread("its content is in Git LFS, which is not fetched")
        return file, said

    def _nothing(self) -> str:
        if self._skipped:
            path, reason = self._skipped[0]
            return f"None of the files in {self._folder} can be read: {path} is {reason}"
        meant = f"matches {', '.join(self._spec.include)}" if self._spec.include else ""
        meant = meant or "ends in " + " ".join(endings())
        return f"No file in {self._folder} {meant}; correct `path` or `include`"
