"""What all tables are made of: their shared metadata, and the kinds of text they hold."""

from __future__ import annotations

import re

from sqlalchemy import Dialect, String, Text, TypeDecorator
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


ID = Key(64)
KEY = Key(255)


class Base(DeclarativeBase):
    """All tables of Threadlore."""
