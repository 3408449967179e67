"""A person is forgotten: nothing of their words is left in any table or file of the home."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect, text

from bot.commands.command_line import handle
from bot.ports.chat import Command, Person, Reply
from bot.privacy.exports import note
from core.domain import MessageRef, Question, Scope, Turn, Vote
from core.ports import Claim
from tests.databases import DATABASES, postgres_schema
from tests.journeys.fake_stage import FakeStage
from tests.journeys.house import Bot, Kettle, house
from tests.journeys.stage import ON_EACH_WIRE, Said, answer, open_stage, until

MARK = "xylophonic-quagmire"
PORT = f"Which port does the dashboard {MARK} listen on?"
ANN, BOB = "slack:UANN1", "slack:UBOB2"


class Told:
    """Keeps what a slash command answers."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def reply(self, reply: Reply) -> None:
        self.texts.append(reply.markdown)

    async def progress(self, reply: Reply) -> None:
        self.texts.append(reply.markdown)


def files_with(folder: Path, words: str) -> list[str]:
    """Return the files below a folder, links apart, that hold the words in UTF-8 or UTF-16."""
    forms = [words.encode(form) for form in ("utf-8", "utf-16-le")]
    files = (path for path in folder.rglob("*") if path.is_file() and "models" not in path.parts)
    return [path.name for path in files if any(form in path.read_bytes() for form in forms)]


