"""`/ask --why`: the model's reasoning, folded away; nothing in it that the pages do not say."""

from __future__ import annotations

import json

import pytest

from tests.journeys.fake_stage import FakeStage
from tests.journeys.house import Bot
from tests.journeys.kettle import PORTS
from tests.journeys.stage import EVERYWHERE, ON_EACH_WIRE, Seen, open_stage, until
from tests.journeys.web_stage import WebStage
from tests.ollama_server import OllamaServer

PORT = "Which port does the dashboard listen on?"
UNDER_THE_WHISPER = Seen("", "")
SAID = {
    "reasoning": "Page [1] says that the dashboard listens on port 9090 by default. Port 7777 is faster [1].",
    "false_premise": False,
    "answerable": True,
    "answer": "The dashboard listens on port 9090 by default [1].",
}


@EVERYWHERE
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
async def test_why_offers_to_think_an_answer_through_and_shows_it_to_who_pressed(
    platform: str, writer: Bot, ollama: OllamaServer
) -> None:
    ollama.say("The dashboard listens on port 9090 by default [1].")
    async with open_stage(platform, writer) as stage:
        said = await stage.say("ann", PORT, to="bot")
        seen = (await until(lambda: stage.replies(said)))[0]
        await until(lambda: "9090" in stage.replies(said)[0].text)
        seen = await until(lambda: next((one for one in stage.replies(said) if "why" in one.controls), None))
        assert "think" not in seen.controls, "the row under an answer stays as it is"
        await stage.press("bob", seen, "why")
        await until(lambda: stage.heard("bob"))
        ollama.say(json.dumps(SAID))
        await stage.press("bob", UNDER_THE_WHISPER, "think")
        await until(lambda: any("9090" in text for text in stage.heard("bob")))
        await stage.press("bob", UNDER_THE_WHISPER, "reasoning")
        shown = await until(
            lambda: next((text for text in stage.heard("bob") if "says that the dashboard" in text), "")
        )
        assert "7777" not in shown and "Reasoning" in shown
        assert len(stage.replies(said)) == 1 and not stage.heard("ann"), "nobody else sees any of it"


async def test_without_a_model_nothing_is_offered_to_think_through(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        seen = await until(lambda: next((one for one in stage.replies(said) if "why" in one.controls), None))
        await stage.press("bob", seen, "why")
        await until(lambda: stage.heard("bob"))
        assert stage.chat.told["bob"][-1].controls == ()


async def test_the_playground_thinks_an_answer_through_from_the_panel_that_explains_it(
    writer: Bot, ollama: OllamaServer
) -> None:
    ollama.say("The dashboard listens on port 9090 by default [1].")
    async with open_stage("web", writer) as stage:
        said = await stage.say("ann", PORT, to="bot")
        seen = await until(lambda: next((one for one in stage.replies(said) if "why" in one.controls), None))
        assert isinstance(stage, WebStage)
        answer = next(post["answer"] for post in await stage.client.messages("ada") if post["id"] == seen.id)
        _, told = await stage.client.call("GET", f"/api/answers/{answer}/why?person=ada")
        assert told["thinks"] is True
        ollama.say(json.dumps(SAID))
        body = {"person": "ada", "message": seen.id, "name": "think", "value": answer, "fields": {}}
        status, _ = await stage.client.post("/api/presses", **body)
        assert status == 200
        await until(lambda: any("9090" in text for text in stage.heard("ann")))


@EVERYWHERE
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


async def why_offers(stage: FakeStage, who: str) -> Seen:
    """Have ann ask in public and somebody press Why?; return the answer."""
    said = await stage.say("ann", PORT, to="bot")
    seen = await until(lambda: next((one for one in stage.replies(said) if "why" in one.controls), None))
    await stage.press(who, seen, "why")
    await until(lambda: stage.heard(who))
    return seen


async def test_a_pause_refuses_to_think_and_who_opted_out_is_not_offered_it(
    writer: Bot, ollama: OllamaServer
) -> None:
    ollama.say("The dashboard listens on port 9090 by default [1].")
    async with FakeStage(writer) as stage:
        seen = await why_offers(stage, "bob")
        assert [control.name for control in stage.chat.told["bob"][-1].controls] == ["think"]
        calls = ollama.calls
        await stage.slash("boss", "threadlore", "pause here until further notice")
        await stage.press("bob", UNDER_THE_WHISPER, "think")
        await until(lambda: "I am paused in this channel" in stage.heard("bob")[-1])
        await stage.slash("boss", "threadlore", "resume here")
        await stage.slash("bob", "threadlore", "opt-out")
        await stage.press("bob", seen, "confirm")
        await stage.press("bob", seen, "why")
        await until(lambda: "Page 1:" in stage.heard("bob")[-1])
        assert stage.chat.told["bob"][-1].controls == ()
        assert ollama.calls == calls
