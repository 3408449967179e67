"""What another user of this machine gets to see of a folder."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

NOBODY = 65534


@contextmanager
def open_folder() -> Iterator[Path]:
    """Make a folder that everybody on the machine may enter, which pytest's own folders do not allow."""
    folder = Path(tempfile.mkdtemp(prefix="threadlore-open-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def loose(folder: Path) -> list[str]:
    """Return the files and folders, the folder included, whose modes let anybody but the owner in."""
    modes = {}
    for place in _all(folder):
        with suppress(FileNotFoundError):  # a database's journal comes and goes
            modes[place] = stat.S_IMODE(place.lstat().st_mode)
    return [str(place.relative_to(folder.parent)) for place, mode in modes.items() if mode & 0o077]


def seen_by_nobody(folder: Path) -> list[str]:
    """Return what the user nobody can list or read; without root rights there is no telling: nothing."""
    if os.getuid() != 0:
        return []
    places = _all(folder)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            for number, place in enumerate(places):
                with suppress(OSError):
                    if place.is_dir():
                        os.listdir(place)
                    else:
                        os.close(os.open(place, os.O_RDONLY | os.O_NONBLOCK))
                    os.write(writing, f"{number}\n".encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with open(reading) as told:
        numbers = told.read().split()
    assert os.waitpid(child, 0)[1] == 0
    return [str(places[int(number)].relative_to(folder.parent)) for number in numbers]


def _all(folder: Path) -> list[Path]:
    return [p for p in (folder, *sorted(folder.rglob("*"))) if not p.is_symlink()]
