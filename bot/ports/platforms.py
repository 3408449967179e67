"""The chat platforms: found by their names in `bot/platforms`, and what each of them is to the bot.

`bot/platforms/__init__.py` says which modules of a platform's package the bot asks for. No module imports a
platform: it is loaded by its name, when it is needed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from core.ports.history import HistoryReader, OpenReader
    from core.settings import Settings

PACKAGE = "bot.platforms"


class Platform(Protocol):
    """A running connection to a chat platform."""

    name: str

    async def run(self) -> None:
        """Serve until `stop`; raises `PlatformRejected` when the token is refused."""

    async def stop(self) -> None:
        """Close the connection."""


class PersonalData(Protocol):
    """What a platform keeps of people in files of the home: its module `personal_data`; blocking."""

    FILES: tuple[str, ...]
    """Their names; whatever begins as one of them does up to its dot is the platform's, too."""
    WHAT: str
    """What it is, such as "messages in the playground", to be put into people's languages."""

    def held(self, home: Path, accounts: Collection[str]) -> list[dict[str, Any]]:
        """Return what is held of accounts."""

    def forget(self, home: Path, accounts: Collection[str], ids: Collection[str]) -> None:
        """Take out what is held of accounts, and of answers and pairs by their ids."""

    def tidy(self, home: Path) -> None:
        """Remove halves of files that a process which died left behind."""

    def expire(self, home: Path, before: float) -> int:
        """Remove conversations that ended before a time; return how many messages went."""


def names() -> list[str]:
    """Return the names of all platforms there are."""
    return sorted(module.name for module in iter_modules(import_module(PACKAGE).__path__))


def part(platform: str, name: str) -> ModuleType:
    """Load one of the modules that the bot asks a platform for; raises ImportError where it has none."""
    return import_module(f"{PACKAGE}.{platform}.{name}")


def has(platform: str, name: str) -> bool:
    """Return True if a platform has a module of that name."""
    return find_spec(f"{PACKAGE}.{platform}.{name}") is not None


def having(name: str) -> list[str]:
    """Return the platforms that have a module of that name."""
    return [platform for platform in names() if has(platform, name)]


def unsigned() -> list[str]:
    """Return the platforms on which nobody signs in: their packages say `NOBODY_SIGNS_IN`."""
    return [name for name in names() if getattr(import_module(f"{PACKAGE}.{name}"), "NOBODY_SIGNS_IN", False)]


def readers(settings: Settings) -> dict[str, OpenReader]:
    """Return what signs in to a platform to read its channels, by its name.

    The platform's library is loaded only then.
    """
    return {platform: partial(_reader, platform, settings) for platform in having("history")}


def personal_data() -> dict[str, PersonalData]:
    """Return what platforms keep of people in the home, by their names."""
    return {
        platform: cast(PersonalData, part(platform, "personal_data")) for platform in having("personal_data")
    }


@asynccontextmanager
async def _reader(platform: str, settings: Settings) -> AsyncIterator[HistoryReader]:
    async with part(platform, "history").open_reader(settings) as reader:
        yield reader
