"""What is old goes, and memory stands as it stood: the same stores and scores, now and after later votes."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import text, update

from bot.operations.audit import Audit
from bot.operations.scheduler import OnSchedule
from core.domain import STRANGERS, Answer, Question, Vote
from core.memory.community import CommunityMemory
from core.memory.decision import LEARNED
from core.memory.scoring import Thresholds
from core.ports import Claim, Remembered
from core.ports.about import Act
from core.ports.cluster import OnlyProcess
from core.privacy.names import Names
from core.privacy.retention import DAY_SECONDS, Policy, Retention
from storage.corpora.corpora import SqlCorpora
from storage.database.database import Database
from storage.memory.memories import SqlMemories
from storage.memory.pair_rows import SqlRewordings
from storage.people.forgetting import SqlPeople
from storage.people.retention import SqlRetention
from storage.serving.about import SqlAudit
from storage.tables import AnswerRow
from tests.contracts.conftest import migrated_sqlite
from tests.core.memory.test_memory_properties import ENCODERS, TOPICS
from tests.databases import DATABASES, postgres_schema
from tests.effort import examples
from tests.journeys.house import Bot, house
from tests.journeys.stage import EVERYWHERE, answer, ask, open_stage, told
from tests.journeys.test_forgetting import files_with, rows_with
from tests.journeys.test_privacy import run

__all__ = ["migrated_sqlite"]

NOW = time.time()
OLD, YOUNG = 400.0, 10.0
PEOPLE = {"bob": ("slack:U2", "discord:2")}
NAMES = Names(b"k" * 32, PEOPLE)
PHASES = [Phase.explicit, Phase.reuse, Phase.generate]
"""Without shrinking: an example opens two databases."""
VOTERS = ["slack:U1", "bob", "slack:U3", "web:ada"]


@dataclass(frozen=True)
class Asked:
    """A question that was asked so many days ago; one that `reuses` got the answer of an earlier one."""

    days: float
    topic: int
    asker: str
    reuses: bool


@dataclass(frozen=True)
class Cast:
    """A vote on one of the answers, so many days ago."""

    days: float
    on: int
    voter: str
    value: int | None
    standing: Any


days_ago = st.sampled_from([900.0, 500.0, OLD, 366.0, 364.0, YOUNG, 1.0])
questions = st.builds(
    Asked, days_ago, st.integers(0, TOPICS - 1), st.sampled_from(["slack:U1", "slack:U9", ""]), st.booleans()
)
votes = st.builds(
    Cast,
    days_ago,
    st.integers(0, 30),
    st.sampled_from(VOTERS),
    st.sampled_from([1, 1, 0, None]),
    st.sampled_from(["known", "known", "asker", *STRANGERS]),
)


class World:
    """Memory on a database of its own."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.memories = SqlMemories(database, NAMES.veils)
        self.corpora = SqlCorpora(database)
        self.answers: list[str] = []

    async def wake(self) -> None:
        """Load memory as a process that starts does."""
        rewordings = SqlRewordings(self.database)
        self.memory = CommunityMemory(
            self.memories,
            self.corpora,
            Thresholds(),
            lambda asked, remembered: "",
            share_platforms=False,
            decision=LEARNED,
            rewordings=rewordings,
        )
        await self.memory.load(ENCODERS[0], {})

    async def ask(self, asked: Asked) -> None:
        number = len(self.answers)
        key, topic, at = f"a{number}", str(asked.topic), NOW - asked.days * DAY_SECONDS
        question = Question(
            f"question {number}, old" if asked.days > 365 else f"question {number}", asked.asker
        )
        trace = {"queries": {"topic": topic, "base": topic}}
        pairs = [p for p in range(number) if await self.memories.pair(f"p{p}")]
        pair = kept = None
        if asked.reuses and pairs:
            given = Answer(key, "x", "reuse", "1.0", pair_id=f"p{pairs[-1]}", trace=trace)
        else:
            pair = Remembered(
                f"p{number}", question.text, topic, "x", "1.0", "public", 0.5, at, asker=asked.asker
            )
            kept = self.memory.topic_of(pair, ENCODERS[0].vector(topic))
            given = Answer(key, "x", "documents", "1.0", pair_id=pair.id, trace=trace)
        await self.memories.save_answer(given, question, pair, topic=kept)
        async with self.database.write() as connection:
            await connection.execute(update(AnswerRow).where(AnswerRow.id == key).values(at=at))
        self.answers.append(key)

    async def vote(self, cast: Cast) -> None:
        at = datetime.fromtimestamp(NOW - cast.days * DAY_SECONDS, UTC)
        key = self.answers[cast.on % len(self.answers)]
        value: Any = cast.value
        await self.memory.vote(Vote(key, cast.voter, value, at=at, standing=cast.standing), 1.0)

    async def expire(self, dry_run: bool = False, **policy: int) -> dict[str, int]:
        async def nothing(before: float, dry_run: bool) -> dict[str, int]:
            return {}

        given = {"questions_days": 365, "votes_days": 365} | policy
        store = SqlRetention(self.database, NAMES)
        audit = SqlAudit(self.database)
        return await Retention(store, Policy(**given), audit, Path("none"), nothing, lambda: NOW).run(dry_run)

    async def placed(self) -> dict[str, tuple[str, float, str]]:
        rows = await self.memories.placements()
        return {p.pair_id: (p.store, p.score, p.shadowed_by) for p, _ in rows}


