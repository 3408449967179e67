"""The key of a home that one-way names are made with, and whether it is the one of its database."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from pathlib import Path

from core.errors import ConfigurationError
from core.ports.about import KEY_CHECK, AboutStore
from core.privacy.names import KEY_BYTES
from core.system.private_files import write_whole

KEY = "privacy.key"
"""File of the home that holds it."""
_BACKUP = "put it back from a backup of the home (docs/running.md, Backups)"
_WITHOUT = (
    "Without one the bot no longer knows who opted out or was forgotten: to go on anyway, run "
    "`DELETE FROM about WHERE name = 'privacy key'; DELETE FROM opt_outs; DELETE FROM forgotten` on the "
    "database and ask people to opt out again."
)


async def key_of(home: Path, about: AboutStore, given: bytes = b"") -> bytes:
    """Return the key of a home, which is made where there is none and none is needed; or the `given` one.

    Raises ConfigurationError where it is lost or torn and people stand in the database under one-way names,
    and where it is the key of another database: they would not be known.
    """
    place = home / KEY
    held, check = given or await asyncio.to_thread(_read, place), await about.told(KEY_CHECK)
    if len(held) == KEY_BYTES:
        if not check:  # of a home that is older than the check
            await about.tell(KEY_CHECK, _check(held))
        elif not hmac.compare_digest(check, _check(held)):
            named = "PRIVACY_KEY" if given else place
            raise ConfigurationError(
                f"{named} is not the key that the one-way names in the database were made with; {_BACKUP}, "
                f"or use the home that belongs to this database. {_WITHOUT}"
            )
        return held
    if await about.has_one_way_names(lists_alone=not check):
        what = "cannot be used" if held or place.exists() else "is lost"
        raise ConfigurationError(
            f"{place} {what}, by which people who opted out are known; {_BACKUP}. {_WITHOUT}"
        )
    made = secrets.token_bytes(KEY_BYTES)
    await about.tell(KEY_CHECK, _check(made))
    await asyncio.to_thread(_write, place, made)
    return made


def _check(key: bytes) -> str:
    """Return what tells a key from others and gives nothing of it away."""
    return hmac.new(key, b"the key of this database's one-way names", hashlib.sha256).hexdigest()


def _read(place: Path) -> bytes:
    try:
        return place.read_bytes()
    except PermissionError as error:  # it is not lost: nothing is to be given up
        raise ConfigurationError(
            f"{place} cannot be read ({error.strerror}); give it to the user that runs the bot."
        ) from None
    except OSError:  # there is none, or it is no file
        return b""


def _write(place: Path, key: bytes) -> None:
    write_whole(place, key, durable=True)
