"""A month of use for pictures of the dashboard: golden questions asked of the real bot, and voted on.

What is simulated is who asks when, and how long the model takes; answers, memory, topics and gaps come of it
as they would. Made for pictures only: nothing is measured with it.
"""

from __future__ import annotations

import json
import math
import random
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bot.app.bootstrap import build
from bot.operations.application import Application
from core.domain import Answer, Question, Vote
from core.settings import load_settings
from tests.ollama_server import Behaviour, OllamaServer

GOLD = Path(__file__).parents[1] / "golden" / "flask.jsonl"
DAYS = 30
DAY = 86_400.0
PEOPLE = 40
AGAIN = 0.55
"""Share of questions that somebody has asked before."""
UP = 0.88
VOTES = 0.6
UNSERVED = (
    "How do I deploy Flask to Azure Functions?",
    "How can I deploy a Flask app on Azure Functions?",
    "Is there an official GraphQL extension for Flask?",
    "Does Flask support GraphQL out of the box?",
    "How do I run Flask as a Windows service?",
    "How do I rate limit a Flask route by user?",
    "Can Flask push notifications to an iPhone?",
)
"""What Flask's documentation says nothing about."""
DATABASE = "threadlore.sqlite3"
USE = {
    "answers",
    "votes",
    "pairs",
    "placements",
    "claims",
    "posts",
    "marks",
    "corrections",
    "events",
    "authors",
}
"""Tables of what people did."""


@dataclass(frozen=True)
class Given:
    """An answer, and when it is said to have been given, in seconds since the epoch."""

    answer: Answer
    at: float


async def use(home: Path, seed: int = 5) -> None:
    """Fill a home that holds Flask's index with thirty days of questions and votes."""
    dice = random.Random(seed)
    emptied(home)
    async with OllamaServer() as model:
        settings = load_settings(None, home=home, ollama_host=model.url, questions_per_minute=1e6)
        async with build(settings, "screens") as app:
            given = await _days(app, model, dice)
    with closing(sqlite3.connect(home / DATABASE)) as database:
        for one in given:
            _move(database, one, dice)
        database.commit()


def emptied(home: Path) -> None:
    """Forget what was asked in a home before, such as by a benchmark."""
    with closing(sqlite3.connect(home / DATABASE)) as database:
        there = {name for (name,) in database.execute("select name from sqlite_master where type = 'table'")}
        for name in USE & there:
            database.execute(f"delete from {name}")
        database.commit()


async def _days(app: Application, model: OllamaServer, dice: random.Random) -> list[Given]:
    lines = [json.loads(line) for line in GOLD.read_text(encoding="utf-8").splitlines()]
    new = [line["question"] for line in lines if line.get("gold_file") and not line.get("history")]
    dice.shuffle(new)
    asked: list[str] = []
    given: list[Given] = []
    today = time.time() // DAY * DAY
    for back in range(DAYS - 1, -1, -1):
        weekday = time.gmtime(today - back * DAY).tm_wday
        busy = (8 + 0.4 * (DAYS - back)) * (0.45 if weekday > 4 else 1.0)
        for _ in range(max(2, round(dice.gauss(busy, 3)))):
            text = _question(dice, new, asked)
            at = min(today - back * DAY + dice.uniform(7, 22) * 3600, time.time() - 60)
            model.always = Behaviour("crashed") if dice.random() < 0.02 else None
            answer = await app.engine.answer(Question(text, f"slack:U{dice.randrange(PEOPLE)}", "slack:C1"))
            given.append(Given(answer, at))
            await _vote(app, answer, at, dice)
    return given


def _question(dice: random.Random, new: list[str], asked: list[str]) -> str:
    if dice.random() < 0.07:
        return dice.choice(UNSERVED)
    if asked and (not new or dice.random() < AGAIN):
        return dice.choice(asked)
    asked.append(new.pop())
    return asked[-1]


async def _vote(app: Application, answer: Answer, at: float, dice: random.Random) -> None:
    if answer.route == "abstain":
        return
    for person in dice.sample(range(PEOPLE), 2):
        if dice.random() < VOTES:
            good, late = dice.random() < UP, min(at + dice.uniform(60, DAY), time.time())
            vote = Vote(answer.id, f"slack:U{person}", int(good), at=datetime.fromtimestamp(late, UTC))
            await app.engine.feedback(vote, helper=person < 4)


def _move(database: sqlite3.Connection, given: Given, dice: random.Random) -> None:
    """Set an answer and its pair back in time, and say how long a model would have taken."""
    key = given.answer.id
    (kept,) = database.execute("select trace from answers where id = ?", (key,)).fetchone()
    trace = json.loads(kept)
    if given.answer.route not in ("reuse", "abstain", "quote"):
        first = dice.lognormvariate(math.log(900), 0.35)
        trace |= {"first_ms": round(first), "ms": round(first + dice.lognormvariate(math.log(3800), 0.4))}
    database.execute("update answers set at = ?, trace = ? where id = ?", (given.at, json.dumps(trace), key))
    database.execute("update pairs set created_at = ? where id = ?", (given.at, f"p{key[1:]}"))
