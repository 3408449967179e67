"""What people export of a platform's channels: each module here reads one platform's, named as the platform.

A module has `fits(place) -> bool`, which looks at names of files alone, and
`channels(place, workspace, wanted, run) -> Iterator[Exported]`. `wanted` tells by its name whether a channel
is to be read, `run` does work outside of this process. It raises NoExport, and what reading files raises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from core.ports.history import Post

MAX_FILE = 50_000_000
"""Bytes of one day of a channel, unpacked."""
Run = Callable[..., Any]


class NoExport(Exception):
    """What was named is no export; the message says what it is."""


@dataclass(frozen=True, slots=True)
class Exported:
    """A channel as it was exported, with the titles of its threads; `refused` says why it is not read."""

    name: str
    posts: tuple[Post, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    refused: str = ""


def platforms() -> list[str]:
    """Return the platforms whose exports can be read."""
    return sorted(module.name for module in iter_modules(__path__))


def reader_of(platform: str) -> Any:
    """Load what reads a platform's exports."""
    return import_module(f"{__name__}.{platform}")


def platform_of(place: Path) -> str:
    """Return the platform that a file or folder was exported from; raises NoExport where it is none's."""
    found = next((name for name in platforms() if reader_of(name).fits(place)), None)
    if found is None:
        raise NoExport("nobody exports such a thing")
    return found
