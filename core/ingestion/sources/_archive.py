"""Unpacking archives that nobody vouches for: nothing lands outside, nothing grows without bound."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import shutil
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO, cast

MAX_UNPACKED_BYTES = 500_000_000
"""Bytes of all files together; the largest source distributions of documented projects take 300 MB."""
MAX_FILES = 100_000
"""Files in one archive."""

_MAX_READ = 1 << 20
"""Bytes read at once: contents come in smaller pieces, so what asks for more is a forged header."""
_OVERHEAD = 4_096
"""Bytes that a tar spends on a file beside its content: headers, a long name, padding."""

_BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,
    KeyError,
    NotImplementedError,  # a compression this Python does not have
    RuntimeError,  # an encrypted member, or a chain of links that bites its tail
)


class ArchiveError(Exception):
    """Say what is wrong with an archive."""


def unpack(
    archive: Path, target: Path, max_bytes: int = MAX_UNPACKED_BYTES, max_files: int = MAX_FILES
) -> None:
    """Unpack a tar (plain, gzip, bzip2, xz) or zip archive to an existing folder.

    Only plain files are written: links become copies of what they point to inside the archive, and
    devices, owners and modes are dropped. Raises ArchiveError, also when a limit is passed; a disk
    that is full stays an OSError.
    """
    try:
        if zipfile.is_zipfile(archive):
            _unzip(archive, _Writer(target, max_bytes, max_files))
        else:
            _untar(archive, _Writer(target, max_bytes, max_files))
    except _BROKEN as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise  # the disk's, not the archive's
        raise ArchiveError(f"it is broken: {error or type(error).__name__}") from None


class _Writer:
    def __init__(self, target: Path, max_bytes: int, max_files: int) -> None:
        self._target = target
        self.max_files = max_files
        self.max_bytes = max_bytes
        self.bytes_left = max_bytes
        self.files = 0

    def admit(self, size: int) -> None:
        """Count a file before it is read."""
        self.files += 1
        self.bytes_left -= size
        if self.files > self.max_files:
            raise ArchiveError(f"it has more than {self.max_files:,} files")
        if self.bytes_left < 0:
            raise ArchiveError(f"it unpacks to more than {self.max_bytes:,} bytes")

    def write(self, name: str, content: IO[bytes]) -> None:
        """Write a file under the target."""
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in name or not path.name:
            raise ArchiveError(f"a name in it leads outside: {name!r}")
        file = self._target.joinpath(*path.parts)
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("wb") as out:
            shutil.copyfileobj(content, out, 1 << 16)


class _Bounded(io.RawIOBase):
    """Read a decompressed stream up to a position; a bomb is refused before its memory is taken."""

    def __init__(self, stream: IO[bytes], limit: int) -> None:
        self._stream = stream
        self._limit = limit

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= _MAX_READ or self._stream.tell() + size > self._limit:
            raise ArchiveError(f"it unpacks to more than {self._limit:,} bytes")
        return self._stream.read(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_SET and offset > self._limit:
            raise ArchiveError(f"it unpacks to more than {self._limit:,} bytes")
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True


def _untar(archive: Path, writer: _Writer) -> None:
    bound = writer.max_bytes + writer.max_files * _OVERHEAD + _MAX_READ
    with _decompressed(archive) as stream, tarfile.open(fileobj=_Bounded(stream, bound), mode="r:") as tar:
        for member in tar:
            if member.isdir():
                continue
            if not (member.isreg() or member.issym() or member.islnk()):
                continue
            content = _content(tar, member)
            if content is None:  # a link that leads out of the archive
                continue
            with content:
                writer.admit(member.size or _size(content))
                writer.write(member.name, content)


def _decompressed(archive: Path) -> IO[bytes]:
    with archive.open("rb") as file:
        magic = file.read(6)
    if magic.startswith(b"\x1f\x8b"):
        return cast(IO[bytes], gzip.open(archive))
    if magic.startswith(b"BZh"):
        return bz2.open(archive)
    if magic.startswith(b"\xfd7zXZ\x00"):
        return lzma.open(archive)
    return archive.open("rb")


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes] | None:
    try:
        return tar.extractfile(member)
    except KeyError:
        return None


def _size(content: IO[bytes]) -> int:
    size = content.seek(0, io.SEEK_END)
    content.seek(0)
    return size


def _unzip(archive: Path, writer: _Writer) -> None:
    with zipfile.ZipFile(archive) as pack:
        for entry in pack.infolist():
            link = (entry.external_attr >> 16) & 0o170000 == 0o120000
            if entry.is_dir() or link:
                continue
            writer.admit(entry.file_size)
            with pack.open(entry) as content:
                writer.write(entry.filename, content)


def only_folder(folder: Path) -> Path:
    """Return the one folder that an archive consists of, or the folder itself."""
    entries = list(folder.iterdir())
    return entries[0] if len(entries) == 1 and entries[0].is_dir() else folder


def discard(folder: Path) -> None:
    """Remove a folder; what cannot be removed stays."""
    shutil.rmtree(folder, ignore_errors=True)
