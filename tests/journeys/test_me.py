"""`me` on every platform: one's questions, votes and default release, and the menu of that."""

from __future__ import annotations

import pytest

from tests.journeys.house import Bot
from tests.journeys.kettle import PORTS
from tests.journeys.stage import EVERYWHERE, Seen, ask, open_stage, squeezed, told, until

PORT = "Which port does the dashboard listen on?"
NOWHERE = Seen("", "")
"""No message: what is pressed hangs under what a person alone was told."""


@EVERYWHERE
async def test_everybody_sees_their_own_and_chooses_a_release(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await stage.slash("ann", "threadlore", "me")
        await told(stage, "ann", "You have not asked anything yet.")
        seen = await ask(stage, PORT)
        await stage.react("ann", seen, "👍")
        other = await ask(stage, "How do I set the port of the dashboard?", who="bob")
        await stage.react("ann", other, "👍")
        await stage.quiet()
        await stage.slash("ann", "threadlore", "me")
        said = squeezed(await told(stage, "ann", "Your votes"))
        own, votes = said.split("Your votes")
        assert PORT in own and "👍" in own and "How do I set" not in own
        assert "How do I set the port" in votes and "👍" in votes
        assert "I answer for the latest, 2.0" in votes
        await stage.press("ann", NOWHERE, "own-release", "1.5")
        await told(stage, "ann", "Your default release: 1.5")
        assert PORTS["1.5"] in (await ask(stage, PORT)).text
        assert PORTS["2.0"] in (await ask(stage, PORT, who="bob")).text
        await stage.slash("ann", "threadlore", "me latest")
        await told(stage, "ann", "Where your question names no release, I answer for the latest, 2.0")
        await stage.slash("ann", "threadlore", "me 9.9")
        await told(stage, "ann", "There is no release 9.9")


@EVERYWHERE
async def test_my_data_shows_the_release_and_forget_me_removes_it(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await stage.slash("ann", "threadlore", "me 1.5")
        await told(stage, "ann", "Your default release: 1.5")
        held = await bot.app.my_data.of(stage.account("ann"))
        assert [row["release"] for row in held["own release"]] == ["1.5"]
        await stage.slash("ann", "threadlore", "forget me confirm")
        await until(lambda: len(stage.heard("ann")) > 1)
        await stage.quiet()
        held = await bot.app.my_data.of(stage.account("ann"))
        assert "own release" not in held
        assert await bot.app.releases.of_person(stage.account("ann")) == ""


@EVERYWHERE
async def test_who_opted_out_has_no_release_and_no_list(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await stage.slash("ann", "threadlore", "opt-out confirm")
        await told(stage, "ann", "You have opted out")
        await stage.slash("ann", "threadlore", "me 1.5")
        await told(stage, "ann", "so I keep no default release")
        await stage.slash("ann", "threadlore", "me")
        await told(stage, "ann", "so I keep no list of your questions and votes")


@EVERYWHERE
async def test_a_channels_release_is_shown_set_and_taken_back(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await stage.slash("boss", "threadlore", "default-release 1.5")
        await told(stage, "boss", "questions that name no release are about 1.5 (set by")
        assert PORTS["1.5"] in (await ask(stage, PORT)).text
        assert PORTS["2.0"] in (await ask(stage, PORT, "direct")).text
        await stage.slash("ann", "threadlore", "me 1.0")
        await told(stage, "ann", "Your default release: 1.0")
        assert PORTS["1.5"] in (await ask(stage, PORT)).text, "a channel of its own release is about that"
        await stage.slash("ann", "threadlore", "default-release 2.0")
        await told(stage, "ann", "Only admins may do that.")
        await stage.slash("boss", "threadlore", "default-release here default")
        await told(stage, "boss", "about the latest release (nobody set another one)")
        assert PORTS["1.0"] in (await ask(stage, PORT)).text
        await stage.slash("boss", "threadlore", "default-release here 9.9")
        await told(stage, "boss", "There is no release 9.9")


@pytest.mark.parametrize("said", ["me 1.5 2.0", "me --release"])
async def test_what_cannot_be_meant_is_answered_with_the_usage(said: str, bot: Bot) -> None:
    async with open_stage("fake", bot) as stage:
        await stage.slash("ann", "threadlore", said)
        await told(stage, "ann", "/threadlore me [release]")
