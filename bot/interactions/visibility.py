"""What of private channels somebody may be shown: nothing, but in that channel itself.

A request that `hears` a scope (`public`, `private:slack:C1`) is answered for who listens there. One that does
not is the command line's: whoever may give it has the database, too.
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
    """Return words, or that they are from a private channel."""
    return words if may_hear(request, scope) else HIDDEN
