"""What is kept of a channel stands under another id once the platform has given it one."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    String,
    Text,
    and_,
    case,
    cast,
    delete,
    exists,
    func,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.orm import aliased

from core.ports.about import FORMER
from core.ports.channels import Moved
from core.ports.cluster import CLAIMS, MEMORY
from core.ports.opinions import pair_of
from storage.database.database import Store
from storage.people.personal import is_veiled_column
from storage.tables import (
    AboutRow,
    ActRow,
    AnswerRow,
    BucketRow,
    ChannelModeRow,
    ChannelReleaseRow,
    ClaimRow,
    CorrectionRow,
    EscalationPostRow,
    EscalationRow,
    EventRow,
    MarkRow,
    NoticeRow,
    PairRow,
    PauseRow,
    PlacementRow,
    PostRow,
    UnaskedRow,
    WordsRow,
)
from storage.tables.columns import slices


class Place(NamedTuple):
    """A column that names a channel or a message in it, behind what always stands `before` that."""

    column: Any
    before: str = ""


PLACES = (
    *(Place(column) for column in (AnswerRow.channel, PairRow.channel, UnaskedRow.channel, ActRow.place)),
    *(Place(column, "private:") for column in (AnswerRow.scope, PairRow.scope, CorrectionRow.scope)),
    *(Place(column) for column in (ClaimRow.conversation, UnaskedRow.conversation, PostRow.message)),
    *(Place(column) for column in (EscalationRow.channel, EscalationRow.conversation, EscalationRow.answer)),
    *(Place(EscalationRow.scope, "private:"), Place(EscalationPostRow.message)),
)
"""Columns of rows that have another key."""
KEYS = (
    *(Place(column) for column in (ClaimRow.message, PostRow.part, EscalationRow.message)),
    *(Place(column) for column in (EscalationPostRow.part, MarkRow.message, WordsRow.key)),
    *(Place(column) for column in (ChannelModeRow.channel, ChannelReleaseRow.channel, PauseRow.place)),
    *(Place(NoticeRow.destination), Place(EventRow.event, "deleted "), Place(BucketRow.name, "channel ")),
)
"""Columns that are a key, or a part of it: what stands under the new id already stays."""
PACKED = (
    *((ClaimRow.message, column) for column in (ClaimRow.payload, ClaimRow.parts)),
    *((EscalationRow.message, column) for column in (EscalationRow.posts, EscalationRow.notice)),
    *((PairRow.id, PairRow.citations), (AnswerRow.id, AnswerRow.citations)),
)
"""Keys of rows, and their columns of JSON that name messages or link to them."""
WORDS = frozenset({"text"})
"""Parts of JSON that hold what somebody wrote."""


class SqlMoves(Store):
    """The `MoveStore` port on SQL."""

    async def move(self, moved: Moved) -> tuple[str, ...]:
        """Let everything that is kept of a channel stand under its new id, in one transaction."""
        async with self._database.write() as connection:
            ids = tuple((await connection.scalars(_pairs(moved))).all())
            here = _there(Place(ClaimRow.message), moved)
            asked = select(ClaimRow.message).where(here, ClaimRow.answer_id.is_(None))
            open_ = (await connection.scalars(asked)).all()
            await self._name_pairs(connection, moved)
            for part in slices(ids):
                await connection.execute(delete(PlacementRow).where(PlacementRow.pair_id.in_(part)))
            veiled = update(ClaimRow).where(here, is_veiled_column(ClaimRow.asker))
            # such a name is the person's in this message alone, and would be nobody's under the new key
            await connection.execute(veiled.values(asker="~"))
            spared = {"holder": "", "tries": case((ClaimRow.tries > 0, ClaimRow.tries - 1), else_=0)}
            for part in slices(open_):
                await connection.execute(update(ClaimRow).where(ClaimRow.message.in_(part)).values(spared))
            for place in PLACES:
                await connection.execute(_moving(place, moved))
            for key, column in PACKED:
                await _repack(connection, key, column, moved)
            for place in KEYS:
                await connection.execute(_in_the_way(place, moved))
                await connection.execute(_moving(place, moved))
            self._database.tell(connection, MEMORY, ids)
            self._database.tell(connection, CLAIMS, open_)
        return ids

    async def _name_pairs(self, connection: AsyncConnection, moved: Moved) -> None:
        """Let pairs of people's messages be found by the new keys of these: their ids are made of the old."""
        marked = select(MarkRow.message).where(_there(Place(MarkRow.message), moved))
        accepted = select(EscalationRow.answer).where(_there(Place(EscalationRow.answer), moved))
        links = select(PairRow.citations).where(_heard(moved), PairRow.origin == "person")
        linked = (
            message_of(entry["url"], moved) for some in await connection.scalars(links) for entry in some
        )
        known = (await connection.scalars(marked.union(accepted))).all()
        for message in dict.fromkeys(filter(None, (*known, *linked))):
            before, now = pair_of(message), pair_of(moved.new + message.removeprefix(moved.old))
            earlier = select(AboutRow.value).where(AboutRow.name == FORMER + before)
            made = await connection.scalar(earlier) or before
            if await connection.scalar(select(PairRow.id).where(PairRow.id == made)):
                await self._database.add(connection, AboutRow, name=FORMER + now, value=made)


