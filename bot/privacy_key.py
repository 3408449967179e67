"""The key of a home that one-way names are made with."""

from __future__ import annotations

import asyncio
import os
import secrets
from pathlib import Path

from core.errors import ConfigurationError
from core.files import private
from core.ports import OptOutStore
from core.privacy import KEY_BYTES

KEY = "privacy.key"
"""File of the home that holds it."""


async def key_of(home: Path, opt_outs: OptOutStore) -> bytes:
    """Return the key of a home, which is made where there is none.

    Raises ConfigurationError where it is lost or torn and people have opted out: they would not be known.
    """
    place = home / KEY
    held = await asyncio.to_thread(_read, place)
    if len(held) == KEY_BYTES:
        return held
    if await opt_outs.opt_outs():
        raise ConfigurationError(
            f"{place} is lost, by which people who opted out are known; put it back from a backup. Without "
            f"one, empty the table `opt_outs` of the database and ask people to opt out again."
        )
    made = secrets.token_bytes(KEY_BYTES)
    await asyncio.to_thread(_write, place, made)
    return made


def _read(place: Path) -> bytes:
    try:
        return place.read_bytes()
    except FileNotFoundError:
        return b""


def _write(place: Path, key: bytes) -> None:
    half = place.with_suffix(".part")
    with open(half, "wb", opener=private) as file:
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    half.replace(place)
