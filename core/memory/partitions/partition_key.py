"""The key of a partition: release, who may hear it, store."""

from __future__ import annotations

from core.domain import Store
from core.languages import DEFAULT
from core.ports import Remembered

Key = tuple[str, str, Store]
"""A partition of memory: release, who hears it, store."""
EVERY_RELEASE = "*"
"""Release of a pair that holds for all of them."""
PRIVATE = "private:"
OTHER_LANGUAGE = "~"
"""Stands before the language in who hears a pair that is not in English: `public~de`."""


def platform_of(name: str) -> str:
    """Return the platform of an account or channel such as `slack:C1`; empty where it names none."""
    platform, colon, _ = name.partition(":")
    return platform if colon else ""


def key_of(pair: Remembered, store: Store, share: bool = True) -> Key:
    """Return the partition of a pair in that store; answers in another language than English have their own.

    Platforms that do not share have partitions of their own; imported pairs have no platform and are for
    all of them.
    """
    platform = "" if share or pair.scope != "public" else platform_of(pair.channel or pair.asker)
    heard = f"public@{platform}" if platform else pair.scope
    language = "" if pair.language in ("", DEFAULT) else f"{OTHER_LANGUAGE}{pair.language}"
    return (pair.release, heard + language, store)


def scope_of(heard: str) -> str:
    """Return who hears a partition, without the language of its answers."""
    return heard.partition(OTHER_LANGUAGE)[0]
