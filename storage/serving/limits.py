"""What buckets of questions hold, in one place for all that ask the database."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, select

from core.ports.conversations import Bucket
from storage.database.database import Database, Store
from storage.tables import BucketRow

KEPT_SECONDS = 2 * 86400.0
"""Time after which a bucket that nobody used is dropped: by then each is full, or its day is over."""
SWEEP_SECONDS = 3600.0


class SqlBuckets(Store):
    """The `BucketStore` port on SQL."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._swept = 0.0

    async def take(self, wanted: Sequence[Bucket], now: float) -> tuple[float, ...]:
        """Take a question from each bucket, or from none, in one transaction."""
        names = sorted(bucket.name for bucket in wanted)  # in one order: no deadlocks
        full = {bucket.name: bucket.size for bucket in wanted}
        new = self._database.insert(BucketRow).values(
            [{"name": name, "held": full[name], "at": now} for name in names]
        )
        held = select(BucketRow.__table__).where(BucketRow.name.in_(names)).order_by(BucketRow.name)
        async with self._database.write() as connection:
            await connection.execute(new.on_conflict_do_nothing())
            rows = {row.name: row for row in await connection.execute(held.with_for_update())}
            levels = [bucket.level(rows[bucket.name].held, rows[bucket.name].at, now) for bucket in wanted]
            waits = tuple(bucket.missing(level) for bucket, level in zip(wanted, levels, strict=True))
            row, taken = self._database.insert(BucketRow), 0.0 if any(waits) else 1.0
            left = [
                {"name": bucket.name, "held": level - taken, "at": now}
                for bucket, level in zip(wanted, levels, strict=True)
            ]
            changed = {"held": row.excluded.held, "at": row.excluded.at}
            await connection.execute(
                row.values(left).on_conflict_do_update(index_elements=["name"], set_=changed)
            )
            if now - self._swept > SWEEP_SECONDS:
                self._swept = now
                await connection.execute(delete(BucketRow).where(BucketRow.at < now - KEPT_SECONDS))
        return waits
