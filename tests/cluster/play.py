"""People ask and vote while processes of a cluster are killed, stopped and upgraded."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bot.app.bootstrap import build
from tests.cluster.world import KEY, Node, World

FROZEN_SECONDS = 20.0
LEADER = (
    "SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid WHERE l.granted "
    "AND l.locktype = 'advisory' AND l.classid::bigint = 1414024261 AND l.objid::bigint = "
    "hashtext(current_schema())::bigint & 4294967295"
)
PLACED = "SELECT pair_id, store, shadowed_by, round(score::numeric, 6) FROM placements ORDER BY pair_id"


@dataclass
class Figures:
    """What was done, and what came of it."""

    questions: int = 0
    votes: int = 0
    seconds: float = 0.0
    lost: list[str] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    votes_lost: list[Any] = field(default_factory=list)
    traced: list[str] = field(default_factory=list)
    """What the database and Slack have of the messages whose votes went wrong."""
    misplaced: list[Any] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    led_after: float = 0.0
    """Seconds from the kill of who led until another one did."""
    taken_over_after: list[float] = field(default_factory=list)
    """The longest time from a kill or a stop until everything was answered that the process had open."""
    waits: list[float] = field(default_factory=list)
    """From each question to its answer."""
    signs: list[float] = field(default_factory=list)
    """From each question to the first thing that the bot said."""
    told: list[str] = field(default_factory=list)
    """Questions whose askers were told to ask again."""

    @property
    def wrong(self) -> bool:
        """Return True where anything is."""
        return any((self.lost, self.twice, self.votes_lost, self.misplaced, self.broken))


class Play:
    """What people do, and what is done to the processes meanwhile."""

    def __init__(self, world: World, questions: int, votes: int, rate: float, seed: int) -> None:
        self.world = world
        self._wanted = questions, votes
        self._rate = rate
        self._chance = random.Random(seed)
        self.done = Figures()
        self._watching: list[asyncio.Task[None]] = []

    async def run(self, *faults: Callable[[Play], Any]) -> Figures:
        """Ask and vote; each of the faults comes at its part of the time."""
        began = time.monotonic()
        asking, voting = asyncio.create_task(self._ask()), asyncio.create_task(self._vote())
        for number, fault in enumerate(faults, 1):
            part = number / (len(faults) + 1)
            await self.world.until(lambda part=part: self._asked() >= part, "so much is asked", 600)
            await fault(self)
        await asking
        await self.world.until(lambda: not self.world.lost(), "everything is answered", 300)
        await voting
        await asyncio.gather(*self._watching)
        self.done.seconds = time.monotonic() - began
        await self.world.until(lambda: not self.world.slack._waiting, "Slack got every acknowledgement", 900)
        with contextlib.suppress(AssertionError):  # a sign of work beside an answer goes a moment later
            await self.world.until(lambda: not self.world.twice(), "one message stands under each", 60)
        await self._judge()
        return self.done

    def _asked(self) -> float:
        return len(self.world.asked) / self._wanted[0]

    async def _ask(self) -> None:
        for _ in range(self._wanted[0]):
            self.world.ask(self._chance, 40)
            await asyncio.sleep(1 / self._rate)

    async def _vote(self) -> None:
        for _ in range(self._wanted[1]):
            self.world.look()
            while not self.world.answered:
                await asyncio.sleep(0.1)
                self.world.look()
            places = list(self.world.answered)
            while not self.world.vote(self._chance, self._chance.choice(places[-30:])):
                await asyncio.sleep(0.02)
                self.world.look()
                places = list(self.world.answered)
            self.done.votes += 1
            await asyncio.sleep(self._wanted[0] / self._rate / self._wanted[1])

    # --- faults -----------------------------------------------------------------------------------

    async def kill_who_leads(self) -> None:
        """Kill the process that leads."""
        [(leader,)] = self.world.rows(LEADER)
        node = next(node for node in self.world.nodes if node.is_in(leader))
        left, at = self._open(node), time.monotonic()
        await node.kill()
        await self.world.until(
            lambda: self.world.rows(LEADER) not in ([], [(leader,)]), "another one leads", 60
        )
        self.done.led_after = time.monotonic() - at
        self._watch(left, at)

    async def freeze(self) -> None:
        """Stop a process for a while that does not lead, once all are there."""
        await self.world.connected()
        [(leader,)] = self.world.rows(LEADER)
        node = next(node for node in self.world.nodes if not node.is_in(leader))
        node.send(signal.SIGSTOP)
        self._watch(self._open(node), time.monotonic())
        await asyncio.sleep(FROZEN_SECONDS)
        node.send(signal.SIGCONT)

    async def upgrade(self) -> None:
        """Ask one process after the other to end, wait until another one stands in its place."""
        for node in self.world.nodes:
            starts = node.starts
            node.send(signal.SIGTERM)
            await self.world.until(
                lambda node=node, starts=starts: node.starts > starts, "it is upgraded", 60
            )
            before = self.world.slack.connections
            await self.world.until(
                lambda before=before: self.world.slack.connections > before, "it is connected", 120
            )

    def _open(self, node: Node) -> list[str]:
        assert node.process is not None
        found = self.world.rows(
            "SELECT c.message FROM claims c JOIN members m ON m.id = c.holder "
            f"WHERE c.answer_id IS NULL AND m.name LIKE '% {node.process.pid}@%'"
        )
        return [message for (message,) in found]

    def _watch(self, messages: list[str], since: float) -> None:
        """Note how long it takes until all of these are answered."""
        places = [tuple(message.split(":")[1:3]) for message in messages]

        async def watch() -> None:
            def done() -> bool:
                self.world.look()
                return all(place in self.world.answered for place in places if place in self.world.asked)

            await self.world.until(done, "what it had open is answered", 900)
            if places:
                self.done.taken_over_after.append(time.monotonic() - since)

        self._watching.append(asyncio.create_task(watch()))

    # --- in the end -------------------------------------------------------------------------------

    async def _judge(self) -> None:
        world, done = self.world, self.done
        done.questions, done.twice = len(world.asked), world.twice()
        done.lost, done.given_up = [*world.lost(), *world.unsettled()], world.given_up()
        done.told = world.told()
        done.signs = sorted(at - world.asked[place] for place, at in world.signed.items())
        done.waits = sorted(at - world.asked[place] for place, at in world.answered.items())
        wanted, standing = world.wanted(), world.standing()
        done.votes_lost = sorted([*(wanted - standing), *(standing - wanted)])
        wrong = {part for part, _voter, _value in done.votes_lost}
        doubled = ((place, world.slack.said(*place.split(":"))[-1]["ts"]) for place in done.twice)
        done.traced = world.traces(wrong | {f"slack:{place.split(':')[0]}:{ts}" for place, ts in doubled})
        placed = world.rows(PLACED)
        given = world.nodes[0].kettle.settings(
            home=world.nodes[0].kettle.folder / "judge", cluster=True, database_url=world.url, privacy_key=KEY
        )
        (given.home / "models").parent.mkdir(exist_ok=True)
        (given.home / "models").symlink_to(world.nodes[0].kettle.encoder_cache)
        async with build(given, "memory verify") as app:
            done.broken = await app.memory.verify()
            await app.memory.rebuild()
        rebuilt = world.rows(PLACED)
        done.misplaced = sorted(map(str, {*placed} ^ {*rebuilt}))
