"""The Home tabs of the loopback Slack: what `views.publish` takes, and what people do on what it shows.

From docs.slack.dev: `views.publish`, Home tab views, `app_home_opened` and `block_actions`. A payload from a
tab has a `view` in place of a message: no channel, and no response URL.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.platforms import slack_interactive as interactive
from tests.platforms.slack_blocks import SlackError, check_view_blocks
from tests.platforms.slack_scopes import HOME

if TYPE_CHECKING:
    from tests.platforms.slack_server import SlackServer

_VIEW = {"type", "blocks", "private_metadata", "callback_id", "external_id"}


class HomeTabs:
    """Everybody's Home tab of the app."""

    def __init__(self, server: SlackServer) -> None:
        self._server = server
        self.enabled = HOME
        """Whether the app has a Home tab."""
        self.views: dict[str, dict[str, Any]] = {}
        """The view that each person sees."""

    def publish(self, user: str, view: Any, hash: str) -> dict[str, Any]:
        """Show a person a view."""
        if not isinstance(view, dict) or view.get("type") != "home" or view.keys() - _VIEW:
            raise SlackError("invalid_arguments", "[ERROR] view must be a home view")
        if user not in self._server.users or self._server.users[user]["is_bot"]:
            raise SlackError("invalid_arguments", "invalid `user_id`")
        if not self.enabled:
            raise SlackError("not_enabled")
        if len(json.dumps(view)) > 250_000:
            raise SlackError("view_too_large")
        try:
            check_view_blocks(view.get("blocks"))
        except SlackError as error:
            raise SlackError("invalid_arguments", *error.messages) from None
        if hash and hash != self.views.get(user, {}).get("hash"):
            raise SlackError("hash_conflict")
        server = self._server
        known = self.views.get(user, {}).get("id") or f"V{server.tick()}"
        kept = view | {"id": known, "team_id": server.team, "app_id": server.app, "bot_id": server.bot_id}
        self.views[user] = kept | {"hash": server.tick(), "state": {"values": {}}}
        server.noticed()
        return self.views[user]

    def open(self, user: str, tab: str = "home") -> None:
        """Open the app's Home: the Home tab, or the messages."""
        server = self._server
        both = {user, server.bot_user}
        channel = next((c["id"] for c in server.channels.values() if c["members"] == both), f"D{user}")
        if channel not in server.channels:
            server.add_channel(channel, "im", *both)
        event = {"type": "app_home_opened", "user": user, "channel": channel, "tab": tab}
        view = {"view": self.views[user]} if tab == "home" and user in self.views else {}
        server.emit({**event, "event_ts": server.tick(), **view})

    def texts(self, user: str) -> list[str]:
        """Return what a person reads on their tab, from top to bottom."""
        found = []
        for block in self.views.get(user, {"blocks": []})["blocks"]:
            parts = [block.get("text"), *(block.get("elements") or ())]
            found += [part["text"] for part in parts if part and isinstance(part.get("text"), str)]
        return found

    def elements(self, user: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Return the controls of a person's tab, each with its block."""
        shown = self.views.get(user, {"blocks": []})["blocks"]
        beside = [(block, block["accessory"]) for block in shown if block.get("accessory")]
        below = [(b, e) for b in shown if b["type"] == "actions" for e in b["elements"]]
        return [*beside, *below]

    def press(self, user: str, action: str, value: str = "") -> None:
        """Use a control of one's tab: press a button, or choose the line or the channel named by `value`."""
        found = [(b, e) for b, e in self.elements(user) if e["action_id"] == action]
        block, element = next((b, e) for b, e in found if value in ("", *_values(e)))
        taken: dict[str, Any] = {"action_id": action, "block_id": block.get("block_id", "gen1")}
        taken |= {"type": element["type"], "action_ts": self._server.tick()}
        if element["type"] == "static_select":
            taken["selected_option"] = next(o for o in element["options"] if o["value"] == value)
        elif element["type"] == "conversations_select":
            taken["selected_conversation"] = value
        else:
            taken |= {"text": element["text"], "value": element.get("value")}
        view = self.views[user]
        payload = {"type": "block_actions", "container": {"type": "view", "view_id": view["id"]}}
        payload |= {"view": view, "actions": [taken]}
        self._server.interact(interactive.common(self._server, user) | payload)


def _values(element: dict[str, Any]) -> list[str]:
    if element["type"] == "conversations_select":
        return ["C1", "C2", "G1"]
    return [option["value"] for option in element.get("options") or ()]
