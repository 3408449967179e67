"""`threadlore backup FILE` and `restore FILE`: all that nothing else can restore, while the bot serves.

An encrypted one is a file of age (age-encryption.org) with a passphrase: `age --decrypt` opens it, too.
"""

from __future__ import annotations

import io
import os
import sys
import time
from argparse import Namespace
from pathlib import Path
from typing import IO

from bot.app.builders.storage import read_backup, write_backup
from bot.app.privacy_key import KEY
from bot.home.home import Home
from bot.privacy.exports import WRITTEN
from core.env_file import variable
from core.errors import UsageError
from core.settings import Settings
from core.system.private_files import private

PASSPHRASE = "BACKUP_PASSPHRASE"
"""The variable, in the environment or `.env`, that has it."""
SHORTEST = 12
_AGE = b"age-encryption.org/"
KEPT = (
    *(KEY, "added.toml", "ranking.json", "learnt.json", "calibration.json", "attributes.json"),
    "playground.jsonl",
    WRITTEN,
)
"""Files of the home that no other file is made of."""


def backup(settings: Settings, options: Namespace) -> int:
    """Write the backup to a new file, for this user alone; exit status 0. Raises what says what to do."""
    out = Path(options.file).absolute()
    if out.exists():
        raise UsageError(f"{out} is there already. Name another file, so that no backup is lost.")
    if not out.parent.is_dir():
        raise UsageError(f"There is no folder {out.parent}; make it, or name a file in another one.")
    is_secret = options.encrypt or options.passphrase_file
    passphrase = _passphrase(options.passphrase_file) if is_secret else ""
    half = out.with_name(f"{out.name}.part")
    try:
        with open(half, "wb", opener=private) as file:
            manifest = _written(settings, file, passphrase, out.parent)
            file.flush()
            os.fsync(file.fileno())
        half.replace(out)
    finally:
        half.unlink(missing_ok=True)
    how = (
        "encrypted"
        if passphrase
        else "not encrypted: anyone who can open it can read everything that people wrote"
    )
    print(f"{out}: {manifest} rows, {out.stat().st_size / 1e6:.1f} MB, {how}.")
    return 0


def _written(settings: Settings, file: IO[bytes], passphrase: str, room: Path) -> int:
    url = settings.database_url.get_secret_value()
    files = {name: settings.home / name for name in KEPT}
    if not passphrase:
        return sum(write_backup(settings.home, url, files, file, room).values())
    import pyrage

    plain = io.BytesIO()
    rows = write_backup(settings.home, url, files, plain, room)
    file.write(pyrage.passphrase.encrypt(plain.getvalue(), passphrase))
    return sum(rows.values())


def restore(settings: Settings, options: Namespace) -> int:
    """Bring a backup into an empty home; exit status 0. Raises what says what to do."""
    try:
        held = Path(options.file).read_bytes()
    except OSError as error:
        raise UsageError(f"{options.file} cannot be read ({error.strerror}).") from None
    if held.startswith(_AGE):
        held = _decrypted(held, _passphrase(options.passphrase_file))
    home = settings.home
    files = {name: home / name for name in KEPT}
    with Home(home, "restore"):
        at, rows = read_backup(io.BytesIO(held), home, settings.database_url.get_secret_value(), files)
    taken = time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
    print(
        f"{home} is as it was on {taken}: {sum(rows.values())} rows. "
        "`threadlore serve` makes the indexes again."
    )
    print(
        "Whoever was forgotten or opted out since then is in it again, and stored as before: repeat "
        "`threadlore forget` or `threadlore opt-out` for them.",
        file=sys.stderr,
    )
    return 0


def _decrypted(held: bytes, passphrase: str) -> bytes:
    import pyrage

    try:
        return bytes(pyrage.passphrase.decrypt(held, passphrase))
    except pyrage.DecryptError as error:
        raise UsageError(f"The backup cannot be decrypted ({error}): is it the right passphrase?") from None


def _passphrase(file: str | None) -> str:
    """Return the passphrase of a file, or of the environment; it is never on the command line."""
    try:
        found = Path(file).read_text("utf-8").strip("\r\n") if file else variable(PASSPHRASE)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read ({error}).") from None
    if not found:
        raise UsageError(f"There is no passphrase: set {PASSPHRASE}, or name a file with --passphrase-file.")
    if len(found) < SHORTEST:
        raise UsageError(f"The passphrase has fewer than {SHORTEST} characters. Take a longer one.")
    return found
