"""How long retention takes on a large home, and how long others wait for the database meanwhile.

python -m tests.bench.retention [answers]
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from sqlalchemy import text

from core.ports import Claim
from core.privacy.names import Names
from core.privacy.retention import DAY_SECONDS, Policy, Retention
from storage.database.database import Database
from storage.people.retention import SqlRetention
from storage.serving.about import SqlAudit
from storage.serving.conversations import SqlConversations

ANSWERS = 20_000
AT_ONCE = 5_000
WORDS = "words " * 120
_ROWS = {
    "INSERT INTO pairs (id, question, topic, answer, citations, release, scope, origin, label, asker, prior,"
    " created_at, stale) VALUES (:p, :q, :q, :w, '[]', '1.0', 'public', 'answer', '', 'slack:U1', 0.5, :at,"
    " 0)": 1,
    "INSERT INTO answers (id, at, question, asker, channel, scope, release, route, text, citations,"
    " confidence, similarity, pair_id, trace) VALUES (:a, :at, :q, 'slack:U1', 'slack:C1', 'public', '1.0',"
    " 'documents', :w, '[]', 1, 1, :p, :t)": 1,
    "INSERT INTO claims (message, conversation, asker, at, payload, parts, answer_id) VALUES (:m, :m,"
    " 'slack:U1', :at, :t, '[]', :a)": 1,
    "INSERT INTO votes (answer_id, pair_id, voter, value, weight, at) VALUES (:a, :p, :v, 1, 1, :at)": 2,
    "INSERT INTO placements (pair_id, store, score, shadowed_by) VALUES (:p, 'high', 0.8, '')": 2,
}
"""Statements, and of how many answers one gets such a row."""


def _row(number: int, old: float) -> dict[str, Any]:
    trace = {"queries": {"topic": f"question {number}", "base": "q"}, "evidence": "e" * 1500}
    return {
        "p": f"p{number}",
        "a": f"a{number}",
        "m": f"slack:C1:{number}",
        "v": f"slack:U{number % 500}",
        "q": f"question {number} " * 8,
        "w": WORDS,
        "t": json.dumps(trace),
        "at": old + number / 1000,
    }


async def _fill(database: Database, answers: int) -> None:
    old = time.time() - 400 * DAY_SECONDS
    async with database.write() as connection:
        for start in range(0, answers, AT_ONCE):
            rows = [_row(number, old) for number in range(start, min(answers, start + AT_ONCE))]
            for statement, every in _ROWS.items():
                await connection.execute(text(statement), rows[::every])


async def measure(answers: int) -> None:
    """Fill a home with old answers, half of them voted good, remove what is old, and print the times."""
    with tempfile.TemporaryDirectory() as folder:
        database = await Database.open(Path(folder))
        await _fill(database, answers)
        size = (Path(folder) / "threadlore.sqlite3").stat().st_size

        async def nothing(before: float, dry_run: bool) -> dict[str, int]:
            return {}

        store, audit = SqlRetention(database, Names(b"k" * 32, {})), SqlAudit(database)
        retention = Retention(store, Policy(365, 365, 0), audit, Path(folder) / "logs", nothing)
        conversations = SqlConversations(database)
        began = time.perf_counter()
        work = asyncio.create_task(retention.run())
        waits: list[float] = []
        lags: list[float] = []
        while not work.done():
            at = time.perf_counter()
            await conversations.claim(Claim("", "", "", 0.0), f"event {len(waits)}")
            waits.append(time.perf_counter() - at)
            at = time.perf_counter()
            await asyncio.sleep(0.01)
            lags.append(time.perf_counter() - at - 0.01)
        seconds = time.perf_counter() - began
        began = time.perf_counter()
        assert await work and not await retention.run()
        print(f"{answers:,} old answers, {size / 1e6:.0f} MB: {seconds:.1f} s")
        print(f"a write beside it waits {_told(waits)}; the event loop is late by {_told(lags)}")
        print(f"the next run, with nothing to do: {time.perf_counter() - began:.2f} s")
        await database.close()


def _told(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    p50, p95 = (ordered[int(share * (len(ordered) - 1))] * 1000 for share in (0.5, 0.95))
    return f"{p50:.0f} ms (p50), {p95:.0f} ms (p95), {ordered[-1] * 1000:.0f} ms at most"


if __name__ == "__main__":
    asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else ANSWERS))
