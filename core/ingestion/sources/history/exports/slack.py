"""Slack messages, from an export or the Web API, as posts."""

from __future__ import annotations

import html
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.ingestion.sources.history.exports import MAX_FILE, Exported, NoExport, Run
from core.ports.history import Post

PATIENCE = 5.0
"""Times as long as a document a channel may take: up to a gigabyte of JSON."""
_TOKEN = re.compile(r"<([^<>\n]+)>")
_UP = frozenset({"+1", "thumbsup", "heart", "100", "raised_hands", "tada", "clap", "heavy_plus_sign"})
_ACCEPTED = frozenset({"white_check_mark", "heavy_check_mark", "ballot_box_with_check"})
_PEOPLE = frozenset({None, "", "thread_broadcast", "file_share", "me_message"})


@dataclass(frozen=True, slots=True)
class SlackExport:
    """What an export as Slack makes it holds: a folder for each channel, a file for each day.

    `public` are the ids of public channels by name, `others` says why another one is not read, `days` are a
    channel's files, `bots` are ids.
    """

    public: Mapping[str, str]
    others: Mapping[str, str]
    days: Mapping[str, tuple[str, ...]]
    bots: frozenset[str]


def fits(place: Path) -> bool:
    """Return True for a folder with folders in it, and for what may be a zip."""
    return place.is_dir() or place.suffix.lower() != ".json"


def channels(place: Path, workspace: str, wanted: Callable[[str], bool], run: Run) -> Iterator[Exported]:
    """Yield public channels, and why others are not read; links begin with the address `workspace`."""
    export = run(outline, place, patience=PATIENCE)
    yield from (Exported(name, refused=why) for name, why in export.others.items())
    for name, channel_id in export.public.items():
        if wanted(name):
            days = export.days.get(name, ())
            posts = run(posts_of, place, days, channel_id, workspace, export.bots, patience=PATIENCE)
            yield Exported(name, tuple(posts))


def outline(place: Path) -> SlackExport:
    """Read what there is in an export, a folder or a zip, but for the posts; raises NoExport."""
    with _opened(place) as files:
        days: dict[str, list[str]] = {}
        for name in sorted(files.names):
            if "/" in name:
                days.setdefault(name.partition("/")[0], []).append(name)
        if not any(name.count("/") == 1 for name in files.names):
            raise NoExport("there is no folder with a channel's days in it")
        bots = frozenset(str(user["id"]) for user in files.listed("users.json") if user.get("is_bot"))
        public, others = _channels(files, sorted(days))
    return SlackExport(public, others, {channel: tuple(names) for channel, names in days.items()}, bots)


def posts_of(
    place: Path, days: Collection[str], channel: str, workspace: str, bots: Collection[str]
) -> list[Post]:
    """Read the posts of a channel, by its id, in the order of its days; raises NoExport."""
    with _opened(place) as files:
        return [
            post
            for name in days
            for message in files.listed(name)
            if isinstance(message, dict) and (post := post_of(message, channel, workspace, bots))
        ]


def _channels(files: _Files, folders: Collection[str]) -> tuple[dict[str, str], dict[str, str]]:
    if "channels.json" not in files.names:
        return dict.fromkeys(folders, ""), {}
    public: dict[str, str] = {}
    others = dict.fromkeys(folders, "it is not public")
    for entry in files.listed("channels.json"):
        if entry["name"] in others and entry.get("is_ext_shared"):
            others[entry["name"]] = "it is shared with another organization"
        elif entry["name"] in others:
            public[entry["name"]] = str(entry.get("id") or "")
            del others[entry["name"]]
    return public, others


@contextmanager
def _opened(place: Path) -> Iterator[_Files]:
    if place.is_file():
        with zipfile.ZipFile(place) as pack:
            yield _Files(place, pack, pack.namelist())
    else:
        yield _Files(place, None, _below(place))


