"""What `threadlore init` asks for Discord: the application's id and its token."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from bot.platforms.discord import TOKENS
from bot.ports.platforms import Terminal

NAME, RANK, ACCOUNT = "Discord", 2, "discord:123"
OPTION = {
    "name": "discord",
    "help": "The id of a Discord application: prints its invitation",
    "named": True,
    "metavar": "ID",
}
STEPS = """
Make the application now, in a browser:
  1. https://discord.com/developers/applications, New Application: copy its Application ID
"""
NO_ID = "An application's id is a number of 17 to 20 digits."
NO_TOKEN = "A number is an id; copy the token that Bot, Reset Token shows."
INVITE = """  2. Bot: switch on Message Content Intent; Reset Token, and copy the token
  3. Open this link and choose your server:
     {link}
  4. Then nobody else is to invite it, as whoever manages a server that it is in is its admin:
     Installation, Install Link: None; Bot: switch off Public Bot
"""


def asked(folder: Path, terminal: Terminal) -> tuple[str, dict[str, str]]:
    """Explain how the application is made, and ask for its id and token."""
    print(STEPS)
    while not (number := terminal.needed("Application ID: ")).isdigit():
        print(NO_ID, file=sys.stderr)
    print(INVITE.format(link=_invitation(number)))
    while (token := terminal.token("Bot token [not now]: ", "")).isdigit():
        print(NO_TOKEN, file=sys.stderr)
    return number, {TOKENS[0]: token}


def wrong(chosen: str, tokens: Mapping[str, str]) -> str:
    """Say that an application's id is none, or that it stands in the place of the token."""
    if not chosen.isdigit():
        return f"--discord takes the application's id. {NO_ID}"
    return f"DISCORD_TOKEN cannot be used. {NO_TOKEN}" if tokens.get(TOKENS[0], "").isdigit() else ""


def write(folder: Path) -> tuple[str, ...]:
    """Write nothing: Discord's application is made by hand."""
    return ()


def then(chosen: str) -> str:
    """Give the link that invites the bot."""
    return f"On Discord, {_invitation(chosen)} invites the bot to a server."


def _invitation(application: str) -> str:
    from bot.platforms.discord.doctor import invitation  # loads Discord's library

    return invitation(application)
