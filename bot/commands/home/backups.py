"""`backup` and `restore`: their options; what they do stands in `bot.cli.backups`."""

from __future__ import annotations

from bot.commands.command import Command, Option

_PASSPHRASE = Option(
    "passphrase-file",
    "File with the passphrase; BACKUP_PASSPHRASE where it is not named",
    named=True,
    kind="path",
)

BACKUP = Command(
    "backup",
    "home",
    "write a backup to a file, also while the bot serves",
    options=(
        Option("file", "File to write; it must not be there yet", required=True, kind="path"),
        Option("encrypt", "Encrypt it with the passphrase", kind="flag", named=True),
        _PASSPHRASE,
    ),
    who="owner",
    where="terminal",
    program="bot.cli.backups.copies:backup",
    rank=84,
)

RESTORE = Command(
    "restore",
    "home",
    "bring a backup into an empty home",
    options=(Option("file", "File that `backup` wrote", required=True, kind="path"), _PASSPHRASE),
    who="owner",
    where="terminal",
    program="bot.cli.backups.copies:restore",
    rank=85,
)
