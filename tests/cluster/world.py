"""A cluster of real processes on one PostgreSQL, at the loopback Slack, and what people do there."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from bot.conversation.answering import RESTARTING
from bot.conversation.desk import LATER, WAIT
from bot.conversation.resumption import TOO_LATE, TOO_OFTEN
from bot.rendering.answers import is_sign_of_work
from tests import forked
from tests.journeys.child import on_slack
from tests.journeys.house import Kettle, new_folder
from tests.platforms.slack_server import SlackServer

KEY = "5e" * 32
QUESTIONS = (
    "Which port does the dashboard listen on",
    "How do I run a job every night",
    "How do I install Kettle",
    "Where are the logs of Kettle",
)
EMOJI = ("+1", "-1")
AGAIN = "Please ask again in"
PATIENCE = 180.0


@dataclass
class Node:
    """One process, and its home."""

    kettle: Kettle
    variables: dict[str, str]
    process: forked.Forked | None = None
    starts: int = 0

    def start(self) -> None:
        """Start it."""
        self.starts += 1
        with (self.kettle.folder / "serve.log").open("ab") as log, open(os.devnull, "rb") as nothing:
            files = (nothing.fileno(), log.fileno(), log.fileno())
            given = self.kettle.variables(**self.variables)
            self.process = forked.fork(["serve"], given, self.kettle.folder, files)

    def send(self, number: int) -> None:
        """Send it a signal."""
        assert self.process is not None
        self.process.send_signal(number)

    async def kill(self) -> None:
        """End it as a power cut does."""
        if self.process is not None and self.process.returncode is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            await self.process.wait()

    def is_in(self, name: str) -> bool:
        """Return True if this is the process that a connection to the database is called after."""
        return self.process is not None and f" {self.process.pid}@" in name

    @property
    def log(self) -> str:
        """Return what it wrote."""
        return (self.kettle.folder / "serve.log").read_text("utf-8", "replace")


@dataclass
class World:
    """The processes, the database, Slack, and what was asked and voted."""

    slack: SlackServer
    url: str
    nodes: list[Node]
    asked: dict[tuple[str, str], float] = field(default_factory=dict)
    """When each question was asked, by its channel and ts."""
    signed: dict[tuple[str, str], float] = field(default_factory=dict)
    """When the bot first said anything to it, if only that it works on it."""
    answered: dict[tuple[str, str], float] = field(default_factory=dict)
    hands: dict[tuple[str, str, str], int] = field(default_factory=dict)
    """Which vote each person has last put on a message, by channel, ts and person."""
    numbers: int = 0
    keeping: asyncio.Task[None] | None = None

    # --- processes --------------------------------------------------------------------------------

    async def until(self, condition: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
        """Wait until something holds; raises AssertionError with the ends of all logs."""
        end = time.monotonic() + seconds
        while not (found := condition()):
            logs = "\n\n".join(node.log[-1500:] for node in self.nodes) if time.monotonic() > end else ""
            assert time.monotonic() < end, f"{what}: not within {seconds:g} s\n{logs}"
            await asyncio.sleep(0.05)
        return found

    async def start(self) -> None:
        """Start all, and wait until each is connected."""
        for node in self.nodes:
            node.start()
        await self.connected()

    async def indexed(self) -> None:
        """Wait until every process has loaded every corpus."""
        await self.until(lambda: self.rows("SELECT count(*) FROM corpora") == [(3,)], "all is indexed")
        await asyncio.sleep(2.0)

    async def connected(self, processes: int = 0) -> None:
        """Wait until so many processes are connected."""
        wanted = processes or len(self.nodes)
        await self.until(lambda: len(self.slack._sockets) >= wanted, f"{wanted} processes are connected")

    def keep(self) -> None:
        """Start again whatever ends from now on."""

        async def watch() -> None:
            while True:
                for node in self.nodes:
                    if node.process is not None and node.process.returncode is not None:
                        node.start()
                await asyncio.sleep(0.1)

        self.keeping = asyncio.create_task(watch())

    def rows(self, statement: str) -> list[Any]:
        """Read the database."""
        with psycopg.connect(self.url, autocommit=True) as server:
            return list(server.execute(statement).fetchall())  # type: ignore[arg-type]

    # --- people -----------------------------------------------------------------------------------

    def ask(self, chance: random.Random, channels: int) -> tuple[str, str]:
        """Ask something new in one of so many channels."""
        self.numbers += 1
        channel = f"C{100 + self.numbers % channels}"
        text = f"<@{self.slack.bot_user}> {chance.choice(QUESTIONS)} (case {self.numbers})?"
        ts = self.slack.say(f"U{100 + self.numbers % 40}", channel, text)
        self.asked[channel, ts] = time.monotonic()
        return channel, ts

    def replies(self, channel: str, ts: str) -> list[dict[str, Any]]:
        """Return the finished replies to a question."""
        said = self.slack.said(channel, ts)
        return [message for message in said if not is_sign_of_work(message.get("text", ""))]

    def look(self) -> None:
        """Note which questions are answered by now, and which were noticed."""
        for place in [place for place in self.asked if place not in self.answered]:
            if place not in self.signed and self.slack.said(*place):
                self.signed[place] = time.monotonic()
            if any(self.is_done(message) for message in self.replies(*place)):
                self.answered[place] = time.monotonic()

    def is_done(self, message: dict[str, Any]) -> bool:
        """Return True for an answer, or a word that there is none; False for what is said until then."""
        return message.get("text", "") not in (RESTARTING, WAIT)

    def is_word(self, message: dict[str, Any]) -> bool:
        """Return True for a word that there is no answer, on which nobody can vote."""
        return message.get("text", "") in (TOO_OFTEN, TOO_LATE, LATER) or AGAIN in message.get("text", "")

    def told(self) -> list[str]:
        """Return the questions whose askers were told to ask again, as more is asked than can be answered."""
        said = {f"{c}:{ts}": self.replies(c, ts) for c, ts in self.answered}
        return [place for place, some in said.items() if any(AGAIN in m.get("text", "") for m in some)]

    def vote(self, chance: random.Random, place: tuple[str, str]) -> bool:
        """Have somebody vote on the answer to a question, or vote otherwise than before; False for none."""
        message = self.replies(*place)[-1]
        if self.is_word(message) or not self.is_done(message):
            return False
        user, channel, ts = f"U{100 + chance.randrange(40)}", place[0], str(message["ts"])
        before = self.hands.get((channel, ts, user))
        value = chance.randrange(2) if before is None else 1 - before
        if before is not None:
            self.slack.unreact(user, channel, ts, EMOJI[1 - before])
        done = self.slack.react(user, channel, ts, EMOJI[1 - value])
        self.hands[channel, ts, user] = value
        return done

    # --- what came of it --------------------------------------------------------------------------

    def lost(self) -> list[str]:
        """Return the questions that have no answer."""
        self.look()
        return [f"{channel}:{ts}" for channel, ts in self.asked if (channel, ts) not in self.answered]

    def given_up(self) -> list[str]:
        """Return the questions whose askers were told that they are given up: two processes ended at them."""
        rows = self.rows("SELECT message FROM claims WHERE kind = 'message' AND answer_id = ''")
        return [message for (message,) in rows]

    def unsettled(self) -> list[str]:
        """Return the questions that are open in the database."""
        rows = self.rows("SELECT message FROM claims WHERE answer_id IS NULL")
        return [message for (message,) in rows]

    def twice(self) -> list[str]:
        """Return the questions that have more than one reply."""
        return [f"{channel}:{ts}" for channel, ts in self.asked if len(self.slack.said(channel, ts)) > 1]

    def standing(self) -> Counter[tuple[str, str, int]]:
        """Return each person's vote on each message in the database: the last that was not taken back."""
        rows = self.rows(
            "SELECT p.part, v.voter, v.value, v.withdraws FROM votes v "
            "JOIN claims c ON c.answer_id = v.answer_id "
            "JOIN posts p ON p.message = c.message ORDER BY v.number"
        )
        hands: dict[tuple[str, str], list[int]] = {}
        for part, voter, value, withdraws in rows:
            up = hands.setdefault((part, voter), [])
            up[:] = [hand for hand in up if hand != (withdraws if value is None else value)]
            up += [] if value is None else [value]
        return Counter((part, voter, up[-1]) for (part, voter), up in hands.items() if up)

    def traces(self, parts: Collection[str]) -> list[str]:
        """Return what the database and Slack have of messages whose votes went wrong, a line each."""
        told = []
        for part in sorted(parts):
            _platform, channel, ts = part.split(":")
            posts = self.rows(f"SELECT message FROM posts WHERE part = '{part}'")
            holds = (at for c, at in self.asked if c == channel and self._has(c, at, ts))
            thread = next(holds, "")
            claims = self.rows(
                "SELECT kind, answer_id, tries, holder, parts, before FROM claims "
                f"WHERE message = 'slack:{channel}:{thread}'"
            )
            others = self.rows(f"SELECT part FROM posts WHERE message = 'slack:{channel}:{thread}'")
            told.append(f"{part}: posts {posts}; thread {thread}; claims {claims}; its posts {others}")
            told += [f"  {m['ts']}: {m.get('text', '')[:70]!r}" for m in self.slack.said(channel, thread)]
        return told

    def _has(self, channel: str, thread: str, ts: str) -> bool:
        return any(str(message["ts"]) == ts for message in self.slack.said(channel, thread))

    def wanted(self) -> Counter[tuple[str, str, int]]:
        """Return what each person's vote is as Slack shows it."""
        return Counter((f"slack:{c}:{ts}", f"slack:{u}", value) for (c, ts, u), value in self.hands.items())


