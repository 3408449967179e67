"""A process is killed in mid-write: what it had acknowledged is there."""

from __future__ import annotations

import asyncio
import random
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

from storage.database.database import Database
from storage.memory.memories import SqlMemories
from tests.contracts.samples import keep, pair

ROUNDS = 5
WRITER = """
import asyncio, sys
from pathlib import Path
from core.domain import Vote
from storage.database.database import Database
from storage.memory.memories import SqlMemories

async def main():
    store = SqlMemories(await Database.open(Path(sys.argv[1])))
    number = 0
    while True:
        voter = f"round {sys.argv[2]} voter {number}"
        await store.vote(Vote("a1", voter, number % 2), 1.0)
        print(voter, flush=True)
        number += 1

asyncio.run(main())
"""


def acknowledged_until_killed(home: Path, turn: int, lines: int, delay_s: float) -> list[str]:
    """Let a child write votes; kill it some time after so many; return what it said it had kept."""
    child = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(home), str(turn)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parent.parent.parent,
    )
    assert child.stdout is not None
    said = [child.stdout.readline() for _ in range(lines)]
    try:
        child.wait(delay_s)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGKILL)
    said += child.stdout.readlines()
    assert child.wait() == -signal.SIGKILL
    child.stdout.close()
    return [line.decode().strip() for line in said if line.endswith(b"\n")]


async def test_every_acknowledged_vote_outlives_a_killed_process(tmp_path: Path) -> None:
    database = await Database.open(tmp_path)
    await keep(SqlMemories(database), pair(), "a1")
    await database.close()
    chance = random.Random()
    acknowledged: list[str] = []
    for turn in range(ROUNDS):
        acknowledged += await asyncio.to_thread(
            acknowledged_until_killed, tmp_path, turn, chance.randint(1, 60), chance.uniform(0, 0.03)
        )
    with sqlite3.connect(tmp_path / "threadlore.sqlite3") as plain:
        assert plain.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        kept = [voter for (voter,) in plain.execute("SELECT voter FROM votes ORDER BY number")]
    assert len(acknowledged) >= ROUNDS
    assert set(acknowledged) <= set(kept)
    assert len(kept) - len(acknowledged) <= ROUNDS, "at most one more a round, written but not yet said"
    database = await Database.open(tmp_path)
    found = await SqlMemories(database).pair("p1")
    assert found is not None
    assert len(found.opinions) == len(kept)
    await database.close()
