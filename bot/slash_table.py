"""Every slash command there is, wired: a feature adds its line here."""

from __future__ import annotations

from functools import partial

from bot.bootstrap import Threadlore
from bot.commands import status_of
from bot.slash import SlashCommands
from bot.slash_gaps import gaps_commands
from bot.slash_index import IndexCommands
from bot.slash_memory import memory_commands
from bot.slash_privacy import privacy_commands


def slash_commands(app: Threadlore) -> SlashCommands:
    """Return the table for a house that stands."""
    subcommands = (
        *IndexCommands(app.library, partial(status_of, app)).subcommands,
        *gaps_commands(app.statistics.gaps),
        *memory_commands(app.engine.accepted.corrections),
        *privacy_commands(app.people.forget),
    )
    return SlashCommands(subcommands, app.settings.admins)
