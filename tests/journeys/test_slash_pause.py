"""Pauses and modes of channels by slash commands: what people notice, and what a restart leaves."""

from __future__ import annotations

from typing import Any

import pytest

from bot.app.overview import Overview
from core.community.overrides import EVERYWHERE as ALL
from tests.journeys.house import Bot, Kettle, house
from tests.journeys.kettle import PORTS
from tests.journeys.stage import (
    EVERYWHERE,
    ON_EACH_WIRE,
    Said,
    answer,
    ask,
    open_stage,
    squeezed,
    told,
    until,
)

SERVED = pytest.mark.stages("web")
PORT = "Which port does the dashboard listen on?"


async def is_told_of_the_pause(stage: Any, who: str, said: Said, part: str = "I am paused") -> None:
    """Wait until somebody who asked is told: alone, or where that cannot be, under the question."""

    def found() -> bool:
        heard = [*stage.heard(who), *(seen.text for seen in stage.replies(said))]
        return any(part in squeezed(text) for text in heard)

    await until(found, f"{who} is told of the pause")


@ON_EACH_WIRE
async def test_a_pause_turns_questions_away_once_each_and_votes_count(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        seen = await ask(stage, PORT)
        await stage.slash("boss", "threadlore", "pause 30 moving house")
        await told(stage, "boss", "Paused: all questions, until")
        said = await stage.say("ann", PORT, to="bot")
        await is_told_of_the_pause(stage, "ann", said)
        again = await stage.say("ann", PORT, to="bot")
        await stage.slash("bob", "ask", PORT)
        assert "moving house" in await told(stage, "bob", "I am paused until")
        await stage.react("ann", seen, "👍")
        await stage.quiet()
        assert (await bot.counts())["high"] == 1 and not stage.replies(again), "told once; the vote counts"
        assert not any(PORTS["2.0"] in reply.text for reply in stage.replies(said))
        await stage.slash("boss", "threadlore", "status")
        status = squeezed(await told(stage, "boss", "No new questions are answered until"))
        assert "Paused: all questions, until" in status
        assert any("moving house" in line for line in (await Overview(bot.app).figures())["problems"])
        await stage.slash("boss", "threadlore", "resume")
        await told(stage, "boss", "I answer questions again")
        assert PORTS["2.0"] in (await ask(stage, PORT, who="bob")).text
        await stage.slash("boss", "threadlore", "resume")
        await told(stage, "boss", "Nothing is paused")


@EVERYWHERE
async def test_one_channel_is_paused_alone_and_the_press_for_another_release_waits(
    platform: str, bot: Bot
) -> None:
    async with open_stage(platform, bot) as stage:
        seen = await ask(stage, PORT)
        await stage.slash("boss", "threadlore", "pause here until further notice")
        await told(stage, "boss", "until further notice, by")
        said = await stage.say("bob", PORT, to="bot")
        await is_told_of_the_pause(stage, "bob", said, "I am paused in this channel")
        await stage.press("ann", seen, "release", "1.5")
        await told(stage, "ann", "I am paused in this channel")
        assert PORTS["2.0"] in (await ask(stage, PORT, "direct")).text
        assert PORTS["2.0"] in (await ask(stage, PORT, "private")).text
        assert not await bot.dispatch.paused()
        await stage.slash("boss", "threadlore", "resume here")
        assert "I answer questions" in await told(stage, "boss", "again")
        assert PORTS["2.0"] in (await ask(stage, PORT, who="bob")).text


@SERVED
async def test_a_pause_and_a_mode_hold_over_a_restart(platform: str, kettle: Kettle) -> None:
    async with house(kettle) as bot:
        stage = await open_stage(platform, bot).__aenter__()
        await stage.slash("boss", "threadlore", "pause 2h")
        await told(stage, "boss", "Paused: all questions, until")
        await stage.slash("boss", "threadlore", "mode questions")
        await told(stage, "boss", "questions (set by")
        await stage.quiet()
        await bot.dispatch.stop()
        await stage.leave()
    async with house(kettle) as later:
        await stage.join(later)
        try:
            said = await stage.say("ann", PORT, to="bot")
            await is_told_of_the_pause(stage, "ann", said, "I am paused until")
            assert await later.dispatch.paused()
            await stage.slash("boss", "threadlore", "resume")
            await until(lambda: any("again" in text for text in stage.heard("boss")))
            unmentioned = await stage.say("bob", PORT)
            assert PORTS["2.0"] in (await answer(stage, unmentioned)).text
        finally:
            await stage.__aexit__(None, None, None)


@EVERYWHERE
async def test_the_mode_of_a_channel_is_shown_set_and_taken_back(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await stage.slash("boss", "threadlore", "mode here questions")
        await told(stage, "boss", "questions (set by")
        assert PORTS["2.0"] in (await answer(stage, await stage.say("ann", PORT))).text
        await stage.slash("boss", "threadlore", "status")
        await told(stage, "boss", "Embedder")
        assert any("questions (set by" in squeezed(t) for t in stage.heard("boss") if "Embedder" in t)
        await stage.slash("boss", "threadlore", "mode off")
        await told(stage, "boss", "off (set by")
        ignored = await stage.say("ann", PORT, to="bot")
        await stage.slash("boss", "threadlore", "mode default")
        await told(stage, "boss", "mentions (as in")
        unmentioned = await stage.say("ann", PORT)
        assert PORTS["2.0"] in (await ask(stage, PORT, who="bob")).text
        assert not stage.replies(ignored) and not stage.replies(unmentioned)
        await stage.slash("boss", "threadlore", "mode")
        await stage.quiet()
        outcomes = {act.outcome for act in await bot.app.audit.acts() if act.what.startswith("mode")}
        assert any(outcome.endswith("is questions") for outcome in outcomes) and "shown" in outcomes


async def test_machines_see_a_pause(bot: Bot) -> None:
    bot.dispatch.overview = Overview(bot.app)
    async with open_stage("web", bot) as stage:
        assert await stage.client.call("GET", "/readyz") == (200, {"ready": True, "paused": False})
        await bot.app.pauses.begin(ALL, 0, "slack:U1")
        assert await stage.client.call("GET", "/readyz") == (200, {"ready": True, "paused": True})
