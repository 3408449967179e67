"""Discord messages, from DiscordChatExporter's JSON, as posts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from core.ingestion.sources._conversations import Post
from core.ingestion.sources._slack_posts import MAX_FILE, NoExport

_PUBLIC = frozenset({"GuildTextChat", "GuildNews", "GuildForum", "GuildPublicThread", "GuildNewsThread"})
_THREADS = frozenset({"GuildPublicThread", "GuildNewsThread"})
_KINDS = frozenset({"Default", "Reply", "ThreadStarterMessage", "0", "19", "21"})
_UP = frozenset({"👍", "❤️", "❤", "💯", "🙌", "🎉", "👏", "➕"})
_ACCEPTED = frozenset({"✅", "☑️", "✔️"})
_MENTION = re.compile(r"<@[!&]?\d+>|<a?:(\w+):\d+>")


@dataclass(frozen=True, slots=True)
class DiscordChannel:
    """One exported channel or thread; `title` is a thread's name."""

    name: str
    public: bool
    title: str
    posts: tuple[Post, ...]


def read_channel(file: Path) -> DiscordChannel | None:
    """Read one file of an export; None where it is something else. Raises NoExport for a broken one."""
    if file.stat().st_size > 20 * MAX_FILE:
        raise NoExport(f"{file.name} has more than {20 * MAX_FILE:,} bytes; export it in parts")
    try:
        found = json.loads(file.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise NoExport(f"{file.name} is no JSON: {error}") from None
    if not isinstance(found, dict) or not isinstance(found.get("channel"), dict) or "messages" not in found:
        return None
    guild, channel = found.get("guild") or {}, found["channel"]
    thread = str(channel.get("id")) if channel.get("type") in _THREADS else ""
    posts = tuple(
        post
        for message in found["messages"]
        if (post := _post(message, str(guild.get("id") or "@me"), str(channel.get("id")), thread))
    )
    return DiscordChannel(
        str(channel.get("name") or channel.get("id")),
        channel.get("type") in _PUBLIC,
        str(channel.get("name") or "") if thread else "",
        posts,
    )


def _post(message: Mapping[str, Any], guild: str, channel: str, thread: str) -> Post | None:
    if str(message.get("type")) not in _KINDS:
        return None
    author = message.get("author") or {}
    reactions = {
        str((entry.get("emoji") or {}).get("name")): int(entry.get("count") or 0)
        for entry in message.get("reactions") or ()
    }
    try:
        at = datetime.fromisoformat(str(message.get("timestamp"))).timestamp()
    except ValueError:
        return None
    mark = str(message.get("id"))
    return Post(
        mark,
        str(author.get("id") or ""),
        _MENTION.sub(
            lambda found: f":{found[1]}:" if found[1] else "", str(message.get("content") or "")
        ).strip(),
        at,
        f"https://discord.com/channels/{guild}/{channel}/{mark}",
        thread,
        str((message.get("reference") or {}).get("messageId") or ""),
        votes=sum(count for name, count in reactions.items() if name in _UP),
        accepted=any(name in _ACCEPTED for name in reactions),
        bot=bool(author.get("isBot")),
        mentions=frozenset(str(entry.get("id")) for entry in message.get("mentions") or ()),
    )


def _emoji(found: re.Match[str]) -> str:
    return f":{found[1]}:" if found[1] else ""
