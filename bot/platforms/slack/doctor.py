"""Examines the Slack app: tokens, scopes, channels, and what only a person can look at."""

from __future__ import annotations

from bot.home.findings import Finding, bad, channels_of, clock, good, people_of, unsure
from bot.platforms.slack.api.client import SlackApi
from bot.platforms.slack.api.errors import SlackRefused
from core.settings import Settings

# fmt: off
SCOPES = frozenset({
    "app_mentions:read", "channels:history", "channels:read", "chat:write", "commands", "files:read",
    "groups:history", "groups:read", "im:history", "im:read", "im:write", "mpim:history", "mpim:read",
    "reactions:read", "reactions:write", "users:read",
})
# fmt: on
"""Bot token scopes; the same as in docs/slack-manifest.yaml."""
_MANIFEST = "slack-manifest.yaml (`threadlore init` writes it)"


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
            found += await _bot(api, channels_of(settings, "slack"))
            found += [await _person(api, person) for person in people_of(settings, "slack")]
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


async def _bot(api: SlackApi, named: tuple[str, ...]) -> list[Finding]:
    try:
        who, scopes = await api.identity()
    except SlackRefused as error:
        if error.retryable:
            return [_unreachable("Slack bot token", error)]
        return [
            bad(
                "Slack bot token",
                f"Slack says {error.code}",
                "install the app to the workspace again and copy the Bot User OAuth Token to SLACK_BOT_TOKEN",
            )
        ]
    found = [good("Slack bot token", f"{who.get('user')} in {who.get('team')}")]
    if (told := clock(api.date, "Slack")) is not None:
        found.append(told)
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
    found += [await _named(api, channel) for channel in named]
    found.append(
        unsure(
            "Slack app settings",
            "Slack tells an app nothing of its App Home, events, buttons and slash commands",
            f"compare them with {_MANIFEST}: Home tab on, messages tab on and writable, interactivity on, "
            "/ask and /threadlore there; a direct message, a button and /ask that are answered show it best",
        )
    )
    return found


async def _named(api: SlackApi, channel: str) -> Finding:
    """Look at a channel that the configuration names."""
    try:
        answer = await api.call("conversations.info", quick=True, channel=channel)
    except SlackRefused as error:
        said = f"Slack says {error.code}"
        if error.code == "channel_not_found":
            said = "there is none with that id that the bot can see"
        return bad(f"Slack channel {channel}", said, "correct its id, or type /invite @Threadlore in it")
    told = answer.get("channel") or {}
    name = f"#{told.get('name') or channel}"
    if told.get("is_member"):
        return good(f"Slack channel {channel}", f"the bot is in {name}")
    return bad(f"Slack channel {channel}", f"the bot is not in {name}", "type /invite @Threadlore there")


async def _person(api: SlackApi, person: str) -> Finding:
    """Look at somebody whom the configuration names to be asked for help."""
    what = f"Slack person {person}"
    try:
        told = (await api.call("users.info", quick=True, user=person)).get("user") or {}
    except SlackRefused as error:
        return bad(what, f"Slack says {error.code}", "correct the id in [ask] of corpora.toml")
    if told.get("deleted") or told.get("is_bot"):
        return bad(what, "they cannot be written to", "name somebody else in [ask] of corpora.toml")
    return good(what, f"{told.get('real_name') or told.get('name')} can be asked for help")


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


def _unreachable(what: str, error: SlackRefused) -> Finding:
    """Say that Slack did not answer, of which the token is not to blame."""
    said = f"Slack cannot be asked ({error.code}{f': {error.detail}' if error.detail else ''})"
    return bad(what, said, "check the network, a proxy and SLACK_API_URL, and try again")


async def _socket(api: SlackApi) -> Finding:
    try:
        await api.open_socket()
    except SlackRefused as error:
        if error.code == "ratelimited":  # Slack takes one or a few a minute, and a bot that serves asks, too
            said = "Slack did not check it, for it was asked several times within a minute"
            return unsure("Slack app token", said, "run `threadlore doctor` again in a minute")
        if error.retryable:
            return _unreachable("Slack app token", error)
        return bad(
            "Slack app token",
            f"Slack says {error.code}",
            "make an app-level token with connections:write, switch Socket Mode on, and put the token into "
            "SLACK_APP_TOKEN",
        )
    return good("Slack app token", "Socket Mode answers")
