"""Examines the Discord bot: token, intents, commands, servers and permissions."""

from __future__ import annotations

import aiohttp
import discord
from discord.http import Route

from bot.home.findings import Finding, bad, channels_of, clock, good, people_of, unsure
from bot.platforms.discord.places import as_documented
from core.settings import Settings

PERMISSIONS = {
    "view_channel": "View Channels",
    "send_messages": "Send Messages",
    "send_messages_in_threads": "Send Messages in Threads",
    "create_public_threads": "Create Public Threads",
    "read_message_history": "Read Message History",
    "add_reactions": "Add Reactions",
}
"""What the bot needs in a server, by discord.py's names and Discord's."""
SECONDS = 10.0
_PORTAL = "https://discord.com/developers/applications"


PUBLIC = "anybody can invite the bot, and whoever manages a server that it is in is its admin"
KEEP_IN = f"once it is in your server, at {_PORTAL}: Installation, Install Link None; Bot, Public Bot off"


def invitation(application_id: int | str) -> str:
    """Return the link that invites the bot with all that it needs."""
    bits = discord.Permissions(**dict.fromkeys(PERMISSIONS, True)).value
    return (
        f"https://discord.com/oauth2/authorize?client_id={application_id}"
        f"&scope=bot+applications.commands&permissions={bits}"
    )


async def examine(settings: Settings) -> list[Finding]:
    """Look at everything that Discord tells a bot about itself; empty where Discord is not used."""
    token = settings.discord_token.get_secret_value().strip()
    if not token:
        return []
    base = Route.BASE
    if "discord_api_url" in settings.model_fields_set and settings.discord_api_url:
        Route.BASE = settings.discord_api_url.rstrip("/")
    client = discord.Client(intents=discord.Intents.none(), http_trace=as_documented())
    try:
        found = await _examined(client, token, settings)
        return found + [await _person(client, person) for person in people_of(settings, "discord")]
    except discord.LoginFailure:
        return [
            bad(
                "Discord token",
                "Discord does not accept it",
                f"reset it at {_PORTAL} (Bot) and copy it to .env",
            )
        ]
    except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
        return [bad("Discord", f"it cannot be reached: {error}", "check the network, and try again")]
    finally:
        await client.close()
        Route.BASE = base


async def _examined(client: discord.Client, token: str, settings: Settings) -> list[Finding]:
    named = channels_of(settings, "discord")
    await client.login(token)
    found = [good("Discord token", f"{client.user}")]
    if (told := clock(await _date(), "Discord")) is not None:
        found.append(told)
    about = await client.application_info()
    if about.flags.gateway_message_content or about.flags.gateway_message_content_limited:
        found.append(good("Discord intents", "Message Content Intent is on"))
    else:
        found.append(
            bad(
                "Discord intents",
                "Message Content Intent is off",
                f"switch it on at {_PORTAL} (Bot), and start again",
            )
        )
    found.append(
        unsure("Discord invitations", PUBLIC, KEEP_IN)
        if about.bot_public
        else good("Discord invitations", "only the application's owner can invite the bot")
    )
    commands = {command["name"] for command in await client.http.get_global_commands(about.id)}
    if missing := {"ask", "threadlore"} - commands:
        names = ", ".join(f"/{name}" for name in sorted(missing))
        found.append(
            unsure("Discord commands", f"not registered yet: {names}", "start `threadlore serve` once")
        )
    else:
        found.append(good("Discord commands", "/ask and /threadlore are registered"))
    guilds = await client.http.get_guilds(200)
    if not guilds:
        found.append(bad("Discord servers", "the bot is in none", f"invite it: {invitation(about.id)}"))
    found += [_guild(str(g["name"]), int(g.get("permissions") or 0), about.id) for g in guilds]
    found += await _shards(client, settings)
    return found + [await _channel(client, channel) for channel in named]


async def _shards(client: discord.Client, settings: Settings) -> list[Finding]:
    """Compare the connections that are configured with those that Discord recommends."""
    what, count = "Discord shards", settings.discord_shard_count
    recommended, _, limit = await client.http.get_bot_gateway()
    if count is None and recommended == 1:
        return []
    if limit["remaining"] < (count or recommended):
        hours = limit["reset_after"] / 3_600_000
        said = f"Discord lets the bot connect {limit['remaining']} times more in the next {hours:.0f} h"
        return [unsure(what, said, "wait before the next start, and find out why it starts so often")]
    if count is None or 0 < count < recommended:
        said = f"it has {count or 1}, and Discord recommends {recommended}"
        return [unsure(what, said, "set DISCORD_SHARD_COUNT=auto, or that number")]
    held = settings.discord_shard_ids
    here = f", here {', '.join(map(str, held))}" if held else ""
    return [good(what, f"{count or recommended}{here}; Discord recommends {recommended}")]


async def _date() -> str:
    """Return what Discord takes the time to be; discord.py does not show it."""
    limit = aiohttp.ClientTimeout(SECONDS)
    async with (
        aiohttp.ClientSession(timeout=limit, trust_env=True) as session,
        session.get(f"{Route.BASE}/gateway") as answer,
    ):
        return answer.headers.get("Date", "")


async def _channel(client: discord.Client, channel: str) -> Finding:
    """Look at a channel that the configuration names."""
    what = f"Discord channel {channel}"
    try:
        told = await client.http.get_channel(int(channel))
    except (discord.NotFound, discord.Forbidden, ValueError):
        said = "there is none with that id that the bot can see"
        return bad(what, said, "correct its id, or give the bot's role View Channel in it")
    return good(what, f"the bot sees #{told.get('name')}")


async def _person(client: discord.Client, person: str) -> Finding:
    """Look at somebody whom the configuration names to be asked for help."""
    what = f"Discord person {person}"
    try:
        told = await client.http.get_user(int(person))
    except (discord.NotFound, discord.Forbidden, ValueError):
        return bad(what, "there is nobody with that id", "correct it in [ask] of corpora.toml")
    return good(what, f"{told.get('username')} can be asked, if they take direct messages")


def _guild(name: str, bits: int, application_id: int) -> Finding:
    has = discord.Permissions(bits)
    missing = [said for key, said in PERMISSIONS.items() if not (has.administrator or getattr(has, key))]
    if missing:
        return bad(
            f"Discord server {name}",
            f"the bot may not: {', '.join(missing)}",
            f"invite it again: {invitation(application_id)}",
        )
    return good(f"Discord server {name}", "all permissions are there; a channel may still deny some")
