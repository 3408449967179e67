"""What people do on Slack and on the playground, while the bot is killed again and again.

    python -m tests.endurance.acknowledged --kills 100 --rate 20 --seed 1

People ask, follow up, use commands, press buttons and react, so many times a second, on the loopback Slack
and on the playground of one `threadlore serve`. It is ended at random moments, by SIGKILL and SIGTERM in turn
and started again. In the end everything that was acknowledged must be answered, or given up with a word;
nothing is answered twice, and no sign of work stands any more.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import signal
import socket
import sqlite3
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from bot.conversation.answering import RESTARTING
from bot.interactions.handler import LOST
from bot.rendering.answers import is_sign_of_work
from tests.endurance.world import FEATURES, Shelf
from tests.journeys.child import Served, on_slack, serving
from tests.journeys.house import Kettle, new_folder, opened
from tests.platforms.slack_server import SlackServer

CHANNELS = [f"C{number}" for number in range(100, 130)]
PEOPLE = [f"U{number}" for number in range(100, 160)]
PLAYERS = ("ada", "ben", "noor", "hana", "chloe")
WEIGHTS = {
    "slack question": 26,
    "slack follow-up": 16,
    "slack vote": 8,
    "slack press": 8,
    "slack command": 5,
    "slack reaction": 8,
    "web question": 5,
    "web follow-up": 2,
    "web vote": 4,
    "web command": 2,
    "web reaction": 3,
}
LIFE_SECONDS = (0.2, 3.0)
"""Between a start and the next kill, once the process is connected."""
SETTLING_SECONDS = 900.0
"""Time that the last process has to answer everything."""


@dataclass
class Did:
    """Something that a person did; `key` is the claim's, the vote's or the response URL's."""

    kind: str
    key: str
    envelopes: set[str] = field(default_factory=set)
    acknowledged: bool = False
    conversation: str = ""
    voter: str = ""
    url: str = ""
    """The id of the response URL that came with it."""


