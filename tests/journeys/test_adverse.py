"""People who act against each other: what one does while, or after, somebody does another thing."""

from __future__ import annotations

from tests.journeys.house import Bot
from tests.journeys.kettle import PORTS
from tests.journeys.stage import EVERYWHERE, ON_EACH_WIRE, Said, answer, open_stage, squeezed, until

PORT = "Which port does the dashboard listen on?"


# --- another release --------------------------------------------------------------------------


@ON_EACH_WIRE
async def test_a_press_of_somebody_else_does_not_choose_the_askers_release(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        first = await answer(stage, said)
        await stage.press("bob", first, "release", "1.5")
        assert PORTS["1.5"] in (await answer(stage, said, 2)).text
        await stage.say("ann", "how often is a failed job tried again?", under=said)
        assert "Kettle 2.0" in squeezed((await answer(stage, said, 3)).text)


@ON_EACH_WIRE
async def test_ones_own_press_chooses_the_release_of_what_one_asks_next(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        first = await answer(stage, said)
        await stage.press("bob", first, "release", "1.5")
        await answer(stage, said, 2)
        await stage.say("bob", "how often is a failed job tried again?", under=said, to="bot")
        assert "Kettle 1.5" in squeezed((await answer(stage, said, 3)).text), "it is bob's"
        await stage.press("ann", first, "release", "1.0")
        await answer(stage, said, 4)
        await stage.say("ann", "how often is a failed job tried again?", under=said, to="bot")
        assert "Kettle 1.0" in squeezed((await answer(stage, said, 5)).text), "it is ann's"


# --- talk -------------------------------------------------------------------------------------


@EVERYWHERE
async def test_an_aside_is_left_alone_and_what_goes_on_is_not(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        await answer(stage, said)
        for aside in ("will try tomorrow", "ah, gut zu wissen", "je teste tout de suite"):
            await stage.say("ann", aside, under=said)
        await stage.quiet()
        assert len(stage.replies(said)) == 1
        await stage.say("ann", "in 1.5", under=said)
        assert PORTS["1.5"] in (await answer(stage, said, 2)).text
        await stage.say("ann", "will try tomorrow", under=said, to="bot")
        await until(lambda: len(stage.replies(said)) == 3, "who calls the bot is answered")
        await stage.say("ann", "will try tomorrow", "direct")
        await until(lambda: stage.replies(Said("", "direct", "")), "and who writes to it")
