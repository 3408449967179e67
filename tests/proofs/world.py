"""One bot for all examples of a machine: its tables are emptied between them, its process can be killed."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import os
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Engine, create_engine, make_url

from bot.dispatch.dispatch import Dispatch, dispatch_of
from storage.database.sqlite_file import FILE
from storage.tables import Base
from tests.journeys.fake_stage import FakeChat, FakeStage
from tests.journeys.house import Bot, Kettle, house

T = TypeVar("T")
KEPT = (
    "about context_chunks corpora corpus_documents documents pregenerated_documents pregenerated_pairs "
    "search_chunks source_runs vectors page_views"
).split()
"""Tables that examples share: what is indexed, and what the database says of itself."""


class Fuse:
    """A process that is killed at its `left`th call to the store or the platform, before or after it."""

    def __init__(self, left: int = 0, is_done_first: bool = False) -> None:
        self._left = left
        self._is_done_first = is_done_first
        self.blown = asyncio.Event()

    async def burn(self, work: Coroutine[Any, Any, T]) -> T:
        """Do what the process calls, or nothing where it is dead; killed, it never hears of the result."""
        if self.blown.is_set():
            work.close()
            raise asyncio.CancelledError
        self._left -= 1
        if self._left != 0:
            return await work
        if self._is_done_first:
            await work
        else:
            work.close()
        self.blown.set()
        raise asyncio.CancelledError


class Through:
    """Something that a process calls, by way of its fuse; `given` stands in for some of its methods."""

    def __init__(self, inner: Any, fuse: Fuse, given: Mapping[str, Any] | None = None) -> None:
        self._inner, self._fuse, self._given = inner, fuse, given or {}

    def __getattr__(self, name: str) -> Any:
        found = self._given.get(name) or getattr(self._inner, name)
        if not inspect.iscoroutinefunction(found):
            return found
        return lambda *args, **named: self._fuse.burn(found(*args, **named))


class World:
    """A bot on a home, with a loop of its own; `process` starts another process on what is stored."""

    def __init__(self, kettle: Kettle, **given: Any) -> None:
        self._kettle, self._given = kettle, given
        self.ids = itertools.count(1)
        self.loop = asyncio.new_event_loop()
        self._house: AbstractAsyncContextManager[Bot] = house(kettle, **given)
        self.bot = self.run(self._house.__aenter__())
        if url := given.get("database_url"):
            self.run(self.bot.app.corpus_manager.reindex("2.0"))
            self._tables = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
        else:
            self._tables = create_engine(f"sqlite:///{kettle.home / FILE}")
        self.empty(self._tables)
        self._always = asyncio.all_tasks(self.loop)

    def close(self) -> None:
        """Close the bot; nothing is under way."""
        self.abandon()
        self.run(self._house.__aexit__(None, None, None))
        self._tables.dispose()
        self.loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something to its end."""
        return self.loop.run_until_complete(work)

    def abandon(self) -> None:
        """Take all tasks of a dead process away: its calls do nothing any more."""
        told: set[asyncio.Task[Any]] = set()
        while rest := asyncio.all_tasks(self.loop) - self._always:
            for task in rest - told:  # once: what goes on after that gives a connection back
                task.cancel()
            told |= rest
            self.run(_gone(rest))

    def reset(self) -> None:
        """Empty what people left, and let memory know."""
        self.abandon()
        self.empty(self._tables)
        self.run(self.bot.app.memory.rebuild())

    @staticmethod
    def empty(tables: Engine) -> None:
        """Remove every row that comes of what people do."""
        with tables.begin() as connection:
            for table in reversed(Base.metadata.sorted_tables):
                if table.name not in KEPT:
                    connection.execute(table.delete())

    def chat(self) -> FakeChat:
        """Return a platform on which nothing was said; ids are never given twice."""
        return FakeChat(ids=self.ids)

    def process(self, fuse: Fuse | None = None) -> Dispatch:
        """Start a process that knows only what is stored."""
        app = self.bot.app
        if fuse is not None:
            app = replace(app, conversations=Through(app.conversations, fuse))
        return dispatch_of(app)

    def stage(self, dispatch: Dispatch, chat: FakeChat) -> FakeStage:
        """Return people who talk to a process."""
        dispatch.meet(chat)
        return FakeStage(replace(self.bot, dispatch=dispatch), chat)


async def _gone(tasks: set[asyncio.Task[Any]]) -> None:
    await asyncio.wait(tasks)


@contextmanager
def world(kettle: Kettle, **given: Any) -> Iterator[World]:
    """Open a world on a copy of a home and close it at the end."""
    opened = World(kettle, **given)
    try:
        yield opened
    finally:
        opened.close()


def models_folder() -> Path:
    """Return a folder that keeps the exported encoder between runs."""
    folder = Path(os.environ.get("THREADLORE_TEST_MODELS", Path(__file__).parents[2] / ".threadlore/models"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