class People:
    """Does things at random, and knows what was acknowledged."""

    def __init__(self, slack: SlackServer, page: Page, shelf: Shelf, chance: random.Random) -> None:
        self.slack, self.page, self._shelf, self._chance = slack, page, shelf, chance
        self.did: list[Did] = []
        self._numbers = itertools.count(1)
        self._voted: set[tuple[str, str]] = set()
        self._threads: list[tuple[str, str, str, Did]] = []

    async def act(self, kind: str) -> None:
        """Do one thing of a kind; nothing where there is nothing yet to do it to."""
        doing = getattr(self, kind.replace(" ", "_").replace("-", "_"))
        try:
            done = await doing()
        except (aiohttp.ClientError, TimeoutError, ConnectionError):
            return
        if done is not None:
            self.did.append(done)

    def _text(self) -> str:
        text, release = self._shelf.question(self._chance)
        return f"{text} (in {release}, case {next(self._numbers)})"

    def _emitted(self, since: int) -> set[str]:
        return {str(envelope["envelope_id"]) for envelope in self.slack.envelopes[since:]}

    # --- Slack --------------------------------------------------------------------------------

    async def slack_question(self) -> Did:
        user, channel, since = self._chance.choice(PEOPLE), self._chance.choice(CHANNELS), self._count()
        ts = self.slack.say(user, channel, f"<@{self.slack.bot_user}> {self._text()}")
        did = Did("slack question", f"slack:{channel}:{ts}", self._emitted(since), conversation=ts)
        self._threads.append((channel, ts, user, did))
        return did

    async def slack_follow_up(self) -> Did | None:
        asked = [thread for thread in self._threads[-40:] if self._is_acknowledged(thread[3])]
        if not asked:
            return None
        channel, ts, user, _ = self._chance.choice(asked[-8:])
        since = self._count()
        text = self._chance.choice(["and in 1.5?", "and in 1.0?", "what about 2.0?"])
        own = self.slack.say(user, channel, text, ts)
        return Did("slack follow-up", f"slack:{channel}:{own}", self._emitted(since), conversation=ts)

    async def slack_vote(self) -> Did | None:
        return self._press("slack vote", "up")

    async def slack_press(self) -> Did | None:
        return self._press("slack press", "why")

    def _press(self, kind: str, name: str) -> Did | None:
        found = self._answer()
        if found is None:
            return None
        message, answer_id = found
        user = self._chance.choice(PEOPLE)
        if name == "up" and not self._once(answer_id, f"slack:{user}"):
            return None
        since = self._count()
        self.slack.press(user, message, name)
        sent = self.slack.envelopes[-1]["payload"]
        url, told = str(sent["response_url"]).rpartition("/")[2], self._emitted(since)
        part, voter = self._part(message), f"slack:{user}"
        return Did(kind, answer_id if name == "up" else url, told, conversation=part, voter=voter, url=url)

    async def slack_reaction(self) -> Did | None:
        found = self._answer()
        if found is None:
            return None
        message, answer_id = found
        user = self._chance.choice(PEOPLE)
        if not self._once(answer_id, f"slack:{user}"):
            return None
        channel = next(c for c in CHANNELS if message["ts"] in self.slack.messages[c])
        since = self._count()
        self.slack.react(user, channel, message["ts"], "+1")
        part = self._part(message)
        return Did(
            "slack reaction", answer_id, self._emitted(since), conversation=part, voter=f"slack:{user}"
        )

    def _part(self, message: dict[str, Any]) -> str:
        channel = next(c for c in CHANNELS if message["ts"] in self.slack.messages[c])
        return f"slack:{channel}:{message['ts']}"

    async def slack_command(self) -> Did:
        since = self._count()
        key = self.slack.slash(
            self._chance.choice(PEOPLE), self._chance.choice(CHANNELS), "/ask", self._text()
        )
        return Did("slack command", key, self._emitted(since), url=key)

    def _answer(self) -> tuple[dict[str, Any], str] | None:
        """Return a message of the bot with buttons, and the id of its answer."""
        channel = self._chance.choice(CHANNELS)
        for message in self._chance.sample(said := self.slack.said(channel), len(said)):
            for block in message["blocks"]:
                for element in block.get("elements", ()):
                    if element.get("action_id") == "up":
                        return message, str(element["value"])
        return None

    def _once(self, answer_id: str, voter: str) -> bool:
        if (answer_id, voter) in self._voted:
            return False
        self._voted.add((answer_id, voter))
        return True

    def _count(self) -> int:
        return len(self.slack.envelopes)

    def _is_acknowledged(self, did: Did) -> bool:
        return did.acknowledged or bool(did.envelopes & set(self.slack.acknowledged[-4000:]))

    # --- the playground -----------------------------------------------------------------------

    async def web_question(self) -> Did | None:
        player = self._chance.choice(PLAYERS)
        told = await self.page.post("/api/messages", person=player, channel="help", text=self._text())
        if told is None:
            return None
        self.page.threads.append((str(told["id"]), player))
        return Did("web question", f"web:help:{told['id']}", acknowledged=True)

    async def web_follow_up(self) -> Did | None:
        if not self.page.threads:
            return None
        root, player = self._chance.choice(self.page.threads[-6:])
        told = await self.page.post(
            "/api/messages", person=player, channel="help", thread=root, text="and in 1.5?"
        )
        key = f"web:help:{told['id']}" if told else ""
        return Did("web follow-up", key, acknowledged=True, conversation=root) if told else None

    async def web_vote(self) -> Did | None:
        return await self._web_vote("web vote")

    async def web_reaction(self) -> Did | None:
        return await self._web_vote("web reaction")

    async def _web_vote(self, kind: str) -> Did | None:
        player = self._chance.choice(PLAYERS)
        answers = [m for m in await self.page.messages() if m["votable"] and m["answer"]]
        answers = [m for m in answers[-30:] if (m["answer"], f"web:{player}") not in self._voted]
        if not answers:
            return None
        message = self._chance.choice(answers)
        # whether or not it is acknowledged it may count, and a second one might take it back
        self._voted.add((message["answer"], f"web:{player}"))
        if kind == "web vote":
            body = {"name": "up", "value": message["answer"]}
            told = await self.page.post("/api/presses", person=player, message=message["id"], **body)
        else:
            told = await self.page.post(
                "/api/reactions", person=player, message=message["id"], emoji="👍", added=True
            )
        if told is None:
            return None
        part, voter = f"web:{message['channel']}:{message['id']}", f"web:{player}"
        return Did(kind, str(message["answer"]), acknowledged=True, conversation=part, voter=voter)

    async def web_command(self) -> Did | None:
        text = self._text()
        told = await self.page.post("/api/commands", person="noor", channel="general", text=f"/ask {text}")
        return Did("web command", text, acknowledged=True) if told else None

    def noted(self) -> None:
        """Take down what Slack's events say was acknowledged."""
        acknowledged = set(self.slack.acknowledged)
        for did in self.did:
            did.acknowledged = did.acknowledged or bool(did.envelopes & acknowledged)


