"""A private channel of Slack that others are let into has another id, and all that is known of it stays."""

from __future__ import annotations

import logging

import pytest

from core.domain import MessageRef
from tests.journeys.house import Bot
from tests.journeys.kettle import PORTS
from tests.journeys.slack_stage import PLACES, SlackStage
from tests.journeys.stage import answer, ask, until
from tests.journeys.test_adverse import votes
from tests.journeys.test_people import ADVICE, QUESTION, remembered
from tests.ollama_server import OllamaServer

PORT = "Which port does the dashboard listen on?"
REWORDED = "On which port is the dashboard listening?"
REUSED = "from community memory"


async def move(stage: SlackStage, monkeypatch: pytest.MonkeyPatch, times: int = 2) -> None:
    """Give the private channel another id, and tell so as often."""
    stage.server.move("G1", "C9")
    monkeypatch.setitem(PLACES, "private", "C9")
    [event] = [e for e in stage.server.envelopes if "old_channel_id" in e["payload"].get("event", {})]
    for _ in range(times - 1):
        stage.server.redeliver(event)
    await stage.quiet()


async def test_what_is_kept_of_a_channel_is_kept_under_its_new_id(
    bot: Bot, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with SlackStage(bot) as stage:
        said = await stage.say("ann", PORT, "private", to="bot")
        first = await answer(stage, said)
        await stage.react("ann", first, "👍")
        asked = await stage.say("ann", QUESTION, "private", to="bot")
        await answer(stage, asked)
        advice = await stage.say("bob", ADVICE, under=asked)
        await stage.react("hal", advice, "✅")
        await remembered(bot, 1)
        await bot.app.modes.set_mode("slack:G1", "questions", "slack:UADMIN")
        await bot.app.pauses.begin("slack:G1", 0, "slack:UADMIN")

        await move(stage, monkeypatch)
        assert await bot.app.modes.mode("slack:C9") == "questions"
        assert await bot.app.modes.mode("slack:G1") == "mentions"
        assert await bot.app.pauses.end("slack:C9") and not await bot.app.pauses.running()
        assert "slack:G1 is slack:C9 from now on, with 2 remembered answers" in caplog.text
        assert caplog.text.count("is slack:C9 from now on") == 1, "its id is in no file, and it is said once"

        before = await votes(bot)
        await stage.react("bob", first, "👍")
        assert await votes(bot) == before + 1
        assert REUSED in (await ask(stage, REWORDED, "private")).text
        assert REUSED not in (await ask(stage, REWORDED, "public")).text
        assert ADVICE in (await ask(stage, QUESTION, "private")).text
        await stage.react("bob", advice, "❌")
        await remembered(bot, 0)
        assert await bot.app.memory.verify() == []


@pytest.mark.parametrize("streams", [False, True])
async def test_what_is_being_answered_is_answered_where_the_channel_is_now(
    streams: bool, writer: Bot, ollama: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with SlackStage(writer) as stage:
        stage.server.streaming.there = streams
        ollama.holds_back = True
        said = await stage.say("ann", PORT, "private", to="bot")
        await until(lambda: ollama.running, "it is being answered")
        [sign] = await until(lambda: stage.replies(said), "a sign of work")
        await move(stage, monkeypatch, times=1)
        ollama.holds_back = False
        seen = await answer(stage, said)
        await stage.quiet()
        assert PORTS["2.0"] in seen.text and [one.id for one in stage.replies(said)] == [sign.id]
        assert await writer.app.conversations.answer_of(MessageRef("slack", "C9", seen.id).key)
        assert not await writer.app.conversations.unanswered(0.0) and not stage.server.said("D1")


async def test_an_accepted_answer_goes_with_its_message_though_nobody_marks_it_any_more(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with SlackStage(bot) as stage:
        asked = await stage.say("ann", QUESTION, "private", to="bot")
        await answer(stage, asked)
        advice = await stage.say("bob", ADVICE, under=asked)
        await stage.react("hal", advice, "✅")
        await remembered(bot, 1)
        await bot.app.people.forget("slack:UHAL")
        await remembered(bot, 1)
        await move(stage, monkeypatch)
        await stage.delete(advice)
        await remembered(bot, 0)


async def test_what_slack_sends_late_under_the_old_id_is_of_the_channel_as_it_is_now(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with SlackStage(bot) as stage:
        said = await stage.say("ann", PORT, "private", to="bot")
        seen = await answer(stage, said)
        late = [e for e in stage.server.envelopes if e["payload"].get("event", {}).get("channel") == "G1"]
        await move(stage, monkeypatch, times=1)
        for number, event in enumerate(late):
            stage.server.redeliver({**event, "payload": {**event["payload"], "event_id": f"EvLate{number}"}})
        await stage.quiet()
        assert late and [one.id for one in stage.replies(said)] == [seen.id]
        assert not stage.server.said("D1")
        conversations = bot.app.conversations
        assert await conversations.claimed(f"slack:C9:{said.id}")
        assert not await conversations.claimed(f"slack:G1:{said.id}")


async def test_where_a_setting_names_the_old_id_the_log_says_what_to_do(
    bot: Bot, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    bot.app.catalogue.channels["slack:G1"] = next(iter(bot.app.catalogue.channels.values()))
    try:
        async with SlackStage(bot) as stage:
            await move(stage, monkeypatch)
    finally:
        del bot.app.catalogue.channels["slack:G1"]
    told = [r.message for r in caplog.records if "slack:G1 is named" in r.message]
    assert told == [
        "slack:G1 is named in corpora.toml or in THREADLORE_ADMIN_CHANNEL, and its id is slack:C9 from now "
        "on: write that there, and start me again"
    ]
