"""Files and folders for the person who runs the bot alone: made so, made so again, or put aside."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

OTHERS = 0o077
"""What group and everybody else may do; nothing of it is granted."""
FOLDER_MODE, FILE_MODE = 0o700, 0o600
WRITING = ".writing"
"""What the name of a file ends with that is not written to its end yet."""


def private_folder(folder: Path) -> Path:
    """Make a folder, and those above it that are missing, for this user alone; return it."""
    for place in reversed((folder, *folder.parents)):
        place.mkdir(mode=FOLDER_MODE, exist_ok=True)  # raises FileExistsError where a file is in the way
    return folder


def private(path: str, flags: int) -> int:
    """Open a file for this user alone, also one that was open to others; an `opener` for `open`."""
    file = os.open(path, flags, FILE_MODE)
    with contextlib.suppress(OSError):  # somebody else's file, or a file system without modes
        if flags & (os.O_WRONLY | os.O_RDWR) and _is_open(os.fstat(file)):
            os.fchmod(file, FILE_MODE)
    return file


def write_whole(path: Path, content: str | bytes | Iterable[str | bytes], durable: bool = False) -> None:
    """Write a file for this user alone, whole or not at all: who reads it meets what was there, or this.

    A `durable` one is on the disk before this returns. Raises OSError.
    """
    beside = path.with_name(f"{path.name}{WRITING}")
    with open(beside, "wb", opener=private) as file:
        for part in [content] if isinstance(content, str | bytes) else content:
            file.write(part.encode() if isinstance(part, str) else part)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    os.replace(beside, path)


def is_loose(path: Path) -> bool:
    """Return True if others than the owner may read, write or enter it; a link counts as closed."""
    try:
        return _is_open(path.lstat())
    except OSError:
        return False


def tighten(path: Path) -> bool:
    """Take from others what they may do with a file or folder; return True if that was needed and done.

    A folder that is everybody's by its sticky bit, such as `/tmp`, stays as it is.
    """
    try:
        found = path.lstat()
        if not _is_open(found) or found.st_mode & stat.S_ISVTX:
            return False
        path.chmod(stat.S_IMODE(found.st_mode) & ~OTHERS)
    except OSError:
        return False
    return True


def locked(file: IO[Any]) -> bool:
    """Take an open file's lock, which ends with the process; return False where another one has it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def set_aside(path: Path) -> Path | None:
    """Rename what cannot be used to `NAME.broken.ENDING`, in place of an earlier one; None where that fails.

    The ending stays, so that who looks for files of a kind finds it.
    """
    aside = path.with_name(f"{path.stem}.broken{path.suffix}")
    try:
        if aside.is_dir() and not aside.is_symlink():
            shutil.rmtree(aside)
        else:
            aside.unlink(missing_ok=True)
        path.rename(aside)
    except OSError:
        return None
    return aside


def clear(path: Path) -> None:
    """Remove a file or folder that can be made again; what cannot be removed stays."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        path.unlink()


def _is_open(found: os.stat_result) -> bool:
    kinds = (stat.S_ISREG, stat.S_ISDIR, stat.S_ISSOCK)
    return any(kind(found.st_mode) for kind in kinds) and bool(found.st_mode & OTHERS)
