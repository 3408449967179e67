"""Modes of channels and pauses, and what came of answers that nobody asked for, in SQL."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from core.community.unsolicited import Heard
from core.ports.channels import ModeSet, Pause, ReleaseSet
from storage.database.database import Store
from storage.memory.pair_rows import standing
from storage.tables import (
    AnswerRow,
    ChannelModeRow,
    ChannelReleaseRow,
    OwnReleaseRow,
    PauseRow,
    UnaskedRow,
    VoteRow,
)


class SqlChannels(Store):
    """The `ChannelStore` port on SQL."""

    async def modes(self) -> tuple[ModeSet, ...]:
        """Return every mode that was set, in order of channel."""
        statement = select(ChannelModeRow.__table__).order_by(ChannelModeRow.channel)
        return tuple(ModeSet(**row._mapping) for row in await self._rows(statement))

    async def set_mode(self, given: ModeSet) -> None:
        """Keep a channel's mode in place of the one before."""
        await self._replace(ChannelModeRow, [ChannelModeRow.channel == given.channel], asdict(given))

    async def unset_mode(self, channel: str) -> bool:
        """Forget the mode of a channel; tells whether there was one."""
        return bool(await self._change(delete(ChannelModeRow).where(ChannelModeRow.channel == channel)))

    async def pauses(self) -> tuple[Pause, ...]:
        """Return every pause that was not ended, in order of place; those that are over are among them."""
        statement = select(PauseRow.__table__).order_by(PauseRow.place)
        return tuple(Pause(**row._mapping) for row in await self._rows(statement))

    async def pause(self, pause: Pause) -> None:
        """Keep a pause in place of the one before of the same place."""
        await self._replace(PauseRow, [PauseRow.place == pause.place], asdict(pause))

    async def resume(self, place: str) -> bool:
        """Forget the pause of a place; tells whether there was one."""
        return bool(await self._change(delete(PauseRow).where(PauseRow.place == place)))


class SqlReleases(Store):
    """The `ReleaseStore` port on SQL."""

    async def of_people(self) -> dict[str, str]:
        """Return the release that each person uses, by account."""
        rows = await self._rows(select(OwnReleaseRow.person, OwnReleaseRow.release))
        return {row.person: row.release for row in rows}

    async def choose(self, person: str, release: str, at: float) -> None:
        """Keep the release that a person uses; an empty one forgets it."""
        values = {"person": person, "release": release, "at": at} if release else {}
        await self._replace(OwnReleaseRow, [OwnReleaseRow.person == person], values)

    async def of_channels(self) -> tuple[ReleaseSet, ...]:
        """Return the releases that channels were given, in order of channel."""
        statement = select(ChannelReleaseRow.__table__).order_by(ChannelReleaseRow.channel)
        return tuple(ReleaseSet(**row._mapping) for row in await self._rows(statement))

    async def give(self, given: ReleaseSet) -> None:
        """Keep a channel's release in place of the one before; an empty one forgets it."""
        same = [ChannelReleaseRow.channel == given.channel]
        await self._replace(ChannelReleaseRow, same, asdict(given) if given.release else {})


class SqlNoise(Store):
    """The `NoiseStore` port on SQL; votes are read from where they are kept, so one taken back is gone."""

    async def answered(self, answer_id: str, channel: str, conversation: str, at: float, keep: int) -> None:
        """Note an unasked answer; of its channel the latest `keep` stay."""
        older = (
            select(UnaskedRow.answer_id)
            .where(UnaskedRow.channel == channel)
            .order_by(UnaskedRow.at.desc(), UnaskedRow.answer_id)
            .offset(keep)
        )
        async with self._database.write() as connection:
            await self._database.add(
                connection,
                UnaskedRow,
                answer_id=answer_id,
                channel=channel,
                conversation=conversation,
                at=at,
                noticed=False,
                deleted=False,
            )
            gone = list(await connection.scalars(older))
            await connection.execute(delete(UnaskedRow).where(UnaskedRow.answer_id.in_(gone)))

    async def channel_of(self, answer_id: str) -> str:
        """Return the channel of an unasked answer; empty for every other one."""
        return await self._value(select(UnaskedRow.channel).where(UnaskedRow.answer_id == answer_id)) or ""

    async def noticed(self, answer_id: str) -> None:
        """Note that people took notice of an answer; nothing for one that was asked for."""
        await self._set(UnaskedRow.answer_id == answer_id, noticed=True)

    async def went_on(self, conversation: str) -> None:
        """Note that who was answered went on in a conversation, such as with a follow-up or thanks."""
        await self._set(UnaskedRow.conversation == conversation, noticed=True)

    async def deleted(self, answer_id: str) -> None:
        """Note that somebody deleted an answer because they did not want it."""
        await self._set(UnaskedRow.answer_id == answer_id, deleted=True)

    async def withdrawn(self, answer_id: str) -> None:
        """Count an answer no more: its question was deleted."""
        await self._change(delete(UnaskedRow).where(UnaskedRow.answer_id == answer_id))

    async def latest(self, channel: str, limit: int) -> tuple[Heard, ...]:
        """Return what came of the latest unasked answers of a channel, newest first."""
        answers = (
            select(UnaskedRow.__table__, AnswerRow.asker)
            .join(AnswerRow, AnswerRow.id == UnaskedRow.answer_id, isouter=True)
            .where(UnaskedRow.channel == channel)
            .order_by(UnaskedRow.at.desc(), UnaskedRow.answer_id)
            .limit(limit)
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(answers)).all()
            opinions = await _opinions(connection, [row.answer_id for row in rows])
        return tuple(_heard(row, opinions[row.answer_id]) for row in rows)

    async def begin_anew(self, channel: str) -> None:
        """Forget what was counted in a channel."""
        await self._change(delete(UnaskedRow).where(UnaskedRow.channel == channel))

    async def _set(self, which: Any, **values: bool) -> None:
        await self._change(update(UnaskedRow).where(which).values(**values))


async def _opinions(connection: AsyncConnection, answers: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return by answer what each voter thinks of it now."""
    votes = select(VoteRow.__table__).where(VoteRow.answer_id.in_(answers)).order_by(VoteRow.number)
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for (answer_id, voter), vote in standing(await connection.execute(votes)).items():
        found[answer_id][voter] = vote.value
    return found


def _heard(row: Any, opinions: dict[str, int]) -> Heard:
    """Read one answer: more are against it than for it, or it was deleted by who was answered."""
    against = {voter for voter, value in opinions.items() if not value}
    if 2 * len(against) <= len(opinions):
        against = set()
    if row.deleted:
        against.add(row.asker or row.answer_id)
    return Heard(row.at, row.noticed or bool(opinions), frozenset(against))
