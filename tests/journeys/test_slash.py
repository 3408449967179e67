"""Slash commands, on every platform that has them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from bot.dispatch.dispatch import dispatch_of
from core.domain import Answer
from core.engine import Engine
from tests.journeys.house import Bot
from tests.journeys.kettle import PORTS
from tests.journeys.stage import EVERYWHERE, ON_EACH_WIRE, ask, open_stage, squeezed, told, until

PORT = "Which port does the dashboard listen on?"


@EVERYWHERE
async def test_ask_is_answered_to_the_caller_alone(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await stage.slash("ann", "ask", f"{PORT[:-1]} in 1.5?")
        await until(lambda: any(PORTS["1.5"] in text for text in stage.heard("ann")))
        assert len(stage.heard("ann")) == 1 and not stage.heard("bob") and not stage.public()
        assert "Kettle 1.5" in stage.heard("ann")[0]


@EVERYWHERE
async def test_admins_see_status_and_releases(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await stage.slash("boss", "threadlore", "status")
        said = squeezed(await until(lambda: next((t for t in stage.heard("boss") if "Memory" in t), "")))
        assert "2.0 (latest): 5 pages" in said and "Embedder: all-MiniLM-L6-v2" in said
        assert "Ranking: " in said
        await stage.slash("boss", "threadlore", "releases")
        await until(lambda: len(stage.heard("boss")) == 2 and stage.heard("boss")[1])
        assert "1.0: 4 pages" in squeezed(stage.heard("boss")[1])


@EVERYWHERE
async def test_admins_see_what_the_documentation_does_not_answer(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await stage.slash("boss", "threadlore", "gaps")
        await until(lambda: any("nobody complained" in text for text in stage.heard("boss")))
        await ask(stage, "How do I bake sourdough bread with the kettle?")
        await stage.slash("boss", "threadlore", "gaps")
        await until(lambda: any("sourdough" in t and "1 abstained" in t for t in stage.heard("boss")))


@EVERYWHERE
async def test_others_are_refused(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        for text in ("status", "sources", "reindex", "reindex 2.0"):
            await stage.slash("ann", "threadlore", text)
        await until(lambda: len([t for t in stage.heard("ann") if "Only admins" in t]) == 4)
        await stage.slash("ann", "threadlore", "releases")
        await told(stage, "ann", "2.0 (latest): 5 pages")
        await stage.quiet()
        assert not stage.public() and not bot.app.corpus_manager.progress()


@ON_EACH_WIRE
async def test_reindex_answers_at_once_and_shows_its_progress_in_one_message(platform: str, bot: Bot) -> None:
    pages = bot.kettle.folder / "docs" / "2.0"
    (pages / "new.md").write_text(
        "# Zeppelins\n\nA zeppelin job flies to the moon with the flag `--zeppelin`.\n"
    )
    (pages / "scheduling.md").unlink()
    async with open_stage(platform, bot) as stage:
        await stage.slash("boss", "threadlore", "reindex 2.0")
        await until(lambda: stage.heard("boss") and "Reindexing Kettle 2.0" in stage.heard("boss")[0])
        assert PORTS["2.0"] in (await ask(stage, PORT)).text
        done = await until(lambda: next((t for t in stage.public() if "1 added" in t), ""), "progress ends")
        assert "1 removed" in done and len(stage.public()) == 1
        assert "--zeppelin" in (await ask(stage, "Which flag flies a zeppelin job to the moon?")).text


@EVERYWHERE
async def test_an_unknown_release_is_not_reindexed(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await stage.slash("boss", "threadlore", "reindex 9.9")
        said = await until(lambda: stage.heard("boss") and stage.heard("boss")[0])
        assert "9.9" in said and "1.0, 1.5, 2.0" in said and not stage.public()


async def test_a_source_that_is_gone_is_told_and_the_old_pages_answer(bot: Bot) -> None:
    pages = bot.kettle.folder / "docs" / "2.0"
    pages.rename(pages.with_name("elsewhere"))
    async with open_stage("fake", bot) as stage:
        await stage.slash("boss", "threadlore", "reindex 2.0")
        await until(lambda: stage.public() and "failed" in stage.public()[0])
        assert PORTS["2.0"] in (await ask(stage, PORT)).text


@EVERYWHERE
async def test_a_command_that_does_not_exist_or_says_nothing_is_explained(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        if platform != "discord":  # there commands are chosen, not written
            await stage.slash("boss", "threadlore", "explode")
            await until(lambda: any("explode" in t and "reindex" in t for t in stage.heard("boss")))
        if platform in ("fake", "slack"):
            await stage.slash("ann", "ask", "")
            await until(lambda: any("/ask How" in squeezed(t) for t in stage.heard("ann")))


class OutOfOrder:
    """An engine that cannot answer; all else it leaves to a real one."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def answer(self, *_: object) -> Answer:
        raise RuntimeError("The disk is on fire.")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


@EVERYWHERE
async def test_what_people_ask_is_never_in_the_log(
    platform: str, bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    engine = cast(Engine, OutOfOrder(bot.app.engine))
    dispatch = dispatch_of(replace(bot.app, engine=engine))
    async with open_stage(platform, replace(bot, dispatch=dispatch)) as stage:
        await stage.slash("ann", "ask", "Where is the zeppelin hangar?")
        await until(lambda: "/ask failed" in caplog.text)
        await stage.say("ann", "And where is the zeppelin hangar now?", to="bot")
        await until(lambda: "answering" in caplog.text)
    assert "zeppelin" not in caplog.text
    await dispatch.stop()
