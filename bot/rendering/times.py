"""Times in what a command says (`2026-03-31 14:05 UTC`), for the zone of the person who reads them."""

from __future__ import annotations

import calendar
import re
import time
from collections.abc import Callable

_WRITTEN = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]+`|\b(?P<minute>\d{4}-\d\d-\d\d \d\d:\d\d) UTC\b", re.DOTALL | re.ASCII
)


def in_zone(text: str, write: Callable[[int, str], str]) -> str:
    """Return a text with every time outside of code as `write(seconds, as it stands)` has it."""

    def zoned(found: re.Match[str]) -> str:
        if found["minute"] is None:
            return found[0]
        try:
            seconds = calendar.timegm(time.strptime(found["minute"], "%Y-%m-%d %H:%M"))
        except ValueError:
            return found[0]
        return write(seconds, found[0])

    return _WRITTEN.sub(zoned, text)


def local(seconds: int, written: str) -> str:
    """Write a time in this machine's zone, for a terminal; as it stands where that has none."""
    try:
        moment = time.localtime(seconds)
    except (OverflowError, OSError, ValueError):
        return written
    return f"{time.strftime('%Y-%m-%d %H:%M', moment)} {moment.tm_zone}"
