"""Convert messages, commands and presses to the dictionaries that claims keep, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from bot.ports.chat import Command, Message, Person, Press
from core.domain import MessageRef, Scope


def packed(what: Message | Command | Press) -> dict[str, Any]:
    """Return a message, a command or a press as a dictionary from which it can be restored."""
    return asdict(what)


def unpacked(payload: Mapping[str, Any]) -> Message:
    """Return the message of a claim; fields that an older version did not write get defaults."""
    return Message(
        **{
            **payload,
            "ref": MessageRef(**payload["ref"]),
            "author": Person(**payload["author"]),
            "scope": Scope(**payload["scope"]),
            "authors": tuple(payload.get("authors") or ()),
        }
    )


def command_of(payload: Mapping[str, Any]) -> Command:
    """Return the command that was packed."""
    made = {"person": Person(**payload["person"]), "scope": Scope(**payload["scope"])}
    return Command(**{**payload, **made, "where": MessageRef(**payload["where"])})


def press_of(payload: Mapping[str, Any]) -> Press:
    """Return the press that was packed."""
    made = {"person": Person(**payload["person"]), "scope": Scope(**payload["scope"])}
    return Press(**{**payload, **made, "ref": MessageRef(**payload["ref"])})


def ref_of(key: str, conversation: str) -> MessageRef:
    """Return where a claimed message stands, by the keys of it and of its conversation."""
    platform, channel, message = key.split("@")[0].split(":", 2)
    thread = conversation.split("@")[0].split(":", 2)[2:]
    return MessageRef(platform, channel, message, thread[0] if thread else "")
