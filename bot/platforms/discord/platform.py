"""Discord by discord.py: logs in, connects and stops; `events.py` reads what happens there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import aiohttp
import discord
from discord.gateway import DiscordWebSocket
from discord.http import Route

from bot.platforms.discord import reading
from bot.platforms.discord.chat import DiscordChat
from bot.platforms.discord.commands import Commands, build_tree, register
from bot.platforms.discord.events import Events
from bot.platforms.discord.places import LAST_WAIT, MALFORMED, TROUBLE, as_documented, let_go_on, passes
from core.errors import PlatformError, PlatformRejected

if TYPE_CHECKING:
    from bot.dispatch.dispatch import Dispatch
    from core.domain import MessageRef
    from core.settings import Settings

log = logging.getLogger(__name__)

STOP_SECONDS = 5.0
"""Time that answers under way have to finish when the bot stops."""
BAD_TOKEN, BAD_SHARD, SHARDS_NEEDED = 4004, 4010, 4011
"""Why the gateway closes: a token or a shard that it does not know, a bot with too many servers for one."""

_PORTAL = "https://discord.com/developers/applications"
_TOKEN = (
    f"DISCORD_TOKEN is not accepted by Discord: copy the token from {_PORTAL} (Bot, Reset Token) to .env."
)
_INTENT = (
    f"Discord does not let this bot read messages: switch on 'Message Content Intent' at {_PORTAL} "
    "(Bot, Privileged Gateway Intents) and start again."
)
_PUBLIC = (
    "Discord: anybody can invite this bot, and whoever manages a server that it is in is its admin. Once it "
    f"is in your server: at {_PORTAL} set Installation, Install Link to None and switch off Bot, Public Bot."
)
_SHARDS = {
    BAD_SHARD: "Discord knows no such shard: correct DISCORD_SHARD_COUNT and DISCORD_SHARD_IDS in .env.",
    SHARDS_NEEDED: "This bot has too many servers for so few shards: set DISCORD_SHARD_COUNT=auto in .env.",
}


def connect(settings: Settings, dispatch: Dispatch) -> DiscordPlatform | None:
    """Build the platform, or return None without DISCORD_TOKEN."""
    return DiscordPlatform(settings, dispatch) if settings.discord_token.get_secret_value() else None


class Client(discord.Client):
    """A client whose commands are found where discord.py's own bots have them."""

    tree: discord.app_commands.CommandTree[Any]


class ShardedClient(discord.AutoShardedClient):
    """The same over several connections: each hears a part of the servers, shard 0 direct messages."""

    tree: discord.app_commands.CommandTree[Any]
    retry = 5.0
    """Seconds before it is asked again of how many connections."""

    async def launch_shards(self) -> None:
        """Connect one after the other; of how many is asked where the settings do not say."""
        while not (self.shard_count or self.is_closed()):
            try:  # the address that goes with it is left: DISCORD_GATEWAY_URL counts
                self.shard_count, _, _ = await self.http.get_bot_gateway()
            except (discord.GatewayNotFound, *TROUBLE) as error:
                if isinstance(error.__cause__, discord.HTTPException) and not passes(error.__cause__):
                    raise
                log.warning("Discord does not say how many shards to connect (%s); asking again.", error)
                await asyncio.sleep(self.retry)
        await super().launch_shards()

    async def launch_shard(self, gateway: Any, shard_id: int, *, initial: bool = False) -> None:
        """Connect one, again and again while that fails; discord.py itself goes on after `close`."""
        if not self.is_closed():
            await super().launch_shard(gateway, shard_id, initial=initial)

    async def close(self) -> None:
        """Close all connections; discord.py's own `close` fails where nothing was ever begun."""
        if isinstance(self.loop, asyncio.AbstractEventLoop):
            await super().close()


def _forgiving(client: discord.Client) -> None:
    """Have an event that cannot be read left out with a line in the log: discord.py ends on one."""
    parsers = client._connection.parsers
    for event in parsers.keys() - {"READY", "RESUMED"}:
        parsers[event] = partial(_parsed, event, parsers[event])


def _parsed(event: str, parse: Callable[[Any], None], data: Any) -> None:
    try:
        parse(data)
    except MALFORMED as error:  # its words may be a person's
        log.warning("Discord: an event %s cannot be read and is left out (%s)", event, type(error).__name__)


