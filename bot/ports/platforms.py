"""The chat platforms: found by their names in `bot/platforms`, and what each of them is to the bot.

`bot/platforms/__init__.py` says which modules of a platform's package the bot asks for. No module imports a
platform: it is loaded by its name, when it is needed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
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


class Figures(Protocol):
    """Collects figures; nothing in them comes from a private channel or a direct message."""

    async def unready(self) -> str:
        """Return why nothing can be answered now, in one sentence; empty where it can."""

    async def figures(self, days: int = 30, release: str = "", channel: str = "") -> dict[str, Any]:
        """Return what a dashboard shows of so many days, of one release or one public channel."""

    def progress(self) -> dict[str, Any]:
        """Return the index work that goes on, and how that of each release ended last."""

    async def metrics(self) -> bytes:
        """Return everything that counts, in Prometheus' text format."""


PACKAGE = "bot.platforms"


class Platform(Protocol):
    """A running connection to a chat platform.

    Where `every_connection_hears_all` is there and True, of a cluster only the process that leads connects.
    """

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

    def accounts(self, home: Path) -> frozenset[str]:
        """Return of which accounts something is held."""

    def forget(self, home: Path, accounts: Collection[str], ids: Collection[str]) -> None:
        """Take out what is held of accounts, and of answers and pairs by their ids."""

    def tidy(self, home: Path) -> None:
        """Remove halves of files that a process which died left behind."""

    def expire(self, home: Path, before: float, dry_run: bool) -> int:
        """Remove conversations that ended before a time, or only count them; return how many messages."""


class Terminal(Protocol):
    """Somebody at a terminal who is asked."""

    def needed(self, question: str) -> str:
        """Ask until there is an answer."""

    def token(self, question: str, prefix: str) -> str:
        """Ask unseen for a token that begins with `prefix`; empty for not now."""


class Setup(Protocol):
    """What `threadlore init` asks and writes for a platform: its light module `setup`."""

    NAME: str
    RANK: int
    """Where it stands among the questions, the smallest first."""
    OPTION: Mapping[str, Any]
    """Fields of the option by which it is chosen on the command line: a flag, or a value."""
    TOKENS: tuple[str, ...]
    """Those of its package; where the first is set, a platform that is chosen by a flag is chosen."""
    ACCOUNT: str
    """An account on it, as an example."""

    def asked(self, folder: Path, terminal: Terminal) -> tuple[str, dict[str, str]]:
        """Explain and ask; return the value of its option, and tokens by their variables."""

    def wrong(self, chosen: str, tokens: Mapping[str, str]) -> str:
        """Say what is wrong with the value of its option, or with tokens by their variables; else empty."""

    def write(self, folder: Path) -> tuple[str, ...]:
        """Write its files into the folder; return their names."""

    def then(self, chosen: str) -> str:
        """Say what to do on the platform once the bot serves, by the value of the option."""


def setups() -> dict[str, Setup]:
    """Return what is asked for the platforms, by their names and in the order of their questions."""
    found = {name: cast(Setup, part(name, "setup")) for name in having("setup")}
    return dict(sorted(found.items(), key=lambda entry: (entry[1].RANK, entry[0])))


def titles(joined: str = " and ") -> str:
    """Return the platforms' names as people write them, joined in the order of their questions."""
    return joined.join(setup.NAME for setup in setups().values())


def title(name: str) -> str:
    """Return a platform's name as people write it."""
    return str(part(name, "setup").NAME) if has(name, "setup") else name.capitalize()


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


def saying(what: str) -> dict[str, Any]:
    """Return what platforms' packages say under a name, such as `NOBODY_SIGNS_IN = True`, by platform."""
    said = {name: getattr(import_module(f"{PACKAGE}.{name}"), what, None) for name in names()}
    return {name: value for name, value in said.items() if value}


def configured(settings: Settings) -> list[str]:
    """Return the platforms that people sign in to and that have what they need: any of their `TOKENS`.

    One that names no tokens needs none.
    """
    tokens, open_to_all = saying("TOKENS"), saying("NOBODY_SIGNS_IN")
    return [
        name
        for name in names()
        if name not in open_to_all
        and (name not in tokens or any(settings.has(variable) for variable in tokens[name]))
    ]


def worth_loading(settings: Settings) -> list[str]:
    """Return the platforms that may connect: a library such as Discord's takes half a second to load."""
    return sorted({*configured(settings), *saying("NOBODY_SIGNS_IN")})


def serves_playground(settings: Settings) -> bool:
    """Return True if the playground is served: as it is set, else where no other platform is configured."""
    return not configured(settings) if settings.playground is None else settings.playground


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
