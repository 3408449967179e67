"""`threadlore backup` while people ask, `restore` in an empty home: all that was acknowledged is there."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyrage
import pytest

from bot.privacy.exports import note, noted
from core.domain import Question, Vote
from tests.databases import DATABASES, postgres_schema
from tests.journeys.child import run, serving
from tests.journeys.house import Kettle, house
from tests.journeys.kettle import PORTS
from tests.journeys.test_no_room import Page, page

PORT = "Which port does the dashboard listen on?"
SECRET = "correct horse battery staple"


@pytest.fixture(params=DATABASES)
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """Return the database's address; empty for SQLite in the home."""
    if request.param == "sqlite":
        yield ""
        return
    with postgres_schema() as within:
        yield within


def empty(kettle: Kettle, folder: Path) -> Kettle:
    """Return the same bot with a home in which nothing is but the embedder."""
    shutil.copytree(kettle.folder, folder, ignore=shutil.ignore_patterns("home", "*.log"))
    (folder / "home").mkdir()
    (folder / "home" / "models").symlink_to(kettle.encoder_cache)
    return replace(kettle, folder=folder)


async def asked_until(stop: asyncio.Event, ada: Page) -> list[tuple[str, str]]:
    """Ask and vote without a pause; return the questions that were answered, with their answers, in order."""
    told: list[tuple[str, str]] = []
    while not stop.is_set():
        root = await ada.say(f"{PORT} ({len(told)})")
        answer = await ada.until(root, PORTS["2.0"], final=True)
        told.append((root, str(answer["answer"])))
    return told


async def test_a_backup_that_is_taken_while_people_ask_has_all_that_was_acknowledged(
    kettle: Kettle, tmp_path: Path
) -> None:
    file, stop = tmp_path / "backup", asyncio.Event()
    async with page(kettle) as (ada, _):
        first = [await ada.say(f"{PORT} (before {number})") for number in range(3)]
        before = [str((await ada.until(root, PORTS["2.0"], final=True))["answer"]) for root in first]
        for root in first:
            seen = await ada.until(root, PORTS["2.0"], final=True)
            given = {"person": "ada", "message": seen["id"], "name": "up", "value": seen["answer"]}
            assert (await ada.call("POST", "/api/presses", **given))[0] == 200
        asking = asyncio.create_task(asked_until(stop, ada))
        await asyncio.sleep(0.5)
        ended = await run(kettle, "backup", str(file))
        assert ended.code == 0 and "not encrypted" in ended.out, ended
        stop.set()
        assert await asking
    assert file.stat().st_mode & 0o077 == 0
    copy = empty(kettle, tmp_path / "copy")
    ended = await run(copy, "restore", str(file))
    assert ended.code == 0 and "is as it was on" in ended.out and "threadlore forget" in ended.err, ended
    with sqlite3.connect(copy.home / "threadlore.sqlite3") as database:
        kept = {name for (name,) in database.execute("SELECT id FROM answers")}
        votes = database.execute("SELECT count(*) FROM votes").fetchone()[0]
    assert set(before) <= kept and votes >= 3
    async with house(copy) as bot:
        assert (await bot.app.engine.answer(Question(f"{PORT[:-1]} in 1.5?", "cli"))).route == "quote"
        assert await bot.app.memory.verify() == []
    async with page(copy) as (ada, _):
        assert {m["thread"] for m in await ada.messages()} >= set(first), "the conversation is there, too"


