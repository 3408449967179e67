"""A small Discord on 127.0.0.1: enough of the REST API and of the gateway for one bot and one guild.

The gateway compresses as `zlib-stream` asks for: one deflate stream per connection, flushed after
each payload.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from aiohttp import WSMsgType, web

from tests.patience import PATIENCE

TOKEN = "bot.token.right"
BOT, ALICE, GUILD, CHANNEL = "900", "901", "100", "200"
EVERYONE = str(1 << 10 | 1 << 11 | 1 << 16 | 1 << 6 | 1 << 35 | 1 << 38)
"""View channels, send, read history, react, open threads, write in threads."""


async def until(condition: Callable[[], Any], seconds: float = PATIENCE) -> None:
    """Wait for something that the bot does by itself; there is no event for it, so it is polled."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.005)


Server = TypeVar("Server", bound="DiscordServer")


class DiscordServer:
    """Keeps what the bot did, and sends it what people do."""

    def __init__(self) -> None:
        self.url = ""
        self.close_code = 0
        self.connections = 0
        self.failing_logins = 0
        self.failing_threads = 0
        self.refused: list[tuple[int, int]] = []
        """Status and code by which commands are refused, one after the other."""
        self.limited: list[str] = []
        """Beginnings of paths of calls that are refused once, for there were too many."""
        self.limit: dict[str, Any] = {"message": "You are being rate limited.", "retry_after": 0.05}
        """What they are told."""
        self.charset = ""
        """What stands behind the type of JSON."""
        self.dropping: list[str] = []
        """Paths of calls whose connection ends without an answer; aiohttp itself tries each a second time."""
        self.identified: list[dict[str, Any]] = []
        self.resumed: list[dict[str, Any]] = []
        self.heartbeats = 0
        self.requests: list[tuple[str, str, Any]] = []
        self.posted: list[dict[str, Any]] = []
        self.reactions: list[str] = []
        self.commands: list[dict[str, Any]] = []
        self.flags = 1 << 19
        """Flags of the application: the message content intent, as unverified bots have it."""
        self.public = False
        """Whether others may invite the bot; a new application lets them."""
        self.guilds = [{"id": GUILD, "name": "Flask", "permissions": EVERYONE}]
        self.answered: list[dict[str, Any]] = []
        self.followed: list[tuple[str, str, bool]] = []
        """What was said by an interaction's token: how, what, and whether to its person alone."""
        self._ids = itertools.count(1000)
        self._sequence = itertools.count(1)
        self._socket: web.WebSocketResponse | None = None
        self._deflate: dict[Any, Any] = {}
        self.shards: dict[int, web.WebSocketResponse] = {}
        self.recommended = 1
        self.closed = False
        """Whether the channel is closed to everyone; the bot is told when it connects or is invited."""

    @property
    def gateway(self) -> str:
        return self.url.replace("http://", "ws://") + "/gateway/"

    # --- gateway ------------------------------------------------------------------------------

    async def dispatch(
        self, event: str, data: dict[str, Any], socket: web.WebSocketResponse | None = None
    ) -> None:
        await self._push({"op": 0, "t": event, "s": next(self._sequence), "d": data}, socket)

    async def drop(self, code: int, shard: int | None = None) -> None:
        socket = self._socket if shard is None else self.shards[shard]
        assert socket is not None
        await socket.close(code=code)

    async def invalidate(self, shard: int | None = None) -> None:
        """Declare the session of a connection lost: it is begun anew."""
        await self._push({"op": 9, "d": False}, None if shard is None else self.shards[shard])

    async def invite_again(self) -> None:
        """Take the bot out of the guild, and invite it again."""
        await self.dispatch("GUILD_DELETE", {"id": GUILD})
        await self.dispatch("GUILD_CREATE", self._guild())

    def _guild(self) -> dict[str, Any]:
        guild = guild_payload()
        if self.closed:
            denied = {"id": GUILD, "type": 0, "allow": "0", "deny": str(1 << 10)}
            guild["channels"][0]["permission_overwrites"] = [denied]
        return guild

    async def says(self, content: str, **more: Any) -> str:
        message = self._message(str(next(self._ids)), CHANNEL, ALICE, content)
        await self.dispatch("MESSAGE_CREATE", {**message, "guild_id": GUILD, "member": _MEMBER, **more})
        return str(message["id"])

    async def pressed(self, said: dict[str, Any], custom_id: str) -> None:
        """Press a button under a message that the bot posted, as Alice."""
        interaction = {
            "id": str(next(self._ids)),
            "application_id": BOT,
            "type": 3,
            "token": "t1",
            "version": 1,
            "attachment_size_limit": 0,
            "guild_id": GUILD,
            "channel": _thread(said["channel_id"]),
            "channel_id": said["channel_id"],
            "member": {**_MEMBER, "user": user_payload(ALICE, "alice"), "permissions": "0"},
            "message": self._message(said["id"], said["channel_id"], BOT, said["content"]),
            "data": {"custom_id": custom_id, "component_type": 2},
        }
        await self.dispatch("INTERACTION_CREATE", interaction)

    async def _push(self, payload: dict[str, Any], socket: web.WebSocketResponse | None = None) -> None:
        """Send to a connection; the only guild's shard is 0, whose connection is the usual one."""
        socket = socket or self.shards.get(0) or self._socket
        assert socket is not None
        deflate = self._deflate[socket]
        data = deflate.compress(json.dumps(payload).encode())
        await socket.send_bytes(data + deflate.flush(zlib.Z_SYNC_FLUSH))

    async def _gateway(self, request: web.Request) -> web.WebSocketResponse:
        assert request.query["compress"] == "zlib-stream" and request.query["encoding"] == "json"
        self._socket = socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.connections += 1
        self._deflate[socket] = zlib.compressobj()
        await self._push({"op": 10, "d": {"heartbeat_interval": 41250}}, socket)
        async for frame in socket:
            if frame.type is not WSMsgType.TEXT:
                break
            payload = json.loads(frame.data)
            if payload["op"] == 1:
                self.heartbeats += 1
                await self._push({"op": 11, "d": None}, socket)
            elif payload["op"] == 2:
                self.identified.append(payload["d"])
                if self.close_code:
                    await socket.close(code=self.close_code)
                    break
                shard = payload["d"].get("shard")
                if shard:
                    self.shards[shard[0]] = socket
                await self._ready(socket, shard)
            elif payload["op"] == 6:
                self.resumed.append(payload["d"])
                await self.dispatch("RESUMED", {}, socket)
        return socket

    async def _ready(self, socket: web.WebSocketResponse, shard: list[int] | None) -> None:
        here = shard is None or shard[0] == 0
        ready = {
            "v": 10,
            "user": user_payload(BOT, "threadlore", bot=True),
            "guilds": [{"id": GUILD, "unavailable": True}] if here else [],
            **({"shard": shard} if shard else {}),
            "session_id": "s1",
            "resume_gateway_url": self.gateway,
            "application": {"id": BOT, "flags": 0},
        }
        await self.dispatch("READY", ready, socket)
        if not here:
            return
        await self.dispatch("GUILD_CREATE", self._guild(), socket)

    # --- REST ---------------------------------------------------------------------------------

    async def _rest(self, request: web.Request) -> web.Response:
        path = "/" + request.match_info["path"]
        body = json.loads(await request.read() or b"null")
        self.requests.append((request.method, path, body))
        if path in self.dropping:
            self.dropping.remove(path)
            assert request.transport is not None
            request.transport.close()
            return web.Response()
        by_token = path.startswith(("/interactions/", "/webhooks/"))  # which carry their own
        if not by_token and request.headers.get("Authorization") != f"Bot {TOKEN}":
            return _json({"message": "401: Unauthorized", "code": 0}, status=401)
        answer = self._limited(path) or self._answer(request.method, path.strip("/").split("/"), body)
        if answer is None:
            return web.Response(status=204)
        said = answer if isinstance(answer, web.Response) else _json(answer)
        said.headers["Content-Type"] += self.charset
        return said

    def _limited(self, path: str) -> web.Response | None:
        """Refuse a call as Discord does where there are too many (docs.discord.com, Rate Limits)."""
        begun = next((one for one in self.limited if path.startswith(one)), None)
        if begun is None:
            return None
        self.limited.remove(begun)
        said = _json({"global": False} | self.limit, 429)
        said.headers.update({"Retry-After": "1", "X-RateLimit-Scope": "user", "X-RateLimit-Remaining": "0"})
        said.headers.update({"X-RateLimit-Limit": "5", "X-RateLimit-Reset-After": "0.05"})
        return said

    def _answer(self, method: str, path: list[str], body: Any) -> Any:
        match (method, *path):
            case ("GET", "users", "@me"):
                if self.failing_logins:
                    self.failing_logins -= 1
                    return _json({"message": "upstream", "code": 0}, status=503)
                return user_payload(BOT, "threadlore", bot=True)
            case ("GET", "oauth2", "applications", "@me"):
                return _application() | {"flags": self.flags, "bot_public": self.public}
            case ("GET", "gateway"):
                return {"url": self.gateway}
            case ("GET", "gateway", "bot"):
                limit = {"total": 1000, "remaining": 999, "reset_after": 14_400_000, "max_concurrency": 1}
                return {"url": self.gateway, "shards": self.recommended, "session_start_limit": limit}
            case ("GET", "users", "@me", "guilds"):
                return self.guilds
            case ("GET", "users", "42"):
                return user_payload("42", "helper")
            case ("GET", "users", _):
                return _json({"message": "Unknown User", "code": 10013}, status=404)
            case ("GET", "applications", _, "commands"):
                return self.commands
            case ("PUT", "applications", _, "commands") if self.refused:
                status, code = self.refused.pop(0)
                return _json({"message": "no commands", "code": code}, status)
            case ("PUT", "applications", _, "commands"):
                self.commands = body
                kept = {"application_id": BOT, "version": "1", "description": ""}
                return [kept | {"id": str(next(self._ids))} | command for command in body]
            case ("POST", "interactions", interaction, _, "callback"):
                self.answered.append(body)
                return {"interaction": {"id": interaction, "type": 3}}
            case ("POST", "webhooks", application, _):
                self.followed.append(("new", body["content"], bool(body.get("flags", 0) & 64)))
                said = self._message(str(next(self._ids)), CHANNEL, application, body["content"])
                return {**said, "webhook_id": application, "application_id": application}
            case ("PATCH", "webhooks", application, _, "messages", said_in):
                self.followed.append((said_in, body["content"], False))
                return {**self._message("999", CHANNEL, application, body["content"]), "webhook_id": BOT}
            case ("POST", "channels", channel, "messages", root, "threads"):
                return _thread(root, channel, body["name"])
            case ("POST", "channels", channel, "messages"):
                message = self._message(str(next(self._ids)), channel, BOT, body["content"])
                self.posted.append({**body, "id": message["id"], "channel_id": channel})
                return message
            case ("GET", "channels", "404"):
                return _json({"message": "Unknown Channel", "code": 10003}, 404)
            case ("GET", "channels", _) if self.failing_threads:
                self.failing_threads -= 1
                return _json({"message": "upstream", "code": 0}, status=503)
            case ("GET", "channels", thread):
                return _thread(thread)
            case ("PUT", "channels", _, "messages", _, "reactions", emoji, "@me"):
                self.reactions.append(emoji)
                return None
        return _json({"message": "404: Not Found", "code": 0}, status=404)

    def _message(self, message_id: str, channel: str, author: str, content: str) -> dict[str, Any]:
        mentioned = [user_payload(BOT, "threadlore", bot=True)] if f"<@{BOT}>" in content else []
        return {
            "id": message_id,
            "channel_id": channel,
            "author": user_payload(author, "alice" if author == ALICE else "threadlore", bot=author == BOT),
            "content": content,
            "timestamp": "2026-01-01T00:00:00+00:00",
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": mentioned,
            "mention_roles": [],
            "attachments": [],
            "embeds": [],
            "pinned": False,
            "type": 0,
        }


