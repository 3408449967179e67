"""What a transaction changes that other processes of a cluster hold in memory: written down with it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, insert, text
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.database.hold import LOCK, SCHEMA
from storage.database.member import CHANNEL, NOW, Member
from storage.tables import ChangeRow, MemberRow

HELD = frozenset(
    {
        *("pauses", "channel_modes", "own_releases", "channel_releases", "opt_outs", "forgotten"),
        "corpora",
    }
)
"""Tables that processes hold in memory: the others are told that one was changed."""
MIGRATING = text(f"SELECT pg_advisory_xact_lock({LOCK + 2}, {SCHEMA})")
TURN = text(f"SELECT pg_advisory_lock({LOCK + 4}, {SCHEMA} # hashtext(:what))")
TURN_OVER = text(f"SELECT pg_advisory_unlock({LOCK + 4}, {SCHEMA} # hashtext(:what))")
_PUBLISHING = text(f"SELECT pg_advisory_xact_lock({LOCK + 3}, {SCHEMA})")
_COUNTS = text("SELECT 1 FROM members WHERE id = :id FOR KEY SHARE")
_BELL = text(f"NOTIFY {CHANNEL}")


async def join(connection: AsyncConnection, member: Member) -> None:
    """Write a process down as one of the cluster."""
    values = {"id": member.id, "name": member.name, "seen": text(NOW)}
    await connection.execute(insert(MemberRow).values(values))


async def counts(connection: AsyncConnection, member: Member) -> bool:
    """Begin a transaction; return False where others took this process for dead.

    Nobody does before the transaction ends: the row of the process is held.
    """
    _told(connection).clear()
    return await connection.scalar(_COUNTS, {"id": member.id}) is not None


def tell(connection: AsyncConnection, topic: str, keys: Iterable[str]) -> None:
    """Have the other processes hear of a change with its transaction."""
    _told(connection).extend((topic, key) for key in keys)


async def publish(connection: AsyncConnection, member: Member) -> None:
    """Write down what a transaction changed, and ring the bell of the others when it is committed."""
    if told := dict.fromkeys(_told(connection)):
        await connection.execute(_PUBLISHING)  # so that numbers appear in their order
        rows = [{"topic": topic, "key": key, "by": member.id, "at": time.time()} for topic, key in told]
        await connection.execute(insert(ChangeRow), rows)
        await connection.execute(_BELL)


def note(connection: Connection, statement: Any, *_: object) -> None:
    """Note that a table is changed that others hold in memory; called before every statement."""
    table = getattr(statement, "table", None)
    if table is not None and getattr(statement, "is_dml", False) and table.name in HELD:
        connection.info.setdefault("told", []).append((table.name, ""))


def _told(connection: AsyncConnection) -> list[tuple[str, str]]:
    assert connection.sync_connection is not None
    told: list[tuple[str, str]] = connection.sync_connection.info.setdefault("told", [])
    return told
