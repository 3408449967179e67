"""Examines the Slack app: tokens, scopes, channels, and what only a person can look at."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from time import time

from bot.findings import Finding, bad, good, unsure
from bot.platforms.slack_api import SlackApi
from bot.platforms.slack_errors import SlackRefused
from core.settings import Settings

SCOPES = frozenset(
    {
        "app_mentions:read",
        "channels:history",
        "channels:read",
        "chat:write",
        "commands",
        "groups:history",
        "groups:read",
        "im:history",
        "im:read",
        "mpim:history",
        "mpim:read",
        "reactions:read",
        "reactions:write",
        "users:read",
    }
)
"""The scopes of docs/slack-manifest.yaml."""
SKEW_SECONDS = 60.0
"""Difference between this machine's clock and Slack's from which it is told."""
_MANIFEST = "docs/slack-manifest.yaml"


async def examine(settings: Settings) -> list[Finding]:
    """Look at everything that Slack tells an app about itself; empty where Slack is not used."""
    bot_token = settings.slack_bot_token.get_secret_value().strip()
    app_token = settings.slack_app_token.get_secret_value().strip()
    if not bot_token and not app_token:
        return []
    found = [*_shape("SLACK_BOT_TOKEN", bot_token, "xoxb-"), *_shape("SLACK_APP_TOKEN", app_token, "xapp-")]
    api = SlackApi(bot_token, app_token, settings.slack_api_url)
    try:
        if bot_token:
            found += await _bot(api)
        if app_token:
            found.append(await _socket(api))
    finally:
        await api.close()
    return found


def _shape(variable: str, token: str, prefix: str) -> list[Finding]:
    if not token:
        return [
            bad("Slack token", f"{variable} is empty", f"put the token that begins with {prefix} into .env")
        ]
    if not token.startswith(prefix):
        return [
            bad(
                "Slack token",
                f"{variable} begins with {token[:5]}… instead of {prefix}",
                "copy the other token: the two are easily mixed up",
            )
        ]
    return []


async def _bot(api: SlackApi) -> list[Finding]:
    try:
        who, scopes = await api.identity()
    except SlackRefused as error:
        return [
            bad(
                "Slack bot token",
                f"Slack says {error.code}",
                "install the app to the workspace again and copy the Bot User OAuth Token to SLACK_BOT_TOKEN",
            )
        ]
    found = [good("Slack bot token", f"{who.get('user')} in {who.get('team')}")]
    if api.date and abs(parsedate_to_datetime(api.date).timestamp() - time()) > SKEW_SECONDS:
        found.append(
            unsure(
                "Clock",
                "this machine's clock differs from Slack's by over a minute",
                "switch on time sync (NTP)",
            )
        )
    if missing := sorted(SCOPES - scopes) if scopes else []:
        found.append(
            bad(
                "Slack scopes",
                f"missing: {', '.join(missing)}",
                f"paste {_MANIFEST} into the app's manifest and install it to the workspace again",
            )
        )
    elif scopes:
        found.append(good("Slack scopes", f"all {len(SCOPES)} are there"))
    found.append(await _channels(api))
    found.append(
        unsure(
            "Slack app settings",
            "an app cannot see its App Home, events and slash commands",
            f"compare them with {_MANIFEST}: messages tab on and writable, commands, interactivity on",
        )
    )
    return found


async def _channels(api: SlackApi) -> Finding:
    try:
        answer = await api.call(
            "users.conversations", quick=True, types="public_channel,private_channel", limit=200
        )
    except SlackRefused as error:
        return unsure(
            "Slack channels", f"Slack says {error.code}", "add the scopes channels:read and groups:read"
        )
    names = [str(channel.get("name") or channel.get("id")) for channel in answer.get("channels") or ()]
    if not names:
        return unsure("Slack channels", "the bot is in none", "type /invite @Threadlore in a channel")
    shown = ", ".join(f"#{name}" for name in names[:5])
    return good("Slack channels", shown + (f" and {len(names) - 5} more" if len(names) > 5 else ""))


async def _socket(api: SlackApi) -> Finding:
    try:
        await api.open_socket()
    except SlackRefused as error:
        return bad(
            "Slack app token",
            f"Slack says {error.code}",
            "make an app-level token with connections:write, switch Socket Mode on, and put the token into "
            "SLACK_APP_TOKEN",
        )
    return good("Slack app token", "Socket Mode answers")
