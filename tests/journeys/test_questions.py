"""A question to its answer, on every platform."""

from __future__ import annotations

import pytest

from tests.journeys.house import Bot
from tests.journeys.kettle import PORTS
from tests.journeys.stage import answer, ask, open_stage

EVERYWHERE = pytest.mark.parametrize("platform", ["fake", "slack", "discord", "web"])
PORT = "Which port does the dashboard listen on?"


@EVERYWHERE
async def test_a_mention_is_answered_in_its_thread_for_the_latest_release(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        seen = await answer(stage, said)
        assert PORTS["2.0"] in seen.text and "Kettle 2.0" in seen.text
        assert "https://kettle.example/2.0/dashboard#opening-the-dashboard" in seen.text
        assert sorted(seen.seeds) == ["down", "up"]
        assert len(stage.replies(said)) == 1
