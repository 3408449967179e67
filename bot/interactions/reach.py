"""Whom somebody may act on: the playground's people only on what is the playground's own.

Nobody signs in there: whoever opens the page chooses whom to be, an admin, too. So what is done there to a
person or a channel of Slack or Discord would be done by nobody in particular.
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
    """Report a command on what its giver may not act on."""


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
