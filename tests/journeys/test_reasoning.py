"""`/ask --why`: the model's reasoning, folded away; nothing in it that the pages do not say."""

from __future__ import annotations

import json

import pytest

from tests.journeys.house import Bot
from tests.journeys.kettle import PORTS
from tests.journeys.stage import ON_EACH_WIRE, Seen, open_stage, until
from tests.ollama_server import OllamaServer

PORT = "Which port does the dashboard listen on?"
UNDER_THE_WHISPER = Seen("", "")
SAID = {
    "reasoning": "Page [1] says that the dashboard listens on port 9090 by default. Port 7777 is faster [1].",
    "false_premise": False,
    "answerable": True,
    "answer": "The dashboard listens on port 9090 by default [1].",
}


@ON_EACH_WIRE
async def test_reasoning_is_shown_to_who_asked_for_it_by_a_button(
    platform: str, writer: Bot, ollama: OllamaServer
) -> None:
    ollama.say(json.dumps(SAID))
    async with open_stage(platform, writer) as stage:
        await stage.slash("ann", "ask", f"--why {PORT}")
        await until(lambda: any("9090" in text for text in stage.heard("ann")))
        assert not any("says that the dashboard" in text for text in stage.heard("ann")), "it is folded away"
        await stage.press("ann", UNDER_THE_WHISPER, "reasoning")
        shown = await until(
            lambda: next((text for text in stage.heard("ann") if "says that the dashboard" in text), "")
        )
        assert "9090" in shown and "Reasoning" in shown
        assert "7777" not in shown, "what no page says is not said in the folded text either"
        assert "https://kettle.example/2.0/dashboard" in shown, "it names its own sources"
        assert not stage.public()


@ON_EACH_WIRE
async def test_without_a_model_it_is_said_that_there_is_none_to_reason(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await stage.slash("ann", "ask", f"{PORT} —why")
        await until(lambda: any(PORTS["2.0"] in text for text in stage.heard("ann")))
        assert "There is no language model to reason now" in stage.heard("ann")[-1]


@pytest.mark.parametrize("text", ["--why", "  --why  "])
async def test_why_alone_is_no_question(bot: Bot, text: str) -> None:
    async with open_stage("fake", bot) as stage:
        await stage.slash("ann", "ask", text)
        await until(lambda: any("Write your question" in said for said in stage.heard("ann")))


async def test_reasoning_that_no_page_bears_is_left_out_and_said_so(
    writer: Bot, ollama: OllamaServer
) -> None:
    ollama.say(json.dumps(SAID | {"reasoning": "Everybody knows that port 7777 is the default."}))
    async with open_stage("fake", writer) as stage:
        await stage.slash("ann", "ask", f"--why {PORT}")
        await until(lambda: any("9090" in text for text in stage.heard("ann")))
        assert "do not support the model's reasoning" in stage.heard("ann")[-1]
        assert "7777" not in " ".join(stage.heard("ann"))
