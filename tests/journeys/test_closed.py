"""A channel that is deleted takes along what waits there and was learnt there; an archived one what waits."""

from __future__ import annotations

import asyncio

import pytest

from bot.escalation.texts import ARCHIVED, TAKEN_BACK
from tests.journeys.discord_stage import DiscordStage
from tests.journeys.house import Bot
from tests.journeys.slack_stage import SlackStage
from tests.journeys.stage import ask, open_stage, until
from tests.journeys.test_escalation import appoint, asked, reads
from tests.journeys.test_people import ADVICE, AGAIN, remembered, talk
from tests.ollama_server import OllamaServer
from tests.patience import PATIENCE

PORT = "Which port does the dashboard listen on?"


async def delete(stage: SlackStage | DiscordStage) -> None:
    """Delete the public channel."""
    if isinstance(stage, SlackStage):
        stage.server.close("C1", delete=True)
    else:
        stage.env.backend.delete_channel(stage.places["public"].id)
    await stage.quiet()


async def waiting(bot: Bot, count: int) -> None:
    """Wait until so many questions wait for a person."""
    async with asyncio.timeout(PATIENCE):
        while (await bot.app.escalations.counts())[0] != count:
            await asyncio.sleep(0.01)


async def empty(bot: Bot) -> None:
    """Wait until nobody waits for an answer, of the bot or of a person."""
    async with asyncio.timeout(PATIENCE):
        while await bot.app.conversations.unanswered(0.0) or await bot.app.escalations.counts() != (0, 0):
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("platform", ["slack", "discord"])
async def test_with_a_deleted_channel_goes_what_was_asked_and_learnt_there(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        appoint(stage, bot, "hal")
        _, advice = await talk(stage)
        await stage.react("hal", advice, "✅")
        await remembered(bot, 1)
        await asked(stage, text="How do I paint the kettle purple?")
        await waiting(bot, 1)
        await stage.quiet()  # who asked is told, too
        await delete(stage)
        await remembered(bot, 0)
        await empty(bot)
        assert await reads(stage, "hal", TAKEN_BACK)
        assert ADVICE not in (await ask(stage, AGAIN, "private")).text


async def test_what_is_answered_while_its_channel_is_deleted_is_given_up(
    writer: Bot, ollama: OllamaServer
) -> None:
    ollama.script("hang")
    async with SlackStage(writer) as stage:
        await stage.say("ann", PORT, to="bot")
        await until(lambda: ollama.running, "it is being answered")
        await delete(stage)
        await empty(writer)


async def test_in_an_archived_channel_nobody_is_asked_any_more_and_what_was_learnt_stays(bot: Bot) -> None:
    async with SlackStage(bot) as stage:
        appoint(stage, bot, "hal")
        _, advice = await talk(stage)
        await stage.react("hal", advice, "✅")
        await asked(stage, text="How do I paint the kettle purple?")
        await waiting(bot, 1)
        await stage.quiet()
        stage.server.close("C1")
        await stage.quiet()
        await empty(bot)
        assert await reads(stage, "hal", ARCHIVED)
        await remembered(bot, 1)
        assert ADVICE in (await ask(stage, AGAIN, "private")).text
