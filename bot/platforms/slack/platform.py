"""Slack, when both its tokens are set; Slack's libraries are imported only then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.ports.platforms import Platform
from core.errors import ConfigurationError

if TYPE_CHECKING:
    from bot.dispatch.dispatch import Dispatch
    from core.settings import Settings


def connect(settings: Settings, dispatch: Dispatch) -> Platform | None:
    """Build the platform, or return None where no token is set.

    Raises ConfigurationError when only one of the two tokens is set.
    """
    bot_token = settings.slack_bot_token.get_secret_value().strip()
    app_token = settings.slack_app_token.get_secret_value().strip()
    if not bot_token and not app_token:
        return None
    for variable, token, what in (
        ("SLACK_BOT_TOKEN", bot_token, "the Bot User OAuth Token, xoxb-…"),
        ("SLACK_APP_TOKEN", app_token, "an app-level token with the scope connections:write, xapp-…"),
    ):
        if not token:
            raise ConfigurationError(f"{variable} is missing: Slack needs both tokens, add {what} to .env.")
    from bot.platforms.slack.connection import Slack

    return Slack(settings, dispatch)
