"""What an examination found: how one thing is, and what to do; where the configuration file lies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from time import time
from typing import Literal

from core.catalogue import Catalogue, load_catalogue
from core.errors import ConfigurationError, ThreadloreError
from core.ingestion.sources import Kinds
from core.settings import Settings


def find_catalogue(settings: Settings) -> Path:
    """Return the `corpora.toml` to use: the named one, or the first of the usual places.

    The last of them is the playground's own, which comes with the code.
    """
    if settings.config is not None:
        return settings.config
    places = [
        Path("corpora.toml"),
        settings.home / "corpora.toml",
        Path(__file__).parents[2] / "corpora.toml",
    ]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise ConfigurationError(
            f"There is no corpora.toml here or in {settings.home}; write one (README.md shows how) or name "
            f"it with --config."
        )
    return found


SKEW_SECONDS = 60.0
"""Difference between this machine's clock and a server's from which it is told."""

State = Literal["good", "unsure", "bad"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `advice` says what to do where it is not good."""

    what: str
    state: State
    said: str
    advice: str = ""


def good(what: str, said: str) -> Finding:
    """Return that a thing is as it should be."""
    return Finding(what, "good", said)


def unsure(what: str, said: str, advice: str) -> Finding:
    """Return that a thing works but not well, or cannot be seen from here."""
    return Finding(what, "unsure", said, advice)


def bad(what: str, said: str, advice: str) -> Finding:
    """Return that a thing does not work."""
    return Finding(what, "bad", said, advice)


def clock(date: str, whose: str) -> Finding | None:
    """Compare the clock with the `Date` header of a server's answer; None where there is none."""
    try:
        skew = time() - parsedate_to_datetime(date).timestamp()
    except (TypeError, ValueError):
        return None
    if abs(skew) <= SKEW_SECONDS:
        return good("Clock", f"within a minute of {whose}'s")
    way = "fast" if skew > 0 else "slow"
    said = f"this machine's clock is {abs(skew):.0f} s {way} against {whose}'s"
    return unsure("Clock", said, "switch on time sync (NTP): questions may count as too old to be answered")


def channels_of(settings: Settings, platform: str) -> tuple[str, ...]:
    """Return the ids of a platform's channels that `corpora.toml` and `THREADLORE_ADMIN_CHANNEL` name."""
    named = [*settings.admin_channels]
    if catalogue := _catalogue(settings):
        asked = [channel for targets in catalogue.asked for channel in targets.channels]
        named = [*catalogue.channels, *asked, *named]
    return _ids(named, platform)


def people_of(settings: Settings, platform: str) -> tuple[str, ...]:
    """Return the ids of a platform's people whom `corpora.toml` names to be asked for help."""
    catalogue = _catalogue(settings)
    asked = catalogue.asked if catalogue else ()
    return _ids([person for targets in asked for person in targets.people], platform)


def _catalogue(settings: Settings) -> Catalogue | None:
    try:
        return load_catalogue(find_catalogue(settings), Kinds())
    except ThreadloreError:  # told by another examination
        return None


def _ids(named: Iterable[str], platform: str) -> tuple[str, ...]:
    ids = (name.partition(":") for name in named)
    return tuple(dict.fromkeys(key for kind, _, key in ids if kind == platform and key))
