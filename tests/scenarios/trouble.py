"""A platform that goes wrong while an answer is said: what people read in the end is whole.

Each stage knows in `disturb` what the trouble is there: Slack ends streams and limits calls, Discord refuses
an edit or tells of a message again; the playground has neither.
"""

from __future__ import annotations

import asyncio

from tests.journeys.house import Bot
from tests.journeys.kettle import PORTS
from tests.journeys.stage import answer, ask, open_stage, squeezed, until
from tests.ollama_server import OllamaServer

PORT = "Which port does the dashboard listen on?"
SAID = "The dashboard listens on port 9090 by default [1]. Choose another one with `--port` [1]."


async def streaming_refused(platform: str, writer: Bot, ollama: OllamaServer) -> None:
    await _whole_in("no streams", platform, writer, ollama, before=True)


async def stream_ends(platform: str, writer: Bot, ollama: OllamaServer) -> None:
    await _whole_in("stream ends", platform, writer, ollama)


async def too_many_calls(platform: str, writer: Bot, ollama: OllamaServer) -> None:
    await _whole_in("too many calls", platform, writer, ollama)


async def connection_lost(platform: str, writer: Bot, ollama: OllamaServer) -> None:
    await _whole_in("connection lost", platform, writer, ollama)


async def _whole_in(
    trouble: str, platform: str, writer: Bot, ollama: OllamaServer, before: bool = False
) -> None:
    """Ask, let that go wrong before or in the middle, and look at what stands there in the end."""
    ollama.tokens_per_second, ollama.first_token_delay = 30.0, 0.3
    async with open_stage(platform, writer) as stage:
        if before:
            await stage.disturb(trouble)
        ollama.say(SAID)
        saying = asyncio.create_task(stage.say("ann", PORT, to="bot"))
        await until(stage.texts, "a sign of work")
        if not before:
            await stage.disturb(trouble)
        said = await saying
        seen = await answer(stage, said)
        await stage.quiet()
        assert [one.id for one in stage.replies(said)] == [seen.id], "one message, and no rest of another"
        text = squeezed(seen.text)
        assert text.startswith(squeezed(SAID).split(" [")[0]) and "Choose another one with" in text
        assert "Looking it up" not in text and "Reading the" not in text and "…" not in text
        assert "https://kettle.example/2.0/dashboard" in text and "Kettle 2.0" in text
        assert {"up", "down"} <= set(seen.controls)
        ollama.tokens_per_second = 0.0
        assert PORTS["1.5"] in (await ask(stage, f"{PORT[:-1]} in 1.5?", who="bob")).text, (
            "the next is served"
        )
