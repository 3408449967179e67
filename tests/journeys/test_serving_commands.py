"""`threadlore sources | pause | resume | mode | audit`, as the command line sends them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.cli.arguments import parsed
from bot.commands.command_line import handle
from core.errors import UsageError
from storage.serving.channels import SqlChannels
from tests.journeys.house import Bot, Kettle, house


async def line(bot: Bot, *arguments: str) -> str:
    """Carry out a command line and return what it prints."""
    said: list[str] = []

    async def keep(message: dict[str, Any]) -> None:
        said.extend([str(message["line"])] if "line" in message else [])

    request = parsed(arguments).request | {"caller": "cli:root"}
    await handle(bot.app, request, keep)
    return "\n".join(said)


async def test_sources_are_told_with_their_times(bot: Bot) -> None:
    assert "folder `docs/2.0`: 4 pages, read" in await line(bot, "sources")
    entries = json.loads(await line(bot, "sources", "--json"))
    assert [entry["release"] for entry in entries] == ["1.0", "1.0", "1.5", "1.5", "2.0", "2.0"]
    assert entries[0]["kind"] == "folder" and entries[0]["place"] == "docs/1.0"
    assert entries[0]["pages"] == 3 and entries[0]["interval"] == 86_400
    assert entries[0]["next_at"] == entries[0]["read_at"] + 86_400


async def test_a_source_that_was_never_read_is_due(kettle: Kettle) -> None:
    (kettle.folder / "docs" / "more").mkdir()
    with kettle.config.open("a", encoding="utf-8") as config:
        config.write('\n[[unversioned.source]]\nkind = "folder"\npath = "docs/more"\ninterval = "6h"\n')
    async with house(kettle) as bot:
        assert "folder `docs/more`: 0 pages, not read yet, due now, every 6h" in await line(bot, "sources")


async def test_pauses_and_modes_are_set_and_taken_back(bot: Bot) -> None:
    assert "all questions, until" in await line(bot, "pause", "30", "moving", "house")
    assert "`threadlore resume --channel slack:C1` ends it" in await line(
        bot, "pause", "2h", "--channel", "slack:C1"
    )
    assert len(await bot.app.pauses.running()) == 2 and await bot.dispatch.paused()
    status = await line(bot, "status")
    assert "Paused: all questions, until" in status and "moving house" in status
    assert "I answer questions again" in await line(bot, "resume")
    assert "in `slack:C1` again" in await line(bot, "resume", "--channel", "slack:C1")
    assert "No channel has" not in await line(bot, "mode"), "corpora.toml names one"
    assert "`slack:C1`: questions (set by `cli:root`" in await line(bot, "mode", "slack:C1", "questions")
    assert await bot.app.modes.mode("slack:C1") == "questions"
    assert "slack:C1" in await line(bot, "mode") and "slack:C1" in await line(bot, "status")
    assert "mentions (as in" in await line(bot, "mode", "slack:C1", "default")
    with pytest.raises(UsageError, match="which channel"):
        await line(bot, "mode", "general", "off")


async def test_who_is_forgotten_is_named_nowhere_any_more(bot: Bot) -> None:
    await bot.app.modes.set_mode("slack:C1", "off", "slack:UANN1")
    await bot.app.pauses.begin("slack:C1", 0, "slack:UANN1")
    assert (await line(bot, "status")).count("slack:UANN1") == 2
    await line(bot, "forget", "--user", "slack:UANN1")
    assert "UANN1" not in await line(bot, "status") and "by `forgotten`" in await line(bot, "status")
    assert await bot.app.modes.mode("slack:C1") == "off", "what was set stays"
    assert (await SqlChannels(bot.app.audit._database).modes())[0].by == "forgotten"


async def test_what_changed_something_is_in_the_audit_log(bot: Bot) -> None:
    for arguments in (["pause"], ["resume"], ["mode"], ["sources"], ["mode", "slack:C1", "off"]):
        await line(bot, *arguments)
    with pytest.raises(UsageError):
        await line(bot, "memory", "retire", "p0")
    await line(bot, "forget", "--user", "slack:UANN1")
    acts = json.loads(await line(bot, "audit", "--json"))
    assert [(act["who"], act["what"], act["outcome"].split(": ")[0]) for act in acts] == [
        ("cli:root", "forget", "done"),
        ("cli:root", "memory retire p0", "failed"),
        ("cli:root", "mode slack:C1 off", "slack:C1 is off"),
        ("cli:root", "resume", "done"),
        ("cli:root", "pause", "done"),
    ]
    assert (await line(bot, "audit", "1")).count("\n") == 0
