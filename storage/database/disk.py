"""What a database or an index reports when it cannot write, as one sentence that says what to do."""

from __future__ import annotations

from core.errors import StorageError, StorageUnavailable
from storage.database.sqlite_file import damaged

DATABASE = "The database"
"""What is said of the database, as distinct from an index."""
_DAMAGED = ("database disk image is malformed", "file is not a database")
_FULL = ("disk is full", "No space left", "disk I/O", "os error 28")


def storage_error(error: Exception, what: str, advice: str = "", away: bool = False) -> StorageError:
    """Word an error of a storage library; `what` names the part that failed.

    A full disk, or a database that is `away`, is a StorageUnavailable: it may work again by itself.
    """
    lines = str(getattr(error, "orig", None) or error).splitlines()
    reason = lines[0] if lines else type(error).__name__
    if what == DATABASE and any(sign in reason for sign in _DAMAGED):
        return damaged("of the home", reason)
    if any(sign in str(error) for sign in _FULL):
        return StorageUnavailable(
            f"The disk that holds the home folder is full ({reason}); free some space and run the command "
            f"again. What was there before still serves."
        )
    kind = StorageUnavailable if away else StorageError
    return kind(
        f"{what} fails: {reason.rstrip('.')}{advice or '; check that the disk of the home folder has room.'}"
    )
