"""Somebody is forgotten, and others keep what is theirs; what is under way just then keeps nothing."""

from __future__ import annotations

import asyncio
import json
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from bot.interactions.presses import FORGOTTEN
from bot.ports.chat import Command
from bot.privacy.exports import clean, note
from core.domain import MessageRef, Question, Scope, Turn, Vote
from core.errors import WordsGone
from core.privacy.retention import DAY_SECONDS, Policy, Retention
from storage.people.forgetting import SqlPeople
from storage.people.retention import SqlRetention
from storage.serving.about import SqlAudit
from tests.journeys.fake_stage import FakeResponder, FakeStage, person
from tests.journeys.house import Bot, Kettle, house
from tests.journeys.planting import Garden, files_with, rows_with
from tests.journeys.stage import EVERYWHERE, answer, open_stage, told, until
from tests.ollama_server import OllamaServer

MARK = "xylophonic"
PORT = f"Which port does the {MARK} dashboard listen on?"
ANN, BOB = "fake:ann", "fake:bob"


def url_of(kettle: Kettle) -> str:
    return f"sqlite:///{kettle.home / 'threadlore.sqlite3'}"


def rows(kettle: Kettle, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table."""
    engine = create_engine(url_of(kettle))
    with engine.connect() as connection:
        found = [dict(row._mapping) for row in connection.execute(text(f"SELECT * FROM {table}"))]
    engine.dispose()
    return found


async def test_of_a_follow_up_the_askers_own_words_stay(kettle: Kettle, bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        await answer(stage, said)
        await stage.say("bob", "and in 1.5?", under=said, to="bot")
        follow = await answer(stage, said, 2)
        other = await stage.say("bob", "Which licence does Kettle have?", to="bot")
        seen = await answer(stage, other)
        await stage.react("bob", seen, "👍")
        await bot.app.people.forget(ANN)
        mine = {row["question"]: row for row in rows(kettle, "answers")}
        assert set(mine) == {"and in 1.5?", "Which licence does Kettle have?"}
        emptied = mine["and in 1.5?"]
        assert (emptied["asker"], emptied["text"], emptied["route"]) == (BOB, "", "quote")
        assert {json.loads(row["payload"])["text"] for row in rows(kettle, "claims")} == set(mine)
        assert (await bot.counts())["high"] == 1, "what was remembered of bob's own question"
        await stage.press("bob", follow, "why")
        assert "It quotes" in (await told(stage, "bob", "1.5")), "who asked may still look into it"
        await stage.press("bob", follow, "release", "1.0")
        await answer(stage, said, 3)
        assert "and in 1.0?" in {row["question"] for row in rows(kettle, "answers")}, "bob's words alone"
        assert rows_with(url_of(kettle), MARK) == []


async def test_of_what_others_asked_in_their_words_stays_that_it_was_asked(kettle: Kettle, bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        seen = await answer(stage, said)
        await stage.press("bob", seen, "release", "1.5")
        again = await answer(stage, said, 2)
        garden = Garden(stage, bot, OllamaServer())
        await garden.answer_this("hal", said)
        held = await bot.app.my_data.of(ANN)
        assert {row["in"] for row in held["words elsewhere"]} == {"answer", "claim", "pair"}
        await bot.app.people.forget(ANN)
        left = [(row["asker"], row["question"], row["text"], row["route"]) for row in rows(kettle, "answers")]
        assert sorted(left) == [(BOB, "", "", "quote"), ("fake:hal", "", "", "quote")]
        [claim] = rows(kettle, "claims")
        assert (claim["asker"], json.loads(claim["payload"]), bool(claim["answer_id"])) == (BOB, {}, True)
        await stage.press("bob", again, "up")
        await told(stage, "bob", FORGOTTEN)
        assert rows(kettle, "words") == [] and await bot.app.statistics.gaps(30) == ()


@pytest.mark.parametrize("who", ["ann", "bob"])
@pytest.mark.parametrize("platform", ["fake", "web"])
async def test_what_is_being_written_when_somebody_is_forgotten_is_not_kept(
    platform: str, who: str, kettle: Kettle, writer: Bot, ollama: OllamaServer
) -> None:
    async with open_stage(platform, writer) as stage:
        said = await stage.say("ann", PORT, to="bot")
        await answer(stage, said)
        if who == "bob":
            said = await stage.say("bob", "How do I start the dashboard?", to="bot")
            await answer(stage, said)
            await stage.say("ann", PORT, under=said)
        ollama.first_token_delay = 1.0
        calls = ollama.calls
        async with OnTheWay(stage, who, "and in 1.5?", said):
            await until(lambda: ollama.calls > calls)
            await writer.app.people.forget(stage.account("ann"))
        await stage.quiet()
        if who == "bob":
            await until(lambda: [s for s in stage.replies(said) if "just been removed" in s.text])
        await writer.app.history.close(30.0)
    assert rows_with(url_of(kettle), MARK) == [] and files_with(kettle.home, MARK) == []
    assert not [row for row in rows(kettle, "answers") if row["text"] and "1.5" in row["question"]]


class OnTheWay:
    """Somebody asks in a thread, and is answered meanwhile."""

    def __init__(self, stage: Any, who: str, said: str, under: Any) -> None:
        self._asking = stage.say(who, said, under=under, to="bot")

    async def __aenter__(self) -> None:
        self._task = asyncio.ensure_future(self._asking)

    async def __aexit__(self, *_: object) -> None:
        await self._task


async def test_nobody_goes_on_from_what_a_forgotten_person_had_said(kettle: Kettle, bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        await answer(stage, said)
        await bot.app.people.forget(ANN)
        await stage.say("bob", "and in 1.5?", under=said, to="bot")
        await answer(stage, said, 2)
        assert rows_with(url_of(kettle), MARK) == []
        await stage.say("ann", f"Again: {PORT}", under=said, to="bot")
        await answer(stage, said, 3)
        assert rows_with(url_of(kettle), MARK), "what they say later is kept as ever"


@EVERYWHERE
async def test_nobody_goes_on_from_what_the_bot_had_said_in_their_words(
    platform: str, kettle: Kettle, writer: Bot, ollama: OllamaServer
) -> None:
    async with open_stage(platform, writer) as stage:
        garden = Garden(stage, writer, ollama)
        _, seen = await garden.asked(f"How do I choose another port for the {MARK} dashboard?")
        await stage.react("ann", seen, "👍")
        await stage.quiet()
        garden.says["port than 9999"] = f"The {MARK} one listens on port 9090 [1]; choose with `--port` [1]."
        said, near = await garden.asked("How do I choose another port than 9999 for the dashboard?", "bob")
        assert MARK in near.text
        await stage.quiet()
        await writer.app.people.forget(stage.account("ann"))
        assert rows_with(url_of(kettle), MARK) == []
        ollama.requests.clear()
        garden.says.clear()
        if platform != "web":  # where it says nothing more itself
            assert any(MARK in seen.text for seen in stage.replies(said))
        await stage.say("bob", "and in 1.5?", under=said, to="bot")
        await until(lambda: ollama.calls and len([s for s in stage.replies(said) if "1.5" in s.text]))
        await stage.quiet()
        assert not any(MARK in json.dumps(request.body) for request in ollama.requests)
        assert rows_with(url_of(kettle), MARK) == []


async def test_a_message_of_the_bot_that_is_asked_again_is_of_those_it_repeats(
    kettle: Kettle, bot: Bot
) -> None:
    async with FakeStage(bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        seen = await answer(stage, said)
        ref = MessageRef("fake", "public", seen.id, said.root)
        given = Command("ask", f"It listens, {MARK}?", person("bob"), ref, Scope(), "menu-1", "fake:bot")
        await bot.dispatch.command(stage.chat, given, FakeResponder(stage, "bob"))
        assert len(rows(kettle, "answers")) == 2
        await bot.app.people.forget(ANN)
        assert rows_with(url_of(kettle), MARK) == [] and len(rows(kettle, "answers")) == 1


async def test_what_retention_has_given_one_way_names_is_found(kettle: Kettle) -> None:
    async with house(kettle) as bot:
        engine, database = bot.app.engine, bot.app.corpora._database
        names = bot.app.privacy.names
        for asker, authors in ((BOB, (ANN,)), (BOB, ())):
            asked = Question(PORT if authors else "Which licence does Kettle have?", asker, authors=authors)
            first = await engine.answer(asked)
            for voter in (BOB, "fake:hal"):
                await engine.feedback(Vote(first.id, voter, 1))

        async def nothing(before: float, dry_run: bool) -> dict[str, int]:
            return {}

        def later() -> float:
            return time.time() + 400 * DAY_SECONDS

        store = SqlRetention(database, names)
        await Retention(store, Policy(365, 365), SqlAudit(database), Path("none"), nothing, later).run()
        assert {row["person"].partition(":")[2][0] for row in rows(kettle, "words")} == {"~"}
        assert rows_with(url_of(kettle), MARK) and not rows_with(url_of(kettle), ANN)
        accounts = names.everyone(ANN)
        assert (await SqlPeople(database, names).held(accounts))["words elsewhere"]
        gone = await SqlPeople(database, names).forget(accounts, accounts)
        assert len(gone.pair_ids) == 1 and rows(kettle, "words") == []
        assert rows_with(url_of(kettle), MARK) == [] and len(rows(kettle, "pairs")) == 1


async def test_reports_in_the_home_go_and_others_are_named(kettle: Kettle, bot: Bot, tmp_path: Path) -> None:
    first = await bot.app.engine.answer(Question(PORT, ANN))
    inside, outside, theirs = kettle.home / "gaps.md", tmp_path / "gaps.md", kettle.home / "more.md"
    for file, ids in ((inside, [first.id]), (outside, [first.id]), (theirs, ["a0"])):
        file.write_text("It is shortened here …", encoding="utf-8")
        note(kettle.home, file, ids)
    lines = [
        {"id": 1, "retrieved": ["2.0: a.md"]},
        {"id": 2, "retrieved": [{"path": "b.md"}]},
        {"answer_id": first.id},
    ]
    batch = kettle.home / "batch.out"
    batch.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    note(kettle.home, batch)
    done = await bot.app.people.forget(ANN)
    assert done.left == (str(outside),) and not inside.exists() and theirs.exists()
    assert batch.read_text(encoding="utf-8").count("\n") == 2
    clean(kettle.home, {"a.md"}, ())
    assert json.loads(batch.read_text(encoding="utf-8")) == lines[1]
    clean(kettle.home, {"b.md"}, ())
    assert batch.read_text(encoding="utf-8") == ""


async def test_pages_of_theirs_say_nothing_at_once_whether_or_not_their_source_is_there(
    kettle: Kettle,
) -> None:
    export = kettle.folder / "export.zip"
    talk = [
        {"type": "message", "ts": ts, "user": user, "text": said, "thread_ts": "100.000100"}
        for ts, user, said in (
            ("100.000100", "U1", f"How do I descale the {MARK} kettle with vinegar?"),
            ("101.000100", "U9", "Pour vinegar into the kettle and boil it twice."),
            ("102.000100", "U1", "Thanks, that worked!"),
        )
    ]
    with zipfile.ZipFile(export, "w") as out:
        out.writestr("channels.json", json.dumps([{"id": "C9", "name": "help"}]))
        out.writestr("users.json", json.dumps([{"id": "U1"}, {"id": "U9"}]))
        out.writestr("help/2024-05-01.json", json.dumps(talk))
    source = '\n[[unversioned.source]]\nkind = "history"\npath = "export.zip"\n'
    kettle.config.write_text(kettle.config.read_text() + source)
    async with house(kettle) as bot:
        await bot.app.corpus_manager.reindex()
        assert not [row for row in rows(kettle, "words") if "U1" in row["person"]], "by one-way names"
        asked = Question("How do I descale a kettle with vinegar?", BOB)
        first = await bot.app.engine.answer(asked)
        assert MARK in first.text and first.taken.people
        export.unlink()
        gone = (await bot.app.people.forget("slack:U1")).forgotten
        assert gone.pages == {"help/100.000100"} and first.id in gone.answers
        assert rows_with(url_of(kettle), MARK) == []
        again = await bot.app.engine.answer(asked)
        assert MARK not in again.text and "vinegar" not in again.text
        await bot.app.history.close(30.0)
    assert files_with(kettle.home, MARK) == [] and rows_with(url_of(kettle), MARK) == []
    async with house(kettle) as bot:
        assert MARK not in (await bot.app.engine.answer(asked)).text


async def test_an_answer_made_of_a_pair_that_goes_meanwhile_is_given_up(bot: Bot) -> None:
    engine, store = bot.app.engine, bot.app.engine._store
    asked = Question("Which port does the dashboard listen on?", ANN)
    first = await engine.answer(asked)
    await engine.feedback(Vote(first.id, ANN, 1))
    whole = store.answer

    async def forgets(answer_id: str) -> Any:
        store.answer = whole  # type: ignore[method-assign]
        await bot.app.people.forget(ANN)
        return await whole(answer_id)

    store.answer = forgets  # type: ignore[method-assign]
    with pytest.raises(WordsGone):
        await engine.answer(Question("Which port does the dashboard listen on?", BOB))
    assert (await bot.counts())["answers"] == 0
    turns = (Turn("user", PORT, ANN),)
    again = await engine.answer(Question("and in 1.5?", BOB, history=turns))
    assert again.taken.asked == {ANN}
