"""`threadlore glossary …`: what the documentation defines is proposed, pasted, and used in searches."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.commands.command_line import handle
from core.domain import Question
from core.errors import UsageError
from tests.journeys.house import Bot, Kettle, house

PAGE = "# Queues\n\nEach job has a *time to live* (TTL). The command line interface (CLI) shows it.\n"


async def told(bot: Bot, command: str, **more: Any) -> tuple[list[str], list[str]]:
    messages: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)

    await handle(bot.app, {"command": command, **more}, send)
    assert messages[-1]["code"] == 0
    return [m["line"] for m in messages if "line" in m], [m["note"] for m in messages if "note" in m]


async def test_what_is_proposed_can_be_pasted_and_is_used(kettle: Kettle) -> None:
    (page,) = kettle.folder.glob("docs/2.0/**/jobs.md")
    page.with_name("queues.md").write_text(PAGE, "utf-8")
    async with house(kettle) as bot:
        assert (await told(bot, "glossary", action="list"))[1][0].startswith("There is no glossary.")
        await told(bot, "index", release="2.0")
        lines, _ = await told(bot, "glossary", action="propose")
        assert 'TTL = "time to live"' in lines[0].splitlines()
        assert 'CLI = "command line interface"' in lines[0].splitlines()
        assert "/queues" in lines[0]
        _, notes = await told(bot, "glossary", action="propose", release="1.0")
        assert "define no acronym" in notes[0]
        with pytest.raises(UsageError, match=r"'9\.9'; there is: 2\.0, 1\.5, 1\.0"):
            await told(bot, "glossary", action="propose", release="9.9")
    (kettle.folder / "glossary.toml").write_text(lines[0], "utf-8")
    config = kettle.config.read_text("utf-8")
    kettle.config.write_text(
        config.replace("[product]\n", '[product]\nglossary = "glossary.toml"\n'), "utf-8"
    )
    async with house(kettle) as bot:
        lines, _ = await told(bot, "glossary", action="list")
        assert "TTL: time to live" in lines
        (words,), _ = await told(bot, "glossary", action="list", json=True)
        assert json.loads(words)["time to live"] == ["TTL"]
        assert (await told(bot, "glossary", action="propose"))[0] == []
        asked = await bot.app.research.understand(Question("How long is the TTL?"))
        assert asked.queries.filtered.endswith("time to live")
