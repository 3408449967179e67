"""What ends, or is away, while the bot serves: the log says which, and the rest goes on."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import Any

import pytest

from bot.app.serve import _index_what_is_missing, _run
from bot.commands.command_line import status_of
from bot.operations.scheduler import Clock
from bot.platforms.slack.platform import connect
from bot.rendering.status import status_text
from core.errors import StorageUnavailable
from tests.journeys.house import Bot
from tests.patience import PATIENCE
from tests.platforms.slack_bot import settings_for
from tests.platforms.slack_server import SlackServer


async def test_status_tells_which_platform_has_ended_and_what_to_do(
    bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    async with SlackServer() as slack:
        platform = connect(settings_for(slack), bot.dispatch)
        assert platform
        with caplog.at_level(logging.ERROR):
            running = asyncio.create_task(_run(platform, bot.app))
            await slack.until(lambda: slack.connected, PATIENCE)
            assert not (await status_of(bot.app))["problems"]
            slack.revoked = "token_revoked"
            slack.say("U1", "C1", "<@UBOT> Which port does the dashboard listen on?")
            assert await asyncio.wait_for(running, PATIENCE) is False
    [problem] = (await status_of(bot.app))["problems"]
    assert problem.startswith("slack has ended: Slack rejects SLACK_BOT_TOKEN (token_revoked)")
    assert problem in status_text(await status_of(bot.app))
    assert "SLACK_BOT_TOKEN (token_revoked)" in caplog.text


async def test_the_schedule_begins_though_the_database_is_away_for_a_moment_at_the_start(bot: Bot) -> None:
    class Away:
        """Corpora of which the database tells nothing."""

        def __getattr__(self, name: str) -> Any:
            return getattr(bot.app.corpus_manager, name)

        async def releases(self) -> list[dict[str, Any]]:
            raise StorageUnavailable("The database fails.")

    class Started(Clock):
        has_begun = False

        def start(self) -> None:
            self.has_begun = True

    clock = Started(bot.app.corpora, {}, bot.app.corpus_manager.reindex)
    app = replace(bot.app, corpus_manager=Away())
    await _index_what_is_missing(app, clock, False, (), asyncio.create_task(asyncio.sleep(0)))
    assert clock.has_begun
