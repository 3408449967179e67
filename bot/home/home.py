"""The home folder: one process at a time owns it, and says which."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import pwd
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from bot.ports import platforms
from core.errors import HomeBusy, HomeError
from core.system.private_files import is_loose, locked, private, private_folder, set_aside, tighten
from core.text.plurals import counted, plural

log = logging.getLogger(__name__)

LOCK = "threadlore.lock"
SOCKET = "threadlore.sock"
PARTS = (
    "threadlore.*",
    "vectors*",
    "words*",
    "models",
    "sources",
    "logs",
    "privacy.*",
    "exports.txt",
    "ranking.*",
    "learnt.*",
    "calibration.*",
    "attributes.*",
    "added.*",
)
"""What Threadlore writes into a home, by the names that it has there; platforms have files of their own."""
FOLDERS = ("vectors", "words", "models", "sources", "logs")
FILES = (
    LOCK,
    SOCKET,
    "vectors.sealed",
    "exports.txt",
    "ranking.json",
    "learnt.json",
    "calibration.json",
    "attributes.json",
    "added.toml",
)
"""What is a folder and what is a file; another kind of thing under such a name is no use."""

SERVE = "serve"
PATIENCE_SECONDS = 60.0
"""How long a command waits for another command that has the home; one that serves is not waited for."""


class Home:
    """A locked home folder; use as a context manager."""

    def __init__(self, path: Path, what: str, patience: float = PATIENCE_SECONDS) -> None:
        self.path = path
        self._what = what
        self._patience = patience
        self._file: TextIO | None = None

    def __enter__(self) -> Home:
        """Take the folder; raises HomeBusy that names the owner, HomeError where it cannot be written."""
        try:
            private_folder(self.path)
            put_right(self.path)
            file = open(self.path / LOCK, "a+", encoding="utf-8", opener=private)
        except OSError as error:
            raise HomeError(
                f"The home folder {self.path} cannot be used ({error.strerror}); set THREADLORE_HOME or "
                f"--home to a folder that you may write to."
            ) from error
        until = time.monotonic() + self._patience
        while not locked(file):
            owner = owner_of(self.path)
            if owner.get("what") == SERVE or time.monotonic() > until:
                file.close()
                raise HomeBusy(
                    f"The home folder {self.path} belongs to process {owner.get('pid', '?')} "
                    f"(`threadlore {owner.get('what', '?')}`, since {owner.get('since', '?')}); stop that "
                    f"one first, or use another folder with --home."
                )
            time.sleep(0.1)
        try:
            sign(file, self._what)
        except OSError as error:
            with contextlib.suppress(OSError):  # it tries once more to write
                file.close()
            raise HomeError(
                f"The home folder {self.path} cannot be written ({error.strerror}); free some space on its "
                f"disk and run the command again. What was there before is unchanged."
            ) from error
        self._file = file
        close(self.path)
        return self

    def __exit__(self, *_: object) -> None:
        """Give the folder back."""
        if self._file is not None:
            self._file.truncate(0)
            self._file.close()
            self._file = None


def sign(file: TextIO, what: str) -> None:
    """Write into the lock of a home who has it. Raises OSError where the disk is full."""
    file.seek(0)
    file.truncate()
    since = time.strftime("%Y-%m-%d %H:%M:%S")
    json.dump({"pid": os.getpid(), "what": what, "since": since}, file)
    file.flush()


def close(path: Path) -> None:
    """Take a home, and what Threadlore wrote there, from everybody but its owner; log it where needed."""
    parts = [place for place in parts_of(path) if is_loose(place)]
    if is_loose(path) or parts:
        within = (place for part in parts for place in inside(part))
        if count := sum(tighten(place) for place in (path, *parts, *within)):
            log.warning(
                "%s of the home %s %s open to others; only you have access now",
                counted(count, "file or folder", "files and folders"),
                path,
                plural(count, "was", "were"),
            )
    if is_loose(path):
        log.warning(
            "others on this machine may enter the home %s, and it cannot be closed: run `chmod 700 %s`, or "
            "choose a folder of your own with THREADLORE_HOME",
            path,
            path,
        )


def put_right(path: Path) -> None:
    """Set aside folders where files of a home belong, and files where folders do, and log it."""
    wrong = [path / name for name in FOLDERS if (path / name).exists() and not (path / name).is_dir()]
    wrong += [path / name for name in (*FILES, *_of_platforms()) if (path / name).is_dir()]
    for place in wrong:
        what = "folder" if place.name in FOLDERS else "file"
        aside = set_aside(place)
        log.warning(
            "%s is not a %s; %s", place, what, f"set aside as {aside}" if aside else "it cannot be moved"
        )


def parts_of(path: Path) -> list[Path]:
    """Return what Threadlore wrote into a home, one level deep."""
    patterns = {*PARTS, *(f"{name.partition('.')[0]}.*" for name in _of_platforms())}
    return sorted({place for pattern in patterns for place in path.glob(pattern)})


def _of_platforms() -> list[str]:
    return [name for kept in platforms.personal_data().values() for name in kept.FILES]


def inside(folder: Path) -> Iterator[Path]:
    """Yield every file and folder below a folder; links are not followed."""
    for place, folders, files in () if folder.is_symlink() else os.walk(folder):
        yield from (Path(place) / name for name in (*folders, *files))


def owner_of(path: Path) -> dict[str, object]:
    """Return what the owner of a home wrote down: pid, what, since; empty when nobody did."""
    try:
        owner = json.loads((path / LOCK).read_text(encoding="utf-8") or "{}")
    except (OSError, ValueError, RecursionError):
        return {}
    return owner if isinstance(owner, dict) else {}


def started_by(program: str) -> str:
    """Return the account of who started the process, as `cli:root`."""
    try:
        return f"{program}:{pwd.getpwuid(os.getuid()).pw_name}"
    except KeyError:  # a container may run under a number that has no name
        return f"{program}:{os.getuid()}"
