"""The edge of Discord's gateway: changed events over a socket, through discord.py, to what hears them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import discord

from bot.platforms.discord.platform import connect
from tests.fuzz.mutation import as_json, changed
from tests.fuzz.watch import Case
from tests.platforms.discord_server import (
    ALICE,
    BOT,
    CHANNEL,
    GUILD,
    discord_server,
    guild_payload,
    until,
    user_payload,
)
from tests.platforms.discord_world import Recorder, settings

SAID, MARK, THREAD, ROLE = "2000", "2001", "2002", "2003"
MEMBER: dict[str, Any] = {
    "roles": [ROLE],
    "joined_at": "2026-01-01T00:00:00+00:00",
    "deaf": False,
    "mute": False,
    "flags": 0,
    "nick": "Al",
    "permissions": "2147483647",
}
HERE: dict[str, Any] = {"channel_id": CHANNEL, "guild_id": GUILD}
MESSAGE: dict[str, Any] = {
    **HERE,
    "id": SAID,
    "author": user_payload(ALICE, "alice"),
    "member": MEMBER,
    "content": f"<@{BOT}> which port does <@{ALICE}> use in <#{CHANNEL}>, as <@&{ROLE}> says? `x`",
    "timestamp": "2026-01-01T00:00:00+00:00",
    "edited_timestamp": None,
    "tts": False,
    "mention_everyone": False,
    "mentions": [{**user_payload(BOT, "threadlore", bot=True), "member": MEMBER}],
    "mention_roles": [ROLE],
    "attachments": [
        {
            "id": "2010",
            "filename": "a.txt",
            "size": 9,
            "url": "http://127.0.0.1:9/a.txt",
            "proxy_url": "http://127.0.0.1:9/a.txt",
            "content_type": "text/plain; charset=utf-8",
        }
    ],
    "embeds": [],
    "reactions": [{"count": 1, "me": False, "emoji": {"id": None, "name": "👍"}}],
    "pinned": False,
    "type": 0,
    "flags": 0,
}
ABOVE = {key: value for key, value in MESSAGE.items() if key not in ("member", "attachments")}
REPLY = {
    **MESSAGE,
    "type": 19,
    "message_reference": {"message_id": "1999", **HERE},
    "referenced_message": {**ABOVE, "id": "1999", "author": user_payload(BOT, "threadlore", bot=True)},
}
DIRECT = {key: value for key, value in MESSAGE.items() if key not in ("guild_id", "member")}
DIRECT["channel_id"] = "2050"
REACTION: dict[str, Any] = {
    **HERE,
    "user_id": ALICE,
    "message_id": SAID,
    "emoji": {"id": None, "name": "✅"},
    "type": 0,
    "message_author_id": BOT,
    "member": {**MEMBER, "user": user_payload(ALICE, "alice")},
}
FORUM_POST: dict[str, Any] = {
    "id": THREAD,
    "guild_id": GUILD,
    "parent_id": CHANNEL,
    "owner_id": ALICE,
    "type": 11,
    "name": "Which port?",
    "last_message_id": None,
    "message_count": 0,
    "member_count": 1,
    "applied_tags": [],
    "newly_created": True,
    "thread_metadata": {
        "archived": False,
        "auto_archive_duration": 1440,
        "archive_timestamp": "2026-01-01T00:00:00+00:00",
        "locked": False,
    },
}
TEXT_CHANNEL = guild_payload()["channels"][0]
CLOSED = {**TEXT_CHANNEL, "permission_overwrites": [{"id": GUILD, "type": 0, "allow": "0", "deny": "1024"}]}
ACT: dict[str, Any] = {
    **HERE,
    "id": "3000",
    "application_id": BOT,
    "token": "t1",
    "version": 1,
    "attachment_size_limit": 0,
    "locale": "de",
    "guild_locale": "en-US",
    "app_permissions": "2147483647",
    "entitlements": [],
    "authorizing_integration_owners": {"0": GUILD},
    "context": 0,
    "channel": {**TEXT_CHANNEL, "permissions": "2147483647"},
    "member": {**MEMBER, "user": user_payload(ALICE, "alice")},
}
QUESTION = {"name": "question", "type": 3, "value": "Which port?"}
SUB = {
    "name": "pause",
    "type": 1,
    "options": [{"name": "channel", "type": 7, "value": CHANNEL}],
}
INTERACTIONS: tuple[dict[str, Any], ...] = (
    {**ACT, "type": 3, "message": ABOVE, "data": {"custom_id": "why:a1", "component_type": 2}},
    {
        **ACT,
        "type": 3,
        "message": ABOVE,
        "data": {"custom_id": "choose:a1", "component_type": 3, "values": ["2.0"]},
    },
    {
        **ACT,
        "type": 5,
        "message": ABOVE,
        "data": {
            "custom_id": "correct:a1",
            "components": [{"type": 1, "components": [{"type": 4, "custom_id": "text", "value": "9090"}]}],
        },
    },
    {**ACT, "type": 2, "data": {"id": "1", "name": "ask", "type": 1, "options": [QUESTION]}},
    {**ACT, "type": 2, "data": {"id": "2", "name": "threadlore", "type": 1, "options": [SUB]}},
    {
        **ACT,
        "type": 2,
        "data": {
            "id": "3",
            "name": "Answer this",
            "type": 3,
            "target_id": SAID,
            "resolved": {"messages": {SAID: ABOVE}},
        },
    },
    {
        **ACT,
        "type": 4,
        "data": {
            "id": "1",
            "name": "ask",
            "type": 1,
            "options": [QUESTION, {"name": "release", "type": 3, "value": "2", "focused": True}],
        },
    },
)
EVENTS: tuple[tuple[str, Any], ...] = (
    ("MESSAGE_CREATE", MESSAGE),
    ("MESSAGE_CREATE", REPLY),
    ("MESSAGE_CREATE", DIRECT),
    ("MESSAGE_UPDATE", {**MESSAGE, "content": "changed", "edited_timestamp": "2026-01-01T00:00:00+00:00"}),
    ("MESSAGE_DELETE", {**HERE, "id": SAID}),
    ("MESSAGE_DELETE_BULK", {**HERE, "ids": [SAID, "1999"]}),
    ("MESSAGE_REACTION_ADD", REACTION),
    ("MESSAGE_REACTION_REMOVE", {k: v for k, v in REACTION.items() if k != "member"}),
    ("MESSAGE_REACTION_REMOVE_ALL", {**HERE, "message_id": SAID}),
    ("MESSAGE_REACTION_REMOVE_EMOJI", {**HERE, "message_id": SAID, "emoji": {"id": None, "name": "✅"}}),
    *(("INTERACTION_CREATE", act) for act in INTERACTIONS),
    ("THREAD_CREATE", FORUM_POST),
    ("THREAD_UPDATE", {**FORUM_POST, "name": "Another"}),
    ("CHANNEL_UPDATE", CLOSED),
    ("GUILD_ROLE_UPDATE", {"guild_id": GUILD, "role": {**guild_payload()["roles"][0], "permissions": "0"}}),
    ("GUILD_CREATE", guild_payload()),
)


class Hearing(Recorder):
    """Keeps what it is told, that reactions were cleared, too."""

    async def reactions_cleared(self, chat: Any, cleared: Any) -> None:
        self.told.append(("cleared", cleared))


@asynccontextmanager
async def gateway() -> AsyncIterator[Case]:
    """Events of Discord's gateway: after each, a message that is as it should be is heard."""
    async with discord_server() as server:
        recorder = Hearing()
        given = {"discord_api_url": f"{server.url}/api/v10/", "discord_gateway_url": server.gateway}
        platform = connect(settings(**given), recorder)
        assert platform is not None
        client = platform.client
        client._connection.guild_ready_timeout = 0.02
        running = asyncio.ensure_future(platform.run())
        await until(lambda: running.done() or (server.commands and client.is_ready()))
        await server.dispatch("GUILD_ROLE_CREATE", {"guild_id": GUILD, "role": _role()})

        async def case(chance: Random) -> None:
            event, data = chance.choice(EVENTS)
            await server.dispatch(event, _readable(data, chance))
            if chance.random() < 0.5:  # and what comes after it meets what it left behind
                event, data = chance.choice(EVENTS)
                await server.dispatch(event, data)
            await server.dispatch("GUILD_DELETE", {"id": GUILD})
            guild = guild_payload()
            await server.dispatch("GUILD_CREATE", {**guild, "roles": [*guild["roles"], _role()]})
            mark = {**MESSAGE, "id": MARK, "attachments": [], "content": f"<@{BOT}> are you there?"}
            await server.dispatch("MESSAGE_CREATE", mark)
            await until(lambda: running.done() or any(m.event == MARK for m in recorder.of("message")), 20.0)
            if running.done():
                running.result()
                raise AssertionError("the platform ended")
            while platform._tasks:
                await asyncio.wait(set(platform._tasks))
            recorder.told.clear()
            client._connection._messages.clear()  # type: ignore[union-attr]
            server.requests.clear()
            server.answered.clear()
            server.posted.clear()

        yield case
        await platform.stop()
        await running


def _readable(data: Any, chance: Random) -> Any:
    """Change an event so that it is still JSON, without NaN, lone surrogates and the largest numbers."""
    while True:
        made = changed(data, chance)
        try:
            discord.utils._from_json(as_json(made).decode())
        except ValueError:
            continue
        return made


def _role() -> dict[str, Any]:
    return {**guild_payload()["roles"][0], "id": ROLE, "name": "helpers", "position": 1}
