"""A home that is copied while nobody has it is a whole backup: the copy gives the same answers."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

from core.domain import Question, Vote
from core.generation.quotes.quote import without_introduction
from tests.journeys.child import serving
from tests.journeys.house import Kettle, house
from tests.journeys.kettle import PORTS

PORT = "Which port does the dashboard listen on?"
NIGHT = "How do I run a job every night?"


async def taught(kettle: Kettle) -> str:
    async with house(kettle) as bot:
        answer = await bot.app.engine.answer(Question(PORT, "cli"))
        assert await bot.app.engine.feedback(Vote(answer.id, "cli", 1))
        return answer.text


async def same(kettle: Kettle, text: str) -> None:
    async with house(kettle) as bot:
        again = await bot.app.engine.answer(Question(PORT, "slack:U2"))
        assert again.route == "reuse" and again.text == without_introduction(text)
        assert (await bot.app.engine.answer(Question(NIGHT, "slack:U2"))).route == "quote"
        assert await bot.app.memory.verify() == []


async def test_a_copied_home_gives_the_same_answers(kettle: Kettle, tmp_path: Path) -> None:
    text = await taught(kettle)
    async with serving(kettle, THREADLORE_PLAYGROUND="true", THREADLORE_PORT="0") as child:
        assert await child.stop() == 0
    copy = kettle.copy(tmp_path / "copy")
    shutil.rmtree(kettle.folder)
    await same(copy, text)


async def test_a_copy_of_the_database_alone_is_enough(kettle: Kettle, tmp_path: Path) -> None:
    """Taken while the bot serves, by SQLite's own backup; the indexes are made from it, embedding nothing."""
    text = await taught(kettle)
    restored = kettle.copy(tmp_path / "restored")
    for name in ("threadlore.sqlite3", "threadlore.sqlite3-wal", "threadlore.sqlite3-shm", "vectors.sealed"):
        (restored.home / name).unlink(missing_ok=True)
    for name in ("vectors", "words"):
        shutil.rmtree(restored.home / name)
    async with serving(kettle, THREADLORE_PLAYGROUND="true", THREADLORE_PORT="0") as child:
        with (
            sqlite3.connect(kettle.home / "threadlore.sqlite3") as live,
            sqlite3.connect(restored.home / "threadlore.sqlite3") as backup,
        ):
            live.backup(backup)
        assert await child.stop() == 0
    await same(restored, text)
    async with house(restored) as bot:
        assert PORTS["1.5"] in (await bot.app.engine.answer(Question(f"{PORT[:-1]} in 1.5?", "cli"))).text
