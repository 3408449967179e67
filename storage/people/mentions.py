"""What rows of others still say of a person who is forgotten: tickets, the audit log, notices to admins."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from core.ports.about import FORGOTTEN
from core.text.words import one_line
from storage.people.authorship import TICKET, drop_words
from storage.people.personal import said
from storage.tables import ActRow, EscalationPostRow, EscalationRow, NoticeRow, PauseRow


async def clean_mentions(
    connection: AsyncConnection, accounts: Collection[str], texts: Iterable[str], tickets: Collection[str]
) -> None:
    """Take a person's accounts, name and words (`texts`, long enough to tell) out of rows that are kept.

    Of `tickets` it is known that they hold their words.
    """
    telling = list(texts)
    await _clean_tickets(connection, accounts, telling, tickets)
    await _clean_acts(connection, accounts, telling)
    await _clean_pauses(connection, telling)
    await _clean_notices(connection, accounts, telling)


async def _clean_tickets(
    connection: AsyncConnection, accounts: Collection[str], texts: list[str], known: Collection[str]
) -> None:
    columns = (
        EscalationRow.message,
        EscalationRow.by,
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
        if row.message in known or any(text in row.question for text in texts):
            changes["question"] = FORGOTTEN
        # who put it to people is named there
        told = row.message in known or row.by == FORGOTTEN or any(text in said(row.told) for text in texts)
        if told and set(row.told) != {FORGOTTEN}:
            changes["told"] = [FORGOTTEN for _ in row.told]
        if changes:
            ticket = update(EscalationRow).where(EscalationRow.message == row.message)
            await connection.execute(ticket.values(**changes))
    kept = select(EscalationRow.message)
    await connection.execute(delete(EscalationPostRow).where(EscalationPostRow.message.not_in(kept)))
    await drop_words(connection, TICKET, known)


async def _clean_acts(connection: AsyncConnection, accounts: Collection[str], texts: list[str]) -> None:
    """Take accounts and words out of what others did, and all but the command's name out of what they did."""
    own = select(ActRow.number, ActRow.what, ActRow.outcome).where(ActRow.who == FORGOTTEN)
    for number, what, outcome in (await connection.execute(own)).all():
        bare = {"what": what.partition(" ")[0], "outcome": outcome.partition(":")[0]}
        if bare != {"what": what, "outcome": outcome}:
            await connection.execute(update(ActRow).where(ActRow.number == number).values(**bare))
    said = [one_line(text) for text in texts]
    names = [account(name) for name in _names(accounts)]
    for number, *lines in (
        await connection.execute(select(ActRow.number, ActRow.what, ActRow.outcome))
    ).all():
        cleaned = [_without(line, said, names) for line in lines]
        if cleaned != lines:
            changed = dict(zip(("what", "outcome"), cleaned, strict=True))
            await connection.execute(update(ActRow).where(ActRow.number == number).values(**changed))


def account(name: str) -> re.Pattern[str]:
    """Return the pattern of an account that is no part of a longer one."""
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def _without(line: str, texts: list[str], names: list[re.Pattern[str]]) -> str:
    for text in texts:
        if len(text) <= len(line):
            line = line.replace(text, FORGOTTEN)
    for name in names:
        line = name.sub(FORGOTTEN, line)
    return line


async def _clean_pauses(connection: AsyncConnection, texts: list[str]) -> None:
    """Take words out of the reasons that others gave."""
    for place, why in (await connection.execute(select(PauseRow.place, PauseRow.why))).all():
        if any(one_line(text) in why for text in texts):
            pause = update(PauseRow).where(PauseRow.place == place)
            await connection.execute(pause.values(why=FORGOTTEN))


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
