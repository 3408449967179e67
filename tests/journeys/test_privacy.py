"""Opting out and seeing one's data: nobody's words are kept or shown to a model against their wish."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import create_engine, inspect

from bot.commands.command_line import handle
from bot.privacy.opted_out import NOT_TOLD, SO_ANSWERED
from core.domain import Question, Vote
from core.errors import ConfigurationError, UsageError
from core.feedback.accepted_answers import Written
from core.ports.about import Act
from core.ports.escalations import Ticket
from core.ports.opinions import Correction
from storage.people.personal import STANDS
from tests.databases import DATABASES, postgres_schema
from tests.journeys.house import Bot, Kettle, house
from tests.journeys.kettle import PORTS
from tests.journeys.stage import (
    EVERYWHERE,
    ON_EACH_WIRE,
    PATIENCE,
    Said,
    Seen,
    Stage,
    answer,
    ask,
    open_stage,
    squeezed,
    told,
    until,
)
from tests.journeys.test_forgetting import MARK as MARKED
from tests.journeys.test_forgetting import PORT as PORT_OF
from tests.journeys.test_forgetting import files_with, leave_traces, rows_with
from tests.ollama_server import OllamaServer

MARK = "quizzaciously"
PORT = f"Which port does the dashboard {MARK} listen on?"
OPEN = "Which port does the dashboard listen on?"


async def finished(stage: Stage, said: Said, count: int = 1) -> Seen:
    """Wait for the `count`th finished answer in a conversation, with boxes for votes or without."""
    found = await until(lambda: [s for s in stage.replies(said) if s.finished][count - 1 :])
    await stage.quiet()
    return next(s for s in stage.replies(said) if s.id == found[0].id)


async def opts_out(stage: Stage, who: str = "ann") -> None:
    await stage.slash(who, "threadlore", "opt-out confirm")
    await told(stage, who, "You have opted out")
    await stage.quiet()


@asynccontextmanager
async def logged() -> AsyncIterator[list[str]]:
    """Collect every line of the log from INFO on, with what errors say."""
    lines: list[str] = []

    class Collects(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(self.format(record) + repr(record.__dict__))

    root, handler = logging.getLogger(), Collects("INFO")
    before = root.level
    root.addHandler(handler)
    root.setLevel("INFO")
    try:
        yield lines
    finally:
        root.removeHandler(handler)
        root.setLevel(before)


def traces(kettle: Kettle, words: str) -> list[str]:
    """Return tables and files of the home that hold the words."""
    rows = rows_with(f"sqlite:///{kettle.home / 'threadlore.sqlite3'}", words)
    return rows + files_with(kettle.home, words)


def shown_to_the_model(ollama: OllamaServer, words: str) -> bool:
    return any(words in json.dumps(request.body) for request in ollama.requests)


@ON_EACH_WIRE
async def test_who_opted_out_is_quoted_to_and_nothing_of_it_is_kept(
    platform: str, writer: Bot, ollama: OllamaServer
) -> None:
    async with open_stage(platform, writer) as stage, logged() as lines:
        first = await ask(stage, PORT)
        assert "written from the documentation" in first.text and shown_to_the_model(ollama, MARK)
        await stage.slash("ann", "threadlore", "opt-out")
        await told(stage, "ann", "opt-out confirm")
        assert not writer.dispatch.is_out(stage.account("ann")), "asked to confirm"
        await opts_out(stage)
        assert traces(writer.kettle, MARK) == [], "what there was is forgotten"
        ollama.requests.clear()
        calls, counts = ollama.calls, await writer.counts()

        said = await stage.say("ann", PORT, to="bot")
        seen = await finished(stage, said)
        assert PORTS["2.0"] in seen.text and "quoted from the documentation" in seen.text
        assert squeezed(SO_ANSWERED) in squeezed(seen.text)
        assert seen.controls == ("delete",) and seen.seeds == ()
        direct = await stage.say("ann", PORT, "direct", to="bot")
        assert squeezed(SO_ANSWERED) not in squeezed((await finished(stage, direct)).text), "told once"
        await stage.slash("ann", "ask", PORT)
        await told(stage, "ann", PORTS["2.0"])
        await stage.quiet()
        assert ollama.calls == calls == 0 and not shown_to_the_model(ollama, MARK)
        assert await writer.counts() == counts
        assert await writer.app.statistics.gaps(30) == ()
        name = stage.account("ann")
        assert traces(writer.kettle, MARK) == []
        assert (
            platform == "web" or rows_with(f"sqlite:///{writer.kettle.home}/threadlore.sqlite3", name) == []
        )
        assert lines and MARK not in "".join(lines)
        await stage.press("ann", seen, "delete")
        await until(lambda: seen.id not in [s.id for s in stage.replies(said)])


@EVERYWHERE
async def test_who_opts_in_again_is_answered_as_everybody(
    platform: str, writer: Bot, ollama: OllamaServer
) -> None:
    async with open_stage(platform, writer) as stage:
        await opts_out(stage)
        await finished(stage, await stage.say("ann", PORT, to="bot"))
        assert ollama.calls == 0
        await stage.slash("ann", "threadlore", "opt-in")
        await told(stage, "ann", "Welcome back")
        seen = await ask(stage, PORT)
        assert "written from the documentation" in seen.text
        await stage.react("ann", seen, "👍")
        await stage.quiet()
        assert (await writer.counts())["high"] == 1 and traces(writer.kettle, MARK)


@EVERYWHERE
async def test_others_in_the_thread_do_not_carry_their_words(
    platform: str, writer: Bot, ollama: OllamaServer
) -> None:
    async with open_stage(platform, writer) as stage:
        await opts_out(stage, "bob")
        root = await stage.say("ann", OPEN, to="bot")
        await answer(stage, root)
        await stage.say("bob", f"The {MARK} dashboard of ours listens elsewhere.", under=root)
        await stage.say("bob", PORT, under=root, to="bot")
        await finished(stage, root, 2)
        await stage.say("ann", "and in 1.5?", under=root, to="bot")
        third = await finished(stage, root, 3)
        assert PORTS["1.5"] in third.text
        assert ollama.calls and not shown_to_the_model(ollama, MARK)
        assert traces(writer.kettle, MARK) == []


async def remembered(bot: Bot, count: int) -> None:
    """Wait until memory holds as many pairs."""
    async with asyncio.timeout(PATIENCE):
        while (await bot.counts())["pairs"] != count:
            await asyncio.sleep(0.02)


async def refused(stage: Stage, advice: Said) -> None:
    """Let hal accept a message, and wait until that has led to nothing."""
    await stage.react("hal", advice, "✅")
    if stage.name == "discord":  # where nothing can be whispered about a reaction
        await stage.quiet()
    else:
        await told(stage, "hal", "has opted out, so I do not store it")


@EVERYWHERE
async def test_their_message_is_not_remembered_and_what_was_goes(platform: str, bot: Bot) -> None:
    question = "How do I bake sourdough bread with the kettle?"
    async with open_stage(platform, bot) as stage:
        root = await stage.say("ann", question, to="bot")
        await answer(stage, root)
        advice = await stage.say("bob", f"Press the red {MARK} button for an hour.", under=root)
        await stage.quiet()
        await stage.react("hal", advice, "✅")
        await remembered(bot, 1)
        await opts_out(stage, "bob")
        await remembered(bot, 0)
        assert (await bot.counts())["high"] == 0 and traces(bot.kettle, MARK) == []
        again = await stage.say("bob", f"As I said: the red {MARK} button.", under=root)
        await stage.quiet()
        await refused(stage, again)
        assert (await bot.counts())["pairs"] == 0 and traces(bot.kettle, MARK) == []


@EVERYWHERE
async def test_their_question_answered_by_another_is_not_remembered(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await opts_out(stage, "ann")
        root = await stage.say("ann", f"How do I bake {MARK} bread with the kettle?", to="bot")
        await finished(stage, root)
        advice = await stage.say("bob", "Press the red button for an hour.", under=root)
        await stage.quiet()
        await refused(stage, advice)
        assert (await bot.counts())["pairs"] == 0 and traces(bot.kettle, MARK) == []


@EVERYWHERE
async def test_their_votes_are_not_counted_and_they_are_told_once(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        seen = await ask(stage, OPEN)
        await opts_out(stage, "bob")

        def warned() -> int:
            said = stage.heard("bob")
            if platform == "discord":  # where nothing can be whispered about a reaction
                said = said + [seen.text for seen in stage.inbox("bob")]
            return sum("this does not count" in text for text in said)

        await stage.react("bob", seen, "👍")
        await until(lambda: warned() == 1, "told that it does not count")
        await stage.react("bob", seen, "👎")
        await stage.quiet()
        assert warned() == 1
        await stage.press("bob", seen, "up")
        await until(lambda: warned() == 2, "a press is always answered")
        counts = await bot.counts()
        assert counts["votes"] == counts["high"] == 0
        await stage.react("ann", seen, "👍")
        await stage.quiet()
        assert (await bot.counts())["votes"] == 1, "everybody else's count"


@pytest.mark.parametrize("platform", ["slack", "discord", "web"])
async def test_answer_this_leaves_their_message_alone(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await opts_out(stage, "bob")
        said = await stage.say("bob", PORT)
        await stage.answer_this("ann", said)  # type: ignore[attr-defined]
        await told(stage, "ann", squeezed(NOT_TOLD))
        assert (await bot.counts())["answers"] == 0 and traces(bot.kettle, MARK) == []


@ON_EACH_WIRE
async def test_everybody_sees_what_is_held_of_them_and_nobody_else_does(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await stage.slash("ann", "threadlore", "my-data")
        await told(stage, "ann", "I store nothing about you")
        seen = await ask(stage, PORT)
        await ask(stage, OPEN, who="bob")
        await stage.react("ann", seen, "👍")
        await stage.quiet()
        await stage.slash("ann", "threadlore", "my-data")
        said = await told(stage, "ann", "questions with their answers: 1")
        assert MARK in said and "votes: 1" in said and "messages that I answered: 1" in said
        assert said.count("dashboard") == 1, "bob's question is bob's"
        assert not any("I store" in text for text in stage.heard("bob"))
        await stage.slash("ann", "threadlore", "forget-me confirm")
        await told(stage, "ann", "Forgotten. Questions with their answers: 1")


async def test_discord_and_the_playground_give_all_of_it_as_a_file(bot: Bot) -> None:
    async with open_stage("discord", bot) as stage:
        await ask(stage, PORT)
        await stage.slash("ann", "threadlore", "my-data")
        await told(stage, "ann", "The file has all of it")
        [file] = stage._private("ann")[-1][1].attachments
        assert file.filename == "my-data.json"
    async with open_stage("web", bot) as stage:
        await ask(stage, PORT)
        await stage.slash("ann", "threadlore", "my-data")
        said = await told(stage, "ann", "The file has all of it")
        path = said.partition("](")[2].partition(")")[0].removeprefix(stage.client.playground.url)
        status, whole = await stage.client.call("GET", path)
        assert status == 200 and whole["accounts"] == ["web:ada"]
        assert [entry["question"] for entry in whole["questions"]] == [PORT] and whole[
            "messages in the playground"
        ]
        for other in (path.replace("ada", "ben"), path.replace("my-data", "other")):
            assert (await stage.client.call("GET", other))[0] == 404, "it is for ada alone"
        await stage.slash("ann", "threadlore", "forget me confirm")
        await told(stage, "ann", "Forgotten. Questions with their answers: 1")
        assert (await stage.client.call("GET", path))[0] == 404
        assert not any(MARK in text for text in await shown(stage))


async def shown(stage: Any) -> list[str]:
    """Return what the playground shows to ada now."""
    return [message["text"] for message in await stage.client.messages("ada")]


async def test_linked_accounts_opt_out_together(kettle: Kettle) -> None:
    with kettle.config.open("a", encoding="utf-8") as config:
        config.write('\n[people]\nann = ["slack:U1", "discord:77"]\n')
    async with house(kettle) as bot:
        await bot.app.people.opt_out("slack:U1")
        await bot.app.engine.answer(Question(PORT, "discord:77"))
        first = await bot.app.engine.answer(Question(OPEN, "slack:U2"))
        assert not await bot.app.engine.feedback(Vote(first.id, "discord:77", 1))
        with pytest.raises(UsageError, match="has opted out"):
            await run(bot, command="vote", answer_id=first.id, user="discord:77", vote="up")
        said = Correction(first.id, "discord:77", "Ann", "wrong", f"{MARK} is better.", 1.0)
        await bot.app.engine.accepted.correct(said, True, "")
        assert await bot.app.engine.accepted.corrections() == ()
        assert (await bot.counts())["answers"] == 1 and traces(kettle, MARK) == []
    async with house(kettle) as bot:
        assert bot.app.privacy.is_out("discord:77"), "it holds over a restart"


async def run(bot: Bot, **request: object) -> str:
    """Carry out a command of the command line; return what it prints."""
    lines: list[str] = []

    async def send(message: dict[str, object]) -> None:
        lines.extend(str(message["line"]) for _ in [0] if "line" in message)

    await handle(bot.app, dict(request), send)
    return "\n".join(lines)


async def test_the_command_line_tells_all_and_opts_people_out_and_in(bot: Bot) -> None:
    first = await bot.app.engine.answer(Question(PORT, "slack:U1", "slack:C1"))
    await bot.app.engine.feedback(Vote(first.id, "slack:U1", 1))
    whole = json.loads(await run(bot, command="my-data", user="slack:U1", json=True))
    assert whole["accounts"] == ["slack:U1"] and whole["opted_out"] is False
    [question], [vote] = whole["questions"], whole["votes"]
    assert (question["question"], question["text"]) == (PORT, first.text) and vote["value"] == 1
    assert question["at"].endswith("Z") and question["channel"] == "slack:C1"
    assert "questions with their answers: 1" in await run(bot, command="my-data", user="slack:U1")
    assert "opted out" in await run(bot, command="opt-out", user="slack:U1")
    assert json.loads(await run(bot, command="my-data", user="slack:U1", json=True)) == {
        "accounts": ["slack:U1"],
        "opted_out": True,
    }
    await run(bot, command="opt-in", user="slack:U1")
    assert not bot.app.privacy.is_out("slack:U1")


@pytest.mark.parametrize("command", ["forget", "my-data", "opt-in", "opt-out"])
async def test_the_command_line_takes_no_account_without_its_platform(bot: Bot, command: str) -> None:
    await bot.app.engine.answer(Question(PORT, "slack:U1", "slack:C1"))
    with pytest.raises(UsageError, match="slack:U1"):
        await run(bot, command=command, user="U1")
    await bot.app.engine.answer(Question(PORT, "terminal", "cli:terminal"))
    assert await run(bot, command=command, user="terminal")


async def test_a_lost_key_is_no_reason_to_begin_keeping(kettle: Kettle) -> None:
    key = kettle.home / "privacy.key"
    assert key.stat().st_mode & 0o077 == 0, "for nobody else on the machine"
    async with house(kettle) as bot:
        await bot.app.people.opt_out("slack:U1")
    held = key.read_bytes()
    for torn in (None, held[:5]):
        key.unlink(missing_ok=True)
        if torn:
            key.write_bytes(torn)
        with pytest.raises(ConfigurationError, match="put it back"):
            async with house(kettle):
                pass
    key.write_bytes(held)
    async with house(kettle) as bot:
        assert bot.app.privacy.is_out("slack:U1")


async def test_pages_made_of_an_export_lose_them_at_the_next_reindex(kettle: Kettle) -> None:
    days = {
        "channels.json": [{"id": "C1", "name": "help"}],
        "help/2024-05-01.json": [
            {
                "type": "message",
                "ts": "100.1",
                "user": "U5",
                "text": "How do I descale it?",
                "thread_ts": "100.1",
            },
            {
                "type": "message",
                "ts": "101.1",
                "user": "U1",
                "text": f"Use {MARK} vinegar.",
                "thread_ts": "100.1",
            },
            {
                "type": "message",
                "ts": "102.1",
                "user": "U6",
                "text": "Lemon works, too.",
                "thread_ts": "100.1",
            },
            {"type": "message", "ts": "200.1", "user": "U1", "text": f"Why {MARK}?", "thread_ts": "200.1"},
            {"type": "message", "ts": "201.1", "user": "U6", "text": "Nobody knows.", "thread_ts": "200.1"},
        ],
    }
    for name, content in days.items():
        file = kettle.folder / "export" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content))
    source = '\n[[unversioned.source]]\nkind = "history"\npath = "export"\nanswers = "any"\n'
    with kettle.config.open("a", encoding="utf-8") as config:
        config.write(source)
    async with house(kettle) as bot:
        await bot.app.corpus_manager.reindex("2.0")
        found = await bot.app.engine.draft(Question("How do I descale it?"))
        assert MARK in found.text and {"context_chunks", "search_chunks"} <= set(traces(kettle, MARK))
        await bot.app.people.opt_out("slack:U1")
        await bot.app.corpus_manager.reindex("2.0")
        again = await bot.app.engine.draft(Question("How do I descale it?"))
        assert MARK not in again.text and "Lemon" in again.text
        plan = await bot.app.corpus_manager.plan("2.0")
        assert not plan["2.0"].differs
    async with house(kettle):
        pass
    assert traces(kettle, MARK) == []


WITHOUT_PEOPLE = {
    "about",
    "alembic_version",
    "buckets",
    "changes",
    "context_chunks",
    "corpora",
    "corpus_documents",
    "documents",
    "escalation_posts",
    "forgotten",
    "members",
    "opt_outs",
    "page_views",
    "placements",
    "posts",
    "pregenerated_documents",
    "pregenerated_pairs",
    "refused_pairs",
    "search_chunks",
    "source_runs",
    "unasked_answers",
    "vectors",
}
"""Tables that name nobody; a new table belongs here, or to what people are told and what is forgotten."""
ABOUT_OTHERS = {"notices"}
"""What admins were told; it goes when it holds somebody's words."""
ANN, BOB = "slack:UANN1", "slack:UBOB2"


