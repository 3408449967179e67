"""What the loopback Slack lets the app do: the scopes and events of docs/slack-manifest.yaml, and their uses.

From docs.slack.dev: "Required scopes" of each method and event. `conversations.*` and `message` need that of
the channel's kind; `auth.test`, `views.open`, `views.publish` and `chat.getPermalink` need none, nor does
`app_home_opened`. A Home tab is there where the manifest switches it on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.platforms.slack_blocks import SlackError

_MANIFEST = yaml.safe_load((Path(__file__).parents[2] / "docs/slack-manifest.yaml").read_text("utf-8"))
SCOPES: tuple[str, ...] = tuple(_MANIFEST["oauth_config"]["scopes"]["bot"])
EVENTS = frozenset(_MANIFEST["settings"]["event_subscriptions"]["bot_events"])
HOME = bool(_MANIFEST["features"]["app_home"]["home_tab_enabled"])
KINDS = {"channel": "channels", "group": "groups", "im": "im", "mpim": "mpim"}
"""What scopes and events call the kinds of channels."""
_WRITES = ("postMessage", "postEphemeral", "update", "delete", "startStream", "appendStream", "stopStream")
_METHODS = {
    **{f"chat.{name}": "chat:write" for name in _WRITES},
    "reactions.add": "reactions:write",
    "reactions.get": "reactions:read",
    "users.info": "users:read",
    "files.info": "files:read",
    "conversations.open": "im:write",
    "conversations.info": "{kind}:read",
    "conversations.history": "{kind}:history",
    "conversations.replies": "{kind}:history",
}
_HEARING = {
    "app_home_opened": "",
    "app_mention": "app_mentions:read",
    "reaction_added": "reactions:read",
    "reaction_removed": "reactions:read",
    "channel_archive": "channels:read",
    "channel_deleted": "channels:read",
    "group_archive": "groups:read",
    "group_deleted": "groups:read",
    "channel_shared": "{kind}:read",
    "channel_unshared": "{kind}:read",
    "message": "{kind}:history",
}


def check_scope(method: str, channel: Mapping[str, Any] | None, granted: str) -> None:
    """Raise what Slack answers to a method whose scope the app was not granted."""
    scope = _METHODS.get(method, "")
    if not scope or ("{kind}" in scope and channel is None):
        return
    needed = scope.format(kind=KINDS[channel["kind"]] if channel else "")
    if needed not in granted.split(","):
        raise SlackError("missing_scope", needed=needed, provided=granted)


def hears(
    event: Mapping[str, Any], channel: Mapping[str, Any], granted: str, subscribed: Collection[str]
) -> bool:
    """Return True if the app hears an event: it is subscribed to it and has its scope."""
    kind, name = KINDS[channel["kind"]], str(event["type"])
    listed = f"message.{kind}" if name == "message" else name
    needed = _HEARING.get(name, "{kind}:read").format(kind=kind)
    return listed in subscribed and (not needed or needed in granted.split(","))
