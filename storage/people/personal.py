"""Where people stand in the tables: the one list that telling, forgetting and retention go by.

A new table that holds an account has its line here. The words of people are found with their rows. Below
stands what all tables hold of one person, as rows to be shown to them.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import or_, select, true
from sqlalchemy.ext.asyncio import AsyncConnection

from core.privacy.names import Names
from storage.people.authorship import names_of
from storage.tables import (
    ActRow,
    AnswerRow,
    AuthorRow,
    ChannelModeRow,
    ChannelReleaseRow,
    ClaimRow,
    CorrectionRow,
    DistinctionRow,
    EscalationRow,
    EventRow,
    MarkRow,
    OwnReleaseRow,
    PairRow,
    PauseRow,
    VoteRow,
    WordsRow,
)


@dataclass(frozen=True, slots=True)
class Stand:
    """A column that names a person, and what of a row is told to them, by its name in what they get.

    `goes` says what forgetting does: the row goes, or just the name in it, for others need the row; `words`
    are columns that are emptied with the name.
    `place` are the columns of which the first that is not empty is the place of a one-way name.
    """

    section: str
    who: Any
    key: Any
    at: Any
    shown: tuple[Any, ...]
    goes: Literal["row", "name"] = "row"
    place: tuple[Any, ...] = ()
    words: tuple[Any, ...] = ()
    told: Any = field(default_factory=true)
    """The condition of rows that are told of; others are there until something is dealt with."""

    @property
    def table(self) -> Any:
        """Return the table."""
        return self.who.class_


# fmt: off
STANDS: tuple[Stand, ...] = (
    Stand("questions", AnswerRow.asker, AnswerRow.id, AnswerRow.at,
          (AnswerRow.id, AnswerRow.at, AnswerRow.channel, AnswerRow.scope, AnswerRow.question,
           AnswerRow.release, AnswerRow.route, AnswerRow.text), place=(AnswerRow.pair_id, AnswerRow.id)),
    Stand("remembered", PairRow.asker, PairRow.id, PairRow.created_at,
          (PairRow.id, PairRow.created_at, PairRow.channel, PairRow.scope, PairRow.question, PairRow.release,
           PairRow.answer, PairRow.origin), place=(PairRow.id,)),
    Stand("messages", ClaimRow.asker, ClaimRow.message, ClaimRow.at,
          (ClaimRow.message, ClaimRow.at, ClaimRow.conversation, ClaimRow.payload, ClaimRow.answer_id),
          place=(ClaimRow.message,), told=ClaimRow.kind.in_(("message", "share"))),
    Stand("votes", VoteRow.voter, VoteRow.number, VoteRow.at,
          (VoteRow.answer_id, VoteRow.at, VoteRow.value, VoteRow.withdraws, VoteRow.weight, VoteRow.standing),
          place=(VoteRow.pair_id, VoteRow.answer_id)),
    Stand("corrections", CorrectionRow.person, CorrectionRow.answer_id, CorrectionRow.at,
          (CorrectionRow.answer_id, CorrectionRow.at, CorrectionRow.name, CorrectionRow.what,
           CorrectionRow.better)),
    Stand("told apart", DistinctionRow.person, DistinctionRow.answer_id, DistinctionRow.at,
          (DistinctionRow.answer_id, DistinctionRow.at, DistinctionRow.pair_id), "name"),
    Stand("marks", MarkRow.person, MarkRow.message, MarkRow.at, (MarkRow.message, MarkRow.at, MarkRow.kind)),
    Stand("asked of people", EscalationRow.asker, EscalationRow.message, EscalationRow.at,
          (EscalationRow.message, EscalationRow.at, EscalationRow.question, EscalationRow.told,
           EscalationRow.resolver_name)),
    Stand("put to people", EscalationRow.by, EscalationRow.message, EscalationRow.at,
          (EscalationRow.message, EscalationRow.at), "name"),
    Stand("resolved", EscalationRow.resolver, EscalationRow.message, EscalationRow.resolved_at,
          (EscalationRow.message, EscalationRow.resolved_at, EscalationRow.resolver_name,
           EscalationRow.answer), "name"),
    Stand("commands", ActRow.who, ActRow.number, ActRow.at,
          (ActRow.at, ActRow.place, ActRow.what, ActRow.outcome), "name"),
    Stand("modes set", ChannelModeRow.by, ChannelModeRow.channel, ChannelModeRow.at,
          (ChannelModeRow.channel, ChannelModeRow.at, ChannelModeRow.mode, ChannelModeRow.why), "name"),
    Stand("own release", OwnReleaseRow.person, OwnReleaseRow.person, OwnReleaseRow.at,
          (OwnReleaseRow.release, OwnReleaseRow.at)),
    Stand("releases set", ChannelReleaseRow.by, ChannelReleaseRow.channel, ChannelReleaseRow.at,
          (ChannelReleaseRow.channel, ChannelReleaseRow.at, ChannelReleaseRow.release), "name"),
    Stand("pauses set", PauseRow.by, PauseRow.place, PauseRow.at,
          (PauseRow.place, PauseRow.at, PauseRow.until, PauseRow.why), "name", words=(PauseRow.why,)),
)
# fmt: on


async def rows_of(
    connection: AsyncConnection, stand: Stand, names: Collection[str], one_way: Names, *columns: Any
) -> list[Any]:
    """Return the rows of a person, also those that retention has given one-way names, the latest first.

    Without `columns` they are the rows that are told of, as they are told.
    """
    named = select(*(columns or stand.shown)).order_by(stand.at.desc())
    named = named if columns else named.where(stand.told)
    found = list((await connection.execute(named.where(stand.who.in_(names)))).all())
    if stand.place:
        held = select(stand.key, stand.who, *stand.place).where(is_veiled_column(stand.who))
        keys = {
            row[0]
            for row in await connection.execute(held)
            if row[1] in {one_way.veil(name, next(filter(None, row[2:]), "")) for name in names}
        }
        for key in keys:
            found += (await connection.execute(named.where(stand.key == key))).all()
    return found


def is_veiled_column(column: Any) -> Any:
    """Return the condition that a column holds a one-way name."""
    return or_(column.like("~%"), column.like("%:~%"))


async def held_of(
    connection: AsyncConnection, accounts: Collection[str], names: Names
) -> dict[str, list[dict[str, Any]]]:
    """Return by section the rows of a person, the latest first; sections without any are left out."""
    found: dict[str, list[dict[str, Any]]] = {}
    for stand in STANDS:
        rows = await rows_of(connection, stand, accounts, names)
        found[stand.section] = [dict(row._mapping) for row in rows]
    found["answers of theirs"] = await _authored(connection, accounts)
    found["asked for help"] = await _asked(connection, accounts)
    found["words elsewhere"] = await _elsewhere(connection, accounts, names)
    found["events"] = [{"event": event} for event in await events_of(connection, accounts)]
    return {section: rows for section, rows in found.items() if rows}


async def events_of(connection: AsyncConnection, accounts: Collection[str]) -> list[str]:
    """Return the events whose id names one of the accounts."""
    ids = {account.rpartition(":")[2] for account in accounts}
    events = await connection.scalars(select(EventRow.event))
    return [event for event in events if ids & set(event.split(":"))]


async def _authored(connection: AsyncConnection, accounts: Collection[str]) -> list[dict[str, Any]]:
    """Return the answers that they wrote and that are remembered in their name."""
    columns = (PairRow.id, PairRow.created_at, PairRow.question, PairRow.answer, PairRow.citations)
    written = select(*columns).join(AuthorRow, AuthorRow.pair_id == PairRow.id)
    written = written.where(AuthorRow.person.in_(accounts)).order_by(PairRow.created_at.desc())
    rows = [dict(row._mapping) for row in await connection.execute(written)]
    for row in rows:
        row["cited_as"] = [entry["title"] for entry in row.pop("citations")]
    return rows


async def _asked(connection: AsyncConnection, accounts: Collection[str]) -> list[dict[str, Any]]:
    """Return the questions that were put to them."""
    columns = (EscalationRow.message, EscalationRow.at, EscalationRow.people)
    rows = await connection.execute(select(*columns).order_by(EscalationRow.at.desc()))
    return [{"message": row.message, "at": row.at} for row in rows if set(row.people) & set(accounts)]


async def _elsewhere(
    connection: AsyncConnection, accounts: Collection[str], names: Names
) -> list[dict[str, Any]]:
    """Return which rows of others hold words of theirs; what else these say is not theirs to see."""
    known = await names_of(connection, accounts, names)
    rows = await connection.execute(select(WordsRow.__table__).where(WordsRow.person.in_(known)))
    return [{"in": row.kind, "id": row.key} for row in rows]


def said(*values: Any) -> str:
    """Write values as one text in which words are looked for."""
    return json.dumps(values, ensure_ascii=False)
