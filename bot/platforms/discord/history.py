"""A Discord channel's or forum's history over the REST API, for sources of kind `history`, without a gateway.

discord.py waits out Discord's rate limits by itself. `GET …/messages` gives an empty list to a bot that may
not read the history, and empty texts to one without the Message Content Intent, so both are looked at first.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Collection
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import aiohttp
import discord
from discord.http import Route

from bot.platforms.discord.places import as_documented
from core.errors import ChannelClosed, PlatformError, PlatformRejected
from core.ingestion.sources.history.exports.discord import ACCEPTED, post_of
from core.ports.history import Channel, Page, Post, Raw, Thread
from core.settings import Settings

PAGE = 100
"""Messages or threads of a page, the most that Discord gives."""
LONGEST = 50
"""Pages of one thread, and of the archive of one channel."""
TEXT, NEWS, FORUM, MEDIA = 0, 5, 15, 16
NEWS_THREAD, PUBLIC_THREAD = 10, 11
"""Types of channels in Discord's API."""
_SOLVED = re.compile(r"\b(?:solved|answered|resolved|fixed|done|closed)\b", re.I)
_PORTAL = "https://discord.com/developers/applications"


class DiscordHistory:
    """Reads channels by a client that is logged in; `helpers` are accounts and roles (`discord:role:5`)."""

    lists_threads = True

    def __init__(self, client: discord.Client, helpers: Collection[str]) -> None:
        self._client, self._http, self._helpers = client, client.http, frozenset(helpers)
        self.calls = 2  # those that logged in
        self._guilds: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {}
        self._tags: dict[str, dict[str, str]] = {}
        self._ranks: dict[tuple[str, str], bool] = {}

    async def channel(self, channel: str) -> Channel:
        """Return what a channel is; ChannelClosed where the bot may not read it."""
        told: Any = await self._read(self._http.get_channel(int(channel)), channel)
        name, kind, guild = (
            str(told.get("name") or channel),
            told.get("type"),
            str(told.get("guild_id") or ""),
        )
        if not guild:
            raise ChannelClosed(f"{channel} are direct messages, which are never read: name a public channel")
        if kind not in (TEXT, NEWS, FORUM, MEDIA):
            raise ChannelClosed(
                f"#{name} is no text channel and no forum: name the channel that it belongs to"
            )
        roles, me = await self._guild(guild)
        everyone = _allowed(roles, told, guild, [], "")
        public = everyone.view_channel
        mine = _allowed(roles, told, guild, me.get("roles") or [], str((me.get("user") or {}).get("id")))
        if public and not mine.read_message_history:
            raise ChannelClosed(f"The bot may not read #{name}: give its role Read Message History there")
        self._tags[channel] = {str(t["id"]): str(t["name"]) for t in told.get("available_tags") or ()}
        link = f"https://discord.com/channels/{guild}"
        return Channel(channel, name, public, link, kind in (FORUM, MEDIA))

    async def page(self, channel: Channel, before: str = "") -> Page:
        """Return up to 100 messages before one."""
        messages = await self._messages(channel, channel.id, before)
        oldest = str(messages[-1]["id"]) if messages else before
        return Page(tuple(messages), oldest, len(messages) == PAGE)

    async def threads(self, channel: Channel, since: float) -> tuple[Thread, ...]:
        """Return the open public threads and posts, and those that were archived since."""
        guild = channel.link.rpartition("/")[2]
        told: Any = await self._read(self._http.get_active_threads(int(guild)), channel.id)
        found = [t for t in told["threads"] if str(t.get("parent_id")) == channel.id]
        before = None
        for _ in range(LONGEST):
            archived: Any = await self._read(
                self._http.get_public_archived_threads(int(channel.id), before, PAGE), channel.id
            )
            page = archived["threads"]
            found += [t for t in page if _archived(t) >= since]
            if not page or not archived.get("has_more") or _archived(page[-1]) < since:
                break
            before = page[-1]["thread_metadata"]["archive_timestamp"]
        tags = self._tags.get(channel.id, {})
        public = [t for t in found if t.get("type") in (NEWS_THREAD, PUBLIC_THREAD)]
        return tuple(_thread(t, tags) for t in public)

    async def replies(self, channel: Channel, thread: Thread) -> tuple[Raw, ...] | None:
        """Return what was said in a thread, the newest first; None where it is gone."""
        found: list[Raw] = []
        before = ""
        for _ in range(LONGEST):
            try:
                page = await self._messages(channel, thread.id, before)
            except ChannelClosed:
                return None
            found += page
            if len(page) < PAGE:
                break
            before = str(page[-1]["id"])
        return tuple(found)

    def post(self, message: Raw, channel: Channel, thread: str) -> Post | None:
        """Return a message, with the `users` of its ✅, as a post; None for joins, pins and the like."""
        return post_of(message, channel.link, thread)

    async def _messages(self, channel: Channel, place: str, before: str) -> list[dict[str, Any]]:
        """Return a page of messages of a channel or thread, with who put ✅ on them."""
        page: Any = await self._read(
            self._http.logs_from(int(place), PAGE, before=int(before) if before else None), place
        )
        for message in page:
            # the message that a thread was opened from stands in the channel above
            opener = message.get("referenced_message") if message.get("type") == 21 else None
            for told, where in ((message, place), *(((opener, channel.id),) if opener else ())):
                for reaction in told.get("reactions") or ():
                    await self._who(channel, where, str(told["id"]), reaction)
        return list(page)

    async def _who(self, channel: Channel, place: str, message: str, reaction: dict[str, Any]) -> None:
        emoji = reaction.get("emoji") or {}
        if emoji.get("name") not in ACCEPTED or emoji.get("id"):
            return
        asked = self._http.get_reaction_users(int(place), int(message), emoji["name"], PAGE)
        try:
            told: Any = await self._read(asked, place)
        except ChannelClosed:  # the message went just now
            return
        reaction["users"] = [str(user["id"]) for user in told]
        guild = channel.link.rpartition("/")[2]
        ranks = [await self._helps(guild, user) for user in reaction["users"]]
        reaction["endorsed"] = any(ranks)

    async def _helps(self, guild: str, user: str) -> bool:
        """Return True if somebody is a helper, by account or by a role that helpers have."""
        if f"discord:{user}" in self._helpers:
            return True
        if not any(key.startswith("discord:role:") for key in self._helpers):
            return False
        if (guild, user) not in self._ranks:
            try:
                member: Any = await self._read(self._http.get_member(int(guild), int(user)), user)
                roles = {f"discord:role:{role}" for role in member.get("roles") or ()}
            except ChannelClosed:  # who has left has no roles
                roles = set()
            self._ranks[guild, user] = bool(roles & self._helpers)
        return self._ranks[guild, user]

    async def _guild(self, guild: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return a server's roles, and the bot as its member."""
        if guild not in self._guilds:
            assert self._client.user is not None
            roles: Any = await self._read(self._http.get_roles(int(guild)), guild)
            me: Any = await self._read(self._http.get_member(int(guild), self._client.user.id), guild)
            self._guilds[guild] = (list(roles), dict(me))
        return self._guilds[guild]

    async def _read(self, asked: Awaitable[Any], place: str) -> Any:
        """Wait for an answer; raises ChannelClosed, PlatformError."""
        self.calls += 1
        try:
            return await asked
        except (discord.NotFound, discord.Forbidden) as error:
            raise ChannelClosed(
                f"Discord says {error.text or error.status} of {place}: correct the id, or give the bot's "
                f"role View Channel and Read Message History there"
            ) from error
        except _UNREACHABLE as error:
            raise PlatformError(f"Discord cannot be read ({error}): what was read before stays") from error


_UNREACHABLE = (discord.HTTPException, aiohttp.ClientError, OSError, asyncio.TimeoutError)


def _allowed(
    roles: list[dict[str, Any]], channel: dict[str, Any], guild: str, mine: list[str], user: str
) -> discord.Permissions:
    """Work out what somebody of these roles may do in a channel, as Discord's documents say."""
    held = {guild, *map(str, mine)}
    allowed = 0
    for role in roles:
        allowed |= int(role["permissions"]) if str(role["id"]) in held else 0
    if discord.Permissions(allowed).administrator:
        return discord.Permissions.all()
    overwrites = channel.get("permission_overwrites") or []
    for those in (
        [o for o in overwrites if str(o["id"]) == guild],
        [o for o in overwrites if str(o["id"]) in held - {guild}],
        [o for o in overwrites if str(o["id"]) == user],
    ):
        for overwrite in those:
            allowed &= ~int(overwrite["deny"])
        for overwrite in those:
            allowed |= int(overwrite["allow"])
    return discord.Permissions(allowed)


def _archived(thread: dict[str, Any]) -> float:
    return datetime.fromisoformat(thread["thread_metadata"]["archive_timestamp"]).timestamp()


def _thread(told: dict[str, Any], tags: dict[str, str]) -> Thread:
    key, last = str(told["id"]), str(told.get("last_message_id") or told["id"])
    applied = [tags.get(str(tag), "") for tag in told.get("applied_tags") or ()]
    name = str(told.get("name") or "")
    mark = [told.get("total_message_sent"), told.get("message_count"), last]
    return Thread(
        key,
        " ".join(str(part) for part in mark),
        _time_of(last),
        name,
        any(_SOLVED.search(tag) for tag in applied),
        str(told.get("owner_id") or ""),
        _time_of(key),
        not told["thread_metadata"].get("archived"),
    )


def _time_of(snowflake: str) -> float:
    return discord.utils.snowflake_time(int(snowflake)).replace(tzinfo=UTC).timestamp()


@asynccontextmanager
async def open_reader(settings: Settings) -> AsyncIterator[DiscordHistory]:
    """Log in with DISCORD_TOKEN; raises PlatformError."""
    token = settings.discord_token.get_secret_value().strip()
    if not token:
        raise PlatformRejected(
            "DISCORD_TOKEN is missing: add the bot's token to .env to read Discord channels"
        )
    base = Route.BASE
    if "discord_api_url" in settings.model_fields_set and settings.discord_api_url:
        Route.BASE = settings.discord_api_url.rstrip("/")
    intents = discord.Intents(guilds=True)  # without it a warning is logged
    client = discord.Client(intents=intents, http_trace=as_documented())
    try:
        try:
            await client.login(token)
        except discord.LoginFailure as error:
            raise PlatformRejected(
                f"DISCORD_TOKEN is not accepted by Discord: copy the token from {_PORTAL} (Bot) to .env"
            ) from error
        except _UNREACHABLE as error:
            raise PlatformError(f"Discord cannot be reached ({error}): what was read before stays") from error
        flags = client.application.flags if client.application else discord.ApplicationFlags()
        if not (flags.gateway_message_content or flags.gateway_message_content_limited):
            raise PlatformRejected(
                f"Discord gives this bot no texts: switch on 'Message Content Intent' at {_PORTAL} (Bot)"
            )
        yield DiscordHistory(client, (*settings.helpers, *settings.admins))
    finally:
        await client.close()
        Route.BASE = base
