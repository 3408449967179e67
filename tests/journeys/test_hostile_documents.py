"""Documents that never end, eat memory or kill their reader: each is named, the others are indexed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.app.bootstrap import build
from bot.commands.command_line import handle, status_of
from bot.operations.application import Application
from bot.rendering.status import status_text
from core.domain import Question
from core.errors import ThreadloreError
from core.ports import Encoder
from core.settings import Settings
from core.workers.pool import WorkerPool
from core.workers.process import Limits
from tests.hostile_counter import CRASHES, EATS, LOOPS, Hostile
from tests.journeys.house import Kettle
from tests.journeys.kettle import PORTS
from tests.patience import PATIENCE
from tests.shared_processes import SharedProcesses
from tests.shared_vectors import one_for_all

PORT = "Which port does the dashboard listen on?"


class WithHostile:
    """An encoder whose counter pages can turn against who counts."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.count_tokens = Hostile(encoder.count_tokens)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder, name)


@asynccontextmanager
async def reading(kettle: Kettle, seconds: float) -> AsyncIterator[tuple[Application, WorkerPool]]:
    """Build the bot with workers that have so many seconds and 350 MB for a document."""
    pool = WorkerPool(Limits(seconds, 350))

    def load(model: str, folder: Path) -> Any:
        return WithHostile(one_for_all(model, folder))

    class Lent(SharedProcesses):
        def pool(self, settings: Settings) -> WorkerPool:
            return pool

    async with build(kettle.settings(), "test", load, Lent()) as app:
        yield app, pool


async def told(app: Application, command: str) -> str:
    """Return what a command says."""
    said: list[str] = []

    async def send(message: dict[str, Any]) -> None:
        said.append(str(message.get("line", "")))

    await handle(app, {"command": command}, send)
    return "\n".join(said)


async def until(true: Any, what: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while not true():
            await asyncio.sleep(0.01)
    assert true(), what


def write(kettle: Kettle, **pages: str) -> None:
    for name, text in pages.items():
        place = kettle.folder / "docs" / "2.0" / f"{name}.md"
        place.write_text(f"# {name.title()}\n\n{text}\n", encoding="utf-8")


async def test_documents_that_take_too_much_are_named_and_the_rest_is_indexed(kettle: Kettle) -> None:
    write(kettle, endless=LOOPS, greedy=EATS, deadly=CRASHES)
    write(kettle, zeppelins="A zeppelin job flies to the moon with the flag `--zeppelin`.")
    async with reading(kettle, 1) as (app, _):
        (done,) = await app.corpus_manager.reindex("2.0")
        assert done.reading.added == ("folder:docs/2.0: zeppelins.md",), "what comes after them is read"
        sources = await told(app, "sources")
        assert "3 passed over" in sources
        assert "`endless.md`: over the limit of one document: " in sources and "PARSE_SECONDS" in sources
        assert "`greedy.md`: over the limit of one document: 350 MB of memory (PARSE_MEMORY_MB)" in sources
        assert "`deadly.md`: its parser crashed: signal 6 (SIGABRT)" in sources
        status = status_text(await status_of(app))
        for page in ("endless.md", "greedy.md", "deadly.md"):
            assert f"`{page}`: " in status
        answer = await app.engine.answer(Question("Which flag flies a zeppelin job to the moon?"))
        assert "--zeppelin" in answer.text
        assert PORTS["2.0"] in (await app.engine.answer(Question(PORT))).text


async def test_a_page_that_became_hostile_stays_as_it_was_as_any_other_that_cannot_be_read(
    kettle: Kettle,
) -> None:
    write(kettle, zeppelins="A zeppelin job flies to the moon with the flag `--zeppelin`.", other="It is.")
    async with reading(kettle, 1) as (app, _):
        await app.corpus_manager.reindex("2.0")
        (kettle.folder / "docs" / "2.0" / "other.md").write_bytes(b"\0\1\2")
        write(kettle, zeppelins=LOOPS)
        (done,) = await app.corpus_manager.reindex("2.0")
        kept = ("folder:docs/2.0: other.md", "folder:docs/2.0: zeppelins.md")
        assert sorted(done.reading.kept) == list(kept) and not done.reading.removed
        status = status_text(await status_of(app))
        assert "`other.md`: binary; its earlier page stays" in status and "`zeppelins.md`: " in status
        answer = await app.engine.answer(Question("Which flag flies a zeppelin job to the moon?"))
        assert "--zeppelin" in answer.text
        write(kettle, zeppelins="A zeppelin job flies to Mars with the flag `--mars`.")
        (done,) = await app.corpus_manager.reindex("2.0")
        assert done.reading.changed == ("folder:docs/2.0: zeppelins.md",), "mended, it is read again"


async def test_a_reindex_that_is_cancelled_ends_its_workers_and_the_old_pages_answer(kettle: Kettle) -> None:
    write(kettle, endless=LOOPS)
    async with reading(kettle, 600) as (app, pool):
        task = asyncio.create_task(app.corpus_manager.reindex("2.0"))
        await until(lambda: app.corpus_manager.progress() and pool.pids, "nothing is read")
        await asyncio.sleep(0.5)  # it may be with any page by now; most likely with the endless one
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: not pool.pids, "a worker goes on")
        assert PORTS["2.0"] in (await app.engine.answer(Question(PORT))).text
        (kettle.folder / "docs" / "2.0" / "endless.md").unlink()
        write(kettle, zeppelins="A zeppelin job flies to the moon.")
        (done,) = await app.corpus_manager.reindex("2.0")
        assert done.reading.added == ("folder:docs/2.0: zeppelins.md",), "workers are started again"


async def test_stopping_ends_workers_at_once_and_removes_no_page(kettle: Kettle) -> None:
    write(kettle, endless=LOOPS)
    async with reading(kettle, 600) as (app, pool):
        before = (await app.corpora.live())["2.0"]
        task = asyncio.create_task(app.corpus_manager.reindex("2.0"))
        await until(lambda: pool.pids, "nothing is read")
        pool.close()
        with pytest.raises(ThreadloreError, match="Reading was ended"):
            await task
        assert pool.pids == []
        assert (await app.corpora.live())["2.0"] == before, "what was not read is not gone"
    async with reading(kettle, 1) as (app, _):
        assert PORTS["2.0"] in (await app.engine.answer(Question(PORT))).text
