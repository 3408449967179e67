"""Seconds since the epoch as people and programs read them, in UTC."""

from __future__ import annotations

import calendar
import time

_ISO = "%Y-%m-%dT%H:%M:%SZ"


def iso(seconds: float) -> str:
    """Write a time as ISO 8601."""
    return time.strftime(_ISO, time.gmtime(seconds))


def since_epoch(written: str) -> float:
    """Read what `iso` wrote."""
    return calendar.timegm(time.strptime(written, _ISO))


def day_of(seconds: float) -> str:
    """Write the day of a time, such as 2026-03-31."""
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))


def minute_of(seconds: float) -> str:
    """Write a time to the minute, without its zone."""
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds))
