"""What a store keeps by key, held in memory: read once, and right whatever is set or changed meanwhile."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Generic, TypeVar

Row = TypeVar("Row")


class CachedRows(Generic[Row]):
    """Rows of a store by key.

    They are read when somebody first asks. A read that began before something was set, or before the store
    was said to have changed, may hold what stood there before: it is not taken, and the store is read again.
    """

    def __init__(self, read: Callable[[], Awaitable[Mapping[str, Row]]]) -> None:
        self._read = read
        self._rows: dict[str, Row] | None = None
        self._state = object()
        """Another one since the store was last written, or said to have changed."""

    async def rows(self) -> Mapping[str, Row]:
        """Return every row by its key."""
        while self._rows is None:
            state, read = self._state, await self._read()
            if self._rows is None and state is self._state:
                self._rows = dict(read)
        return self._rows

    def set(self, key: str, row: Row | None) -> None:
        """Hold what was just written to the store under a key, None for what was removed."""
        self._state = object()
        if self._rows is not None and row is None:
            self._rows.pop(key, None)
        elif self._rows is not None and row is not None:
            self._rows[key] = row

    def reread(self) -> None:
        """Read the store again, which another process may have changed."""
        self._rows, self._state = None, object()
