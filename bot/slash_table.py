"""Every slash command there is, wired: a feature adds its line here."""

from __future__ import annotations

from functools import partial

from bot.audit import Audit
from bot.bootstrap import Threadlore
from bot.commands import status_of
from bot.permissions import Permissions
from bot.slash import SlashCommands, Subcommand
from bot.slash_gaps import gaps_commands
from bot.slash_index import IndexCommands
from bot.slash_memory import MemoryCommands
from bot.slash_privacy import privacy_commands
from bot.slash_serving import serving_commands
from bot.slash_tickets import ticket_commands
from bot.slash_why import WhyCommand


def subcommands_of(app: Threadlore) -> tuple[Subcommand, ...]:
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


def slash_commands(app: Threadlore) -> SlashCommands:
    """Return the table for a house that stands."""
    permissions = Permissions(app.settings.admins, app.catalogue.permissions, app.engine.helps)
    return SlashCommands(subcommands_of(app), permissions, Audit(app.audit))
