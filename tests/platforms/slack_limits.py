"""What the loopback Slack takes of a method: its arguments and their types, and how often it may be called.

From docs.slack.dev, the page of each method and "Rate limits": tiers are calls a minute for each method, app
and workspace; `chat.postMessage` takes one message a second in each channel, with short bursts.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict, deque
from typing import Any

from tests.platforms.slack_blocks import SlackError

TIERS = {1: 1, 2: 20, 3: 50, 4: 100}
"""Calls a minute of each tier."""
TOLERATED = 5
"""Calls more than the one of tier 1, of which a small amount of burst is tolerated."""
BURST = 5
"""Messages in a channel at once before one a second is all there is."""

_Needed = dict[str, type]
METHODS: dict[str, tuple[int, _Needed, _Needed]] = {
    "auth.test": (0, {}, {}),
    "apps.connections.open": (1, {}, {}),
    "users.info": (4, {"user": str}, {"include_locale": bool}),
    "users.conversations": (
        3,
        {},
        {"types": str, "limit": int, "cursor": str, "exclude_archived": bool, "user": str},
    ),
    "conversations.info": (3, {"channel": str}, {"include_locale": bool, "include_num_members": bool}),
    "conversations.open": (
        3,
        {},
        {"users": str, "channel": str, "return_im": bool, "prevent_creation": bool},
    ),
    "conversations.replies": (
        3,
        {"channel": str, "ts": str},
        {"cursor": str, "inclusive": bool, "latest": str, "limit": int, "oldest": str},
    ),
    "conversations.history": (
        3,
        {"channel": str},
        {"cursor": str, "inclusive": bool, "latest": str, "limit": int, "oldest": str},
    ),
    "files.info": (4, {"file": str}, {"count": int, "cursor": str, "limit": int, "page": int}),
    "views.publish": (4, {"user_id": str, "view": dict}, {"hash": str}),
    "chat.postMessage": (
        0,
        {"channel": str},
        {
            "text": str,
            "blocks": list,
            "thread_ts": str,
            "unfurl_links": bool,
            "unfurl_media": bool,
            "metadata": dict,
            "mrkdwn": bool,
            "parse": str,
            "link_names": bool,
            "reply_broadcast": bool,
        },
    ),
    "chat.postEphemeral": (
        4,
        {"channel": str, "user": str},
        {"text": str, "blocks": list, "thread_ts": str, "parse": str, "link_names": bool},
    ),
    "chat.update": (
        3,
        {"channel": str, "ts": str},
        {
            "text": str,
            "blocks": list,
            "parse": str,
            "link_names": bool,
            "metadata": dict,
            "reply_broadcast": bool,
        },
    ),
    "chat.delete": (3, {"channel": str, "ts": str}, {"as_user": bool}),
    "chat.getPermalink": (0, {"channel": str, "message_ts": str}, {}),
    "chat.startStream": (
        2,
        {"channel": str, "thread_ts": str},
        {"markdown_text": str, "recipient_user_id": str, "recipient_team_id": str},
    ),
    "chat.appendStream": (4, {"channel": str, "ts": str, "markdown_text": str}, {}),
    "chat.stopStream": (
        2,
        {"channel": str, "ts": str},
        {"markdown_text": str, "blocks": list, "metadata": dict},
    ),
    "views.open": (4, {"trigger_id": str, "view": dict}, {"interactivity_pointer": str}),
    "reactions.add": (3, {"channel": str, "timestamp": str, "name": str}, {}),
    "reactions.get": (
        3,
        {},
        {"channel": str, "timestamp": str, "file": str, "file_comment": str, "full": bool},
    ),
}
"""For each method: its tier (0 for a rule of its own), what it needs, what else it takes."""


def check_arguments(method: str, given: dict[str, Any]) -> None:
    """Raise what Slack answers to arguments that are missing, unknown or of another type."""
    if method not in METHODS:
        return
    _, needed, more = METHODS[method]
    problems = [f"[ERROR] missing required field: {name}" for name in needed if given.get(name) in (None, "")]
    known = needed | more
    for name, value in given.items():
        if name == "token":
            continue
        if name not in known:
            problems.append(f"[ERROR] unsupported argument: {name}")
        elif not _is(known[name], value):
            problems.append(f"[ERROR] must be a {known[name].__name__} [json-pointer:/{name}]")
    if problems:
        raise SlackError("invalid_arguments", *problems)


def _is(kind: type, value: Any) -> bool:
    """Return True if a value, sent as JSON or as a form's text, is of a type."""
    if isinstance(value, str) and kind is not str:
        if kind is bool:
            return value in ("true", "false", "0", "1", "True", "False")
        try:
            value = json.loads(value)
        except ValueError:
            return False
    if kind is bool:
        return isinstance(value, bool) or value in (0, 1)
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


class Limits:
    """Counts calls and says how long to wait; `minute` is shortened by tests that cannot wait for one."""

    def __init__(self) -> None:
        self.enforced = True
        self.minute = 60.0
        self.refused: list[str] = []
        """Methods that were called too often, in order."""
        self._calls: dict[tuple[str, str], deque[float]] = defaultdict(deque)

    def wait(self, method: str, channel: str, now: float) -> int:
        """Count a call; returns the seconds to wait where there are too many, else 0."""
        if not self.enforced or method not in METHODS:
            return 0
        tier = METHODS[method][0]
        if method == "chat.postMessage":
            most, span, calls = BURST, BURST * self.minute / 60, self._calls[method, channel]
        elif tier:
            most, span, calls = TIERS[tier] + TOLERATED * (tier == 1), self.minute, self._calls[method, ""]
        else:
            return 0
        while calls and now - calls[0] >= span:
            calls.popleft()
        if len(calls) >= most:
            self.refused.append(method)
            return max(1, math.ceil(span - (now - calls[0])))
        calls.append(now)
        return 0
