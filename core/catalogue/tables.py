"""The tables of `corpora.toml`: which keys each has, what may stand there; how often a source is read."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from core.catalogue.toml_file import Place, keys_of

HOUR = 3600.0
DAY = 24 * HOUR
WEEK = 7 * DAY
LEVELS = 8
"""Halvings and doublings that are remembered at most: enough to go from a week to an hour."""
RETRY_SECONDS = 300.0
"""Wait after the first failure; it doubles with each further one, up to the usual interval."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """Seconds between two readings: at first, and the bounds that what is learned stays in."""

    start: float = DAY
    least: float = HOUR
    most: float = WEEK

    @property
    def adapts(self) -> bool:
        """Return True if anything is learned."""
        return self.least < self.most

    def every(self, level: int = 0) -> float:
        """Return the seconds between two readings of a source whose changes led to that level."""
        return min(max(self.start * 2.0**-level, self.least), self.most)

    def wait(self, level: int, failures: int) -> float:
        """Return the seconds from the last reading to the next one."""
        usual = self.every(level)
        return min(usual, RETRY_SECONDS * 2.0 ** min(failures - 1, 30)) if failures else usual


USUAL = Schedule()


def next_level(level: int, changed: bool) -> int:
    """Go up by one where a reading found a change, else down: so intervals settle where every second does."""
    return min(max(level + (1 if changed else -1), -LEVELS), LEVELS)


Mode = Literal["mentions", "off", "questions", "forum"]
"""What a channel is answered: mentions, nothing, root posts that ask, or every new post."""

MIN_INTERVAL = 60.0
"""Seconds; a run that starts more often than it ends would never stop."""

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_PLACEHOLDER = re.compile(r"\{[^{}]*\}|[{}]")
ACCOUNT = re.compile(r"[a-z][a-z0-9_-]*:\S+")
GROUPS = ("admins", "helpers", "everybody")
"""Groups of people who may be allowed a command."""


class SourceOptions(BaseModel):
    """The keys that one kind of source has beside the common ones; each kind inherits from it."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    apart: ClassVar[tuple[str, ...]] = ()
    """Keys that tell two sources apart which are called the same."""

    @property
    def called(self) -> str:
        """Return what names a source beside its kind: where documents lie, without passwords."""
        return self.model_dump_json()


def without_password(text: str) -> str:
    """Take user and password out of the URLs in a text."""
    return re.sub(r"(?<=://)[^/@\s]*@", "", text)


def _filled(value: str) -> str:
    if not value.strip():
        raise ValueError("text that is not empty")
    return value.strip()


def _seconds(value: object) -> float:
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhdw])\s*", value) if isinstance(value, str) else None
    if found:
        return float(found[1]) * _UNITS[found[2]]
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def _schedule(value: object) -> Schedule:
    bounds = re.split(r"(?<!\s)\s+to\s+", value.strip()) if isinstance(value, str) else [value]
    seconds = [_seconds(bound) for bound in bounds]
    fit = all(MIN_INTERVAL <= one < float("inf") for one in seconds)
    if not fit or len(seconds) > 2 or seconds[0] > seconds[-1]:
        raise ValueError('"30m", "6h", "1d", "1w", "1h to 1w" or a number of seconds, at least 60')
    return Schedule(math.sqrt(seconds[0] * seconds[-1]), seconds[0], seconds[-1])


def _template(value: str) -> str:
    if any(found not in ("{page}", "{path}") for found in _PLACEHOLDER.findall(value)):
        raise ValueError("the placeholders {page} (path without its ending) and {path} (with it)")
    if not re.match(r"https?://[^/\s]+", value):
        raise ValueError('a link that starts with "https://" or "http://"')
    return value


def _pattern(value: str) -> str:
    if ".." in value.split("/"):
        raise ValueError('a pattern inside of the source, like "**/*.md"')
    return _filled(value)


def _language(value: str) -> str:
    if not re.fullmatch(r"[a-z]{2,3}", value):
        raise ValueError('the code of a language, like "en" or "de"')
    return value


def _account(value: str) -> str:
    if not ACCOUNT.fullmatch(value):
        raise ValueError('an account as platform and id, "slack:U0123"')
    return value


def _who(value: str) -> str:
    if value not in GROUPS and not ACCOUNT.fullmatch(value):
        raise ValueError('"admins", "helpers", "everybody", an account "slack:U0123" or "discord:role:5"')
    return value


Text = Annotated[str, AfterValidator(_filled)]
"""Text of an option that may not be empty."""
_Pattern = Annotated[str, AfterValidator(_pattern)]
_Language = Annotated[str, AfterValidator(_language)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class SourceTable(_Table):
    """The keys that every `[[release.source]]` may have; the rest are its kind's."""

    kind: Text
    include: list[_Pattern] = []
    exclude: list[_Pattern] = []
    url: Annotated[str, AfterValidator(_template)] | None = None
    format: Text | None = None
    interval: Annotated[Schedule, BeforeValidator(_schedule)] = Schedule()


class ProductTable(_Table):
    """`[product]`."""

    name: Text
    aliases: list[Text] = []
    glossary: Text | None = None
    language: _Language = "en"
    questions: list[Text] = []


class ReleaseTable(_Table):
    """One `[[release]]`."""

    name: Text
    aliases: list[Text] = []
    latest: bool = False
    lts: bool = False
    source: list[dict[str, Any]] = []


class UnversionedTable(_Table):
    """`[unversioned]`, which holds the sources of every release."""

    source: list[dict[str, Any]] = []


_Accounts = list[Annotated[str, AfterValidator(_account)]]


class AskTable(_Table):
    """`[ask]`, or `[channels."slack:C0123".ask]`: who is asked where the documentation does not help."""

    people: _Accounts = []
    channels: _Accounts = []
    call: _Accounts = []


class ChannelTable(_Table):
    """One `[channels."slack:C0123"]`."""

    release: Text | None = None
    mode: Mode = "mentions"
    ask: AskTable | None = None


class MemoryTable(_Table):
    """`[memory]`."""

    share_platforms: bool = True


class FileTable(_Table):
    """The whole file."""

    product: ProductTable
    release: list[ReleaseTable]
    unversioned: UnversionedTable = UnversionedTable()
    memory: MemoryTable = MemoryTable()
    channels: dict[str, ChannelTable] = {}
    ask: AskTable = AskTable()
    people: dict[str, _Accounts] = {}
    permissions: dict[str, list[Annotated[str, AfterValidator(_who)]]] = {}


MODELS: dict[Place, type[BaseModel]] = {
    (): FileTable,
    ("product",): ProductTable,
    ("release", 0): ReleaseTable,
    ("release", 0, "source", 0): SourceTable,
    ("unversioned",): UnversionedTable,
    ("memory",): MemoryTable,
    ("channels", "platform:id"): ChannelTable,
    ("channels", "platform:id", "ask"): AskTable,
    ("ask",): AskTable,
}
"""The model of each table, by a place of its shape."""


def keys_at(place: Place) -> list[str]:
    """Return the keys allowed in the table at a place."""
    shape: Place = tuple(0 if isinstance(key, int) else key for key in place)
    if shape[:1] == ("channels",):
        shape = ("channels", "platform:id", *shape[2:])
    return keys_of(MODELS[shape]) if shape in MODELS else []
