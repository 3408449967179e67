"""What people do that only Slack tells of as it does: messages forwarded, mentions that are told again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest

from tests.journeys.house import Bot
from tests.journeys.kettle import PORTS
from tests.journeys.slack_stage import SlackStage
from tests.journeys.stage import Seen, answer, told, until

PORT = "Which port does the dashboard listen on?"


@pytest.fixture(name="stage")
async def stage_fixture(bot: Bot, caplog: pytest.LogCaptureFixture) -> AsyncIterator[SlackStage]:
    async with SlackStage(bot) as stage:
        yield stage
    assert not [r for r in caplog.records if r.exc_info or r.levelno >= logging.ERROR], caplog.text


async def _authors(bot: Bot, stage: SlackStage, seen: Seen) -> frozenset[str]:
    """Return whose words the question of an answer holds, as it is stored."""
    answer_id = await bot.app.conversations.answer_of(f"{stage.key(seen.place)}:{seen.id}")
    return frozenset(await bot.app.engine.answer_log.authors(answer_id))


async def test_a_question_that_is_forwarded_is_answered(bot: Bot, stage: SlackStage) -> None:
    asked = await stage.say("hal", PORT, "private")
    direct = await answer(stage, await stage.forward("ann", asked, "direct"))
    assert PORTS["2.0"] in direct.text
    forwarded = await stage.forward("ann", asked, "public")
    await stage.answer_this("bob", forwarded)
    await told(stage, "bob", PORTS["2.0"])
    called = await answer(stage, await stage.say("bob", "can you help here?", under=forwarded, to="bot"))
    assert PORTS["2.0"] in called.text
    for seen in (direct, called):
        assert "slack:UHAL" in await _authors(bot, stage, seen), "who wrote it can have it forgotten"


async def test_a_mention_that_is_edited_is_answered_once(stage: SlackStage) -> None:
    asked = await stage.say("ann", "Which port does the oven listen on?", to="bot")
    await answer(stage, asked)
    await stage.edit(asked, PORT)
    await until(lambda: PORTS["2.0"] in stage.replies(asked)[-1].text)
    await stage.quiet()
    assert len(stage.replies(asked)) == 1


async def test_an_edit_that_adds_a_mention_is_answered_once(stage: SlackStage) -> None:
    asked = await stage.say("ann", "hello everybody")
    await stage.quiet()
    assert not stage.replies(asked)
    stage.server.edit("C1", asked.id, f"<@UBOT> {PORT}")
    assert PORTS["2.0"] in (await answer(stage, asked)).text
    await stage.quiet()
    await asyncio.sleep(0.2)
    assert len(stage.replies(asked)) == 1