@asynccontextmanager
async def world(folder: Path, encoder_cache: Path, url: str, size: int = 3) -> AsyncIterator[World]:
    """Make homes for so many processes; nothing is started yet."""
    async with AsyncExitStack() as opened:
        slack = await opened.enter_async_context(SlackServer())
        slack.spread = True
        slack.retry_seconds = (0.0, 10.0, 30.0)
        slack.limits.enforced = False  # 50 changed messages a minute, whatever the number of processes
        for number in range(100, 160):
            slack.add_user(f"U{number}")
        everybody = [f"U{number}" for number in range(100, 160)]
        for number in range(100, 140):
            slack.add_channel(f"C{number}", "channel", *everybody, slack.bot_user)
        variables = {
            **on_slack(slack),
            "CLUSTER": "true",
            "DATABASE_URL": url,
            "PRIVACY_KEY": KEY,
            "MEMORY_NEWCOMER_DAYS": "0",
            "MEMORY_VOTES_PER_HOUR": "100000",
            "SLACK_STREAMING": "false",
        }
        nodes = [Node(new_folder(folder / f"node{n}", encoder_cache), variables) for n in range(size)]
        made = World(slack, url, nodes)
        try:
            yield made
        finally:
            if made.keeping is not None:
                made.keeping.cancel()
            for node in nodes:
                await node.kill()
