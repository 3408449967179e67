"""Show words of a private channel only inside that channel, and let nobody act beyond their platform.

A request with a scope in `hears` (`public`, `private:slack:C1`) sees what that scope may see. One without
comes from the command line, whose user can open the database anyway.

Anybody who opens the playground chooses whom to play, even an admin. So they must not act on people and
channels of other platforms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bot.ports.platforms import saying
from core.domain import Scope
from core.errors import UsageError
from core.languages import N_, _

HIDDEN = "(from a private channel)"
"""What is said in place of words."""


def may_hear(request: Mapping[str, Any], scope: str) -> bool:
    """Return True if words whose scope key is `scope` may be shown for a request."""
    hears = request.get("hears")
    return hears is None or Scope.parse(scope).kind == "public" or scope == hears


def heard(request: Mapping[str, Any], scope: str, words: str) -> str:
    """Return the words, or a note that they are from a private channel."""
    return words if may_hear(request, scope) else HIDDEN


BEYOND = N_(
    "The playground has no sign-in, so nobody can act on people and channels elsewhere ({names}) from here. "
    "Do it there, or with `threadlore` on the command line."
)


class Beyond(UsageError):
    """Raised for a command on accounts or channels that the person may not act on."""


def beyond(actor: str, targets: Iterable[str]) -> str:
    """Return why somebody may not act on accounts or channels (`slack:U1`), or "" where they may."""
    platform = actor.partition(":")[0]
    others = [target for target in targets if ":" in target and not target.startswith(f"{platform}:")]
    if not others or platform not in saying("NOBODY_SIGNS_IN"):
        return ""
    return _(BEYOND).format(names=", ".join(sorted(others)))


def stay_within(actor: str, targets: Iterable[str]) -> None:
    """Raise Beyond where somebody may not act on one of these accounts or channels."""
    if refusal := beyond(actor, targets):
        raise Beyond(refusal)
