"""Discord messages, from DiscordChatExporter's JSON or Discord's API, as posts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from core.ingestion.sources.history.exports import MAX_FILE, Exported, NoExport, Run
from core.ports.history import Post
from core.system.json_parts import members

PATIENCE = 5.0
"""Times as long as a document a channel may take: up to a gigabyte of JSON."""
_PUBLIC = frozenset({"GuildTextChat", "GuildNews", "GuildForum", "GuildPublicThread", "GuildNewsThread"})
_THREADS = frozenset({"GuildPublicThread", "GuildNewsThread"})
_KINDS = frozenset({"Default", "Reply", "ThreadStarterMessage", "0", "19", "21"})
_UP = frozenset({"👍", "❤️", "❤", "💯", "🙌", "🎉", "👏", "➕"})
ACCEPTED = frozenset({"✅", "☑️", "✔️"})
"""Emoji that mark an answer as the one."""
DEFAULT, REPLY, THREAD_STARTER = 0, 19, 21
"""Types of messages in Discord's API."""
_MENTION = re.compile(r"<@[!&]?\d+>|<a?:(\w+):\d+>")


@dataclass(frozen=True, slots=True)
class DiscordChannel:
    """One exported channel or thread; `title` is a thread's name."""

    name: str
    public: bool
    title: str
    posts: tuple[Post, ...]


def fits(place: Path) -> bool:
    """Return True for a JSON file, and for a folder of them that is not of a Slack workspace."""
    return bool(_files(place))


def channels(place: Path, workspace: str, wanted: Callable[[str], bool], run: Run) -> Iterator[Exported]:
    """Yield public channels and threads, and why others are not read."""
    for file in _files(place):
        channel = run(read_channel, file, patience=PATIENCE)
        if channel is None:
            yield Exported(file.name, refused="it is no channel")
        elif not channel.public:
            yield Exported(channel.name, refused="it is not public")
        elif wanted(channel.name):
            titles = {channel.posts[0].thread: channel.title} if channel.posts else {}
            yield Exported(channel.name, channel.posts, titles)


def _files(place: Path) -> list[Path]:
    if place.is_file():
        return [place] if place.suffix.lower() == ".json" else []
    if any(place.glob("*/*.json")) or (place / "channels.json").exists():
        return []
    return sorted(place.glob("*.json"))


def read_channel(file: Path) -> DiscordChannel | None:
    """Read one file of an export; None where it is something else. Raises NoExport for a broken one."""
    if file.stat().st_size > 20 * MAX_FILE:
        raise NoExport(f"{file.name} has more than {20 * MAX_FILE:,} bytes; export it in parts")
    told: dict[str, Any] = {"guild": {}}
    posts: list[Post] = []
    early: list[Mapping[str, Any]] = []
    try:
        with file.open(encoding="utf-8-sig") as opened:
            for name, value in members(opened, "messages"):
                if name != "messages":
                    told[name] = value
                elif not isinstance(told.get("channel"), dict):  # as an exporter sorts that is not known
                    early.append(value)
                else:
                    posts += _posts([value], told)
    except ValueError as error:
        raise NoExport(f"{file.name} is not JSON: {error}") from None
    channel = told.get("channel")
    if not isinstance(channel, dict):
        return None
    posts = [*_posts(early, told), *posts]
    return DiscordChannel(
        str(channel.get("name") or channel.get("id")),
        channel.get("type") in _PUBLIC,
        str(channel.get("name") or "") if channel.get("type") in _THREADS else "",
        tuple(posts),
    )


def _posts(messages: Sequence[Mapping[str, Any]], told: Mapping[str, Any]) -> list[Post]:
    """Read messages; `told` is what the export says of their server and channel."""
    guild, channel = told.get("guild") or {}, told["channel"]
    thread = str(channel.get("id")) if channel.get("type") in _THREADS else ""
    given = (str(guild.get("id") or "@me"), str(channel.get("id")), thread)
    return [post for message in messages if (post := _post(message, *given))]


def _post(message: Mapping[str, Any], guild: str, channel: str, thread: str) -> Post | None:
    """Read a message as the exporter writes it."""
    if str(message.get("type")) not in _KINDS:
        return None
    author = message.get("author") or {}
    return _built(
        message,
        f"https://discord.com/channels/{guild}/{channel}/{message.get('id')}",
        thread,
        reply_to=str((message.get("reference") or {}).get("messageId") or ""),
        bot=bool(author.get("isBot")),
    )


def post_of(message: Mapping[str, Any], link: str, thread: str = "") -> Post | None:
    """Read a message as Discord's API writes it; None for joins, pins and the like.

    `link` is that of its server, `https://discord.com/channels/1`. A thread begins with the message that it
    was opened from; where that was deleted, with one that is withheld.
    """
    if message.get("type") == THREAD_STARTER:
        if "referenced_message" not in message:
            return None
        opener = message["referenced_message"]
        if opener is None:
            at = _seconds(message)
            return None if at is None else Post(thread, "", "", at, thread=thread, withheld=True)
        message = opener
    if message.get("type") not in (DEFAULT, REPLY):
        return None
    author = message.get("author") or {}
    reference = message.get("message_reference") or {}
    return _built(
        message,
        f"{link}/{message.get('channel_id')}/{message.get('id')}",
        thread,
        reply_to=str(reference.get("message_id") or "") if message.get("type") == REPLY else "",
        bot=bool(author.get("bot") or author.get("system") or message.get("webhook_id")),
    )


def _built(message: Mapping[str, Any], url: str, thread: str, reply_to: str, bot: bool) -> Post | None:
    at = _seconds(message)
    if at is None:
        return None
    reactions: Counter[str] = Counter()
    marked: set[str] = set()
    endorsed = False
    for entry in message.get("reactions") or ():
        name = str((entry.get("emoji") or {}).get("name"))
        reactions[name] += int(entry.get("count") or 0)
        if name in ACCEPTED:
            marked |= {str(user) for user in entry.get("users") or () if isinstance(user, str)}
            endorsed = endorsed or bool(entry.get("endorsed"))
    return Post(
        str(message.get("id")),
        str((message.get("author") or {}).get("id") or ""),
        _MENTION.sub(_emoji, str(message.get("content") or "")).strip(),
        at,
        url,
        thread,
        reply_to,
        votes=sum(count for name, count in reactions.items() if name in _UP),
        accepted=any(name in ACCEPTED for name in reactions),
        bot=bot,
        mentions=frozenset(str(entry.get("id")) for entry in message.get("mentions") or ()),
        accepted_by=frozenset(marked),
        endorsed=endorsed,
    )


def _seconds(message: Mapping[str, Any]) -> float | None:
    try:
        return datetime.fromisoformat(str(message.get("timestamp"))).timestamp()
    except ValueError:
        return None


def _emoji(found: re.Match[str]) -> str:
    return f":{found[1]}:" if found[1] else ""
