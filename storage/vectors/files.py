"""What stands in the files of the vector index beside vectors, and how it is taken out.

The index writes the room that it keeps for further vectors as it lay in the memory of the process, so texts
of people, and pieces of them, may be written down there; nothing reads it.
"""

from __future__ import annotations

import shutil
import struct
from collections.abc import Sequence
from pathlib import Path

BROKEN = ".broken"
"""Ending of the folder in which a torn index is set aside."""
_HEADER = struct.Struct("<iQQQQ")
"""How the header of a vector file begins: version, offset, room, vectors held, bytes of each."""


def empty_room(folder: Path) -> None:
    """Overwrite the room that holds no vector, in every file below a folder."""
    for path in folder.rglob("data_level0.bin"):
        size = path.stat().st_size
        used = _used(path, size)
        if used is not None:
            with open(path, "r+b") as file:
                file.seek(used)
                file.write(bytes(size - used))


def overwrite(folder: Path, texts: Sequence[bytes]) -> None:
    """Overwrite texts wherever they stand in the files below a folder, and empty the room.

    An index that was set aside as torn goes: where its room begins cannot be told.
    """
    empty_room(folder)
    shutil.rmtree(folder.with_suffix(BROKEN), ignore_errors=True)
    for path in folder.rglob("*.bin") if texts else ():
        held = path.read_bytes()
        with open(path, "r+b") as file:
            for text in texts:
                at = held.find(text)
                while at >= 0:
                    file.seek(at)
                    file.write(bytes(len(text)))
                    at = held.find(text, at + len(text))


def _used(path: Path, size: int) -> int | None:
    """Return how many bytes of a vector file hold vectors, by the header beside it; None if it tells not."""
    header = path.with_name("header.bin")
    told = header.read_bytes()[: _HEADER.size] if header.is_file() else b""
    if len(told) < _HEADER.size:
        return None
    _version, _offset, room, count, each = _HEADER.unpack(told)
    return count * each if room * each == size and count <= room else None
