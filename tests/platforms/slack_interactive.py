"""Controls and modals of the loopback Slack: what it accepts of them, what it sends when they are used.

Limits and errors are those of docs.slack.dev: Block Kit's reference, `views.open`, interaction payloads.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from tests.platforms import slack_past as past
from tests.platforms.slack_blocks import ELEMENTS, SlackError, check_options, check_text, refuse

if TYPE_CHECKING:
    from tests.platforms.slack_server import SlackServer


_VIEW = {
    *("type", "title", "submit", "close", "blocks", "private_metadata", "callback_id", "external_id"),
    *("clear_on_close", "notify_on_close", "submit_disabled"),
}
_INPUT = {"type", "block_id", "label", "element", "optional", "hint", "dispatch_action"}
_TEXT_INPUT = {
    *("type", "action_id", "initial_value", "multiline", "min_length", "max_length", "placeholder"),
    *("dispatch_action_config", "focus_on_load"),
}


def checked_view(view: Any) -> dict[str, Any]:
    """Check a modal as `views.open` does, and return it."""
    if not isinstance(view, dict) or view.get("type") != "modal":
        raise SlackError("invalid_arguments", "[ERROR] view must be a modal")
    if len(json.dumps(view)) > 250_000:
        raise SlackError("view_too_large")
    _no_more(view, _VIEW)
    for key in ("title", "submit", "close"):
        if key == "title" or view.get(key) is not None:
            check_text(view.get(key), 24)
    refuse(len(view.get("private_metadata") or "") > 3_000, "must be less than 3001 characters")
    refuse(len(view.get("callback_id") or "") > 255, "must be less than 256 characters")
    refuse(not 1 <= len(view.get("blocks") or ()) <= 100, "no more than 100 items allowed, and at least 1")
    ids = [block.get("block_id") for block in view["blocks"]]
    refuse(len(set(ids)) != len(ids), "`block_id` already exists")
    for block in view["blocks"]:
        refuse(block.get("type") != "input", "only inputs are known here")
        _check_input(block)
    refuse(not view.get("submit"), "submit is required where there are inputs")
    return dict(view)


def _check_input(block: dict[str, Any]) -> None:
    _no_more(block, _INPUT)
    check_text(block.get("label"), 2_000)
    element = block.get("element") or {}
    refuse(not 1 <= len(element.get("action_id") or "") <= 255, "must be less than 256 characters")
    if element.get("type") == "static_select":
        _no_more(element, ELEMENTS["static_select"] | {"type"})
        check_options(element)
        return
    refuse(element.get("type") != "plain_text_input", "unsupported type")
    _no_more(element, _TEXT_INPUT)
    refuse(not 1 <= int(element.get("max_length") or 1) <= 3_000, "max_length: 1 to 3000")


def _no_more(given: dict[str, Any], known: set[str]) -> None:
    refuse(bool(given.keys() - known), f"no additional properties allowed: {sorted(given.keys() - known)}")


def exchange(server: SlackServer, trigger: str) -> str:
    """Return who a trigger id belongs to, once and in time."""
    user, until = server.triggers.get(trigger, ("", 0.0))
    if not user:
        raise SlackError("exchanged_trigger_id" if trigger in server.exchanged else "invalid_trigger_id")
    if asyncio.get_running_loop().time() > until:
        raise SlackError("expired_trigger_id")
    del server.triggers[trigger]
    server.exchanged.add(trigger)
    return user


def press(
    server: SlackServer,
    user: str,
    message: dict[str, Any],
    block: dict[str, Any],
    element: dict[str, Any],
    value: str,
) -> None:
    """Send the `block_actions` payload of a control under a message, or under an ephemeral one."""
    whispered = message in server.whispers
    channel = next(c for c in server.channels if whispered or message["ts"] in server.messages[c])
    channel = message["channel"] if whispered else channel
    assert not whispered or message["user"] == user, "nobody else sees it"
    assert user in server.channels[channel]["members"] or server.channels[channel]["kind"] == "channel"
    taken: dict[str, Any] = {
        "action_id": element["action_id"],
        "block_id": block.get("block_id", "gen1"),
        "type": element["type"],
        "action_ts": server.tick(),
    }
    if element["type"] == "static_select":
        [option] = [option for option in element["options"] if option["value"] == value]
        taken |= {"selected_option": option, "placeholder": element["placeholder"]}
    else:
        taken |= {"text": element["text"], "value": element.get("value")}
    container = {
        "type": "message",
        "message_ts": message["ts"],
        "channel_id": channel,
        "is_ephemeral": whispered,
    }
    if message.get("thread_ts"):
        container["thread_ts"] = message["thread_ts"]
    key = server.ephemeral.new_url(channel, user, message)
    payload = common(server, user) | {
        "type": "block_actions",
        "container": container,
        "channel": {"id": channel, "name": server.channels[channel]["name"]},
        "response_url": f"http://127.0.0.1:{server.port}/commands/{key}",
        "state": {"values": {}},
        "actions": [taken],
    }
    if not whispered:  # Slack does not send back what an ephemeral message said
        payload["message"] = copied(server, channel, message)
    server.interact(payload)


def shortcut(server: SlackServer, user: str, channel: str, message: dict[str, Any], callback_id: str) -> None:
    """Send the `message_action` payload of an app's entry in the menu of a message."""
    payload = common(server, user) | {
        "type": "message_action",
        "callback_id": callback_id,
        "action_ts": server.tick(),
        "channel": {"id": channel, "name": server.channels[channel]["name"]},
        "message_ts": message["ts"],
        "message": copied(server, channel, message),
        "response_url": f"http://127.0.0.1:{server.port}/commands/{server.ephemeral.new_url(channel, user)}",
    }
    server.interact(payload)


def copied(server: SlackServer, channel: str, message: dict[str, Any]) -> dict[str, Any]:
    """Return a message as payloads show it: with what came after it in its thread."""
    told = past.told(server.messages[channel], message)
    return {key: value for key, value in told.items() if key != "reactions"}


def submit(server: SlackServer, user: str, view: dict[str, Any], fields: dict[str, str]) -> None:
    """Send the `view_submission` payload of a modal that a person filled in."""
    values: dict[str, Any] = {}
    for block in view["blocks"]:
        element, given = block["element"], fields.pop(block["element"]["action_id"], None)
        assert given or block.get("optional"), f"{block['block_id']} is required"
        state: dict[str, Any] = {"type": element["type"]}
        if element["type"] == "static_select":
            options = {option["value"]: option for option in element["options"]}
            state["selected_option"] = options[given] if given else None
        else:
            state["value"] = given
        values[block["block_id"]] = {element["action_id"]: state}
    assert not fields, f"the modal has no {fields}"
    shown = view | {"state": {"values": values}}
    payload = {"type": "view_submission", "view": shown, "response_urls": []}
    server.interact(common(server, user) | payload)


def common(server: SlackServer, user: str) -> dict[str, Any]:
    """Return what every payload says of who did something, and where."""
    return {
        "team": {"id": server.team, "domain": "fake"},
        "user": {"id": user, "username": user.lower(), "name": user.lower(), "team_id": server.team},
        "api_app_id": server.app,
        "token": "t",
        "trigger_id": server.trigger(user),
        "enterprise": None,
        "is_enterprise_install": False,
    }
