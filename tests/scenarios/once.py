"""What must happen once: events that come again, edits, deletions, floods, restarts."""

from __future__ import annotations

import asyncio
import sqlite3

from tests.journeys.house import Bot, Kettle, house
from tests.journeys.kettle import PORTS
from tests.journeys.stage import answer, ask, open_stage, until
from tests.ollama_server import OllamaServer

PORT = "Which port does the dashboard listen on?"


async def retries(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        seen = await answer(stage, said)
        for _ in range(3):
            await stage.repeat(said)
        await stage.quiet()
        assert [one.id for one in stage.replies(said)] == [seen.id]


async def two_events(platform: str, writer: Bot, ollama: OllamaServer) -> None:
    ollama.first_token_delay = 0.3
    async with open_stage(platform, writer) as stage:
        saying = asyncio.create_task(stage.say("ann", PORT, to="bot"))
        await until(lambda: ollama.running)
        await stage.repeat(saying.result() if saying.done() else None)
        said = await saying
        await answer(stage, said)
        await stage.quiet()
        assert len(stage.replies(said)) == 1 and ollama.calls == 1


async def edited_late(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        seen = await answer(stage, said)
        await stage.quiet()
        with sqlite3.connect(bot.kettle.home / "threadlore.sqlite3") as connection:
            connection.execute("UPDATE claims SET at = at - 61")
        await stage.edit(said, f"{PORT[:-1]} in 1.5?")
        await stage.quiet()
        [kept] = stage.replies(said)
        assert (kept.id, kept.text) == (seen.id, seen.text)


async def rate_limit(platform: str, kettle: Kettle) -> None:
    async with house(kettle, questions_per_minute=6.0) as bot, open_stage(platform, bot) as stage:
        said = [await stage.say("ann", f"{PORT} ({number})", to="bot") for number in range(8)]

        def split() -> tuple[list[str], list[str]]:
            # messages of one moment may be claimed in another order on a busy machine
            done = [seen.text for one in said for seen in stage.replies(one) if seen.finished]
            slowed = [text for text in done if "ask again in" in text]
            return [text for text in done if text not in slowed], slowed

        await until(lambda: len(split()[0]) == 6 and split()[1], "six answers, and told to slow down")
        await stage.quiet()
        assert len(split()[1]) == 1 and sum(len(stage.replies(one)) for one in said) == 7, "told once"
        assert PORTS["2.0"] in (await ask(stage, PORT, who="bob")).text, "others are served"


async def restarted(platform: str, kettle: Kettle, ollama: OllamaServer) -> None:
    ollama.script("hang")
    async with house(kettle, ollama_host=ollama.url) as bot:
        stage = await open_stage(platform, bot).__aenter__()
        asking = asyncio.create_task(stage.say("ann", PORT, to="bot"))
        await until(lambda: ollama.running)
        await bot.dispatch.stop()
        said = await asking
        [waiting] = await until(lambda: [s for s in stage.replies(said) if "restarted" in s.text])
        await stage.leave()
    async with house(kettle) as later:
        await stage.join(later)
        try:
            seen = await answer(stage, said)
            await stage.quiet()
            assert seen.id == waiting.id and PORTS["2.0"] in seen.text
            assert len(stage.replies(said)) == 1
            await stage.say("ann", "and in 1.5?", under=said)
            assert PORTS["1.5"] in (await answer(stage, said, 2)).text, "the talk goes on"
        finally:
            await stage.__aexit__(None, None, None)


async def controls_after_restart(platform: str, kettle: Kettle) -> None:
    async with house(kettle) as bot:
        stage = await open_stage(platform, bot).__aenter__()
        seen = await ask(stage, PORT)
        await stage.quiet()
        await bot.dispatch.stop()
        await stage.leave()
    async with house(kettle) as later:
        await stage.join(later)
        try:
            await stage.quiet()
            await stage.press("ann", seen, "up")
            await stage.quiet()
            assert "from community memory" in (await ask(stage, PORT, who="bob")).text
        finally:
            await stage.__aexit__(None, None, None)
