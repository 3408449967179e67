"""What becomes of a vote when an edit of the question puts another answer into the same message."""

from __future__ import annotations

import pytest

from tests.journeys.house import Bot
from tests.journeys.kettle import PORTS
from tests.journeys.stage import EVERYWHERE, ON_EACH_WIRE, Said, Seen, Stage, answer, open_stage, until
from tests.journeys.test_cleared import hands

PORT = "Which port does the dashboard listen on?"
OLDER = "Which port does the dashboard of 1.5 listen on?"


async def replaced(stage: Stage, said: Said) -> Seen:
    """Edit a question and wait for the answer that stands in the old one's message then."""
    await stage.edit(said, OLDER)
    return await until(lambda: next((s for s in stage.replies(said) if PORTS["1.5"] in s.text), None))


@ON_EACH_WIRE
@pytest.mark.parametrize("emoji", ["👍", "👎"])
async def test_an_emoji_that_goes_takes_its_vote_off_the_answer_that_was_replaced(
    platform: str, emoji: str, bot: Bot
) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        seen = await answer(stage, said)
        await stage.react("bob", seen, emoji)
        await stage.quiet()
        assert sum(await hands(bot)) == 1
        seen = await replaced(stage, said)
        await stage.react("bob", seen, emoji, False)
        await stage.quiet()
        assert await hands(bot) == (0, 0)
        await stage.react("bob", seen, emoji)
        await stage.quiet()
        assert sum(await hands(bot)) == 1, "put once more, it is for the new one"
        assert await bot.app.memory.verify() == []


@EVERYWHERE
async def test_a_helpers_mark_that_goes_is_no_vote_for_the_answer_that_was_replaced(
    platform: str, bot: Bot
) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        seen = await answer(stage, said)
        await stage.react("hal", seen, "✅")
        await stage.quiet()
        assert await hands(bot) == (1, 0)
        seen = await replaced(stage, said)
        await stage.react("hal", seen, "✅", False)
        await stage.quiet()
        assert await hands(bot) == (0, 0)


@EVERYWHERE
async def test_a_button_takes_back_the_vote_on_the_answer_that_was_replaced(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        await stage.press("bob", await answer(stage, said), "up")
        await stage.quiet()
        seen = await replaced(stage, said)
        if platform != "web":  # the page shows that it is pressed
            await stage.press("bob", seen, "up")
            await stage.quiet()
        await stage.press("bob", seen, "up")
        await stage.quiet()
        assert await hands(bot) == (0, 0)
