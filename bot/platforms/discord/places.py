"""Where things stand on Discord: channels, threads and messages by their ids, and what a refusal means."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable
from typing import Any

import aiohttp
import discord

from core.domain import MessageRef
from core.errors import MessageGone, PlatformError, PlatformRejected

log = logging.getLogger(__name__)

REMEMBERED = 2000
"""Channels, questions and replies that are kept in mind, each."""
ELSEWHERE_SECONDS = 30.0
"""Time for which a channel is believed whose server another process hears: nobody tells of changes there."""

HEARD_SECONDS, ASKED_SECONDS = 600.0, 10.0
"""Time for which an uncached thread is looked up: of what is only heard, and where somebody waits."""
LAST_WAIT = 60.0
"""Most seconds between two attempts."""

# Discord's error codes, https://discord.com/developers/docs/topics/opcodes-and-status-codes#json
UNKNOWN_CHANNEL, UNKNOWN_MESSAGE = 10003, 10008
UNKNOWN_WEBHOOK, UNKNOWN_INTERACTION, INVALID_TOKEN = 10015, 10062, 50027
ARCHIVED, THREAD_EXISTS, LOCKED, BLOCKED = 50083, 160004, 160005, 90001
UNKNOWN_USER, NO_DIRECT_MESSAGES, NO_SERVER_SHARED, ACKNOWLEDGED = 10013, 50007, 50278, 40060
PASSING = frozenset({0, 20016, 20022, 20028, 20029, 30046, 40003, 40004, 40006, 40062})
"""What may be taken later though the caller is to blame: limits of writing, what is switched off now."""

MALFORMED = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What discord.py raises over an event that is not what it should be."""
TOO_MANY, SERVER_ERROR = 429, 500
TROUBLE = (discord.HTTPException, aiohttp.ClientError, OSError)
"""What a call raises: what Discord answers, and what discord.py lets through where no answer came."""


_JSON = "application/json"


def as_documented() -> aiohttp.TraceConfig:
    """Return what a client reads answers with, so that it takes all that Discord's documents describe.

    discord.py waits after a 429 only where a proxy has left its `Via`, and trips over one that does not say
    for how long, such as that of a ban; it reads no JSON whose type names a charset.
    """
    trace = aiohttp.TraceConfig()
    trace.on_request_end.append(_read)
    return trace


async def _read(session: object, context: object, ended: aiohttp.TraceRequestEndParams) -> None:
    answer, told = ended.response, ended.response.headers.copy()
    if answer.content_type == _JSON:
        told["Content-Type"] = _JSON
    if answer.status == TOO_MANY:
        told.popall("Via", None)
        if _names_seconds(answer, await answer.read()):
            told["Via"] = "none"
    answer._headers = told  # type: ignore[assignment]  # it may be changed, and nobody does
    answer._cache.pop("headers", None)


def _names_seconds(answer: aiohttp.ClientResponse, body: bytes) -> bool:
    try:
        told = json.loads(body) if answer.content_type == _JSON else None
    except ValueError:
        return False
    return isinstance(told, dict) and isinstance(told.get("retry_after"), int | float)


def let_go_on(http: Any) -> None:
    """Let calls go on where the one that waits out a limit of all calls is cancelled, as with its question.

    discord.py has the others wait for that one call, and would have them wait for good.
    """
    request = http.request

    async def requested(*given: Any, **named: Any) -> Any:
        try:
            return await request(*given, **named)
        except asyncio.CancelledError:
            http._global_over.set()  # who comes too early is told to wait again
            raise

    http.request = requested


class Recent(dict[Any, Any]):
    """A dictionary that forgets its oldest entry when it is full."""

    def __setitem__(self, key: Any, value: Any) -> None:
        self.pop(key, None)
        super().__setitem__(key, value)
        if len(self) > REMEMBERED:
            del self[next(iter(self))]


