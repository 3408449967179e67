"""Discord's commands as people read them in their own language."""

from __future__ import annotations

from typing import Any

import discord

from bot.commands.slash.table import Subcommand
from bot.platforms.discord.commands import Translations, build_tree


async def test_descriptions_and_the_menu_are_translated_and_names_that_are_typed_are_not() -> None:
    async def run(call: object) -> None:
        pass

    commands: Any = object()
    table = (Subcommand("share", "Share", run), Subcommand("delete", "remove it", run))
    releases: Any = object()
    tree = build_tree(discord.Client(intents=discord.Intents.none()), commands, table, releases)
    shown = {c.name: c for c in tree.get_commands()}
    ask = await shown["ask"].get_translated_payload(tree, Translations())
    assert not ask.get("name_localizations")
    assert ask["description_localizations"]["de"] == "Frag die Dokumentation; nur du siehst die Antwort"
    assert ask["description_localizations"]["zh-CN"].startswith("向文档提问")
    assert "fr" not in ask["description_localizations"]
    assert "Versión" not in ask["description"]
    option = ask["options"][0]
    assert not option.get("name_localizations") and "es-ES" in option["description_localizations"]
    menus = tree.get_commands(type=discord.AppCommandType.message)
    menu = await menus[0].get_translated_payload(tree, Translations())
    assert menu["name"] == "Answer this" and menu["name_localizations"]["de"] == "Das beantworten"
    top = await shown["threadlore"].get_translated_payload(tree, Translations())
    assert not any(option.get("name_localizations") for option in top["options"])