async def leave_everything(bot: Bot) -> None:
    """Have ann leave something in every table that can name her."""
    await leave_traces(bot)
    app = bot.app
    first = await app.engine.answer(Question("How do I start the dashboard?", BOB, "slack:C1"))
    await app.engine.accepted.correct(
        Correction(first.id, ANN, "Ann", "wrong", f"{MARKED} is better", 1.0), True, ""
    )
    assert await app.memory.tell_apart(first.pair_id, MARKED, first.id, ANN)
    written = Written("slack:C1:9", BOB, "Bob", "Press the red button.", "")
    asked = Question(f"How do I bake {MARKED} bread?", ANN, "slack:C1")
    await app.engine.accepted.accept(written, asked, ANN)
    for who, what in ((ANN, "status"), ("slack:UBOSS", f"forget {ANN}"), ("slack:UBOSS", "forget UANN1")):
        await app.audit.note(Act(1.0, who, "slack:C1", what, "done"))
    await app.modes.set_mode("slack:C7", "off", ANN, "")
    await app.pauses.begin("slack:C7", 0.0, ANN, "")
    await app.releases.choose(ANN, "1.5")
    await app.releases.give("slack:C7", "1.5", ANN)
    own = Ticket("slack:C1:1", first.id, "slack:C1:1", "slack:C1", "public", ANN, ANN, PORT_OF, "2.0", 1.0)
    other = replace(own, message="slack:C1:2", asker=BOB, by=BOB, question="and?", told=(PORT_OF,))
    for ticket in (own, replace(other, people=(ANN,), names="Ann", resolver=ANN, resolver_name="Ann")):
        await app.escalations.add(ticket)