class Page:
    """The playground's API; None for what was not acknowledged."""

    def __init__(self, session: aiohttp.ClientSession, port: int) -> None:
        self._session, self._url = session, f"http://127.0.0.1:{port}"
        self.threads: list[tuple[str, str]] = []
        self.alone: dict[str, str] = {}
        """What noor alone was told last, by the question."""
        self.said: dict[str, str] = {}
        """What the bot said to everybody, by the message: the playground keeps its last thousand."""
        self.given_up: defaultdict[str, set[str]] = defaultdict(set)
        """Ids of what told somebody to try again, by the person; it does not repeat what."""

    async def post(self, path: str, **body: Any) -> dict[str, Any] | None:
        async with self._session.post(self._url + path, json=body) as answer:
            return dict(await answer.json()) if answer.status < 300 else None

    async def messages(self, person: str = "noor") -> list[dict[str, Any]]:
        async with self._session.get(f"{self._url}/api/state?person={person}") as answer:
            return list((await answer.json())["messages"])

    async def look(self, person: str = "noor") -> None:
        """See what a person alone is told now; it is gone after the next restart."""
        try:
            for message in await self.messages(person):
                self._heard(message, person)
        except (aiohttp.ClientError, TimeoutError, ConnectionError):
            return

    async def watch(self, person: str) -> None:
        """Hear what a person alone is told from now on, over restarts."""
        url = f"{self._url}/api/events?person={person}"
        while True:
            try:
                async with self._session.get(url, timeout=FOR_EVER) as told:
                    await self.look(person)
                    async for line in told.content:
                        if line.startswith(b"data: {"):
                            self._heard(json.loads(line[6:]), person)
            except (aiohttp.ClientError, TimeoutError, ConnectionError):
                await asyncio.sleep(0.02)

    def _heard(self, message: dict[str, Any], person: str) -> None:
        if not (message.get("author") == "threadlore" and message["final"] and message["text"]):
            return
        if not message["only"]:
            self.said[message["id"]] = message["text"]
        elif message["text"] == LOST:
            self.given_up[person].add(message["id"])
        elif person == "noor":
            self.alone[message["command"].removeprefix("/ask ")] = message["text"]


class Run:
    """Lives and deaths of one home."""

    def __init__(self, kettle: Kettle, kills: int, rate: float, seed: int) -> None:
        self.kettle, self.kills, self.rate = kettle, kills, rate
        self.chance = random.Random(seed)
        self.ends: Counter[str] = Counter()
        self.found: dict[str, list[str]] = {}
        self.counts: Counter[str] = Counter()

    async def run(self, shelf: Shelf) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = int(free.getsockname()[1])
        async with SlackServer() as slack, aiohttp.ClientSession(timeout=TIMEOUT, headers=OPENS) as session:
            slack.limits.enforced = False  # twenty a second is more than Slack lets one app answer
            for person in PEOPLE:
                slack.add_user(person)
            for channel in CHANNELS:
                slack.add_channel(channel, "channel", *PEOPLE, slack.bot_user)
            people = People(slack, page := Page(session, port), shelf, self.chance)
            variables = {
                "THREADLORE_PLAYGROUND": "true",
                "THREADLORE_PORT": str(port),
                "PLAYGROUND_TOKEN": TOKEN,
            }
            variables |= on_slack(slack)
            for number in range(self.kills):
                async with serving(self.kettle, **variables) as child:
                    await self._live(people, child, ("SIGKILL", "SIGTERM")[number % 2])
                self._tell(number + 1, people)
            async with serving(self.kettle, **variables) as child:
                await self._settle(people, page, child)
                people.noted()
                self.found = Checks(people, slack, await page.messages(), page, self.kettle).all()
            self.counts = Counter(did.kind for did in people.did if did.acknowledged)

    async def _live(self, people: People, child: Served, end: str) -> None:
        """Let people act until the process is ended, some of it while it starts."""
        acting = asyncio.create_task(self._act(people))
        looking = [asyncio.create_task(people.page.watch(player)) for player in PLAYERS]
        began = time.monotonic()
        while not people.slack.connected and child.process.returncode is None:
            if time.monotonic() - began > 90:
                raise RuntimeError(f"the process does not connect:\n{child.log[-3000:]}")
            await asyncio.sleep(0.01)
        await asyncio.sleep(self.chance.uniform(*LIFE_SECONDS))
        if child.process.returncode is not None:
            raise RuntimeError(f"the process ended by itself:\n{child.log[-3000:]}")
        child.process.send_signal(getattr(signal, end))
        self.ends[end] += 1
        try:
            await asyncio.wait_for(child.process.wait(), END_SECONDS)
        except TimeoutError:
            raise RuntimeError(f"{end} did not end the process:\n{child.log[-6000:]}") from None
        for task in (acting, *looking):
            task.cancel()
        await asyncio.gather(acting, *looking, return_exceptions=True)
        people.noted()

    async def _act(self, people: People) -> None:
        kinds, weights = list(WEIGHTS), list(WEIGHTS.values())
        async with asyncio.TaskGroup() as group:
            while True:
                [kind] = self.chance.choices(kinds, weights)
                group.create_task(people.act(kind))
                await asyncio.sleep(self.chance.expovariate(self.rate))

    async def _settle(self, people: People, page: Page, child: Served) -> None:
        """Wait until nothing is open any more."""
        end = time.monotonic() + SETTLING_SECONDS
        quiet = 0
        while quiet < 10:
            assert time.monotonic() < end, f"not settled; the log ends\n{child.log[-2000:]}"
            waiting = rows(self.kettle, "SELECT message FROM claims WHERE answer_id IS NULL")
            ready = people.slack.connected and not people.slack._waiting and not waiting
            quiet = quiet + 1 if ready else 0
            for player in PLAYERS:
                await page.look(player)
            await asyncio.sleep(0.2)

    def _tell(self, number: int, people: People) -> None:
        done = sum(did.acknowledged for did in people.did)
        print(f"{time.strftime('%H:%M:%S')} kill {number} of {self.kills}, {done} acknowledged", flush=True)