def _there(place: Place, moved: Moved) -> ColumnElement[bool]:
    """Return the condition that a column names the channel that moved, or a message in it."""
    old = f"{place.before}{moved.old}"
    return or_(place.column == old, place.column.startswith(f"{old}:", autoescape=True))


def _new(place: Place, moved: Moved) -> Any:
    """Return what a column says then."""
    rest = func.substr(place.column, len(f"{place.before}{moved.old}") + 1, type_=String)
    return literal(f"{place.before}{moved.new}", String).concat(rest)


def _moving(place: Place, moved: Moved) -> Any:
    """Return the statement that changes a column."""
    changed = update(place.column.class_).where(_there(place, moved))
    return changed.values({place.column.key: _new(place, moved)})


def _in_the_way(place: Place, moved: Moved) -> Any:
    """Return the statement that removes rows whose new key is taken."""
    table = place.column.class_
    other = aliased(table)
    same = [
        getattr(other, column.key)
        == (_new(place, moved) if column.key == place.column.key else getattr(table, column.key))
        for column in table.__table__.primary_key
    ]
    return delete(table).where(_there(place, moved), exists().where(and_(*same)))


def message_of(link: str, moved: Moved) -> str:
    """Return the key of the message in the channel that a link of Slack's leads to; empty where none does."""
    begins = f"{moved.links[0]}p"
    digits = link.removeprefix(begins).partition("?")[0]
    return f"{moved.old}:{digits[:-6]}.{digits[-6:]}" if moved.links[0] and link.startswith(begins) else ""


def _heard(moved: Moved) -> ColumnElement[bool]:
    """Return the condition that a pair is heard in the channel alone, or was learnt there."""
    return or_(_there(Place(PairRow.scope, "private:"), moved), _there(Place(PairRow.channel), moved))


def _pairs(moved: Moved) -> Any:
    """Return what finds those pairs."""
    return select(PairRow.id).where(_heard(moved)).order_by(PairRow.id)


async def _repack(connection: AsyncConnection, key: Any, column: Any, moved: Moved) -> None:
    """Change a column of JSON where it names the channel."""
    named = cast(column, Text).contains(moved.old.partition(":")[2], autoescape=True)
    for row in (await connection.execute(select(key, column).where(named))).all():
        if (now := carried(row[1], moved)) != row[1]:
            changed = update(key.class_).where(key == row[0])
            await connection.execute(changed.values({column.key: now}))


def carried(value: Any, moved: Moved) -> Any:
    """Return a value of JSON in which the channel has its new id; what somebody wrote stays."""
    if isinstance(value, dict):
        return {name: part if name in WORDS else carried(part, moved) for name, part in value.items()}
    if isinstance(value, list):
        return [carried(part, moved) for part in value]
    if not isinstance(value, str):
        return value
    if value == moved.old.partition(":")[2]:
        return moved.new.partition(":")[2]
    if moved.links[0] and value.startswith(moved.links[0]):
        page, mark, asked = value.removeprefix(moved.links[0]).partition("?")
        was, now = (
            f"cid={key.partition(':')[2]}" for key in (moved.old, moved.new)
        )  # of a reply in a thread
        return moved.links[1] + page + mark + "&".join(now if one == was else one for one in asked.split("&"))
    for before in ("", "private:"):
        old = f"{before}{moved.old}"
        if value == old or value.startswith(f"{old}:"):
            return f"{before}{moved.new}{value.removeprefix(old)}"
    return value
