"""What people and admins do, one after the other by each of several clients."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter, defaultdict
from typing import Any

from tests.endurance.ledger import VALUES, Ledger
from tests.endurance.process import Killed, Process, Refused, Reply
from tests.endurance.world import Shelf
from tests.journeys.kettle import RELEASES

PEOPLE = 60
RECENT = 40
"""Answers that most votes go to."""
WEIGHTS = {
    "ask": 42,
    "vote": 46,
    "import": 4,
    "retire": 3,
    "export": 1,
    "verify": 1,
    "forget": 1,
    "index": 2,
}
HEAVY = ("import", "retire", "forget", "index")


class Operations:
    """Chooses operations at random, carries them out, and tells the ledger what was acknowledged."""

    def __init__(self, process: Process, ledger: Ledger, shelf: Shelf, chance: random.Random) -> None:
        self.started = 0
        self.forgetting = ""
        """Who is being forgotten; still set after a kill in the middle of it."""
        self.heavy = ""
        self.refused: list[str] = []
        """Commands that failed although nobody killed the process."""
        self._process = process
        self._ledger = ledger
        self._shelf = shelf
        self._chance = chance
        self._begun: Counter[str] = Counter()
        self._acknowledged: Counter[str] = Counter()
        self._ms: dict[str, list[float]] = defaultdict(list)
        self._imports = 0
        self._running = 0
        self._alone = asyncio.Condition()
        self._wants_alone = False
        self._indexing = asyncio.Lock()

    async def client(self, number: int, clients: int, until: int, kill: str, heavy: asyncio.Event) -> None:
        """Do operations until so many were begun in all, or the process is killed.

        Each client votes for its own people only, so that the order of a person's votes is known.
        """
        while not self._process.killed and (self.started < until or (kill == "heavy" and not heavy.is_set())):
            self.started += 1
            name = self._choose(kill == "heavy" and self.started >= until)
            self._begun[name] += 1
            if name in HEAVY and kill == "heavy" and not heavy.is_set():
                self.heavy = name
                heavy.set()
            try:
                reply = await self._carry_out(name, number, clients)
            except Killed:
                return
            except Refused as refused:
                self.refused.append(str(refused))
                reply = None
            if reply is not None:
                self._acknowledged[name] += 1
                self._ms[name].append(reply.ms)

    async def after_restart(self) -> None:
        """End what a kill left half done: an admin gives the command again."""
        if self.forgetting:
            await self._forget(self.forgetting)

    def table(self) -> str:
        """Return a line for each kind of operation."""
        lines = [
            f"{'operation':<10} {'begun':>6} {'acknowledged':>13} {'p50 ms':>8} {'p95 ms':>8} {'max ms':>8}"
        ]
        for name in WEIGHTS:
            ms = sorted(self._ms[name]) or [0.0]
            lines.append(
                f"{name:<10} {self._begun[name]:6} {self._acknowledged[name]:13} {ms[len(ms) // 2]:8.1f} "
                f"{ms[int(0.95 * (len(ms) - 1))]:8.1f} {ms[-1]:8.1f}"
            )
        total = f"{self._begun.total():6} {self._acknowledged.total():13}"
        return "\n".join([*lines, f"{'all':<10} {total}"])

    def _choose(self, heavy: bool) -> str:
        if heavy:
            return self._chance.choice(HEAVY)
        return self._chance.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]

    async def _carry_out(self, name: str, number: int, clients: int) -> Reply | None:
        """Do one operation; None where there is nothing yet to do it on."""
        if name == "forget":
            return await self._in_solitude(f"cli:u{self._chance.randrange(PEOPLE)}")
        async with self._alone:
            await self._alone.wait_for(lambda: not self._wants_alone)
            self._running += 1
        try:
            match name:
                case "ask":
                    return await self._ask(self._person(number, clients))
                case "vote":
                    return await self._vote(self._person(number, clients))
                case "import":
                    return await self._import()
                case "retire":
                    return await self._retire()
                case "index":
                    return await self._index()
                case action:
                    return await self._process.ask(command="memory", action=action)
        finally:
            async with self._alone:
                self._running -= 1
                self._alone.notify_all()

    async def _in_solitude(self, person: str) -> Reply | None:
        """Forget a person while nothing else is under way, so that what goes with them is known."""
        async with self._alone:
            await self._alone.wait_for(lambda: not self._wants_alone)
            self._wants_alone = True
            try:
                await self._alone.wait_for(lambda: not self._running)
                return None if self._process.killed else await self._forget(person)
            finally:
                self._wants_alone = False
                self._alone.notify_all()

    def _person(self, number: int, clients: int) -> str:
        return f"cli:u{number + clients * self._chance.randrange(PEOPLE // clients)}"

    async def _ask(self, person: str) -> Reply:
        text, release = self._shelf.question(self._chance)
        try:
            reply = await self._process.ask(
                command="ask", question=text, release=release, user=person, json=True
            )
        except Killed:
            self._ledger.unsure_asked += 1
            raise
        told: dict[str, Any] = json.loads(reply.lines[0])
        self._ledger.answered(person, told["answer_id"], told["route"], told["pair_id"])
        return reply

    async def _vote(self, person: str) -> Reply | None:
        answers = self._ledger.votable()
        if not answers:
            return None
        answer_id = self._chance.choice(answers[-RECENT:] if self._chance.random() < 0.7 else answers)
        vote = self._chance.choices(list(VALUES), [50, 30, 20])[0]
        try:
            reply = await self._process.ask(command="vote", answer_id=answer_id, vote=vote, user=person)
        except Killed:
            self._ledger.maybe_voted(answer_id, person, vote)
            raise
        self._ledger.voted(answer_id, person, vote)
        return reply

    async def _import(self) -> Reply:
        rows = []
        for _ in range(self._chance.randint(1, 5)):
            text, release = self._shelf.question(self._chance)
            self._imports += 1
            rows.append(
                {
                    "id": f"import-{self._imports}",
                    "question": text,
                    "answer": f"See page {self._imports}.",
                    "release": release,
                }
            )
        labels = {str(row["id"]) for row in rows}
        self._ledger.unsure_imported |= labels
        reply = await self._process.ask(
            command="memory", action="import", text="\n".join(map(json.dumps, rows)), name="pairs.jsonl"
        )
        self._ledger.imported |= labels
        self._ledger.unsure_imported -= labels
        return reply

    async def _retire(self) -> Reply | None:
        names = [pair for pair in dict.fromkeys(self._ledger.pair.values()) if pair] + sorted(
            self._ledger.imported
        )
        if not names:
            return None
        name = self._chance.choice(names)
        reply = await self._process.ask(command="memory", action="retire", id=name)
        self._ledger.retired.add(name)
        return reply

    async def _forget(self, person: str) -> Reply:
        self.forgetting = person
        reply = await self._process.ask(command="forget", user=person)
        self._ledger.forgot(person)
        self.forgetting = ""
        return reply

    async def _index(self) -> Reply:
        """Change a folder and have it read anew; the corpus must then be the folder."""
        async with self._indexing:
            if self._process.killed:
                raise Killed
            release = self._chance.choice(RELEASES)
            self._shelf.change(release, self._chance)
            reply = await self._process.ask(command="index", release=release)
            status = json.loads((await self._process.ask(command="status", json=True)).lines[0])
            entry = next(e for e in status["releases"] if e["name"] == release)
            if entry["documents"] != self._shelf.pages(release):
                raise Refused(
                    f"{release} has {entry['documents']} documents, the folder {self._shelf.pages(release)}"
                )
            return reply