class Places:
    """Finds channels, threads and members; what is in no cache is asked for once."""

    first_wait = 1.0
    """Seconds before a thread is looked up again; each further attempt waits twice as long."""

    def __init__(self, client: discord.Client) -> None:
        self._client = client
        self._channels = Recent()
        self._elsewhere, self._guilds = Recent(), Recent()
        """When it was read and what: channels, and servers with their roles, that another process hears."""

    @property
    def me(self) -> int:
        """Return the bot's own user id, 0 before it is known."""
        return self._client.user.id if self._client.user else 0

    async def channel(self, channel_id: int, guild_id: int | None, seconds: float = 0.0) -> Any:
        """Return a channel or thread; an archived thread is in no cache.

        What cannot be had is a PartialMessageable: it can still be written to, but does not say whose thread
        it is. While Discord cannot be reached it is asked again for these seconds.
        """
        partial = self._client.get_partial_messageable(channel_id, guild_id=guild_id)
        if guild_id is None:
            return self._client.get_channel(channel_id) or partial
        wait, until = self.first_wait, time.monotonic() + seconds
        while True:
            try:
                return await self.known(channel_id)
            except (*TROUBLE, discord.InvalidData) as error:
                if not passes(error) or time.monotonic() + wait > until:
                    log.info("Discord does not tell what channel %s is: %s", channel_id, words_of(error))
                    return partial
            await asyncio.sleep(wait)
            wait = min(2 * wait, LAST_WAIT)

    async def known(self, channel_id: int | str) -> Any:
        """Return a channel, thread or direct channel by its id; raises what Discord says if there is none."""
        number = int(channel_id)
        found = self._client.get_channel(number) or self._kept(number)
        if found is None:
            found = await self._client.fetch_channel(number)
            guild = getattr(found, "guild", None)
            if guild and self._client.get_guild(guild.id) is None:
                await self._complete(found, guild.id)
                self._elsewhere[number] = time.monotonic(), found
            else:
                self._channels[number] = found
        return found

    def _kept(self, number: int) -> Any:
        """Return a channel that was fetched before; None where its server is another object since.

        Of a server that the client lost or got anew nobody tells the old object who may see what.
        """
        found = self._channels.get(number)
        if found is not None:
            guild = getattr(found, "guild", None)
            if guild is None or self._client.get_guild(guild.id) is guild:
                return found
            del self._channels[number]
        found = _recent(self._elsewhere, number)
        return found if found and self._client.get_guild(found.guild.id) is None else None

    def forget(self) -> None:
        """Forget the channels that were fetched: the session is a new one, or a server is gone."""
        self._channels.clear()

    async def _complete(self, channel: Any, guild_id: int) -> None:
        """Give a channel its server, and a thread its channel; without roles nobody knows who may see it."""
        guild = _recent(self._guilds, guild_id)
        if guild is None:
            guild = await self._client.fetch_guild(guild_id, with_counts=False)
            self._guilds[guild_id] = time.monotonic(), guild
        channel.guild = guild
        if isinstance(channel, discord.Thread):
            guild._add_channel(await self.known(channel.parent_id))

    async def addressed(self, to: str) -> Any:
        """Return the channel of an id, or the direct channel of a person of that id.

        Raises what Discord says where there is neither, PlatformRejected where nothing can be said there.
        """
        if not to.isdigit():
            raise PlatformRejected(f"{to!r} is no id of Discord: name a channel or a person by number.")
        found = await self.named(to)
        if isinstance(found, discord.User):
            return found.dm_channel or await found.create_dm()
        if not isinstance(found, discord.abc.Messageable):
            raise PlatformRejected(f"Nothing can be said in Discord channel {to}: name a text channel.")
        return found

    async def named(self, to: str) -> Any:
        """Return the channel or the person of an id; raises what Discord says, ValueError for no number."""
        if person := self._client.get_user(int(to)):
            return person
        try:
            return await self.known(to)
        except discord.NotFound:
            return await self._client.fetch_user(int(to))

    async def of(self, ref: MessageRef) -> Any:
        """Return the channel or thread in which a message stands.

        The message that opened a thread stands in the channel above it, that of a forum's post in the post.
        """
        if ref.thread not in ("", ref.message):
            return await self.known(ref.thread)
        above = await self.known(ref.channel)
        return await self.known(ref.thread) if isinstance(above, discord.ForumChannel) else above

    async def fetch(self, ref: MessageRef) -> discord.Message | None:
        """Return a message as it stands now; None where it is gone or may not be read."""
        try:
            place = await self.of(ref)
            found: discord.Message = await place.fetch_message(int(ref.message))
        except (discord.NotFound, discord.Forbidden, discord.InvalidData):
            return None
        except TROUBLE as error:
            raise failure(error, "read a message", "Read Message History") from error
        return found

    async def reactions(self, ref: MessageRef) -> dict[str, frozenset[int]] | None:
        """Return who reacts to a message, by emoji; None where it is gone or may not be read."""
        message = await self.fetch(ref)
        if message is None:
            return None
        found: dict[str, frozenset[int]] = {}
        try:
            for reaction in message.reactions:
                found[str(reaction.emoji)] = frozenset([user.id for user in await reacting(reaction)])
        except TROUBLE as error:
            raise failure(error, "read who reacts to a message", "Read Message History") from error
        return found

    async def member(self, guild_id: int | None, user_id: int) -> discord.Member | None:
        """Return a member with roles; None outside of servers and for who has left."""
        guild = self._client.get_guild(guild_id) or _recent(self._guilds, guild_id) if guild_id else None
        if guild is None:
            return None
        try:
            return guild.get_member(user_id) or await guild.fetch_member(user_id)
        except TROUBLE:
            return None

    def user(self, guild_id: int | None, user_id: int) -> discord.Member | discord.User | None:
        """Return a person as far as is known without asking."""
        guild = self._client.get_guild(guild_id) if guild_id else None
        return (guild.get_member(user_id) if guild else None) or self._client.get_user(user_id)

    async def unarchived(self, ref: MessageRef, act: Callable[[discord.PartialMessage], Any]) -> None:
        """Do something to a message; a thread that has gone to the archive is fetched back for it."""
        place = await self.of(ref)
        message = place.get_partial_message(int(ref.message))
        try:
            await act(message)
        except discord.HTTPException as error:
            if error.code != ARCHIVED or not isinstance(place, discord.Thread):
                raise
            await place.edit(archived=False)
            await act(message)


