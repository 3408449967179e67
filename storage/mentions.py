"""What rows of others still say of a person who is forgotten: tickets, the audit log, notices to admins."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from core.audit import FORGOTTEN
from storage.held import said
from storage.tables import ActRow, EscalationPostRow, EscalationRow, NoticeRow


async def clean_mentions(
    connection: AsyncConnection, accounts: Collection[str], texts: Iterable[str]
) -> None:
    """Take a person's accounts, name and words (`texts`, long enough to tell) out of rows that are kept."""
    telling = list(texts)
    await _clean_tickets(connection, accounts, telling)
    await _clean_acts(connection, accounts)
    await _clean_notices(connection, accounts, telling)


async def _clean_tickets(connection: AsyncConnection, accounts: Collection[str], texts: list[str]) -> None:
    columns = (
        EscalationRow.message,
        EscalationRow.people,
        EscalationRow.question,
        EscalationRow.told,
        EscalationRow.resolver,
        EscalationRow.resolver_name,
    )
    for row in (await connection.execute(select(*columns))).all():
        changes: dict[str, Any] = {}
        people = [person for person in row.people if person not in accounts]
        if people != row.people:
            changes |= {"people": people, "names": FORGOTTEN}
        if row.resolver == FORGOTTEN and row.resolver_name != FORGOTTEN:
            changes["resolver_name"] = FORGOTTEN
        if any(text in row.question for text in texts):
            changes["question"] = FORGOTTEN
        if any(text in said(row.told) for text in texts):
            changes["told"] = [FORGOTTEN for _ in row.told]
        if changes:
            ticket = update(EscalationRow).where(EscalationRow.message == row.message)
            await connection.execute(ticket.values(**changes))
    kept = select(EscalationRow.message)
    await connection.execute(delete(EscalationPostRow).where(EscalationPostRow.message.not_in(kept)))


def account(name: str) -> re.Pattern[str]:
    """Return the pattern of an account that is no part of a longer one."""
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


async def _clean_acts(connection: AsyncConnection, accounts: Collection[str]) -> None:
    """Take accounts out of the words of commands that others gave."""
    for name in _names(accounts):
        whole = account(name)
        for column in (ActRow.what, ActRow.outcome):
            holds = column.contains(name, autoescape=True)
            rows = (await connection.execute(select(ActRow.number, column.label("words")).where(holds))).all()
            for row in rows:
                words = {column.key: whole.sub(FORGOTTEN, row.words)}
                await connection.execute(update(ActRow).where(ActRow.number == row.number).values(**words))


async def _clean_notices(connection: AsyncConnection, accounts: Collection[str], texts: list[str]) -> None:
    """Remove what admins were told about a person, or in their words."""
    rows = (await connection.execute(select(NoticeRow.destination, NoticeRow.key, NoticeRow.text))).all()
    for row in rows:
        if any(words in row.text or words in row.key for words in (*accounts, *texts)):
            same = (NoticeRow.destination == row.destination, NoticeRow.key == row.key)
            await connection.execute(delete(NoticeRow).where(*same))


def _names(accounts: Collection[str]) -> list[str]:
    """Return accounts with and without their platform, the longest first."""
    ids = {account.rpartition(":")[2] for account in accounts if ":" in account}
    return sorted({*accounts, *ids}, key=len, reverse=True)
