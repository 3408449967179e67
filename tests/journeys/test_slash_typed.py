"""Slash commands as Slack and phones send them: escaped mentions and links, joined dashes, curly quotes."""

from __future__ import annotations

import pytest

from tests.journeys.house import Bot
from tests.journeys.stage import ask, open_stage, squeezed, told

PORT = "Which port does the dashboard listen on?"
TYPED = pytest.mark.parametrize("platform", ["fake", "slack", "web"])


async def test_slacks_mentions_and_links_are_what_they_mean(bot: Bot) -> None:
    async with open_stage("slack", bot) as stage:
        await stage.slash("boss", "threadlore", "forget <@U2|bob>")
        await told(stage, "boss", "the questions of u2")
        await stage.slash("boss", "threadlore", "mode <#C1|general> questions")
        await told(stage, "boss", "#c1: questions (set by uadmin")
        await stage.slash("boss", "threadlore", "mode #general off")
        await told(stage, "boss", "I can't tell which channel #general is")
        await ask(stage, PORT)
        await stage.quiet()
        claim = await bot.app.conversations.last_in("slack:C1")
        chat = bot.dispatch.chat_of("slack")
        assert claim and chat
        link = (await chat.permalink(claim.parts[-1])).replace("&", "&amp;")
        assert "&amp;" in link
        await stage.slash("boss", "threadlore", f"why <{link}|a message>")
        await told(stage, "boss", f"Answer {claim.answer_id}, for admins")


@TYPED
async def test_dashes_and_quotes_of_phones_are_understood(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await stage.slash("boss", "threadlore", "reindex 2.0 —dry-run")
        await told(stage, "boss", "2.0: 0 to add, 0 changed, 0 to remove, 5 unchanged")
        await stage.slash("boss", "threadlore", "PAUSE here 30 “it’s moving day”")
        assert "it's moving day" in squeezed(await told(stage, "boss", "Paused: questions in"))
        await stage.slash("boss", "threadlore", "gaps –days 7 —markdown")
        await told(stage, "boss", "What the Kettle documentation does not answer")
        await stage.slash("boss", "threadlore", "gaps --days seven")
        await told(stage, "boss", "--days must be a whole number from 1 to 3650, not seven")


@TYPED
async def test_a_mistyped_command_is_answered_with_the_nearest(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await stage.slash("boss", "threadlore", "statsu")
        await told(stage, "boss", "I don't know statsu. Did you mean /threadlore status?")
        await stage.slash("boss", "threadlore", "reindex 2.0 --dryrun")
        await told(stage, "boss", "there is no option --dryrun (did you mean --dry-run?)")
        await stage.slash("ann", "threadlore", "How do I start the dashboard?")
        assert "sources" not in await told(stage, "ann", "To ask something, use /ask")
        assert not await bot.app.audit.acts() and not bot.app.corpus_manager.progress()
