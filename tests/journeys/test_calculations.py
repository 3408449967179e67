"""A calculation gets its result at once; what asks for more gets the documentation."""

from __future__ import annotations

import pytest

from tests.journeys.fake_stage import FakeStage
from tests.journeys.house import Bot
from tests.journeys.kettle import PORTS
from tests.journeys.stage import EVERYWHERE, ask, open_stage, squeezed
from tests.ollama_server import OllamaServer


@EVERYWHERE
async def test_a_calculation_is_answered_at_once_and_marked_as_one(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        seen = await ask(stage, "How many seconds are 31 days?")
        text = squeezed(seen.text)
        assert "2678400 seconds" in text and "1 day = 86400 seconds" in text
        assert "This is a calculation. The documentation was not needed." in text
        assert "Kettle" not in text and "release" not in seen.controls and "why" in seen.controls
        assert PORTS["2.0"] in (await ask(stage, "Which port does the dashboard listen on?")).text


async def test_no_model_is_called_for_a_calculation(writer: Bot, ollama: OllamaServer) -> None:
    before = len(ollama.requests)
    stage = FakeStage(writer)
    assert "200 seconds" in (await ask(stage, "how long does 2 GB take at 10 MB/s?")).text
    assert len(ollama.requests) == before


@pytest.mark.parametrize("text", ["what does 2 + 2 workers mean", "1.5 - 2.0"])
async def test_what_is_more_than_a_calculation_goes_to_the_documentation(bot: Bot, text: str) -> None:
    assert "calculation" not in (await ask(FakeStage(bot), text)).text