@asynccontextmanager
async def world(empty: Path) -> AsyncIterator[World]:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(empty, Path(folder) / "threadlore.sqlite3")
        database = await Database.open(Path(folder))
        found = World(database)
        try:
            await found.wake()
            yield found
        finally:
            await database.close()


@pytest.fixture(scope="module")
def empty(migrated_sqlite: Path) -> Path:
    return migrated_sqlite


async def same_before_and_after(empty: Path, asked: list[Asked], cast: list[Cast], later: list[Cast]) -> None:
    async with world(empty) as one, world(empty) as other:
        for each in (one, other):
            for question in sorted(asked, key=lambda q: -q.days):
                await each.ask(question)
            for vote in sorted(cast, key=lambda v: -v.days):
                await each.vote(vote)
        before = await one.placed()
        due = await one.expire(dry_run=True)
        done = await one.expire()
        assert done == {what: count for what, count in due.items() if count}, "a dry run counts the same"
        assert await one.placed() == before and await one.memory.verify() == []
        await one.memory.rebuild()
        assert await one.placed() == before, "placements equal a rebuild"
        await one.wake()
        assert await one.placed() == before, "and what a start makes of it"
        assert await one.expire() == {}, "there is nothing more to do"
        kept = {placement.pair_id for placement, _ in await one.memories.placements()}
        async with one.database.read() as connection:
            held = set(await connection.scalars(text("SELECT id FROM pairs WHERE question LIKE '%old'")))
            named = await connection.scalars(
                text("SELECT asker FROM pairs WHERE question LIKE '%old' AND asker LIKE 'slack_U%'")
            )
            told = await connection.scalars(text("SELECT id FROM answers WHERE question LIKE '%old'"))
            assert held <= kept and not list(named) and not list(told)
        # a later vote of the same people finds the one that it replaces
        for vote in later:
            row = await one.memories.answer(one.answers[vote.on % len(one.answers)])
            if row and await one.memories.pair(row["pair_id"]):  # else nobody had voted, and it is gone
                for each in (one, other):
                    await each.vote(Cast(0.5, vote.on, vote.voter, vote.value, vote.standing))
        theirs = await other.placed()
        assert {key: where for key, where in (await one.placed()).items() if key in theirs} == theirs


@given(
    asked=st.lists(questions, min_size=1, max_size=9),
    cast=st.lists(votes, max_size=18),
    later=st.lists(votes, max_size=5),
)
@settings(
    max_examples=examples(10), deadline=None, suppress_health_check=[HealthCheck.too_slow], phases=PHASES
)
def test_placements_are_the_same_before_and_after(
    empty: Path, asked: list[Asked], cast: list[Cast], later: list[Cast]
) -> None:
    asyncio.run(same_before_and_after(empty, asked, cast, later))


MARK = "xylophonic-quagmire"
PORT = f"Which port does the dashboard {MARK} listen on?"
REWORDED = f"At which port does the {MARK} dashboard listen?"
ANN, BOB = "slack:U1", "slack:U2"


