"""Chat platforms: each package here is one, found by its name; nothing else names one.

The bot asks a platform's package for these modules, of which only the first must be there:

    platform.py        connect(settings, dispatch) -> Platform | None
                       builds it; None where it is not configured. Does no I/O.
    doctor.py          async examine(settings) -> list[Finding]
                       looks at what the platform needs; empty where it is not used.
    history.py         open_reader(settings) -> async context manager of a HistoryReader
                       signs in to read channels as sources.
    logs.py            LIBRARIES whose loggers tell too much, and SECRETS, a pattern of what no line may hold.
    personal_data.py   what the platform keeps of people in the home (`bot.ports.platform.PersonalData`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from bot.ports.platform import PersonalData
    from core.ports.history import HistoryReader, OpenReader
    from core.settings import Settings


def names() -> list[str]:
    """Return the names of all platforms there are."""
    return sorted(module.name for module in iter_modules(__path__))


def part(platform: str, name: str) -> ModuleType:
    """Load one of the modules that the bot asks a platform for; raises ImportError where it has none."""
    return import_module(f"{__name__}.{platform}.{name}")


def has(platform: str, name: str) -> bool:
    """Return True if a platform has a module of that name."""
    return find_spec(f"{__name__}.{platform}.{name}") is not None


def having(name: str) -> list[str]:
    """Return the platforms that have a module of that name."""
    return [platform for platform in names() if has(platform, name)]


def readers(settings: Settings) -> dict[str, OpenReader]:
    """Return what signs in to a platform to read its channels, by its name.

    The platform's library is loaded only then.
    """
    return {platform: partial(_reader, platform, settings) for platform in having("history")}


def personal_data() -> dict[str, PersonalData]:
    """Return what platforms keep of people in the home, by their names."""
    return {
        platform: cast("PersonalData", part(platform, "personal_data"))
        for platform in having("personal_data")
    }


@asynccontextmanager
async def _reader(platform: str, settings: Settings) -> AsyncIterator[HistoryReader]:
    async with part(platform, "history").open_reader(settings) as reader:
        yield reader
