"""Modes that channels were given while the bot ran, and pauses, in SQL."""

from __future__ import annotations

from dataclasses import asdict

from sqlalchemy import delete, select

from core.community.channels import ModeSet, Pause
from storage.database.database import Database
from storage.tables import ChannelModeRow, PauseRow


class SqlChannels:
    """The `ChannelStore` port on SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def modes(self) -> tuple[ModeSet, ...]:
        """Return every mode that was set, in order of channel."""
        statement = select(ChannelModeRow.__table__).order_by(ChannelModeRow.channel)
        async with self._database.read() as connection:
            return tuple(ModeSet(**row._mapping) for row in await connection.execute(statement))

    async def set_mode(self, given: ModeSet) -> None:
        """Keep a channel's mode in place of the one before."""
        async with self._database.write() as connection:
            await connection.execute(delete(ChannelModeRow).where(ChannelModeRow.channel == given.channel))
            await self._database.add(connection, ChannelModeRow, **asdict(given))

    async def unset_mode(self, channel: str) -> bool:
        """Forget the mode of a channel; tells whether there was one."""
        async with self._database.write() as connection:
            gone = await connection.execute(delete(ChannelModeRow).where(ChannelModeRow.channel == channel))
            return bool(gone.rowcount)

    async def pauses(self) -> tuple[Pause, ...]:
        """Return every pause that was not ended, in order of place; those that are over are among them."""
        statement = select(PauseRow.__table__).order_by(PauseRow.place)
        async with self._database.read() as connection:
            return tuple(Pause(**row._mapping) for row in await connection.execute(statement))

    async def pause(self, pause: Pause) -> None:
        """Keep a pause in place of the one before of the same place."""
        async with self._database.write() as connection:
            await connection.execute(delete(PauseRow).where(PauseRow.place == pause.place))
            await self._database.add(connection, PauseRow, **asdict(pause))

    async def resume(self, place: str) -> bool:
        """Forget the pause of a place; tells whether there was one."""
        async with self._database.write() as connection:
            gone = await connection.execute(delete(PauseRow).where(PauseRow.place == place))
            return bool(gone.rowcount)
