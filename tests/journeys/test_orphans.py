"""What a platform posted though it did not say so is found, and never stands beside the answer."""

from __future__ import annotations

from typing import Any

import pytest

from bot.conversation import answering
from bot.platforms.slack import stream
from bot.ports.chat import Reply
from core.domain import MessageRef
from core.errors import PlatformError
from tests.journeys.fake_stage import FakeChat, FakeStage
from tests.journeys.house import Bot
from tests.journeys.kettle import PORTS
from tests.journeys.slack_stage import SlackStage
from tests.journeys.stage import answer, until
from tests.journeys.test_modes import listen
from tests.ollama_server import OllamaServer
from tests.platforms.slack_blocks import SlackError
from tests.platforms.slack_streams import Streaming

PORT = "Which port does the dashboard listen on?"


class Unsure(Streaming):
    """A Slack that begins a stream, and answers that something went wrong."""

    def start(self, channel: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        super().start(channel, given)
        raise SlackError("fatal_error")


class Silent(FakeChat):
    """A platform that takes its first message and does not say so."""

    async def post(self, where: MessageRef, reply: Reply) -> tuple[MessageRef, ...]:
        posted = await super().post(where, reply)
        if self.posted == 1:
            raise PlatformError("The platform did not answer in time; try again.")
        return posted


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "AGAIN_SECONDS", (0.05, 0.05))


async def test_a_stream_that_slack_begins_and_does_not_tell_of_becomes_the_answer(bot: Bot) -> None:
    async with SlackStage(bot) as stage:
        stage.server.streaming = Unsure(stage.server)
        said = await stage.say("ann", PORT, to="bot")
        await answer(stage, said)
        await stage.quiet()
        assert [PORTS["2.0"] in seen.text for seen in stage.replies(said)] == [True]


async def test_a_stream_that_slack_begins_after_the_answer_is_taken_away(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "QUICK", 0.1)
    async with SlackStage(bot) as stage:
        stage.server.held.add("chat.startStream")
        said = await stage.say("ann", PORT, to="bot")
        await answer(stage, said)
        stage.server.held.clear()
        await until(lambda: stage.server.called("chat.delete"), "the late one is deleted")
        assert [PORTS["2.0"] in seen.text for seen in stage.replies(said)] == [True]


async def test_first_words_that_the_platform_does_not_tell_of_stand_alone(
    writer: Bot, ollama: OllamaServer
) -> None:
    async with FakeStage(writer, Silent()) as stage:
        listen(writer, stage.key(), "questions")
        ollama.say("It listens on port 9090 by default [1].\n\nStart it with `kettle dashboard` [1].")
        ollama.tokens_per_second = 40
        said = await stage.say("ann", PORT)
        await stage.quiet()
        assert ["9090" in seen.text for seen in stage.replies(said)] == [True]