def later(bot: Bot, days: float = 366.0) -> None:
    """Let retention think that so many days have passed."""
    bot.app.retention._clock = lambda: time.time() + days * DAY_SECONDS


def url(bot: Bot) -> str:
    return f"sqlite:///{bot.kettle.home / 'threadlore.sqlite3'}"


async def test_what_nobody_voted_for_goes_with_its_words(bot: Bot) -> None:
    first = await bot.app.engine.answer(Question(PORT, ANN, "slack:C1"))
    claim = Claim("slack:C1:1", "slack:C1:1", ANN, time.time(), {"text": PORT})
    await bot.app.conversations.claim(claim, "slack:reaction:U1")
    await bot.app.conversations.answered(claim.message, first.id)
    vectors = len(rows_with(url(bot), "", "vectors"))
    assert await bot.app.retention.run() == {}, "it is young"
    later(bot)
    due = json.loads(await run(bot, command="retention", dry_run=True, json=True))
    assert due["questions"] == due["messages"] == due["answers that nobody voted for"] == 1
    assert "1 questions" in await run(bot, command="retention", dry_run=True)
    assert rows_with(url(bot), MARK), "a dry run changes nothing"
    said = await run(bot, command="retention")
    assert "Removed: 1 questions" in said and "1 messages" in said and "1 ids of events" in said
    for words in (MARK, ANN):
        assert rows_with(url(bot), words) == [] and files_with(bot.kettle.home, words) == []
    assert len(rows_with(url(bot), "", "vectors")) == vectors - 1
    known = await bot.app.conversations.claimed(claim.message)
    assert known and not await bot.app.conversations.claim(claim), "it is not answered once more"
    told = await run(bot, command="retention")
    assert told == "Removed: 1 lines of the audit log.", "that of the command above, written by today's clock"


async def test_of_a_question_that_was_deleted_who_asked_goes_too(bot: Bot) -> None:
    first, second = [await bot.app.engine.answer(Question(PORT, ANN, "slack:C1")) for _ in range(2)]
    await bot.app.engine.feedback(Vote(second.id, BOB, 1), helper=True)
    for one in (first, second):
        await bot.app.engine.answer_log.withdraw(one.id, replaced=False)
    assert "answers" in rows_with(url(bot), ANN)
    later(bot)
    await bot.app.retention.run()
    assert rows_with(url(bot), ANN) == []
    assert await run(bot, command="retention") == "Nothing is older than it may be."


async def test_what_people_voted_for_stays_without_who_asked_and_voted(bot: Bot) -> None:
    engine = bot.app.engine
    first = await engine.answer(Question(PORT, ANN, "slack:C1"))
    for voter in (ANN, BOB):
        await engine.feedback(Vote(first.id, voter, 1), helper=True)
    before = await bot.counts()
    later(bot)
    await bot.app.retention.run()
    assert rows_with(url(bot), ANN) == rows_with(url(bot), BOB) == []
    assert set(rows_with(url(bot), MARK)) == {"pairs", "answers"}, "the pair, and how it was asked"
    after = await bot.counts()
    assert [after[key] for key in ("high", "votes")] == [before[key] for key in ("high", "votes")]
    assert await bot.app.memory.verify() == []
    reused = await engine.answer(Question(PORT, "slack:U9"))
    assert reused.route == "reuse"
    assert not await bot.app.engine.answer_log.question(first.id), "its words are gone"
    with pytest.raises(KeyError):
        await engine.answer_log.why(first.id)

    held = await bot.app.my_data.of(BOB)
    assert [vote["value"] for vote in held["votes"]] == [1], "a one-way name is found by who it is"
    assert await engine.feedback(Vote(first.id, BOB, 0), helper=True)
    [pair] = [p for p in await bot.app.memory.everything() if p.id == first.pair_id]
    assert sorted(value for value, _ in pair.opinions) == [0, 1], "a later vote replaces the earlier one"
    await engine.feedback(Vote(first.id, BOB, None), helper=True)
    await bot.app.people.forget(ANN)
    assert (await bot.counts())["high"] == 0 and await bot.app.memory.verify() == []
    assert rows_with(url(bot), MARK) == []