async def test_an_encrypted_backup_is_restored_with_its_passphrase_alone(
    kettle: Kettle, tmp_path: Path, url: str
) -> None:
    given = {"database_url": url} if url else {}
    if url:
        for lost in kettle.home.glob("threadlore.sqlite3*"):
            lost.unlink()
        (kettle.home / "privacy.key").unlink(missing_ok=True)
    async with house(kettle, **given) as bot:
        await bot.app.corpus_manager.reindex("2.0")
        answer = await bot.app.engine.answer(Question(PORT, "cli"))
        assert await bot.app.engine.feedback(Vote(answer.id, "cli", 1))
        await bot.app.people.opt_out("slack:U9")
    file, key = tmp_path / "backup.age", tmp_path / "passphrase"
    note(kettle.home, key, ["pair-1"])
    variables = {"DATABASE_URL": url} if url else {}
    refused = await run(kettle, "backup", str(file), "--encrypt", **variables)
    assert refused.code == 2 and "set BACKUP_PASSPHRASE" in refused.err and not file.exists()
    ended = await run(kettle, "backup", str(file), "--encrypt", **variables, BACKUP_PASSPHRASE=SECRET)
    assert ended.code == 0 and "encrypted" in ended.out, ended
    again = await run(kettle, "backup", str(file), **variables)
    assert again.code == 2 and "is there already" in again.err
    astray = await run(kettle, "backup", str(tmp_path / "none" / "backup.tar"), **variables)
    assert astray.code == 2 and f"There is no folder {tmp_path}/none; make it" in astray.err, astray
    assert PORT.encode() not in file.read_bytes() and pyrage.passphrase.decrypt(file.read_bytes(), SECRET)

    copy = empty(kettle, tmp_path / "copy")
    key.write_text("not the right passphrase\n")
    wrong = await run(copy, "restore", str(file), "--passphrase-file", str(key))
    assert wrong.code == 2 and "right passphrase" in wrong.err
    key.write_text(f"{SECRET}\n")
    with postgres_schema() if url else _none() as other:
        into = {"DATABASE_URL": other} if other else {}
        ended = await run(copy, "restore", str(file), "--passphrase-file", str(key), **into)
        assert ended.code == 0, ended
        assert noted(copy.home) == {key: {"pair-1"}}, "`forget` has to know of files"
        assert "`threadlore forget` or `threadlore opt-out`" in ended.err, "who left since is in it again"
        twice = await run(copy, "restore", str(file), "--passphrase-file", str(key), **into)
        assert twice.code != 0 and "empty" in twice.err
        async with house(copy, **({"database_url": other} if other else {})) as bot:
            assert (await bot.app.engine.answer(Question(PORT, "slack:U2"))).route == "reuse"
            assert bot.app.privacy.is_out("slack:U9") and await bot.app.memory.verify() == []
            assert await bot.app.engine.feedback(Vote(answer.id, "slack:U2", 1)), "new rows get new numbers"


@pytest.mark.skipif(len(DATABASES) < 2, reason="tests/databases.py says how PostgreSQL is given")
async def test_a_backup_of_sqlite_is_restored_into_postgresql(kettle: Kettle, tmp_path: Path) -> None:
    async with house(kettle) as bot:
        answer = await bot.app.engine.answer(Question(PORT, "cli"))
        assert await bot.app.engine.feedback(Vote(answer.id, "cli", 1))
    file = tmp_path / "backup"
    assert (await run(kettle, "backup", str(file))).code == 0
    copy = empty(kettle, tmp_path / "copy")
    with postgres_schema() as url:
        ended = await run(copy, "restore", str(file), DATABASE_URL=url)
        assert ended.code == 0, ended
        async with house(copy, database_url=url) as bot:
            assert (await bot.app.engine.answer(Question(PORT, "slack:U2"))).route == "reuse"
            assert await bot.app.memory.verify() == []


@pytest.mark.parametrize("harm", ["cut", "changed", "foreign"])
async def test_a_backup_that_is_not_whole_is_refused_and_leaves_no_home(
    kettle: Kettle, tmp_path: Path, harm: str
) -> None:
    file = tmp_path / "backup"
    assert (await run(kettle, "backup", str(file))).code == 0
    held = file.read_bytes()
    if harm == "cut":
        os.truncate(file, len(held) // 2)
    elif harm == "changed":
        file.write_bytes(held[: len(held) // 2] + b"\0\1\2" + held[len(held) // 2 + 3 :])
    else:
        file.write_bytes(b"PK\3\4 something else")
    copy = empty(kettle, tmp_path / "copy")
    ended = await run(copy, "restore", str(file))
    assert ended.code == 1 and "backup" in ended.err
    assert not (copy.home / "threadlore.sqlite3").exists() and not (copy.home / "privacy.key").exists()


async def test_a_home_that_is_used_is_not_written_over(kettle: Kettle, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    async with serving(kettle, THREADLORE_PLAYGROUND="true", THREADLORE_PORT="0"):
        assert (await run(kettle, "backup", str(file))).code == 0
        before = (kettle.home / "privacy.key").read_bytes()
        ended = await run(kettle, "restore", str(file))
        assert ended.code == 1 and "belongs to process" in ended.err, "it is in use"
        assert (kettle.home / "privacy.key").read_bytes() == before
    ended = await run(kettle, "restore", str(file))
    assert ended.code == 2 and "holds a database already" in ended.err
    assert (kettle.home / "privacy.key").read_bytes() == before


class _none:
    """Stands in for a schema where there is none."""

    def __enter__(self) -> str:
        return ""

    def __exit__(self, *_: object) -> None:
        """Leave nothing."""