def rows_with(url: str, words: str, only: str = "") -> list[str]:
    """Return for each row that holds the words the name of its table."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        found = [
            table
            for table in ([only] if only else inspect(engine).get_table_names())
            for row in connection.execute(text(f'SELECT * FROM "{table}"'))
            if words in repr(tuple(row))
        ]
    engine.dispose()
    return found


async def leave_traces(bot: Bot) -> None:
    """Let ann ask, vote and be answered, and bob reuse and follow up what she asked."""
    engine = bot.app.engine
    first = await engine.answer(Question(PORT, ANN, "slack:C1"))
    claim = Claim("slack:C1:1", "slack:C1:1", ANN, 1.0, {"text": PORT})
    await bot.app.conversations.claim(claim, f"slack:reaction:{ANN.partition(':')[2]}")
    await bot.app.conversations.answered(claim.message, first.id)
    await engine.feedback(Vote(first.id, ANN, 1))
    reused = await engine.answer(Question(PORT, BOB))
    assert (reused.route, reused.pair_id) == ("reuse", first.pair_id)
    near = await engine.answer(Question("Which port does the old dashboard listen on?", BOB))
    assert any(found["pair"] == first.pair_id for found in near.trace["high"])
    await engine.feedback(Vote(near.id, BOB, 1))
    await engine.feedback(Vote(near.id, ANN, 0))
    turns = (Turn("user", PORT, ANN), Turn("assistant", "9090", release="2.0"))
    follow_up = await engine.answer(Question("and in 1.5?", BOB, "slack:C1", history=turns))
    await bot.app.conversations.claim(
        replace(claim, message="slack:C1:2", asker=BOB, payload={"text": "and?"})
    )
    await bot.app.conversations.answered("slack:C1:2", follow_up.id)
    hidden = Question(f"{PORT} Still?", ANN, "slack:D1", Scope("direct", "slack:D1"))
    await engine.answer(hidden)


@pytest.mark.parametrize("where", DATABASES)
async def test_nothing_is_left_of_a_person_and_others_keep_theirs(kettle: Kettle, where: str) -> None:
    def check(url: str) -> None:
        given = {} if where == "sqlite" else {"database_url": url}
        asyncio.run(story(kettle, url, given))

    if where == "sqlite":
        await asyncio.to_thread(check, f"sqlite:///{kettle.home / 'threadlore.sqlite3'}")
    else:
        with postgres_schema() as url:
            await asyncio.to_thread(check, url)


async def story(kettle: Kettle, url: str, given: dict[str, str]) -> None:
    async with house(kettle, **given) as bot:
        if given:
            await bot.app.corpus_manager.reindex("")
        vectors = len(rows_with(url, "", "vectors"))
        await leave_traces(bot)
        assert len(rows_with(url, "", "vectors")) == vectors + 2
        assert {"answers", "pairs", "claims"} <= set(rows_with(url, MARK))
        before = await bot.counts()
        done = (await bot.app.people.forget(ANN)).forgotten
        assert (done.questions, done.pairs, done.votes, done.messages) == (2, 2, 2, 1)
        for words in (MARK, ANN, ANN.partition(":")[2]):
            assert rows_with(url, words) == []
            # while it indexes, the vector index writes down memory of this process as it finds it
            assert given or files_with(kettle.home, words) == []
        assert rows_with(url, BOB)
        assert len(rows_with(url, "", "vectors")) == vectors + 1, "that of bob's own question"
        after = await bot.counts()
        assert after["votes"] == 1 and after["high"] == 1 and after["answers"] < before["answers"]
        assert await bot.app.memory.verify() == []
        answer = await bot.app.engine.answer(Question("Which port does the old dashboard listen on?", BOB))
        assert answer.route == "reuse", "what bob asked and voted is still there"
        await bot.app.people.forget("slack:nobody")
    assert given or files_with(kettle.home, MARK) == []


async def test_linked_accounts_are_forgotten_together(kettle: Kettle) -> None:
    with kettle.config.open("a", encoding="utf-8") as config:
        config.write(f'\n[people]\nann = ["{ANN}", "discord:77"]\n')
    async with house(kettle) as bot:
        first = await bot.app.engine.answer(Question(PORT, "discord:77"))
        await bot.app.engine.feedback(Vote(first.id, ANN, 1))
        done = (await bot.app.people.forget(ANN)).forgotten
        assert (done.questions, done.votes) == (1, 1)
        assert (await bot.counts())["votes"] == 0


async def test_the_playground_keeps_no_line_of_them_and_other_files_are_named(
    kettle: Kettle, bot: Bot
) -> None:
    answer = await bot.app.engine.answer(Question(PORT, "web:ada"))
    lines = [
        {"id": "1", "author": "ada", "text": PORT, "thread": ""},
        {"id": "2", "author": "threadlore", "text": MARK, "thread": "1"},
        {"id": "3", "author": "threadlore", "text": MARK, "thread": "", "answer": answer.id},
        {"id": "4", "author": "ben", "text": "hello", "thread": "", "votes": {"ada": "+1", "ben": "+1"}},
    ]
    journal = kettle.home / "playground.jsonl"
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines) + "{torn", encoding="utf-8")
    (kettle.home / "playground.broken.jsonl").write_bytes(b"\xff" + PORT.encode())  # as it is set aside
    (kettle.home / "export.jsonl").write_text(json.dumps({"question": PORT}), encoding="utf-8")
    index = kettle.home / "vectors" / "unused" / "data_level0.bin"
    index.parent.mkdir()
    index.write_bytes(b"\x01\x02" + PORT.encode() + b"\x03" + json.dumps({"text": PORT}).encode())
    size = index.stat().st_size
    messages: list[dict[str, object]] = []

    async def send(message: dict[str, object]) -> None:
        messages.append(message)

    await handle(bot.app, {"command": "forget", "user": "web:ada"}, send)
    assert "export.jsonl" in str(messages[0]["line"]) and messages[-1] == {"code": 0}
    assert [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()] == [
        lines[3] | {"votes": {"ben": "+1"}}
    ]
    assert files_with(kettle.home, MARK) == ["export.jsonl"]
    assert index.stat().st_size == size and index.read_bytes().startswith(b"\x01\x02\x00")


@ON_EACH_WIRE
async def test_everybody_may_be_forgotten_and_is_asked_to_confirm(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await stage.slash("ann", "threadlore", "forget me")
        await until(lambda: any("forget me confirm" in told for told in stage.heard("ann")))
        await stage.slash("ann", "threadlore", "forget me confirm")
        await until(lambda: any("with their answers: 0" in told for told in stage.heard("ann")))
        await stage.slash("ann", "threadlore", "forget slack:U9 confirm")
        await until(lambda: any("Only admins" in told for told in stage.heard("ann")))


async def test_an_admin_names_somebody_in_any_of_the_usual_ways(bot: Bot) -> None:
    boss = Person("slack:UBOSS", admin=True)

    async def give(text: str) -> None:
        command = Command("threadlore", text, boss, MessageRef("slack", "C1", "", "1"), Scope())
        await bot.dispatch.slash.run(command, told)

    for said in ("<@UANN1>", "<@UANN1|ann>", "UANN1", ANN):
        await bot.app.engine.answer(Question(PORT, ANN))
        told = Told()
        await give(f"forget {said}")
        assert f"forget {said} confirm" in told.texts[-1] and ANN in told.texts[-1]
        await give(f"forget {said} please")
        assert (await bot.counts())["answers"] == 1
        await give(f"forget {said} confirm")
        assert "with their answers: 1" in told.texts[-1]
    told = Told()
    await give("forget @ann confirm")
    assert "slack:U123" in told.texts[0]


async def test_a_playground_that_runs_forgets_at_once_and_for_good(bot: Bot) -> None:
    async with open_stage("web", bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        seen = await answer(stage, said)
        other = await stage.say("bob", "Which licence does Kettle have?", to="bot")
        theirs = await answer(stage, other)
        for voted in (seen, theirs):
            await stage.react("ann", voted, "👍")
        await stage.quiet()
        await bot.app.people.forget("web:ada")
        assert stage.replies(said) == [] or all(MARK not in s.text for s in stage.replies(said))
        await until(lambda: not stage.replies(said))
        assert files_with(bot.kettle.home, MARK) == []
        more = await stage.say("bob", "How do I start the dashboard?", to="bot")
        await answer(stage, more)
        kept = stage.replies(other)
        assert [s.text for s in kept] == [theirs.text]
    assert files_with(bot.kettle.home, MARK) == []
    journal = (bot.kettle.home / "playground.jsonl").read_text(encoding="utf-8")
    assert "licence" in journal and '"ada"' not in journal


async def test_exported_pairs_of_theirs_are_taken_out_of_the_file(bot: Bot, tmp_path: Path) -> None:
    engine = bot.app.engine
    for who, text_ in ((ANN, PORT), (BOB, "How often is a failed job tried again by default?")):
        first = await engine.answer(Question(text_, who))
        await engine.feedback(Vote(first.id, who, 1))
    lines: list[str] = []

    async def send(message: dict[str, object]) -> None:
        lines.extend(str(message["line"]) + "\n" for _ in [0] if "line" in message)

    await handle(bot.app, {"command": "memory", "action": "export"}, send)
    assert len(lines) == 2
    export, report, gone = (tmp_path / name for name in ("pairs.jsonl", "promoted.md", "gone.jsonl"))
    export.write_text("".join(lines), encoding="utf-8")
    report.write_text(f"# {PORT}", encoding="utf-8")
    for path in (export, report, gone, export):
        note(bot.kettle.home, path)
    done = await bot.app.people.forget(ANN)
    assert MARK not in export.read_text(encoding="utf-8")
    assert export.read_text(encoding="utf-8") == next(line for line in lines if MARK not in line)
    assert done.left == (str(report),) and str(report) in done.text
    assert not gone.exists()


async def test_what_a_stale_pair_was_offered_goes_with_it(kettle: Kettle, bot: Bot) -> None:
    asked = PORT.replace("listen on", "listen on by default")
    first = await bot.app.engine.answer(Question(asked, ANN))
    await bot.app.engine.feedback(Vote(first.id, ANN, 1))
    page = kettle.folder / "docs" / "2.0" / "dashboard.rst"
    page.write_text(page.read_text().replace("9090", "9191 xyloport"))
    await bot.app.corpus_manager.reindex("2.0")
    await bot.app.stale_review.slice()
    assert len(await bot.app.stale_review.waiting()) == 1
    url = f"sqlite:///{kettle.home / 'threadlore.sqlite3'}"
    assert rows_with(url, "xyloport", "pairs")
    await bot.app.people.forget(ANN)
    assert rows_with(url, "xyloport", "pairs") == [] and rows_with(url, MARK) == []
    assert (await bot.counts())["stale"] == 0
    assert await bot.app.memory.verify() == [] and await bot.app.upkeep.broken() == []


@pytest.mark.parametrize("change", ["deleted", "edited"])
async def test_a_question_that_is_deleted_or_edited_leaves_no_word_unless_somebody_voted(
    change: str, bot: Bot
) -> None:
    stage, url = FakeStage(bot), f"sqlite:///{bot.kettle.home / 'threadlore.sqlite3'}"

    async def gone(said: Said) -> None:
        await (stage.delete(said) if change == "deleted" else stage.edit(said, "How do I bake bread?"))
        await stage.quiet()
        await bot.app.people.settle()

    text = "Which port does the quizzacious dashboard listen on?"
    said = await stage.say("ann", text, to="bot")
    await answer(stage, said)
    assert rows_with(url, "quizzacious", "pairs") and len(rows_with(url, "", "vectors"))
    await gone(said)
    assert rows_with(url, "quizzacious") == []
    if change == "deleted":
        assert files_with(bot.kettle.home, "quizzacious") == []
    said = await stage.say("ann", text, to="bot")
    await stage.react("hal", await answer(stage, said), "👍")
    await gone(said)
    assert set(rows_with(url, "quizzacious")) == {"pairs", "answers"}, "votes of others hold it there"
    assert await bot.app.memory.verify() == []


async def test_a_vote_that_is_taken_back_holds_no_question_that_is_gone(bot: Bot) -> None:
    stage, url = FakeStage(bot), f"sqlite:///{bot.kettle.home / 'threadlore.sqlite3'}"
    text = "Which port does the quizzacious dashboard listen on?"
    said = await stage.say("ann", text, to="bot")
    given = await answer(stage, said)
    await stage.react("hal", given, "👍")
    await stage.react("hal", given, "👍", added=False)
    await stage.delete(said)
    await stage.quiet()
    assert rows_with(url, "quizzacious") == []
    said = await stage.say("ann", text, to="bot")
    given = await answer(stage, said)
    await stage.react("hal", given, "👍")
    await stage.edit(said, "How do I bake bread?")
    await stage.quiet()
    assert set(rows_with(url, "quizzacious")) == {"pairs", "answers"}
    await stage.react("hal", given, "👍", added=False)
    assert rows_with(url, "quizzacious") == [] and await bot.app.memory.verify() == []
