"""Show words of a private channel only inside that channel.

A request with a scope in `hears` (`public`, `private:slack:C1`) sees what that scope may see. One without
comes from the command line, whose user can open the database anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.domain import Scope

HIDDEN = "(from a private channel)"
"""What is said in place of words."""


def may_hear(request: Mapping[str, Any], scope: str) -> bool:
    """Return True if words whose scope key is `scope` may be shown for a request."""
    hears = request.get("hears")
    return hears is None or Scope.parse(scope).kind == "public" or scope == hears


def heard(request: Mapping[str, Any], scope: str, words: str) -> str:
    """Return the words, or a note that they are from a private channel."""
    return words if may_hear(request, scope) else HIDDEN
