"""How the last reading of each source went, in SQL."""

from __future__ import annotations

import time
from collections.abc import Sequence

from sqlalchemy import select

from core.catalogue.schedule import next_level
from core.ports import SourceRun
from storage.database.database import Database
from storage.tables import SourceRunRow


class SqlSourceRuns:
    """The runs of sources in the `CorpusStore` port."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def note_run(
        self,
        release: str,
        source: str,
        error: str,
        skipped: Sequence[tuple[str, str]],
        changed: bool | None = None,
    ) -> None:
        """Write down how reading a source went; an empty error is success."""
        now = time.time()
        async with self._database.write() as connection:
            old = (
                await connection.execute(
                    select(SourceRunRow.succeeded_at, SourceRunRow.failures, SourceRunRow.level).where(
                        SourceRunRow.release == release, SourceRunRow.source == source
                    )
                )
            ).first()
            level = old.level if old else 0
            values = {
                "at": now,
                "level": level if changed is None else next_level(level, changed),
                "succeeded_at": (old.succeeded_at if old else 0.0) if error else now,
                "failures": (old.failures if old else 0) + 1 if error else 0,
                "error": error,
                "skipped": [list(entry) for entry in skipped],
            }
            await connection.execute(
                self._database.insert(SourceRunRow)
                .values(release=release, source=source, **values)
                .on_conflict_do_update(index_elements=["release", "source"], set_=values)
            )

    async def runs(self) -> tuple[SourceRun, ...]:
        """Return the last run of every source of every release."""
        async with self._database.read() as connection:
            rows = (await connection.execute(select(SourceRunRow.__table__))).all()
        return tuple(
            SourceRun(
                row.release,
                row.source,
                row.at,
                row.succeeded_at,
                row.failures,
                row.error,
                tuple((path, reason) for path, reason in row.skipped),
                row.level,
            )
            for row in rows
        )
