"""Where a pair is filed: by release, by who may hear it, and by its store."""

from __future__ import annotations

from core.domain import Store
from core.ports import Remembered

Key = tuple[str, str, Store]
"""A partition of memory: release, who hears it, store."""
PRIVATE = "private:"


def platform_of(name: str) -> str:
    """Return the platform of an account or channel such as `slack:C1`; empty where it names none."""
    platform, colon, _ = name.partition(":")
    return platform if colon else ""


def key_of(pair: Remembered, store: Store, share: bool = True) -> Key:
    """Return the partition of a pair in that store.

    Platforms that do not share what they learn in public each have a partition of their own; what
    people brought has no platform and is for all of them.
    """
    platform = "" if share or pair.scope != "public" else platform_of(pair.channel or pair.asker)
    return (pair.release, f"public@{platform}" if platform else pair.scope, store)
