"""Votes, and where what was learnt is told."""

from __future__ import annotations

from tests.journeys.house import Bot, Kettle, house
from tests.journeys.stage import ask, open_stage
from tests.journeys.test_votes import PORT, REUSED, REWORDED, voted


async def vote_of_somebody_else(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        seen = await ask(stage, PORT)
        await voted(stage, seen, "👍", who="bob")
        assert REUSED in (await ask(stage, REWORDED)).text
        await voted(stage, seen, "👎", who="ann")
        counts = await bot.counts()
        assert (counts["high"], counts["low"]) == (0, 1), "who asked weighs more"


async def flood_of_votes(platform: str, kettle: Kettle) -> None:
    asked = (
        PORT,
        "How often is a failed job tried again by default?",
        "How do I send the report every night?",
        "How do I protect the dashboard with a password?",
    )
    async with house(kettle, votes_per_hour=3) as bot, open_stage(platform, bot) as stage:
        for text in asked:
            await voted(stage, await ask(stage, text), "👍")
        assert REUSED in (await ask(stage, REWORDED, who="bob")).text
        assert REUSED not in (await ask(stage, asked[-1], who="bob")).text, "kept, but it moves nothing"
        assert (await bot.counts())["votes"] == 4


async def direct_is_never_remembered(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        seen = await ask(stage, PORT, "direct")
        await voted(stage, seen, "👍")
        await stage.press("ann", seen, "up")
        await stage.quiet()
        counts = await bot.counts()
        assert counts["pairs"] == counts["high"] == 0
        assert REUSED not in (await ask(stage, REWORDED)).text


async def channel_made_private(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await voted(stage, await ask(stage, PORT), "👍")
        assert REUSED in (await ask(stage, REWORDED, "private")).text
        await stage.close_public()
        await stage.quiet()
        assert REUSED not in (await ask(stage, REWORDED, "private")).text, "not told elsewhere any more"
        assert REUSED in (await ask(stage, REWORDED)).text, "it stays with the channel"