@pytest.mark.parametrize("where", DATABASES)
async def test_every_table_that_names_somebody_is_told_and_emptied(kettle: Kettle, where: str) -> None:
    async def story(url: str, **given: str) -> None:
        async with house(kettle, **given) as bot:
            if given:
                await bot.app.corpus_manager.reindex("2.0")
            await leave_everything(bot)
            engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
            tables = set(inspect(engine).get_table_names())
            engine.dispose()
            named = set(rows_with(url, "UANN1"))
            told_of = {stand.section: stand.table.__tablename__ for stand in STANDS}
            told_of |= {"answers of theirs": "authors", "asked for help": "escalations", "events": "events"}
            told_of |= {"words elsewhere": "words"}
            assert tables == WITHOUT_PEOPLE | ABOUT_OTHERS | set(told_of.values())
            assert named == set(told_of.values()), "everything is there to be told"
            held = await bot.app.my_data.of(ANN)
            assert set(held) == {"accounts", "opted_out", *told_of}
            assert MARKED in json.dumps(held) and BOB not in json.dumps(held)
            await bot.app.people.forget(ANN)
            for words in (MARKED, ANN, "UANN1", "Ann"):
                assert rows_with(url, words) == [], words
            assert set(await bot.app.my_data.of(ANN)) == {"accounts", "opted_out"}
            assert rows_with(url, BOB) and await bot.app.memory.verify() == []

    if where == "sqlite":
        await story(f"sqlite:///{kettle.home / 'threadlore.sqlite3'}")
    else:
        with postgres_schema() as url:
            await story(url, database_url=url)
