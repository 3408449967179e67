"""How the loopback Slack tells what was said: pages of a channel and of a thread.

From docs.slack.dev, `conversations.history` and `conversations.replies`: history has the newest first, and of
replies those alone that were sent to the channel as well; what opened a thread tells how many replies there
are and when the latest came; a thread comes oldest first, from the message that opened it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.platforms.slack_blocks import SlackError

Messages = Mapping[str, dict[str, Any]]
MOST = 999
"""Messages of a page at most."""


def history(messages: Messages, given: Mapping[str, Any], size: int) -> dict[str, Any]:
    """Return a page of a channel."""
    top = [m for m in messages.values() if _opens(m) or m.get("subtype") == "thread_broadcast"]
    return _page(messages, top[::-1], given, size)


def replies(messages: Messages, given: Mapping[str, Any], size: int) -> dict[str, Any]:
    """Return a page of a thread; of a reply, that alone."""
    root = str(given.get("ts"))
    if root not in messages:
        raise SlackError("thread_not_found")
    return _page(
        messages, [m for m in messages.values() if root in (m["ts"], m.get("thread_ts"))], given, size
    )


def reactions(messages: Messages, given: Mapping[str, Any], few: int) -> dict[str, Any]:
    """Return a message as `reactions.get` tells it: without `full` an emoji may name `few` of its people."""
    if not given.get("timestamp"):
        raise SlackError("no_item_specified")
    message = messages.get(str(given["timestamp"]))
    if message is None or message.get("subtype") == "tombstone":
        raise SlackError("message_not_found")
    shown = told(messages, message)
    if given.get("full") not in (True, 1, "1", "true", "True"):
        for one in shown.get("reactions", ()):
            one["users"] = one["users"][:few]
    return {"type": "message", "message": shown}


def _opens(message: Mapping[str, Any]) -> bool:
    return bool(message.get("thread_ts", message["ts"]) == message["ts"])


def _page(
    messages: Messages, of: list[dict[str, Any]], given: Mapping[str, Any], size: int
) -> dict[str, Any]:
    latest, oldest = str(given.get("latest") or "9"), str(given.get("oldest") or "0")
    ends = given.get("inclusive") in (True, 1, "1", "true", "True")
    kept = [m for m in of if oldest < m["ts"] < latest or (ends and m["ts"] in (oldest, latest))]
    start = int(str(given.get("cursor") or "p:0").removeprefix("p:"))
    limit = int(given.get("limit") or 100)
    if not 1 <= limit <= MOST:
        raise SlackError("invalid_limit")
    size = min(limit, size)
    rest = start + size < len(kept)
    first = kept[0]["ts"] if kept else ""
    newest_first = bool(kept) and first > kept[-1]["ts"]
    if newest_first and given.get("oldest") and not given.get("latest"):
        kept.reverse()  # then those closest to `oldest` come first, each page with its newest first
        page = kept[start : start + size][::-1]
    else:
        page = kept[start : start + size]
    return {
        "messages": [told(messages, m) for m in page],
        "has_more": rest,
        "response_metadata": {"next_cursor": f"p:{start + size}" if rest else ""},
    }


def told(messages: Messages, message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message as these methods tell it: with its reactions as a list, and what came after it."""
    shown = dict(message)
    if reactions := shown.pop("reactions", None):
        listed = [
            {"name": name, "users": list(users), "count": len(users)}
            for name, users in reactions.items()
            if users
        ]
        shown |= {"reactions": listed} if listed else {}
    if not _opens(message) or "thread_ts" not in message:
        return shown
    after = [m for m in messages.values() if m.get("thread_ts") == message["ts"] != m["ts"]]
    if after:
        people = list(dict.fromkeys(str(m["user"]) for m in after))
        shown |= {
            "reply_count": len(after),
            "reply_users": people[:5],
            "reply_users_count": len(people),
            "latest_reply": after[-1]["ts"],
            "is_locked": False,
            "subscribed": False,
        }
    return shown
