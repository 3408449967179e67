"""After somebody is forgotten none of their words is left in the home, whichever way they took into it."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Any

import pytest

from bot.app.overview import Overview
from bot.commands.command_line import handle
from bot.home.logs import in_files, stream_handler
from bot.platforms.slack import history
from core.text.words import stem
from tests.databases import DATABASES, postgres_schema
from tests.effort import thorough
from tests.journeys.house import Bot, Kettle, house
from tests.journeys.planting import KEPT_NOWHERE, WAYS, Garden, appoint, files_that_hold, found_in
from tests.journeys.slack_stage import SlackStage
from tests.journeys.stage import open_stage, told
from tests.ollama_server import OllamaServer
from tests.platforms.slack_server import SlackServer

SOURCE = """
[[unversioned.source]]
kind = "history"
path = "export.zip"
workspace = "https://kettle.slack.com/"

[people]
ann = ["{account}", "slack:U1"]
"""
LIVE = """
[[unversioned.source]]
kind = "history"
channel = "slack:C1"
quiet_hours = 0
"""
CALLS = 10_000
"""Calls that the bot makes of Slack at once when it reads a channel: what spares Slack is shown elsewhere."""


@contextmanager
def logged_at_debug(bot: Bot) -> Iterator[io.StringIO]:
    """Log as a process does that serves at DEBUG: to standard error, which is returned, and in the home."""
    root, stream = logging.getLogger(), io.StringIO()
    level, others = root.level, root.handlers[:]
    handlers = [stream_handler(bot.settings, "DEBUG", stream), in_files(bot.settings, 3, "DEBUG")]
    root.handlers[:] = handlers  # pytest's own would keep a hundred thousand lines
    root.setLevel("DEBUG")
    try:
        yield stream
    finally:
        root.setLevel(level)
        root.handlers[:] = others
        for handler in handlers:
            handler.close()


@asynccontextmanager
async def scene(platform: str, kettle: Kettle, **given: Any) -> AsyncIterator[tuple[Any, Bot]]:
    """Open a platform, and a bot that reads what people said before; on Slack its public channel, too."""
    accounts = {"web": "web:ada", "slack": "slack:U1"}
    config = SOURCE.format(account=accounts[platform])
    config = config.replace('"slack:U1", "slack:U1"', '"slack:U1"')
    live = LIVE if platform == "slack" else ""
    kettle.config.write_text(kettle.config.read_text() + live + config)
    async with AsyncExitStack() as stack:
        if platform != "slack":
            bot = await stack.enter_async_context(house(kettle, **given))
            yield await stack.enter_async_context(open_stage(platform, bot)), bot
            return
        server = await stack.enter_async_context(SlackServer())
        server.limits.enforced = False  # some eighty words are said in half a minute
        token = {"slack_bot_token": server.bot_token, "slack_api_url": server.url, "helpers": "slack:UHAL"}
        bot = await stack.enter_async_context(house(kettle, **given, **token))
        yield await stack.enter_async_context(SlackStage(bot, server)), bot


def table(before: dict[str, list[str]], after: dict[str, list[str]]) -> str:
    """Return what was found by each way before and after, a line each."""
    width = max(map(len, before))
    lines = [f"{'way':{width}}  before  after"]
    lines += [f"{name:{width}}  {len(found):6}  {len(after[name]):5}" for name, found in before.items()]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("platform", "where"),
    [
        pytest.param("web", DATABASES[-1], marks=thorough("test_no_word_of_a_forgotten_person_is_left")),
        ("slack", "sqlite"),
    ],
)
async def test_no_word_of_a_forgotten_person_is_left(
    platform: str, where: str, kettle: Kettle, ollama: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "BURST", CALLS)
    with postgres_schema() if where == "postgresql" else _sqlite(kettle) as url:
        given = {"database_url": url} if where == "postgresql" else {}
        await story(platform, kettle, ollama, url, given)


@contextmanager
def _sqlite(kettle: Kettle) -> Iterator[str]:
    yield f"sqlite:///{kettle.home / 'threadlore.sqlite3'}"


async def forget(stage: Any, bot: Bot, platform: str) -> None:
    """Have ann forgotten; in the playground not by herself: nobody acts on linked accounts of Slack there."""
    if platform != "web":
        await stage.slash("ann", "threadlore", "forget me confirm")
        await told(stage, "ann", "Forgotten. Questions")
        return
    said: list[Any] = []

    async def send(message: Any) -> None:
        said.append(message)

    await handle(bot.app, {"command": "forget", "user": stage.account("ann")}, send)
    assert said[-1] == {"code": 0}, said


async def story(platform: str, kettle: Kettle, ollama: OllamaServer, url: str, given: dict[str, str]) -> None:
    def in_rows(garden: Garden) -> dict[str, list[str]]:
        held = found_in(url, garden.marks.values())
        return {name: held[word] for name, word in garden.marks.items()}

    def found(garden: Garden) -> dict[str, list[str]]:
        held = files_that_hold(kettle.home, garden.marks.values())
        return {name: rows + held[garden.marks[name]] for name, rows in in_rows(garden).items()}

    async with scene(platform, kettle, ollama_host=ollama.url, **given) as (stage, bot):
        if given:
            await bot.app.corpus_manager.reindex()
        garden = Garden(stage, bot, ollama)
        appoint(stage, bot)
        with logged_at_debug(bot) as log:
            await garden.all()
            await stage.quiet()
            before = found(garden)
            seen = log.getvalue()
            await forget(stage, bot, platform)
            await stage.quiet()
            await bot.app.history.close(120.0)
            rows = in_rows(garden)
        assert set(await bot.app.my_data.of(stage.account("ann"))) == {"accounts", "opted_out"}
        assert bot.app.memory.stores() and await bot.app.memory.verify() == []
        overview = Overview(bot.app)
        shown = json.dumps(await overview.figures()) + (await overview.metrics()).decode()
        assert not [word for word in garden.marks.values() if word in shown]
        terms = [stem(word) for word in garden.marks.values()]
        for collection in await bot.app.words.collections():
            fresh = await bot.app.words.rarity(collection, ["nobodysaysthis"])
            rarity = await bot.app.words.rarity(collection, terms)
            assert set(rarity.values()) == set(fresh.values()), "a term of theirs is in the word index"
    after = {name: rows[name] + left for name, left in found(garden).items()}
    print(table(before, after))
    assert not {name: left for name, left in after.items() if left}
    nameless = {"the name that people see"} if platform == "web" else set()
    assert {name for name, held in before.items() if not held} == KEPT_NOWHERE | nameless, before
    assert len(garden.marks) >= 40
    # else nothing is shown of logs: at DEBUG the library of SQLite logs what it writes
    assert given or any(word in seen for word in garden.marks.values())


@pytest.mark.parametrize("recipe", ["comrag", "graph_context"])
async def test_what_a_papers_recipe_wrote_from_remembered_words_goes_with_them(
    recipe: str, kettle: Kettle, ollama: OllamaServer
) -> None:
    async with scene("web", kettle, ollama_host=ollama.url, recipe=recipe) as (stage, bot):
        garden = Garden(stage, bot, ollama)
        appoint(stage, bot)
        await WAYS["a remembered answer that they had written, told to somebody else"](garden)
        (mark,) = garden.marks.values()
        garden.says["of rye"] = f"Put the {mark} dough into the lid for an hour [1]."
        _, near = await garden.asked(
            "How do I bake a sourdough bread of rye with the kettle overnight?", "boss"
        )
        assert mark in near.text, near.text
        await forget(stage, bot, "web")
        await stage.quiet()
        with _sqlite(kettle) as url:
            left = found_in(url, garden.marks.values())
        assert not {word: places for word, places in left.items() if places}
