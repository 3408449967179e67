"""Tickets in SQL: questions that were put to a person, and the messages that tell of them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete, func, or_, select, update

from core.domain import MessageRef
from core.ports.escalations import Ticket
from storage.database.database import Store
from storage.people.authorship import TICKET, drop_words, keep_ticket_words
from storage.serving.conversations import packed
from storage.tables import EscalationPostRow, EscalationRow
from storage.tables.columns import made, values_of


class SqlEscalations(Store):
    """The `EscalationStore` port on SQL."""

    async def add(self, ticket: Ticket) -> bool:
        """Keep a new ticket; False where its message has one, which stays as it is."""
        async with self._database.write() as connection:
            added = await self._database.add(connection, EscalationRow, **_values(ticket))
            if added:
                await keep_ticket_words(self._database, connection, ticket.message, ticket.answer_id)
                await self._note(connection, ticket)
            return added

    async def save(self, ticket: Ticket) -> None:
        """Replace a ticket by a later state of it; one that is gone stays gone."""
        change = update(EscalationRow).where(EscalationRow.message == ticket.message)
        async with self._database.write() as connection:
            if (await connection.execute(change.values(**_values(ticket)))).rowcount:
                await self._note(connection, ticket)

    async def _note(self, connection: Any, ticket: Ticket) -> None:
        """Write down which messages tell of a ticket."""
        of_ticket = delete(EscalationPostRow).where(EscalationPostRow.message == ticket.message)
        await connection.execute(of_ticket)
        for part in [part for post in (*ticket.posts, ticket.notice) for part in post]:
            row = {"part": part.key, "message": ticket.message}
            await self._database.add(connection, EscalationPostRow, **row)

    async def remove(self, message: str) -> None:
        """Forget the ticket of a message; an unknown one is no error."""
        async with self._database.write() as connection:
            for table in (EscalationRow, EscalationPostRow):
                await connection.execute(delete(table).where(table.message == message))
            await drop_words(connection, TICKET, [message])

    async def of(self, message: str) -> Ticket | None:
        """Return the ticket of a message."""
        return await self._first(select(EscalationRow.__table__).where(EscalationRow.message == message))

    async def about(self, message: str) -> tuple[Ticket, ...]:
        """Return the tickets of a message: of its answer, and of those for other releases or given anew."""
        key = EscalationRow.message
        of_it = or_(key == message, key.startswith(f"{message}@", autoescape=True))
        return await self._all(select(EscalationRow.__table__).where(of_it))

    async def of_post(self, part: str) -> Ticket | None:
        """Return the ticket that a message of the bot tells of, by that message's key."""
        told = EscalationPostRow.message == EscalationRow.message
        statement = select(EscalationRow.__table__).join(EscalationPostRow, told)
        return await self._first(statement.where(EscalationPostRow.part == part))

    async def latest_in(self, conversation: str) -> Ticket | None:
        """Return the latest ticket of a conversation."""
        there = select(EscalationRow.__table__).where(EscalationRow.conversation == conversation)
        return await self._first(there.order_by(EscalationRow.at.desc(), EscalationRow.message.desc()))

    async def answered_by(self, answer: str) -> Ticket | None:
        """Return the ticket that a person's message resolved, by that message's key."""
        if not answer:
            return None
        return await self._first(select(EscalationRow.__table__).where(EscalationRow.answer == answer))

    async def waiting(self, channel: str = "") -> tuple[Ticket, ...]:
        """Return what is open, in one channel (`slack:C1`) or anywhere, the oldest first."""
        statement = select(EscalationRow.__table__).where(EscalationRow.resolved_at == 0)
        if channel:
            statement = statement.where(EscalationRow.channel == channel)
        return await self._all(statement)

    async def since(self, at: float) -> tuple[Ticket, ...]:
        """Return what was opened since then, the oldest first."""
        return await self._all(select(EscalationRow.__table__).where(EscalationRow.at >= at))

    async def counts(self) -> tuple[int, int]:
        """Return how many are open and how many resolved."""
        statement = select(func.count(), func.count().filter(EscalationRow.resolved_at == 0))
        row = await self._row(statement.select_from(EscalationRow))
        return int(row[1]), int(row[0] - row[1])

    async def _all(self, statement: Any) -> tuple[Ticket, ...]:
        ordered = statement.order_by(EscalationRow.at, EscalationRow.message)
        return tuple(_ticket(row) for row in await self._rows(ordered))

    async def _first(self, statement: Any) -> Ticket | None:
        row = await self._row(statement.limit(1))
        return _ticket(row) if row else None


def _values(ticket: Ticket) -> dict[str, Any]:
    return values_of(
        EscalationRow,
        ticket,
        posts=[[packed(part) for part in post] for post in ticket.posts],
        notice=[packed(part) for part in ticket.notice],
    )


def _ticket(row: Any) -> Ticket:
    return made(
        Ticket,
        row,
        people=tuple(row.people),
        told=tuple(row.told),
        posts=tuple(tuple(MessageRef(*part) for part in post) for post in row.posts),
        notice=tuple(MessageRef(*part) for part in row.notice),
    )