@EVERYWHERE
async def test_an_old_answer_is_still_theirs_to_delete(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        seen = await answer(stage, said)
        await stage.react("ann", seen, "👍")
        await stage.quiet()
        if platform == "web":
            bot.app.holders._running.clear()  # the playground's own messages are another thing
        later(bot)
        await bot.app.retention.run()
        await stage.press("bob", seen, "why")
        await told(stage, "bob", "no longer stored")
        await stage.press("bob", seen, "delete")
        await told(stage, "bob", "Only the asker")
        await stage.press("ann", seen, "delete")
        await told(stage, "ann", "The answer is deleted")


async def test_old_conversations_of_the_playground_go(bot: Bot) -> None:
    journal = bot.kettle.home / "playground.jsonl"
    async with open_stage("web", bot) as stage:
        await ask(stage, PORT)
        assert MARK in journal.read_text()
        assert (await bot.app.retention.run()).get("messages in the playground") is None
        later(bot)
        assert (await bot.app.retention.run(dry_run=True))["messages in the playground"] == 2
        assert MARK in journal.read_text()
        assert (await bot.app.retention.run())["messages in the playground"] == 2
        assert MARK not in journal.read_text() and "dashboard" not in journal.read_text()
    bot.app.holders._running.clear()
    old = [{"id": "1", "at": time.time() - 9 * DAY_SECONDS, "text": MARK, "author": "ada"}]
    young = [{"id": "2", "at": time.time() + 400 * DAY_SECONDS, "text": "new", "author": "ada"}]
    journal.write_text("".join(json.dumps(line) + "\n" for line in old + young))
    for dry_run in (True, False):
        assert (await bot.app.retention.run(dry_run=dry_run))["messages in the playground"] == 1
    assert json.loads(journal.read_text())["id"] == "2"


async def test_log_files_and_the_audit_log_have_their_days(bot: Bot) -> None:
    logs = bot.kettle.home / "logs"
    logs.mkdir(exist_ok=True)
    for name, days in (("threadlore.log.2026-01-01", 40), ("threadlore.log", 1)):
        (logs / name).write_text("a line")
        at = time.time() - days * DAY_SECONDS
        os.utime(logs / name, (at, at))
    for days in (40, 1):
        await bot.app.audit.note(Act(time.time() - days * DAY_SECONDS, ANN, "", f"status {days}", "done"))
    due = await bot.app.retention.run(dry_run=True)
    assert due["log files"] == due["lines of the audit log"] == 1
    done = await bot.app.retention.run()
    assert done["log files"] == done["lines of the audit log"] == 1
    assert [path.name for path in logs.iterdir()] == ["threadlore.log"]
    assert [act.what for act in await bot.app.audit.acts()] == ["status 1"]


async def test_who_removed_what_is_old_stands_in_the_audit_log_once(bot: Bot) -> None:
    daily = OnSchedule(bot.app.corpus_manager, bot.app.retention, Audit(bot.app.audit))
    for days in (40, 40):
        await bot.app.audit.note(Act(time.time() - days * DAY_SECONDS, ANN, "", f"status {days}", "done"))
    await daily.tidy()
    await daily.tidy()
    await run(bot, command="retention", dry_run=True, caller="cli:boss")
    await run(bot, command="retention", caller="cli:boss")
    acts = [(act.who, act.what, act.outcome) for act in await bot.app.audit.acts()]
    assert acts == [
        ("cli:boss", "retention", "done: nothing removed"),
        ("bot", "retention", "done: 2 lines of the audit log removed"),
    ]


class Follower(OnlyProcess):
    """A process of a cluster in which another one leads."""

    leads = False


async def test_a_process_that_does_not_lead_removes_what_is_old_in_its_own_home(bot: Bot) -> None:
    journal = bot.kettle.home / "playground.jsonl"
    old = {"id": "1", "at": time.time() - 366 * DAY_SECONDS, "text": MARK, "author": "ada"}
    journal.write_text(json.dumps(old) + "\n")
    await bot.app.audit.note(Act(time.time() - 40 * DAY_SECONDS, ANN, "", "status", "done"))
    audit = Audit(bot.app.audit)
    await OnSchedule(bot.app.corpus_manager, bot.app.retention, audit, cluster=Follower()).tidy()
    assert MARK not in journal.read_text()
    assert [act.what for act in await bot.app.audit.acts()] == ["status"], "the rest is done by who leads"


async def test_zero_days_are_for_ever(kettle: Any) -> None:
    given = {f"retention_{what}_days": 0 for what in ("questions", "votes", "logs")}
    async with house(kettle, **given) as bot:
        first = await bot.app.engine.answer(Question(PORT, ANN))
        await bot.app.engine.feedback(Vote(first.id, ANN, 1))
        later(bot, 9_999)
        assert await bot.app.retention.run() == {} and rows_with(url(bot), MARK)


async def test_a_pair_that_a_rebuild_has_in_its_hands_is_in_no_store_and_stays(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await bot.app.engine.answer(Question(PORT, ANN))
    await bot.app.engine.feedback(Vote(first.id, ANN, 1))
    later(bot, 9_999)
    async with bot.app.retention._store._database.write() as connection:  # type: ignore[attr-defined]
        await connection.execute(text("UPDATE votes SET at = at - 864000"))
    store, cleared = bot.app.memory._store, asyncio.Event()
    clear = store.clear_placements

    async def slowly() -> None:
        await clear()
        cleared.set()
        await asyncio.sleep(0.2)

    monkeypatch.setattr(store, "clear_placements", slowly)
    rebuilding = asyncio.create_task(bot.app.memory.rebuild())
    await cleared.wait()
    done = await bot.app.retention.run()
    await rebuilding
    assert "answers that nobody voted for" not in done
    assert bot.app.memory.stores()[first.pair_id] == ("high", True) and await bot.app.memory.verify() == []


async def test_others_get_the_database_between_two_steps(bot: Bot) -> None:
    async with bot.app.retention._store._database.write() as connection:  # type: ignore[attr-defined]
        rows = [{"event": f"e{number}", "at": 1.0} for number in range(3_000)]
        await connection.execute(text("INSERT INTO events (event, at) VALUES (:event, :at)"), rows)
    work = asyncio.create_task(bot.app.retention.run())
    waits: list[float] = []
    while not work.done():
        began = time.perf_counter()
        await bot.app.conversations.claim(Claim("", "", "", 0.0), f"now {len(waits)}")
        waits.append(time.perf_counter() - began)
    assert (await work)["ids of events"] == 3_000 and len(waits) > 3
    assert await SqlPeople(bot.app.retention._store._database, NAMES).held({"x"}) == {}  # type: ignore[attr-defined]


@pytest.mark.parametrize("where", DATABASES)
def test_it_is_the_same_on_every_database(empty: Path, tmp_path: Path, where: str) -> None:
    async def story(given_url: str) -> None:
        shutil.copy(empty, tmp_path / "threadlore.sqlite3")
        database = await Database.open(tmp_path, given_url)
        found = World(database)
        await found.wake()
        for topic, asker in ((0, "slack:U1"), (1, ""), (2, "slack:U9"), (4, "")):
            await found.ask(Asked(900.0, topic, asker, False))
        await found.ask(Asked(500.0, 3, "slack:U1", True))
        for on, voter, value in ((0, "bob", 1), (0, "slack:U3", 0), (1, "bob", 0), (4, "slack:U1", 1)):
            await found.vote(Cast(450.0, on, voter, value, "known"))
        before = await found.placed()
        store = SqlRetention(database, NAMES)
        due = await store.due(NOW - 365 * DAY_SECONDS, NOW - 365 * DAY_SECONDS)
        done = await found.expire()
        assert due["questions"] == done["questions"] == 5 and due["names of voters"] == 4
        assert done["names of voters"] == 4 and done["answers that nobody voted for"] == 1
        assert await found.placed() == before and await found.memory.verify() == []
        await found.vote(Cast(1.0, 0, "bob", None, "known"))
        pair = await found.memories.pair("p0")
        assert pair and pair.opinions == ((0, 1.0),), "their own earlier vote is taken back, and no other"
        people = SqlPeople(database, NAMES)
        held = await people.held(NAMES.everyone("discord:2"))
        assert len(held["votes"]) == 3, "two of them under one-way names"
        gone = await people.forget(NAMES.everyone("slack:U2"), NAMES.everyone("slack:U2"))
        assert gone.votes == 3
        await database.close()

    if where == "sqlite":
        asyncio.run(story(""))
    else:
        with postgres_schema() as given_url:
            asyncio.run(story(given_url))
