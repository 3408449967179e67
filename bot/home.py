"""The home folder: one process at a time owns it, and says which."""

from __future__ import annotations

import fcntl
import json
import os
import time
from pathlib import Path
from typing import TextIO

from core.errors import HomeBusy, HomeError

LOCK = "threadlore.lock"
SOCKET = "threadlore.sock"


class Home:
    """A locked home folder; use as a context manager."""

    def __init__(self, path: Path, what: str) -> None:
        self.path = path
        self._what = what
        self._file: TextIO | None = None

    def __enter__(self) -> Home:
        """Take the folder; raises HomeBusy that names the owner, HomeError where it cannot be written."""
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = (self.path / LOCK).open("a+", encoding="utf-8")
        except OSError as error:
            raise HomeError(
                f"The home folder {self.path} cannot be used ({error.strerror}); set THREADLORE_HOME or "
                f"--home to a folder that you may write to."
            ) from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = owner_of(self.path)
            file.close()
            raise HomeBusy(
                f"The home folder {self.path} belongs to process {owner.get('pid', '?')} "
                f"(`threadlore {owner.get('what', '?')}`, since {owner.get('since', '?')}); stop that one "
                f"first, or use another folder with --home."
            ) from error
        file.seek(0)
        file.truncate()
        since = time.strftime("%Y-%m-%d %H:%M:%S")
        json.dump({"pid": os.getpid(), "what": self._what, "since": since}, file)
        file.flush()
        self._file = file
        return self

    def __exit__(self, *_: object) -> None:
        """Give the folder back."""
        if self._file is not None:
            self._file.truncate(0)
            self._file.close()
            self._file = None


def owner_of(path: Path) -> dict[str, object]:
    """Return what the owner of a home wrote down: pid, what, since; empty when nobody did."""
    try:
        owner = json.loads((path / LOCK).read_text(encoding="utf-8") or "{}")
    except (OSError, ValueError):
        return {}
    return owner if isinstance(owner, dict) else {}
