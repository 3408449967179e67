"""Chroma in a process of its own: none of its calls lets another thread run until it returns.

2,000 vectors that are put in one call take 2 s; sorting in what was put before takes as long now and then.
"""

from __future__ import annotations

from typing import Any

_OPEN: dict[str, Any] = {}


def call(folder: str, method: str, *given: Any) -> Any:
    """Call a method of `Calls` on the Chroma whose files are in a folder; raises StorageError.

    Chroma is loaded here alone, for it takes most of a second.
    """
    import storage.vectors.ahead  # noqa: F401, I001  before Chroma, which it has load less
    from chromadb.errors import ChromaError

    from storage.database.sqlite_file import storage_error

    try:
        if method == "close":
            if folder in _OPEN:
                _OPEN.pop(folder).close()
            return None
        return getattr(_opened(folder), method)(*given)
    except ChromaError as error:
        raise storage_error(error, "The vector index") from error


def look(folder: str) -> str:
    """Return what is wrong with an index, or "" where it opens and its vectors find themselves."""
    try:
        return str(_opened(folder).unlike())
    except Exception as error:  # noqa: BLE001  what torn files do in a library is not known
        return f"{type(error).__name__}: {error}"


def _opened(folder: str) -> Any:
    if folder not in _OPEN:
        import storage.vectors.ahead  # noqa: F401, I001  before Chroma, which it has load less
        import chromadb
        from chromadb.config import Settings

        from storage.vectors.calls import Calls

        settings = Settings(anonymized_telemetry=False, _env_file=None)
        _OPEN[folder] = Calls(chromadb.PersistentClient(path=folder, settings=settings))
    return _OPEN[folder]
