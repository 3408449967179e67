"""Every slash command there is, wired: a feature adds its line here."""

from __future__ import annotations

from functools import partial

from bot.app.application import Application
from bot.commands.command_line import status_of
from bot.commands.permissions import Permissions
from bot.commands.slash.gaps import gaps_commands
from bot.commands.slash.index import IndexCommands
from bot.commands.slash.memory import MemoryCommands
from bot.commands.slash.privacy import privacy_commands
from bot.commands.slash.serving import serving_commands
from bot.commands.slash.table import SlashCommands, Subcommand
from bot.commands.slash.tickets import ticket_commands
from bot.commands.slash.why import WhyCommand
from bot.operations.audit import Audit


def subcommands_of(app: Application) -> tuple[Subcommand, ...]:
    """Return every line of the table but help."""
    return (
        *IndexCommands(
            app.library, app.memory, app.corpora, app.schedules, partial(status_of, app)
        ).subcommands,
        *WhyCommand(app).subcommands,
        *ticket_commands(app.escalations),
        *gaps_commands(app.statistics.gaps, app.engine.product.name),
        *serving_commands(app.modes, app.pauses, app.audit),
        *MemoryCommands(app).subcommands,
        *privacy_commands(app.people, app.my_data, app.privacy),
    )


def slash_commands(app: Application) -> SlashCommands:
    """Return the table for a house that stands."""
    permissions = Permissions(app.settings.admins, app.catalogue.permissions, app.engine.helps)
    return SlashCommands(subcommands_of(app), permissions, Audit(app.audit))