def _recent(kept: Recent, number: int) -> Any:
    """Return a channel or server of another process that was read just now."""
    read, found = kept.get(number, (0.0, None))
    return found if found and time.monotonic() - read < ELSEWHERE_SECONDS else None


async def reacting(reaction: discord.Reaction) -> list[discord.Member | discord.User]:
    """Return who put an emoji on a message; Discord lists super reactions by themselves."""
    found = [user async for user in reaction.users()]
    if reaction.burst_count:
        found += [user async for user in reaction.users(type=discord.ReactionType.burst)]
    return found


def code_of(error: Exception) -> int:
    """Return Discord's code of an error; 0 where Discord did not answer."""
    return error.code if isinstance(error, discord.HTTPException) else 0


def words_of(error: Exception) -> str:
    """Return what Discord says of an error, or what kept it from answering."""
    return error.text if isinstance(error, discord.HTTPException) else type(error).__name__


def passes(error: Exception) -> bool:
    """Return True if an error is one of the network, or one that Discord will have mended in a while."""
    if isinstance(error, discord.HTTPException):
        return error.status == TOO_MANY or error.status >= SERVER_ERROR
    return isinstance(error, TROUBLE)


def unheard(error: Exception) -> PlatformError:
    """Say that an answer to an interaction did not arrive; one that is over is answered no more."""
    over = code_of(error) in (UNKNOWN_WEBHOOK, UNKNOWN_INTERACTION, INVALID_TOKEN)
    said = f"The reply to a Discord command did not arrive ({words_of(error)}): call it again."
    return PlatformRejected(said) if over else PlatformError(said)


def failure(error: Exception, what: str, needed: str) -> PlatformError:
    """Say what Discord refused or that it cannot be reached, and what to do about it."""
    if not isinstance(error, discord.HTTPException):
        return PlatformError(
            f"I cannot {what}: Discord cannot be reached ({words_of(error)}). Check the network."
        )
    if error.code == LOCKED:
        return PlatformRejected(f"I cannot {what}: the Discord thread is locked. Unlock it or ask elsewhere.")
    if isinstance(error, discord.Forbidden):
        return PlatformRejected(f"Discord does not let me {what} ({error.text}): give my role {needed}.")
    if error.code == UNKNOWN_MESSAGE:
        return MessageGone(f"I cannot {what}: the Discord message has been deleted.")
    if error.code == UNKNOWN_CHANNEL:
        return PlatformRejected(f"I cannot {what}: the Discord channel has been deleted.")
    if error.code == UNKNOWN_USER:
        return PlatformRejected(f"I cannot {what}: Discord has no channel and no person with that id.")
    said = f"I cannot {what}: Discord says {error.status} {error.text or error}."
    if not passes(error) and error.code not in PASSING:
        return PlatformRejected(said)  # the same would be refused again, as a word that a server blocks is
    return PlatformError(f"{said} Try again later.")
