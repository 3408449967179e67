"""Claims, events and posts: what makes the bot answer each message exactly once."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import delete, exists, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from core.domain import MessageRef
from core.ports import Claim
from core.ports.cluster import CLAIMS
from storage.database.database import Store
from storage.people.authorship import CLAIM, Name, drop_words, keep_words
from storage.tables import ClaimRow, EscalationPostRow, EventRow, MemberRow, PostRow
from storage.tables.columns import made, slices

AT_ONCE = 20
"""Claims that a process of a cluster takes over at once, so that the others share the rest."""


class SqlConversations(Store):
    """The `ConversationStore` port on SQL."""

    @property
    def _me(self) -> str:
        """Return what names this process in a cluster; empty elsewhere."""
        return self._database.member.id if self._database.member else ""

    @property
    def _held(self) -> tuple[Any, ...]:
        """Return what is true of the open claims of this process in a cluster; elsewhere of all claims."""
        return (ClaimRow.answer_id.is_(None), ClaimRow.holder == self._me) if self._me else ()

    async def claim(self, claim: Claim, event: str = "") -> bool:
        """Take a message once and for all; False when it or its event was taken before."""
        async with self._database.write() as connection:
            if event and not await self._database.add(connection, EventRow, event=event, at=time.time()):
                return False
            if not claim.message:
                return True
            await self._note(connection, claim.message, claim.payload)
            return await self._database.add(
                connection,
                ClaimRow,
                message=claim.message,
                conversation=claim.conversation,
                asker=claim.asker,
                at=claim.at,
                payload=claim.payload,
                parts=[packed(part) for part in claim.parts],
                answer_id=None,
                decided=claim.decided,
                tries=claim.tries,
                kind=claim.kind,
                holder=self._me,
            )

    async def taken(self, event: str) -> bool:
        """Return True if an event was taken before."""
        return await self._row(select(EventRow.event).where(EventRow.event == event)) is not None

    async def claimed(self, message: str) -> Claim | None:
        """Return the claim of a message."""
        return await self._first(select(ClaimRow.__table__).where(ClaimRow.message == message))

    async def posted(self, message: str, parts: Sequence[MessageRef], conversation: str = "") -> None:
        """Note the messages that a reply takes, first before anything is said in them.

        `conversation` is the one that goes on under them, where the claim's own is none. In a cluster
        nothing is noted for a claim that another process took over: votes on its reply would find no answer.
        """
        place = {"conversation": conversation} if conversation else {}
        ours = (ClaimRow.holder == self._me,) if self._me else ()
        async with self._database.write() as connection:
            noted = await connection.execute(
                update(ClaimRow)
                .where(ClaimRow.message == message, *ours)
                .values(parts=[packed(part) for part in parts], **place)
            )
            if ours and not noted.rowcount:
                return
            await connection.execute(delete(PostRow).where(PostRow.message == message))
            if parts:
                await connection.execute(
                    self._database.insert(PostRow).on_conflict_do_nothing(),
                    [{"part": part.key, "message": message} for part in parts],
                )

    async def posting(self, message: str, answer_id: str) -> bool:
        """Note the answer that was found for a claim, before it is posted; False if it is another's."""
        open_ = (ClaimRow.message == message, *self._held)
        noted = await self._change(update(ClaimRow).where(*open_).values(posting=answer_id))
        return bool(noted) or not self._me

    async def answered(self, message: str, answer_id: str, language: str = "", ours: bool = False) -> None:
        """Note that a claim is settled with this answer; an empty id settles it without one.

        With `ours` nothing changes where another process of a cluster has taken it over or settled it.
        """
        told = {"language": language} if language else {}
        open_ = (ClaimRow.message == message, *(self._held if ours else ()))
        await self._change(update(ClaimRow).where(*open_).values(answer_id=answer_id, **told))

    async def decided(self, message: str, payload: Mapping[str, Any]) -> None:
        """Note that a claim is meant for the bot, what is to be answered, and that this process begins."""
        async with self._database.write() as connection:
            await self._note(connection, message, payload)
            await connection.execute(
                update(ClaimRow)
                .where(ClaimRow.message == message)
                .values(decided=True, payload=dict(payload), tries=1)
            )

    async def dropped(self, message: str) -> None:
        """Forget a claim that was not meant for the bot; its event stays taken."""
        async with self._database.write() as connection:
            await connection.execute(delete(ClaimRow).where(ClaimRow.message == message))
            await drop_words(connection, CLAIM, [message])

    async def tried(self, message: str) -> int:
        """Note that this process begins to work on a claim; return how many did, this one included."""
        again = update(ClaimRow).where(ClaimRow.message == message).values(tries=ClaimRow.tries + 1)
        async with self._database.write() as connection:
            return int((await connection.execute(again.returning(ClaimRow.tries))).scalar() or 0)

    async def spared(self, messages: Collection[str]) -> None:
        """Take the latest try of open claims back: the process ends, but not because of them."""
        async with self._database.write() as connection:
            for part in slices(sorted(messages)):
                open_ = (ClaimRow.message.in_(part), ClaimRow.answer_id.is_(None), ClaimRow.tries > 0)
                await connection.execute(update(ClaimRow).where(*open_).values(tries=ClaimRow.tries - 1))

    async def emptied(self, message: str) -> None:
        """Forget what a claimed message said; that it was taken stays known."""
        async with self._database.write() as connection:
            await connection.execute(
                update(ClaimRow).where(ClaimRow.message == message).values(payload={}, asker="")
            )
            await drop_words(connection, CLAIM, [message])

    async def unanswered(self, since: float) -> tuple[Claim, ...]:
        """Return claims younger than `since` that were never settled, oldest first."""
        statement = (
            select(ClaimRow.__table__)
            .where(ClaimRow.answer_id.is_(None), ClaimRow.at >= since)
            .order_by(ClaimRow.at)
        )
        return tuple(_claim(row) for row in await self._rows(statement))

    async def left(self, platform: str, messages: bool) -> tuple[Claim, ...]:
        """Take over what dead processes took from a platform and did not settle; return it oldest first."""
        kind = ClaimRow.kind == "message" if messages else ClaimRow.kind != "message"
        here = (ClaimRow.message.startswith(f"{platform}:", autoescape=True), ClaimRow.answer_id.is_(None))
        if not self._me:
            rows = await self._rows(select(ClaimRow.__table__).where(*here, kind).order_by(ClaimRow.at))
            return tuple(_claim(row) for row in rows)
        nobodys = ~exists().where(MemberRow.id == ClaimRow.holder)
        first = select(ClaimRow.message).where(*here, kind, nobodys).order_by(ClaimRow.at).limit(AT_ONCE)
        mine = update(ClaimRow).where(ClaimRow.message.in_(first.with_for_update(skip_locked=True)))
        async with self._database.write() as connection:
            found = await connection.execute(mine.values(holder=self._me).returning(*ClaimRow.__table__.c))
            return tuple(sorted(map(_claim, found), key=lambda claim: claim.at))

    async def take_over(self, message: str) -> None:
        """Have this process be the one that answers a message; another that has begun to stops."""
        if self._me:
            others = update(ClaimRow).where(ClaimRow.message == message, ClaimRow.holder != self._me)
            async with self._database.write() as connection:
                if (await connection.execute(others.values(holder=self._me))).rowcount:
                    self._database.tell(connection, CLAIMS, [message])

    async def is_ours(self, message: str) -> bool:
        """Return True if a claim is open, and no other process of a cluster has taken it over."""
        held = (ClaimRow.message == message, *self._held)
        return not self._me or await self._row(select(ClaimRow.message).where(*held)) is not None

    async def answer_of(self, part: str) -> str:
        """Return the id of the answer that a posted message carries, or is about to; empty for none."""
        statement = (
            select(func.coalesce(ClaimRow.answer_id, ClaimRow.posting))
            .join(PostRow, PostRow.message == ClaimRow.message)
            .where(PostRow.part == part)
        )
        return await self._value(statement) or ""

    async def claim_at(self, part: str) -> Claim | None:
        """Return the claim whose reply takes a posted message."""
        takes = ClaimRow.message == select(PostRow.message).where(PostRow.part == part).scalar_subquery()
        return await self._first(select(ClaimRow.__table__).where(takes))

    async def claim_of(self, answer_id: str) -> Claim | None:
        """Return the claim that was settled with that answer."""
        if not answer_id:
            return None
        return await self._first(select(ClaimRow.__table__).where(ClaimRow.answer_id == answer_id).limit(1))

    async def answers_of(self, parts: Sequence[str]) -> dict[str, str]:
        """Return the ids of the answers that posted messages carry, by their keys; others are left out."""
        statement = (
            select(PostRow.part, ClaimRow.answer_id)
            .join(ClaimRow, PostRow.message == ClaimRow.message)
            .where(PostRow.part.in_(parts), ClaimRow.answer_id != "")
        )
        return {part: answer_id or "" for part, answer_id in await self._rows(statement)}

    async def answers_in(self, conversation: str, limit: int) -> tuple[str, ...]:
        """Return the ids of the latest answers of a conversation, newest first."""
        statement = (
            select(ClaimRow.answer_id)
            .where(ClaimRow.conversation == conversation, ClaimRow.answer_id != "")
            .order_by(ClaimRow.at.desc())
            .limit(limit)
        )
        return tuple(await self._values(statement))

    async def last_claim(self, conversation: str) -> Claim | None:
        """Return the latest answered claim of a conversation."""
        return await self._latest(ClaimRow.conversation == conversation, ClaimRow.answer_id != "")

    async def last_asked(self, conversation: str) -> Claim | None:
        """Return the latest question of a conversation that has an answer."""
        asked = (ClaimRow.answer_id != "", ClaimRow.kind.in_(("message", "share")))
        return await self._latest(ClaimRow.conversation == conversation, *asked)

    async def last_told(self, conversation: str) -> Claim | None:
        """Return the latest settled question of a conversation that was replied to, if only with a word."""
        told = exists().where(PostRow.message == ClaimRow.message)
        settled = (ClaimRow.answer_id.is_not(None), ClaimRow.kind.in_(("message", "share")))
        return await self._latest(ClaimRow.conversation == conversation, *settled, told)

    async def open_in(self, conversation: str) -> tuple[Claim, ...]:
        """Return the questions of a conversation that are not settled yet, oldest first."""
        open_ = (ClaimRow.answer_id.is_(None), ClaimRow.kind == "message")
        statement = (
            select(ClaimRow.__table__)
            .where(ClaimRow.conversation == conversation, *open_)
            .order_by(ClaimRow.at)
        )
        return tuple(_claim(row) for row in await self._rows(statement))

    async def known(self, parts: Collection[str]) -> frozenset[str]:
        """Return which of these messages (by key) are known to be the bot's replies or notices."""
        found: set[str] = set()
        async with self._database.read() as connection:
            for some in slices(sorted(parts)):
                for column in (PostRow.part, EscalationPostRow.part):
                    found |= set((await connection.scalars(select(column).where(column.in_(some)))).all())
        return frozenset(found)

    async def last_in(self, channel: str) -> Claim | None:
        """Return the latest answered claim of a channel (`slack:C1`), whatever its thread."""
        within = ClaimRow.conversation.startswith(f"{channel}:", autoescape=True)
        return await self._latest(within, ClaimRow.answer_id != "")

    async def reworded(self, message: str, payload: Mapping[str, Any]) -> None:
        """Note the new words of a claim that is not decided yet."""
        async with self._database.write() as connection:
            await self._note(connection, message, payload)
            await connection.execute(
                update(ClaimRow).where(ClaimRow.message == message).values(payload=dict(payload))
            )

    async def reopen(self, message: str, payload: Mapping[str, Any], at: float) -> None:
        """Let a settled claim be answered anew, with a new payload, in the same messages."""
        known = select(ClaimRow.before, ClaimRow.answer_id).where(ClaimRow.message == message)
        async with self._database.write() as connection:
            await self._note(connection, message, payload)
            earlier = (await connection.execute(known)).first()
            await connection.execute(
                update(ClaimRow)
                .where(ClaimRow.message == message)
                .values(
                    payload=dict(payload),
                    at=at,
                    before=[*earlier.before, *filter(None, [earlier.answer_id])] if earlier else [],
                    answer_id=None,
                    posting="",
                    decided=True,
                    tries=1,
                    holder=self._me,
                )
            )

    async def _note(self, connection: AsyncConnection, message: str, payload: Mapping[str, Any]) -> None:
        """Write down whose words a claim holds, where they are not those of who asked."""
        people = map(Name, payload.get("authors") or ())
        await keep_words(self._database, connection, CLAIM, message, people)

    async def _latest(self, *where: Any) -> Claim | None:
        found = select(ClaimRow.__table__).where(*where)
        return await self._first(found.order_by(ClaimRow.at.desc()).limit(1))

    async def _first(self, statement: Any) -> Claim | None:
        row = await self._row(statement)
        return _claim(row) if row else None


def packed(part: MessageRef) -> list[str]:
    """Return a message's place as a column of JSON keeps it."""
    return [part.platform, part.channel, part.message, part.thread]


def _claim(row: Any) -> Claim:
    return made(
        Claim,
        row,
        parts=tuple(MessageRef(*part) for part in row.parts),
        before=tuple(row.before),
        answer_id=row.answer_id or "",
        is_settled=row.answer_id is not None,
    )
