"""The `EscalationStore` port in memory."""

from __future__ import annotations

from collections.abc import Iterable

from core.ports.escalations import Ticket


class FakeEscalations:
    """Tickets in a dictionary."""

    def __init__(self) -> None:
        self.tickets: dict[str, Ticket] = {}

    async def add(self, ticket: Ticket) -> bool:
        return self.tickets.setdefault(ticket.message, ticket) is ticket

    async def save(self, ticket: Ticket) -> None:
        if ticket.message in self.tickets:
            self.tickets[ticket.message] = ticket

    async def remove(self, message: str) -> None:
        self.tickets.pop(message, None)

    async def of(self, message: str) -> Ticket | None:
        return self.tickets.get(message)

    async def about(self, message: str) -> tuple[Ticket, ...]:
        return _ordered(t for t in self.tickets.values() if f"{t.message}@".startswith(f"{message}@"))

    async def of_post(self, part: str) -> Ticket | None:
        def tells(ticket: Ticket) -> bool:
            return any(part == told.key for post in (*ticket.posts, ticket.notice) for told in post)

        return next((ticket for ticket in self.tickets.values() if tells(ticket)), None)

    async def latest_in(self, conversation: str) -> Ticket | None:
        found = [ticket for ticket in self.tickets.values() if ticket.conversation == conversation]
        return _ordered(found)[-1] if found else None

    async def answered_by(self, answer: str) -> Ticket | None:
        return next((t for t in self.tickets.values() if answer and t.answer == answer), None)

    async def waiting(self, channel: str = "") -> tuple[Ticket, ...]:
        return _ordered(t for t in self.tickets.values() if t.is_open and channel in ("", t.channel))

    async def since(self, at: float) -> tuple[Ticket, ...]:
        return _ordered(ticket for ticket in self.tickets.values() if ticket.at >= at)

    async def counts(self) -> tuple[int, int]:
        waiting = len(await self.waiting())
        return waiting, len(self.tickets) - waiting


def _ordered(tickets: Iterable[Ticket]) -> tuple[Ticket, ...]:
    return tuple(sorted(tickets, key=lambda ticket: (ticket.at, ticket.message)))
