"""The commands of chat, wired."""

from __future__ import annotations

from bot.commands.permissions import Permissions
from bot.commands.registry import table
from bot.commands.slash.derived import subcommands
from bot.commands.slash.table import SlashCommands, Subcommand
from bot.operations.application import Application
from bot.operations.audit import Audit


def subcommands_of(app: Application) -> tuple[Subcommand, ...]:
    """Return every line of the table but help."""
    return subcommands(app, table())


def slash_commands(app: Application) -> SlashCommands:
    """Return the table for a house that stands."""
    permissions = Permissions(app.settings.admins, app.catalogue.permissions, app.engine.helps)
    return SlashCommands(subcommands_of(app), permissions, Audit(app.audit))
