"""What becomes of votes when a moderator clears reactions, and when somebody deletes the bot's answer."""

from __future__ import annotations

import pytest

from tests.journeys.discord_stage import DiscordStage
from tests.journeys.house import Bot
from tests.journeys.slack_stage import SlackStage
from tests.journeys.stage import Seen, ask, open_stage
from tests.journeys.test_people import remembered, talk

PORT = "Which port does the dashboard listen on?"
CLEARINGS = [
    ("", (0, 0)),
    ("👍", (1, 1)),  # bob's has a skin tone, which is an emoji of its own
    ("👎", (2, 0)),
    ("👍🏽", (1, 1)),
    ("🎉", (2, 1)),
]


async def hands(bot: Bot) -> tuple[int, int]:
    """Return how many say 👍 and 👎 of what memory knows."""
    pairs = await bot.app.memory.everything()
    values = [value for pair in pairs for value, *_ in (*pair.opinions, *pair.strangers)]
    return values.count(1), values.count(0)


async def clear(stage: DiscordStage, seen: Seen, emoji: str) -> None:
    message = stage.stored(seen)
    if emoji:
        stage.env.backend.clear_reaction(message.channel_id, message.id, emoji)
    else:
        stage.env.backend.clear_reactions(message.channel_id, message.id)
    await stage.quiet()


@pytest.mark.parametrize(("emoji", "left"), CLEARINGS)
async def test_what_a_moderator_clears_is_no_vote_any_more(
    emoji: str, left: tuple[int, int], bot: Bot
) -> None:
    async with open_stage("discord", bot) as stage:
        assert isinstance(stage, DiscordStage)
        seen = await ask(stage, PORT)
        for who, reaction in (("ann", "👍"), ("bob", "👍🏽"), ("hal", "👎"), ("boss", "🎉")):
            await stage.react(who, seen, reaction)
        await stage.quiet()
        assert await hands(bot) == (2, 1)
        await clear(stage, seen, emoji)
        assert await hands(bot) == left
        assert await bot.app.memory.verify() == []


async def test_a_vote_by_button_stays_when_reactions_are_cleared(bot: Bot) -> None:
    async with open_stage("discord", bot) as stage:
        assert isinstance(stage, DiscordStage)
        seen = await ask(stage, PORT)
        await stage.press("ann", seen, "up")
        await stage.react("bob", seen, "👎")
        await stage.quiet()
        assert await hands(bot) == (1, 1)
        await clear(stage, seen, "")
        assert await hands(bot) == (1, 0)


async def test_where_reactions_cannot_be_read_no_vote_is_taken_back_for_one_emoji(bot: Bot) -> None:
    async with open_stage("discord", bot) as stage:
        assert isinstance(stage, DiscordStage)
        seen = await ask(stage, PORT)
        await stage.react("ann", seen, "👍")
        fault = {
            "method": "GET",
            "path": "/channels/*/messages/*",
            "code": 50001,
            "message": "Missing Access",
        }
        stage.env.backend.faults.append(fault | {"status": 403, "times": 1})
        await clear(stage, seen, "👍")
        assert await hands(bot) == (1, 0)


async def test_a_cleared_mark_is_taken_off_a_persons_answer(bot: Bot) -> None:
    async with open_stage("discord", bot) as stage:
        assert isinstance(stage, DiscordStage)
        _, advice = await talk(stage)
        await stage.react("hal", advice, "✅")
        await remembered(bot, 1)
        await clear(stage, Seen(advice.id, ""), "👎")
        await remembered(bot, 1)
        await clear(stage, Seen(advice.id, ""), "✅")
        await remembered(bot, 0)


@pytest.mark.parametrize("platform", ["slack", "discord"])
async def test_an_answer_that_somebody_deletes_keeps_its_votes(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        seen = await ask(stage, PORT)
        await stage.react("ann", seen, "👍")
        await stage.react("bob", seen, "👎")
        await stage.quiet()
        before = await hands(bot)
        if isinstance(stage, SlackStage):
            stage.server.delete("C1", seen.id)
        elif isinstance(stage, DiscordStage):
            message = stage.stored(seen)
            stage.env.backend.delete_message(message.channel_id, message.id)
        await stage.quiet()
        assert await hands(bot) == before == (1, 1)
        again = await ask(stage, PORT, who="bob")
        assert again.id != seen.id