TOKEN = "a-token-that-only-this-run-knows"
OPENS = {"Authorization": f"Bearer {TOKEN}"}
END_SECONDS = 60.0
"""For a process to end, which may be busy with what it was given last."""
TIMEOUT = aiohttp.ClientTimeout(total=20)
FOR_EVER = aiohttp.ClientTimeout(total=None)


def rows(kettle: Kettle, statement: str, *given: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(f"file:{kettle.home / 'threadlore.sqlite3'}?mode=ro", uri=True) as connection:
        return connection.execute(statement, given).fetchall()


class Checks:
    """Compares what was acknowledged with what people see."""

    def __init__(
        self, people: People, slack: SlackServer, posts: list[dict[str, Any]], page: Page, kettle: Kettle
    ) -> None:
        self._did = [did for did in people.did if did.acknowledged]
        self._slack, self._page, self._kettle = slack, page, kettle
        self._posts = {post["id"]: post for post in posts}
        self._claims = dict(rows(kettle, "SELECT message, answer_id FROM claims"))
        self._parts: defaultdict[str, list[str]] = defaultdict(list)
        self._replies = dict(rows(kettle, "SELECT part, message FROM posts"))
        for part, message in self._replies.items():
            self._parts[message].append(part)
        self._votes = set(rows(kettle, "SELECT answer_id, voter FROM votes"))
        self._asked = {text for (text,) in rows(kettle, "SELECT question FROM answers")}

    def all(self) -> dict[str, list[str]]:
        """Return what is wrong, by what it breaks."""
        lost: list[str] = []
        told_to_try_again = Counter({person: len(ids) for person, ids in self._page.given_up.items()})
        for did in self._did:
            if not self._is_answered(did):
                person = did.voter.removeprefix("web:") or "noor"
                if did.kind in ("web command", "web vote") and told_to_try_again[person]:
                    told_to_try_again[person] -= 1
                    continue
                state = self._claims.get(did.key, self._claims.get(self._replies.get(did.conversation, "")))
                lost.append(
                    f"{did.kind} {did.key} {did.voter} {did.conversation}: {state} {self._around(did)}"
                )
        signs = [text for text in self._texts() if is_sign_of_work(text)]
        return {
            "acknowledged, and neither answered nor given up with a word": lost,
            "answered twice": self._twice(),
            "signs of work that are left over": signs,
        }

    def _around(self, did: Did) -> str:
        """Return what else is known of the conversation of something that was lost."""
        where = f"%:{did.conversation}" if did.conversation else "-"
        told = "SELECT message, answer_id, tries, decided, at, asker FROM claims WHERE conversation LIKE ?"
        found = rows(self._kettle, told, where)
        found += rows(self._kettle, "SELECT 'answer', id, pair_id, at FROM answers WHERE id = ?", did.key)
        if did.url:
            url = self._slack.ephemeral.urls[did.url]
            found.append((f"used {url.uses} times, said", *(str(said["text"])[:60] for said in url.said)))
        if did.voter:
            cast = "SELECT 'vote', answer_id, value, weight, at FROM votes WHERE voter = ?"
            found += rows(self._kettle, cast, did.voter)
        return "; ".join(map(str, found))

    def _is_answered(self, did: Did) -> bool:
        match did.kind.partition(" ")[2]:
            case "question" | "follow-up":
                texts = [self._text(part) for part in self._parts[did.key]]
                return bool(texts) and all(text and not is_sign_of_work(text) for text in texts)
            case "vote" | "reaction":
                # an answer that was shown, but not noted before the process died, was given once more
                now = self._claims.get(self._replies.get(did.conversation, ""), "")
                return bool({(did.key, did.voter), (now, did.voter)} & self._votes) or self._is_told(did)
            case "command" if did.kind.startswith("web"):
                return did.key in self._page.alone or did.key in self._asked
            case _:
                return self._is_told(did)

    def _is_told(self, did: Did) -> bool:
        """Return True if whoever pressed or gave a command heard of it, if only that they must try again."""
        said = self._slack.ephemeral.urls[did.url].said if did.url else []
        last = str(said[-1]["text"]) if said else ""
        return bool(last) and not is_sign_of_work(last) and last != RESTARTING

    def _text(self, part: str) -> str:
        platform, place, message = part.split(":")
        if platform == "web":
            return str(self._posts.get(message, {}).get("text", "") or self._page.said.get(message, ""))
        return str(self._slack.messages[place].get(message, {}).get("text", ""))

    def _texts(self) -> list[str]:
        on_slack = [str(m["text"]) for channel in CHANNELS for m in self._slack.said(channel)]
        on_page = [m["text"] for m in self._posts.values() if m["author"] == "threadlore" and not m["only"]]
        return on_slack + on_page

    def _twice(self) -> list[str]:
        """Return messages of the bot that belong to no reply, and so stand beside one."""
        known = {part for parts in self._parts.values() for part in parts}
        on_slack = [f"slack:{channel}:{m['ts']}" for channel in CHANNELS for m in self._slack.said(channel)]
        ours = [m for m in self._posts.values() if m["author"] == "threadlore" and not m["only"]]
        on_page = [f"web:{m['channel']}:{m['id']}" for m in ours]
        return [f"{part}: {self._text(part)[:80]}" for part in on_slack + on_page if part not in known]


async def endure(
    folder: Path, cache: Path, kills: int, rate: float, seed: int, features: int = len(FEATURES)
) -> Run:
    """Build a home in a folder and run on it."""
    kettle = new_folder(folder, cache)
    shelf = Shelf(kettle.folder, features)
    shelf.fill()
    async with opened(kettle) as app:
        await app.corpus_manager.reindex()
    run = Run(kettle, kills, rate, seed)
    await run.run(shelf)
    return run


def main() -> None:
    """Run as the command line says; exit status 1 where something was lost, said twice or left over."""
    options = argparse.ArgumentParser(prog="python -m tests.endurance.acknowledged", description=__doc__)
    options.add_argument("--kills", type=int, default=100)
    options.add_argument("--rate", type=float, default=20.0, help="things that people do in a second")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--models", type=Path, default=Path(".threadlore/models"))
    given = options.parse_args()
    given.models.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "kettle"
        run = asyncio.run(endure(folder, given.models.absolute(), given.kills, given.rate, given.seed))
    for kind, count in sorted(run.counts.items()):
        print(f"{count:6} {kind} acknowledged")
    print(f"{run.counts.total():6} in all, {dict(run.ends)}")
    for name, wrong in run.found.items():
        print(f"{len(wrong):6} {name}")
        for line in wrong[:12]:
            print(f"       {line}")
    print(f"seed {given.seed}, {(time.monotonic() - began) / 60:.1f} min")
    sys.exit(1 if any(run.found.values()) else 0)


if __name__ == "__main__":
    main()
