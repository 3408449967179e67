"""What all tables are made of: shared metadata, kinds of text; rows as values, many read some at a time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import JSON, CursorResult, Dialect, String, Text, TypeDecorator
from sqlalchemy.orm import DeclarativeBase

_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")


def writable(text: str) -> str:
    """Replace by U+FFFD what PostgreSQL (NUL) and UTF-8 (half a surrogate pair) cannot hold."""
    return _UNWRITABLE.sub("\ufffd", text)


class Prose(TypeDecorator[str]):
    """Text of any length."""

    impl: type[String] = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Make a text writable."""
        return None if value is None else writable(value)


class Key(Prose):
    """Text of a limited length that is compared."""

    impl = String
    cache_ok = True


def all_writable(value: Any) -> Any:
    """Return a value of JSON in which every string is writable, the names of its parts too."""
    if isinstance(value, str):
        return writable(value)
    if isinstance(value, Mapping):
        return {all_writable(name): all_writable(part) for name, part in value.items()}
    return [all_writable(part) for part in value] if isinstance(value, list | tuple) else value


class Parts(TypeDecorator[Any]):
    """Lists and dictionaries as JSON. PostgreSQL keeps what it then cannot look into, such as a NUL."""

    impl = JSON
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        """Make every string writable."""
        return all_writable(value)

    def coerce_compared_value(self, op: Any, value: Any) -> Any:
        """Take the name of a part for a name."""
        return self.impl_instance.coerce_compared_value(op, value)


ID = Key(64)
KEY = Key(255)


class Base(DeclarativeBase):
    """All tables of Threadlore."""


T = TypeVar("T")
SOME = 500
"""Rows between which others are served: some milliseconds."""
AT_ONCE = 500
"""Values in one IN list; below SQLite's and PostgreSQL's limits on parameters."""
LONG = 50
"""The same for rows that hold a trace."""


async def parts(result: CursorResult[Any], size: int = SOME) -> AsyncIterator[Sequence[Any]]:
    """Yield the rows in lists, and let others be served after each."""
    for some in result.partitions(size):
        yield some
        if len(some) == size:
            await asyncio.sleep(0)


async def every(result: CursorResult[Any], make: Callable[[Any], T]) -> list[T]:
    """Return what is made of each row."""
    found: list[T] = []
    async for some in parts(result):
        found += [make(row) for row in some]
    return found


def made(kind: Callable[..., T], row: Any, **others: Any) -> T:
    """Return a dataclass whose fields are a row's columns of the same names, but for `others`."""
    return kind(**{name: getattr(row, name) for name in _fields(kind) if name not in others}, **others)


def values_of(table: type[Base], value: Any, **others: Any) -> dict[str, Any]:
    """Return the columns of a row: what a value says under their names, but for `others`."""
    own = (name for name in _columns(table) if name not in others and hasattr(value, name))
    return {name: getattr(value, name) for name in own} | others


@cache
def _columns(table: type[Base]) -> tuple[str, ...]:
    return tuple(table.__table__.columns.keys())


@cache
def _fields(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def slices(values: Sequence[T], size: int = AT_ONCE) -> list[Sequence[T]]:
    """Cut values into lists short enough for one statement."""
    return [values[start : start + size] for start in range(0, len(values), size)]
