"""Slack's export form of a channel that was published as XML (`ts`, `user`, `text` a message)."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

_MENTION = re.compile(r"<@([^>|]+)(?:\|[^>]*)?>")


def convert(file: Path, folder: Path, most: int) -> str:
    """Write the first messages of a channel as an export; return the address of its workspace.

    Names become ids as Slack has them, each day is a file of its channel's folder.
    """
    with gzip.open(file, "rb") as packed:
        root = ElementTree.parse(packed).getroot()
    channel = (root.findtext("channel_name") or "general").strip()
    days: dict[str, list[dict[str, Any]]] = defaultdict(list)
    people: set[str] = set()
    for message in root.findall("message")[:most]:
        at = datetime.fromisoformat((message.findtext("ts") or "").strip()).replace(tzinfo=UTC)
        user = (message.findtext("user") or "").strip()
        people.add(user)
        text = _MENTION.sub(lambda found: f"<@{_id(found[1])}>", message.findtext("text") or "")
        days[at.date().isoformat()].append(
            {"type": "message", "ts": f"{at.timestamp():.6f}", "user": _id(user), "text": text}
        )
    (folder / channel).mkdir(parents=True)
    _write(folder / "channels.json", [{"id": "C" + _id(channel)[1:], "name": channel, "members": []}])
    _write(folder / "users.json", [{"id": _id(name), "name": name} for name in sorted(people)])
    for day, messages in days.items():
        _write(folder / channel / f"{day}.json", messages)
    return f"https://{(root.findtext('team_domain') or 'team').strip()}.slack.com"


def _id(name: str) -> str:
    return "U" + hashlib.blake2b(name.encode(), digest_size=5).hexdigest().upper()


def _write(file: Path, value: Any) -> None:
    file.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