class _Files:
    """The JSON files of an export."""

    def __init__(self, place: Path, pack: zipfile.ZipFile | None, names: Collection[str]) -> None:
        self._place, self._zip = place, pack
        self.names = {name.strip("/"): name for name in names if name.endswith(".json")}

    def listed(self, name: str) -> list[dict[str, Any]]:
        """Return what stands in a file, nothing where there is no such file; raises NoExport."""
        if name not in self.names:
            return []
        if self._zip:
            if self._zip.getinfo(self.names[name]).file_size > MAX_FILE:
                raise NoExport(f"{name} unpacks to more than {MAX_FILE:,} bytes")
            with self._zip.open(self.names[name]) as file:
                content = file.read(MAX_FILE + 1)
        else:
            content = (self._place / name).read_bytes()
        try:
            found = json.loads(content)
        except ValueError as error:
            raise NoExport(f"{name} is not JSON: {error}") from None
        if not isinstance(found, list):
            raise NoExport(f"{name} is no list")
        return found


def _below(place: Path) -> list[str]:
    root = place.resolve()
    return [
        file.relative_to(place).as_posix()
        for pattern in ("*.json", "*/*.json")
        for file in place.glob(pattern)
        if file.resolve().is_relative_to(root)
    ]


def post_of(
    message: Mapping[str, Any],
    channel: str,
    workspace: str,
    bots: Collection[str] = (),
    helpers: Collection[str] = (),
) -> Post | None:
    """Read a message as Slack writes it; None for joins, topics and the like.

    `helpers` are accounts (`slack:U1`) whose ✅ accepts an answer as its asker's does.
    """
    stamp, text = str(message.get("ts") or ""), str(message.get("text") or "")
    try:
        at = float(stamp)
    except ValueError:
        return None
    bot = bool(message.get("bot_id") or message.get("bot_profile") or message.get("user") in bots)
    thread = str(message.get("thread_ts") or "")
    if message.get("subtype") == "tombstone":  # what is left of a deleted message that has replies
        return Post(stamp, "", "", at, thread=thread, withheld=True)
    if message.get("subtype") not in _PEOPLE and not bot:
        return None
    reactions: Counter[str] = Counter()
    marked: set[str] = set()
    for reaction in message.get("reactions") or ():
        name = str(reaction.get("name")).partition("::")[0]
        reactions[name] += int(reaction.get("count") or 0)
        marked |= {str(user) for user in reaction.get("users") or ()} if name in _ACCEPTED else set()
    link = ""
    if workspace and channel:
        link = f"{workspace.rstrip('/')}/archives/{channel}/p{stamp.replace('.', '')}"
        link += f"?thread_ts={thread}&cid={channel}" if thread and thread != stamp else ""
    return Post(
        stamp,
        str(message.get("user") or message.get("bot_id") or ""),
        markdown_of(text),
        at,
        link,
        thread,
        votes=sum(count for name, count in reactions.items() if name in _UP),
        accepted=any(name in _ACCEPTED for name in reactions),
        bot=bot,
        mentions=frozenset(re.findall(r"<@(\w+)", text)),
        accepted_by=frozenset(marked),
        endorsed=any(f"slack:{user}" in helpers for user in marked),
    )


def markdown_of(text: str) -> str:
    """Turn Slack's notation into Markdown: links, emphasis, escaped signs; names of people are left out."""
    parts = re.split(r"(```.*?```|`[^`\n]+`)", text, flags=re.DOTALL)
    return "".join(_code(part) if at % 2 else _prose(part) for at, part in enumerate(parts)).strip()


def _code(part: str) -> str:
    plain = html.unescape(_TOKEN.sub(lambda found: found[1].split("|")[-1], part))
    if not plain.startswith("```"):
        return plain
    body = plain[3:-3].strip("\n")
    return f"\n```\n{body}\n```\n"


def _prose(part: str) -> str:
    part = _TOKEN.sub(_token, part)
    part = re.sub(r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])", r"**\1**", part)
    return html.unescape(part)


def _token(found: re.Match[str]) -> str:
    target, _, label = found[1].partition("|")
    if target.startswith("@"):
        return ""
    if target.startswith("#"):
        return f"#{label or target[1:]}"
    if target.startswith("!"):
        return label
    return f"[{label}]({target})" if label and label != target else target