_MEMBER: dict[str, Any] = {
    "roles": [],
    "joined_at": "2026-01-01T00:00:00+00:00",
    "deaf": False,
    "mute": False,
    "flags": 0,
}

_METADATA = {
    "archived": False,
    "auto_archive_duration": 1440,
    "archive_timestamp": "2026-01-01T00:00:00+00:00",
    "locked": False,
}


def _json(body: Any, status: int = 200) -> web.Response:
    # discord.py parses a body as JSON only when its type is exactly this, without a charset.
    return web.Response(
        body=json.dumps(body).encode(), status=status, headers={"Content-Type": "application/json"}
    )


def guild_payload() -> dict[str, Any]:
    """Return the guild as GUILD_CREATE tells it."""
    role = {
        "id": GUILD,
        "name": "@everyone",
        "permissions": EVERYONE,
        "position": 0,
        "color": 0,
        "flags": 0,
    }
    role |= {"hoist": False, "managed": False, "mentionable": False}
    return {
        "id": GUILD,
        "name": "Flask",
        "owner_id": "1",
        "roles": [role],
        "channels": [_channel()],
        "members": [{**_MEMBER, "user": user_payload(BOT, "threadlore", bot=True)}],
        "threads": [],
        "emojis": [],
        "stickers": [],
        "features": [],
        "member_count": 2,
        "large": False,
    }


