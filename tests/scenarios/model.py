"""What people see of the model: slow, away, dying; and of long or dangerous answers."""

from __future__ import annotations

import asyncio
import re
from string import ascii_uppercase
from typing import Any

from tests.journeys.house import Bot, Kettle, house
from tests.journeys.kettle import PORTS
from tests.journeys.stage import Said, Seen, answer, ask, open_stage, squeezed, until
from tests.journeys.test_models import is_whole
from tests.ollama_server import Behaviour, OllamaServer

PORT = "Which port does the dashboard listen on?"


async def model_down(platform: str, kettle: Kettle) -> None:
    async with house(kettle, ollama_host="http://127.0.0.1:9") as bot, open_stage(platform, bot) as stage:
        assert is_whole(squeezed((await ask(stage, PORT)).text))


async def model_dies(platform: str, writer: Bot, ollama: OllamaServer) -> None:
    async with open_stage(platform, writer) as stage:
        for kind in ("cut", "error_line"):
            ollama.always = Behaviour(kind, after=5, text="It surely is the port 4711, I think [1].")
            text = (await ask(stage, f"{PORT} ({kind})")).text
            assert is_whole(squeezed(text)) and "4711" not in text


async def model_hangs(platform: str, kettle: Kettle, ollama: OllamaServer) -> None:
    ollama.always = Behaviour("hang")
    slow = house(kettle, ollama_host=ollama.url, ollama_timeout=0.3)
    async with slow as bot, open_stage(platform, bot) as stage:
        assert is_whole(squeezed((await ask(stage, PORT)).text))


async def signs_of_work(platform: str, writer: Bot, ollama: OllamaServer) -> None:
    ollama.first_token_delay = 1.5
    async with open_stage(platform, writer) as stage:
        shown: dict[str, None] = {}
        saying = asyncio.create_task(stage.say("ann", PORT, to="bot"))

        def finished() -> bool:
            shown.update(dict.fromkeys(text for text in stage.texts() if text))
            return saying.done() and any(seen.finished for seen in stage.replies(saying.result()))

        await until(finished, "an answer after its signs")
        # where words stream, what was shown before them stands above them
        reading = next((text for text in shown if "Reading the Kettle 2.0" in text), "")
        assert "https://kettle.example/2.0/dashboard" in reading, "the pages are shown before the words"
        assert next(iter(shown)).startswith(("Looking it up", "Reading the"))
        assert PORTS["2.0"] in (await answer(stage, await saying)).text


async def long_answer(platform: str, writer: Bot, ollama: OllamaServer) -> None:
    said_there = "port default choose one start another on".split()
    remarks = []
    for at, letter in enumerate(ascii_uppercase):
        told = [*said_there[at % 7 :], *said_there[: at % 7]]
        remarks.append(f"Remark {letter}: {' '.join(told)} {' '.join(told[::-1])} [1].")
    ollama.say("\n\n".join(remarks))
    async with open_stage(platform, writer) as stage:
        said = await stage.say("ann", PORT, to="bot")
        parts = await _whole(stage, said)
        joined = "\n".join(part.text for part in parts)
        assert "".join(re.findall(r"Remark (\w):", joined)) == ascii_uppercase
        assert "https://kettle.example/2.0/dashboard" in joined and "Kettle 2.0" in joined
        assert all(not part.controls for part in parts[:-1]) and "up" in parts[-1].controls


async def code_fences(platform: str, writer: Bot, ollama: OllamaServer) -> None:
    lines = "\n".join(f"task{number} worker worker worker worker worker worker" for number in range(90))
    ollama.say(f"Set the port 9090 [1]:\n\n```python\n{lines}\n```\n\nThat is all of it [1].")
    async with open_stage(platform, writer) as stage:
        said = await stage.say("ann", PORT, to="bot")
        parts = await _whole(stage, said)
        assert all(part.text.count("```") % 2 == 0 for part in parts), "no part leaves a fence open"
        joined = "\n".join(part.text for part in parts)
        assert re.findall(r"task(\d+) ", joined) == [str(number) for number in range(90)]
        opened = re.findall(r"^```(\w*)$", joined, re.MULTILINE)[::2]
        assert set(opened) == {"python"}, "a fence that goes on says its language again"


async def no_ping(platform: str, kettle: Kettle, ollama: OllamaServer) -> None:
    page = kettle.folder / "docs" / "2.0" / "dashboard.rst"
    calls = "@everyone @here <!channel> <!here> <@U1> <@UHAL> <@&1> @ada"
    page.write_text(page.read_text().replace("listens on port", f"{calls} listens on port"))
    async with house(kettle, ollama_host=ollama.url) as bot:
        await bot.app.corpus_manager.reindex("2.0")
        async with open_stage(platform, bot) as stage:
            ollama.say(f"Ask {calls} for the port 9090 [1].")
            said = await stage.say("ann", f"{PORT} {calls}", to="bot")
            assert "9090" in (await answer(stage, said)).text
            assert not stage.pings(said)
            ollama.always = Behaviour("crashed")
            said = await stage.say("ann", f"{PORT} Please quote.", to="bot")
            assert "everyone" in (await answer(stage, said)).text, "the page is quoted as it is"
            assert not stage.pings(said)


async def _whole(stage: Any, said: Said) -> list[Seen]:
    """Wait until all messages of one long answer stand, and return them."""

    def last_stands() -> bool:
        found = stage.replies(said)
        return bool(found) and bool(found[-1].controls)

    await until(last_stands, "the last part")
    await stage.quiet()
    return list(stage.replies(said))
