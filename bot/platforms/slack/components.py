"""Buttons, menus and forms as Slack's blocks and views, and what comes back of them.

Limits are those of docs.slack.dev (Block Kit): 25 elements of an actions block, 75 characters of a button
and of an option, 150 of an option's value, 100 options, 24 of a view's title, 3,000 of its metadata.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import time
from typing import Any

from bot.ports.chat import Choice, Control, Form
from bot.ports.page import ChannelMenu, Open
from core.domain import MessageRef
from core.languages import _
from core.text.words import shortened

ELEMENTS = 25
OPTIONS = 100
LABEL = 75
VALUE = 150
TITLE = 24
INPUT = 3_000
"""Characters that a text input takes."""

OPENS = "open"
"""The action of a button that is a link: Slack tells of a press, and there is nothing to do."""
USES = 5
"""Messages that a response URL takes."""
GOOD_FOR = 1_800.0
"""Seconds for which it takes them."""


@dataclass(slots=True)
class Link:
    """A response URL of a press or a command: until when it is good, in Unix time, and how often it was used.

    It asks for no membership of the channel (docs.slack.dev, handling user interaction).
    """

    url: str = ""
    until: float = 0.0
    used: int = 0

    @classmethod
    def new(cls, url: object, clock: Callable[[], float] = time) -> Link:
        """Return the link of what has just been received; one without a URL takes nothing."""
        return cls(str(url or ""), clock() + GOOD_FOR)

    def left(self, now: float) -> int:
        """Return how many messages it takes yet."""
        return max(0, USES - self.used) if self.url and now < self.until else 0

    def spend(self) -> None:
        """Count it as used up: Slack has refused it."""
        self.used = USES


@dataclass(frozen=True, slots=True)
class Pressed:
    """A press or a form that was sent, before people and places are looked up.

    `thread` is one that it was done in and that has replies; in any other nothing is shown to one person.
    """

    name: str
    value: str
    ref: MessageRef
    user: str
    trigger: str
    fields: Mapping[str, str]
    thread: str = ""
    link: Link = field(default_factory=Link)

    @property
    def is_at_home(self) -> bool:
        """Return True if it was done on the Home tab, or in a form that was opened there."""
        return self.ref.channel == self.user


def actions(controls: Sequence[Control | ChannelMenu]) -> list[dict[str, Any]]:
    """Return the actions block of some controls; no block where there is none."""
    elements = [beside(control) for control in controls[:ELEMENTS]]
    return [{"type": "actions", "elements": elements}] if elements else []


def header(title: str, limit: int) -> dict[str, Any]:
    """Return the block of a title."""
    return {"type": "header", "text": _plain(title, limit)}


def beside(control: Control | ChannelMenu | Open) -> dict[str, Any]:
    """Return the element of a control: a button, a menu, a link or a choice of channels."""
    if isinstance(control, Open):
        return {
            "type": "button",
            "action_id": OPENS,
            "text": _plain(control.label, LABEL),
            "url": control.link,
        }
    if isinstance(control, ChannelMenu):
        menu = {
            "type": "conversations_select",
            "action_id": control.name,
            "placeholder": _plain(control.label, LABEL),
            "filter": {"include": ["public", "private"], "exclude_bot_users": True},
        }
        return menu | ({"initial_conversation": control.chosen} if control.chosen else {})
    if control.choices:
        options = _options(control.choices)
        chosen = [option for option in options if option["value"] == control.chosen][:1]
        return {
            "type": "static_select",
            "action_id": control.name,
            "placeholder": _plain(control.label, LABEL),
            "options": options,
            **({"initial_option": chosen[0]} if chosen else {}),
        }
    button = {"type": "button", "action_id": control.name, "text": _plain(control.label, LABEL)}
    return button | ({"value": control.value} if control.value else {})


def view(form: Form, where: MessageRef, thread: str = "", link: Link | None = None) -> dict[str, Any]:
    """Return a form as a modal view, which keeps where it was opened from.

    What is sent comes without a response URL, so the view keeps that of the press as well.
    """
    link = link or Link()
    origin = [form.value, where.channel, where.message, where.thread]
    answered = [thread, link.url, link.until, link.used]
    blocks: list[dict[str, Any]] = []
    for entry in form.fields:
        element: dict[str, Any] = {"action_id": entry.name}
        if entry.choices:
            element |= {"type": "static_select", "options": _options(entry.choices)}
        else:
            element |= {"type": "plain_text_input", "multiline": True, "max_length": INPUT}
        blocks.append(
            {
                "type": "input",
                "block_id": entry.name,
                "label": _plain(entry.label, 2_000),
                "element": element,
                "optional": not entry.required,
            }
        )
    return {
        "type": "modal",
        "callback_id": form.name,
        "title": _plain(form.title, TITLE),
        "submit": _plain(_("Send"), TITLE),
        "close": _plain(_("Cancel"), TITLE),
        "private_metadata": json.dumps([*origin, *answered]),
        "blocks": blocks,
    }


def _options(choices: Sequence[Choice]) -> list[dict[str, Any]]:
    return [
        {"text": _plain(choice.label, LABEL), "value": choice.value}
        for choice in choices[:OPTIONS]
        if len(choice.value) <= VALUE
    ]


def _plain(text: str, limit: int) -> dict[str, Any]:
    return {"type": "plain_text", "text": shortened(text, limit), "emoji": True}


def pressed(body: Mapping[str, Any]) -> Pressed | None:
    """Read a `block_actions` or `view_submission` payload; None for one that is not of ours."""
    try:
        return _pressed(body)
    except (AttributeError, TypeError):  # it has another shape than Slack's
        return None


def _pressed(body: Mapping[str, Any]) -> Pressed | None:
    user, trigger = str((body.get("user") or {}).get("id") or ""), str(body.get("trigger_id") or "")
    if body.get("type") == "view_submission":
        return _submitted(body.get("view") or {}, user, trigger)
    container, message = body.get("container") or {}, body.get("message") or {}
    channel = str((body.get("channel") or {}).get("id") or container.get("channel_id") or "")
    if container.get("type") == "view":
        channel = user  # a tab stands in no channel
    taken = next(iter(body.get("actions") or ()), None)
    if body.get("type") != "block_actions" or not (taken and channel and user):
        return None
    if taken.get("action_id") == OPENS:
        return None
    chosen = (taken.get("selected_option") or {}).get("value") or taken.get("selected_conversation")
    value = chosen or taken.get("value") or ""
    ts = str(container.get("message_ts") or message.get("ts") or "")
    if container.get("is_ephemeral"):
        ts = ""  # no thread can be opened on what one person alone sees
    thread = str(container.get("thread_ts") or message.get("thread_ts") or "")
    ref, name = MessageRef("slack", channel, ts, thread), str(taken.get("action_id") or "")
    shown = thread if thread != ts else active_thread(message)
    return Pressed(name, str(value), ref, user, trigger, {}, shown, Link.new(body.get("response_url")))


def active_thread(message: Mapping[str, Any]) -> str:
    """Return the thread that a message stands in, if that has replies; empty for any other message."""
    thread = str(message.get("thread_ts") or "")
    return thread if thread != message.get("ts") or message.get("reply_count") else ""


def _submitted(sent: Mapping[str, Any], user: str, trigger: str) -> Pressed | None:
    try:
        value, channel, message, thread, *answered = json.loads(sent.get("private_metadata") or "")
        shown, url, until, used = answered or ("", "", 0.0, 0)
        link = Link(str(url), float(until), int(used))
    except (TypeError, ValueError):
        return None
    fields: dict[str, str] = {}
    for inputs in ((sent.get("state") or {}).get("values") or {}).values():
        for name, state in inputs.items():
            given = (state.get("selected_option") or {}).get("value") or state.get("value")
            if given:
                fields[str(name)] = str(given)
    ref = MessageRef("slack", str(channel), str(message), str(thread))
    name = str(sent.get("callback_id") or "")
    return Pressed(name, str(value), ref, user, trigger, fields, str(shown), link)
