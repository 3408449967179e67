"""A message as a dictionary that a claim keeps, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from bot.chat import Message, Person
from core.domain import MessageRef, Scope


def packed(message: Message) -> dict[str, Any]:
    """Return what `unpacked` makes the same message of."""
    return asdict(message)


def unpacked(payload: Mapping[str, Any]) -> Message:
    """Return the message of a claim; what an older version wrote has defaults for what came later."""
    return Message(
        **{
            **payload,
            "ref": MessageRef(**payload["ref"]),
            "author": Person(**payload["author"]),
            "scope": Scope(**payload["scope"]),
            "authors": tuple(payload.get("authors") or ()),
        }
    )
