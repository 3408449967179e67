"""What must hold after each start: asked of the process, and read from its files beside it."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections import defaultdict

from core.ports import Corpus
from tests.endurance.ledger import Ledger
from tests.endurance.process import Process, Refused
from tests.journeys.house import Kettle, opened

Found = dict[str, list[str]]
SHOWN = 3
"""Examples shown of each check that failed."""


class Checks:
    """How often each check passed and failed, with examples."""

    def __init__(self) -> None:
        self._passed: dict[str, int] = defaultdict(int)
        self._wrong: dict[str, list[str]] = defaultdict(list)
        self._failed: dict[str, int] = defaultdict(int)

    @property
    def passed(self) -> int:
        return sum(self._passed.values())

    @property
    def failed(self) -> int:
        return sum(self._failed.values())

    def add(self, when: str, found: Found) -> None:
        """Count checks; one that found something wrong failed."""
        for name, wrong in found.items():
            if not wrong:
                self._passed[name] += 1
                continue
            self._failed[name] += 1
            self._wrong[name] += [f"{when}: {sentence}" for sentence in wrong[:SHOWN]]
            print(f"FAILED {name}, {when}: {len(wrong)} things, such as {wrong[0]}", flush=True)

    def table(self) -> str:
        """Return a line a check, and examples of what was wrong."""
        lines = [f"{'passed':>6} {'failed':>6}  check"]
        for name in sorted(self._passed.keys() | self._failed.keys()):
            lines.append(f"{self._passed[name]:6} {self._failed[name]:6}  {name}")
            lines += [f"{'':15}{example}" for example in self._wrong[name][: 3 * SHOWN]]
        return "\n".join(lines)


async def check(process: Process, ledger: Ledger) -> Found:
    """Ask a process that has just started, or done all, and read its database."""
    found: Found = {"memory verify is clean": await _verified(process)}
    listed = await process.ask(command="memory", action="list", json=True)
    rows = [json.loads(line) for line in listed.lines]
    found |= await asyncio.to_thread(_database, process.kettle, ledger, rows)
    found["placements equal a rebuild from the votes"] = await _rebuilt(process)
    return found


async def _verified(process: Process) -> list[str]:
    try:
        await process.ask(command="memory", action="verify")
    except Refused as refused:
        return [str(refused)]
    return []


async def _rebuilt(process: Process) -> list[str]:
    before = await asyncio.to_thread(_placements, process.kettle)
    said = (await process.ask(command="memory", action="rebuild")).lines
    after = await asyncio.to_thread(_placements, process.kettle)
    wrong = [
        f"{key}: {before.get(key)}, rebuilt {after.get(key)}"
        for key in before.keys() | after.keys()
        if before.get(key) != after.get(key)
    ]
    return wrong + ([] if "with the same result" in said[-1] else said)


def _placements(kettle: Kettle) -> dict[str, tuple[str, float, str]]:
    """Return store, score and better pair of each placed pair; clusters depend on the order of events."""
    with open_database(kettle) as database:
        rows = database.execute("SELECT pair_id, store, score, shadowed_by FROM placements")
        return {row[0]: tuple(row[1:]) for row in rows}


def _database(kettle: Kettle, ledger: Ledger, listed: list[dict[str, object]]) -> Found:
    with open_database(kettle) as database:
        sound = [row[0] for row in database.execute("PRAGMA quick_check") if row[0] != "ok"]
        found = ledger.compare(database, listed)
        ledger.adopt(database)
    return {"the database is sound": sound} | found


def open_database(kettle: Kettle) -> sqlite3.Connection:
    """Open the database for reading beside the process that has it."""
    return sqlite3.connect(f"file:{kettle.home / 'threadlore.sqlite3'}?mode=ro", uri=True, timeout=30)


async def check_indexes(kettle: Kettle) -> Found:
    """Open the home once more, and compare both indexes with the live corpora."""
    async with opened(kettle, "check") as app:
        live = await app.corpora.live()
        wrong = [
            f"{corpus.release}: {name} holds {len(await index.ids(corpus.collection))} passages, "
            f"the live corpus {corpus.chunks}"
            for corpus in live.values()
            for name, index in (("the vector index", app.vectors), ("the word index", app.words))
            if await index.ids(corpus.collection) != await _wanted(app.corpora, corpus)
        ]
        verified = await app.memory.verify()
    return {"the indexes hold the live corpora": wrong, "memory verify is clean": verified}


async def _wanted(corpora: object, corpus: Corpus) -> set[str]:
    return {row.id for row in await corpora.rows(corpus.release)}  # type: ignore[attr-defined]
