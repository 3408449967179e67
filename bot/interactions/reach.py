"""Limit the playground's people to the playground's own accounts and channels.

Nobody signs in there: whoever opens the page chooses whom to play, even an admin. So they must not act on
people and channels of Slack or Discord.
"""

from __future__ import annotations

from collections.abc import Iterable

from core.errors import UsageError
from core.languages import N_, _

PLAYGROUND = "web:"
BEYOND = N_(
    "From the playground nobody acts on people and channels of Slack or Discord ({names}). Do it there, or "
    "with `threadlore` on the command line."
)


class Beyond(UsageError):
    """Raised for a command on accounts or channels that the person may not act on."""


def beyond(actor: str, targets: Iterable[str]) -> str:
    """Return why somebody may not act on accounts or channels (`slack:U1`), or "" where they may."""
    others = [t for t in targets if ":" in t and not t.startswith(PLAYGROUND)]
    if not others or not actor.startswith(PLAYGROUND):
        return ""
    return _(BEYOND).format(names=", ".join(sorted(others)))


def stay_within(actor: str, targets: Iterable[str]) -> None:
    """Raise Beyond where somebody may not act on one of these accounts or channels."""
    if refusal := beyond(actor, targets):
        raise Beyond(refusal)
