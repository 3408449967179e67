"""Limit people of a platform without signing in to that platform's own accounts and channels.

Whoever opens the playground chooses whom to play, even an admin. So they must not act on people and channels
of other platforms.
"""

from __future__ import annotations

from collections.abc import Iterable

from bot.ports.platforms import saying
from core.errors import UsageError
from core.languages import N_, _

BEYOND = N_(
    "Nobody signs in here, so from here nobody acts on people and channels elsewhere ({names}). Do it there, "
    "or with `threadlore` on the command line."
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