def _no_discord() -> PlatformError:
    return PlatformError(f"{Route.BASE} does not answer as Discord does: correct DISCORD_API_URL in .env.")


class DiscordPlatform:
    """The `Platform` port for Discord; `client` is the discord.py client, `chat` what dispatch speaks to.

    `every_connection_hears_all` is False where this process has some of the shards, and others the rest.
    """

    name = reading.NAME
    first_retry = 1.0
    """Seconds before a login, or commands, are tried again; each further attempt waits twice as long."""

    def __init__(self, settings: Settings, dispatch: Dispatch) -> None:
        self._settings, self._dispatch = settings, dispatch
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()
        discord.VoiceClient.warn_nacl = False  # voice is not used, so its missing library is no news
        discord.VoiceClient.warn_dave = False
        intents = discord.Intents.none()
        intents.guilds = intents.message_content = True
        intents.guild_messages = intents.dm_messages = True
        intents.guild_reactions = intents.dm_reactions = True
        count, ids = settings.discord_shard_count, settings.discord_shard_ids
        self.every_connection_hears_all = not ids or len(ids) == count
        options: dict[str, Any] = {"intents": intents, "chunk_guilds_at_startup": False}
        options |= {"allowed_mentions": discord.AllowedMentions.none(), "http_trace": as_documented()}
        if not self.every_connection_hears_all:
            options["shard_ids"] = list(ids)
        self.client: Client | ShardedClient = (
            Client(**options) if count in (None, 1) else ShardedClient(**options, shard_count=count or None)
        )
        _forgiving(self.client)
        let_go_on(self.client.http)
        self.standing = reading.Standing(frozenset(settings.admins), frozenset(settings.helpers))
        self.chat = DiscordChat(self.client, self.standing, votes=settings.discord_votes)
        if not self.every_connection_hears_all:
            self.chat.standing.reads_here = self._hears
        self._events = Events(self.chat, self.standing, dispatch, self._hand_over)
        self._events.listen(self.client)
        commands = Commands(self.chat, self.standing, self._events.command, self._events.take)
        self.client.tree = build_tree(self.client, commands, dispatch.slash.subcommands, dispatch.releases)
        self._resumed = False
        for event in (self.setup_hook, self.on_ready, self.on_shard_ready, self.on_error):
            self.client.event(event)

    # --- connection ---------------------------------------------------------------------------

    async def run(self) -> None:
        """Serve until `stop`; raises PlatformRejected when token or intents are refused."""
        base, gateway = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
        given = self._settings.model_fields_set
        if self._settings.discord_api_url and "discord_api_url" in given:
            Route.BASE = self._settings.discord_api_url.rstrip("/")
        if self._settings.discord_gateway_url and "discord_gateway_url" in given:
            DiscordWebSocket.DEFAULT_GATEWAY = type(gateway)(self._settings.discord_gateway_url)
        try:
            await self._login()
            if base != Route.BASE and gateway == DiscordWebSocket.DEFAULT_GATEWAY:
                DiscordWebSocket.DEFAULT_GATEWAY = type(gateway)(await self._gateway())
            if not self._stopping.is_set():
                await self.client.connect()
        except discord.LoginFailure as error:
            raise PlatformRejected(_TOKEN) from error
        except discord.PrivilegedIntentsRequired as error:
            raise PlatformRejected(_INTENT) from error
        except discord.ConnectionClosed as error:
            if error.code == BAD_TOKEN:
                raise PlatformRejected(_TOKEN) from error
            if error.code in _SHARDS:
                raise PlatformRejected(_SHARDS[error.code]) from error
            raise PlatformError(f"Discord closed the connection ({error}): start again later.") from error
        except (AssertionError, RuntimeError):  # aiohttp's, where the session is closed while it connects
            if not self._stopping.is_set():
                raise
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise PlatformError(
                f"Discord's gateway sent an invalid event ({type(error).__name__}): start again later."
            ) from error
        except (discord.HTTPException, discord.GatewayNotFound) as error:
            raise PlatformError(f"Discord refuses the connection ({error}): start again later.") from error
        finally:
            await self._close()
            Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = base, gateway

    async def _login(self) -> None:
        """Log in, again and again while Discord cannot be reached; discord.py itself tries once."""
        wait = self.first_retry
        while not self._stopping.is_set():
            try:
                return await self.client.login(self._settings.discord_token.get_secret_value())
            except aiohttp.InvalidURL as error:
                raise _no_discord() from error
            except TROUBLE as error:
                if not passes(error):
                    raise
                log.warning("Discord cannot be reached (%s); trying again in %.0f s.", error, wait)
            except (TypeError, KeyError, ValueError) as error:  # a page of HTML instead of a user, say
                raise _no_discord() from error
            await self.client.http.close()
            self.client.http.connector = discord.utils.MISSING  # closing a session closes its connector
            await self._pause(wait)
            wait = min(2 * wait, LAST_WAIT)

    async def _gateway(self) -> str:
        """Return where a server that is not Discord's own has its gateway; discord.py does not ask for it.

        It is asked again while it cannot be reached, "" where the bot stops meanwhile.
        """
        wait = self.first_retry
        while not self._stopping.is_set():
            try:
                told: Any = await self.client.http.request(Route("GET", "/gateway"))
                return str(told["url"])
            except (TypeError, KeyError, ValueError, discord.NotFound) as error:
                raise _no_discord() from error
            except TROUBLE as error:
                if not passes(error):
                    raise
                log.warning("Discord names no gateway (%s); trying again in %.0f s.", error, wait)
            await self._pause(wait)
            wait = min(2 * wait, LAST_WAIT)
        return ""

    async def _pause(self, seconds: float) -> bool:
        """Wait, but no longer than the bot runs; returns True if it goes on."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        return not self._stopping.is_set()

    async def stop(self) -> None:
        """Let answers under way finish for some seconds, then close the connection."""
        self._stopping.set()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=STOP_SECONDS)
        await self._close()

    async def _close(self) -> None:
        tasks = self._tasks - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.client.close()

    async def setup_hook(self) -> None:
        """Register the slash commands beside the connection, since Discord may make that wait.

        They are the bot's, whatever the number of processes: of several, that of shard 0 does it.
        """
        if self.every_connection_hears_all or 0 in self._settings.discord_shard_ids:
            if self.client.application and self.client.application.bot_public:
                log.warning(_PUBLIC)
            work = register(self.client.tree, self._pause, self.first_retry)
            self._hand_over(work, "the slash commands")

    async def on_ready(self) -> None:
        """Take up what an earlier process left unanswered, count votes and see channels that nobody heard of.

        It comes again after each session that was lost with what happened meanwhile.
        """
        self.chat.places.forget()
        if not self._resumed:
            self._resumed = True
            log.info("Discord: connected as %s%s.", self.client.user, self._shards())
            self._hand_over(self._dispatch.resume(self.chat), "unanswered questions")
        self._events.closed(self.client.get_all_channels())
        self._dispatch.recount.begin(self.chat, self.chat.standing)

    async def on_shard_ready(self, shard_id: int) -> None:
        """Do the same after one of the connections was lost; `on_ready` is for all."""
        if self._resumed:
            here = (guild for guild in self.client.guilds if guild.shard_id == shard_id)
            self._events.closed(channel for guild in here for channel in guild.channels)
            self._dispatch.recount.begin(self.chat, self.chat.standing)

    async def on_error(self, event: str, *args: Any) -> None:
        """Log what one event could not be read for; the next one is heard."""
        log.exception("Discord: could not deal with an event (%s)", event)

    def _shards(self) -> str:
        """Say which connections this process has, where it is not the only one."""
        if not isinstance(self.client, ShardedClient):
            return ""
        held = self._settings.discord_shard_ids or range(self.client.shard_count or 0)
        return f", with shards {', '.join(map(str, held))} of {self.client.shard_count}"

    async def _hears(self, ref: MessageRef) -> bool:
        """Return True if this process hears the server of a message, or that cannot be found out."""
        try:
            guild = getattr(await self.chat.places.known(ref.channel), "guild", None)
        except (*TROUBLE, discord.InvalidData):
            return True
        return (guild.shard_id if guild else 0) in self._settings.discord_shard_ids

    def _hand_over(self, work: Coroutine[Any, Any, None], what: str) -> None:
        """Run work beside the connection, which must never wait for an answer."""
        if self._stopping.is_set():
            work.close()
            return
        task = asyncio.create_task(self._logged(work, what))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _logged(self, work: Coroutine[Any, Any, None], what: str) -> None:
        try:
            await work
        except PlatformError as error:
            log.warning("%s", error)
        except Exception:  # the last place where an error of one message can be caught
            log.exception("Discord: could not deal with %s", what)
