"""Writes down what admins, the command line and the bot itself did."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Sequence

from core.errors import StorageError
from core.ports.about import BOT, Act, AuditStore
from core.text.times import minute_of
from core.text.words import shortened

log = logging.getLogger(__name__)

LONGEST = 200
"""Characters of a command or of an outcome that are kept."""
DONE, ASKED, REFUSED = "done", "asked", "refused"
_CREDENTIALS = re.compile(r"//[^/\s@]{1,300}@")


class Audit:
    """The audit log. An act that cannot be written down still happens, and is in the process's log."""

    def __init__(self, store: AuditStore, clock: Callable[[], float] = time.time) -> None:
        self.store = store
        self._clock = clock

    async def note(self, who: str, where: str, what: str, outcome: str = DONE) -> None:
        """Keep that somebody did something; `where` is a channel (`slack:C1`) or empty.

        Credentials in addresses are left out.
        """
        kept = [shortened(_CREDENTIALS.sub("//", text), LONGEST) for text in (what, outcome)]
        try:
            await self.store.note(Act(self._clock(), who, where, *kept))
        except StorageError as error:
            log.error("%s could not be written down in the audit log: %s", what.split(" ")[0], error)

    async def by_bot(self, what: str, outcome: str = DONE) -> None:
        """Keep what the bot did of its own accord: a schedule, a fallback, retention."""
        await self.note(BOT, "", what, outcome)


def audit_text(acts: Sequence[Act]) -> str:
    """List acts, a line each, the latest first."""
    if not acts:
        return "Nothing is written down yet."
    return "\n".join(
        f"- {minute_of(act.at)} UTC, `{act.who}`"
        f"{f' in `{act.where}`' if act.where else ''}: `{act.what}`, {act.outcome}"
        for act in acts
    )
