"""Where people stand in the tables: the one list that telling, forgetting and retention go by.

A new table that holds an account has its line here. The words of people are found with their rows.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import or_, select, true
from sqlalchemy.ext.asyncio import AsyncConnection

from core.privacy.names import Names
from storage.tables import (
    ActRow,
    AnswerRow,
    ChannelModeRow,
    ClaimRow,
    CorrectionRow,
    DistinctionRow,
    EscalationRow,
    MarkRow,
    PairRow,
    PauseRow,
    VoteRow,
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
