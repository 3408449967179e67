"""What people read of the bot's commands before they use one, in the language that Discord shows to them."""

from __future__ import annotations

from discord import Locale, app_commands
from discord.app_commands import TranslationContextLocation as Place

from core.languages import _, speaking

_READ = (Place.command_description, Place.parameter_description)
"""What is read only. Names are typed, so they are the same for everybody but in the menu of a message."""


class Translations(app_commands.Translator):
    """Looks descriptions and names in menus up in the message catalogues; what is not there stays English."""

    async def translate(
        self, string: app_commands.locale_str, locale: Locale, context: app_commands.TranslationContextTypes
    ) -> str | None:
        """Return a text of a command in a language, None where it has none of its own."""
        in_menu = context.location is Place.command_name and isinstance(
            context.data, app_commands.ContextMenu
        )
        if not (in_menu or context.location in _READ):
            return None
        with speaking(locale.value):
            said = _(string.message)
        return said if said != string.message else None
