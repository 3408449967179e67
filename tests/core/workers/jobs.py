"""What workers are given to do in tests."""

from __future__ import annotations

import ctypes
import os
import re
import sys
import time
from pathlib import Path

_LEFT: list[bytearray] = []


def total(*numbers: int) -> int:
    return sum(numbers)


def length(content: bytes) -> int:
    return len(content)


def pid() -> int:
    return os.getpid()


def bytes_of(megabytes: int) -> bytes:
    return b"x" * (megabytes * 1_000_000)


def refuse(why: str) -> None:
    raise ValueError(why)


def fail_as_a_library(why: str) -> None:
    raise type("LibraryError", (Exception,), {"__module__": "some_library"})(why)


def loop(note: Path | None = None) -> None:
    """Never end; a note says who does not."""
    if note:
        note.write_text(str(os.getpid()))
    while True:
        pass


def match_for_ever(note: Path) -> None:
    """Never end, with Python's lock held all the while."""
    note.write_text(str(os.getpid()))
    re.match(r"(a+)+$", "a" * 60 + "b")


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def eat() -> None:
    """Take all memory there is."""
    taken = []
    while True:
        taken.append(bytearray(10_000_000))


def leave(megabytes: int) -> None:
    """Leave something behind in the worker's memory."""
    _LEFT.append(bytearray(megabytes * 1_000_000))


def need(megabytes: int) -> int:
    return len(bytearray(megabytes * 1_000_000))


def crash() -> None:
    ctypes.string_at(0)


def leave_with(status: int) -> None:
    os._exit(status)


def told(name: str) -> str | None:
    return os.environ.get(name)


def loaded() -> set[str]:
    """Return the names of the packages that are loaded."""
    return {name.partition(".")[0] for name in sys.modules}