def user_payload(user_id: str, name: str, *, bot: bool = False) -> dict[str, Any]:
    return {"id": user_id, "username": name, "discriminator": "0", "avatar": None, "bot": bot, "flags": 0}


def _channel() -> dict[str, Any]:
    return {
        "id": CHANNEL,
        "guild_id": GUILD,
        "type": 0,
        "name": "help",
        "position": 0,
        "permission_overwrites": [],
        "parent_id": None,
        "nsfw": False,
        "topic": None,
        "rate_limit_per_user": 0,
        "last_message_id": None,
    }


def _thread(thread: str, parent: str = CHANNEL, name: str = "t") -> dict[str, Any]:
    about = {"owner_id": BOT, "message_count": 0, "member_count": 1, "thread_metadata": _METADATA}
    return {**_channel(), "id": thread, "type": 11, "parent_id": parent, "name": name} | about


def _application() -> dict[str, Any]:
    return {
        "id": BOT,
        "name": "threadlore",
        "description": "",
        "icon": None,
        "bot_require_code_grant": False,
        "verify_key": "",
        "flags": 0,
        "owner": user_payload("1", "owner"),
        "team": None,
        "summary": "",
    }


async def _page(_: web.Request) -> web.Response:
    return web.Response(text="<h1>It works!</h1>", content_type="text/html")


@asynccontextmanager
async def discord_server(kind: type[Server] = DiscordServer) -> AsyncIterator[Server]:  # type: ignore[assignment]
    """Serve on a free port of 127.0.0.1."""
    server = kind()
    app = web.Application()
    app.router.add_get("/gateway/", server._gateway)
    app.router.add_route("*", "/api/v10/{path:.*}", server._rest)
    app.router.add_get("/{path:.*}", _page)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    server.url = f"http://127.0.0.1:{port}"
    try:
        yield server
    finally:
        await runner.cleanup()
