"""Writes down what admins, the command line and the bot itself did."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from core.errors import StorageError, ThreadloreError
from core.privacy.audit import BOT, Act, AuditStore
from core.text.times import minute_of
from core.text.words import shortened

log = logging.getLogger(__name__)

LONGEST = 200
"""Characters of a command or of an outcome that are kept."""
DONE, ASKED, REFUSED = "done", "asked", "refused"
CHANGES = ("retire", "restore", "renew", "rebuild", "import", "private", "public")
"""Actions of `threadlore memory` that change something."""


class Audit:
    """The audit log. An act that cannot be written down still happens, and is in the process's log."""

    def __init__(self, store: AuditStore, clock: Callable[[], float] = time.time) -> None:
        self.store = store
        self._clock = clock

    async def note(self, who: str, where: str, what: str, outcome: str = DONE) -> None:
        """Keep that somebody did something; `where` is a channel (`slack:C1`) or empty."""
        try:
            await self.store.note(
                Act(self._clock(), who, where, shortened(what, LONGEST), shortened(outcome, LONGEST))
            )
        except StorageError as error:
            log.error("%s could not be written down in the audit log: %s", what.split(" ")[0], error)

    async def by_bot(self, what: str, where: str = "", outcome: str = DONE) -> None:
        """Keep what the bot did of its own accord: a schedule, a fallback, retention."""
        await self.note(BOT, where, what, outcome)


async def audited(audit: Audit, request: Mapping[str, Any], do: Callable[[], Awaitable[None]]) -> None:
    """Do what the command line asks, and write it down where it changes something."""
    line, who = _line(request), str(request.get("caller") or "cli")
    try:
        await do()
    except ThreadloreError as error:
        if line:
            await audit.note(who, "", line, f"failed: {error}")
        raise
    if line:
        await audit.note(who, "", line)


def _line(request: Mapping[str, Any]) -> str:
    """Return a request as the words that are written down; empty for what changes nothing.

    Whom `forget` forgets is left out, and so is what people asked or wrote.
    """
    match request.get("command"):
        case "index" if not request.get("dry_run"):
            words = ["index", request.get("release"), "--rebuild" if request.get("rebuild") else ""]
        case "memory" if request.get("action") in CHANGES:
            words = ["memory", request["action"], request.get("id") or request.get("channel")]
        case ("pause" | "resume" | "mode") as name if name != "mode" or request.get("mode"):
            words = [name, request.get("channel"), request.get("mode"), *(request.get("words") or ())]
        case "vote":
            words = ["vote", request.get("answer_id"), request.get("vote")]
        case ("forget" | "tune" | "pregenerate" | "opt-out" | "opt-in") as name:
            words = [name]
        case _:
            words = []
    return " ".join(str(word) for word in words if word)


def audit_text(acts: Sequence[Act]) -> str:
    """List acts, a line each, the latest first."""
    if not acts:
        return "Nothing is written down yet."
    return "\n".join(
        f"- {minute_of(act.at)} UTC, `{act.who}`"
        f"{f' in `{act.where}`' if act.where else ''}: `{act.what}`, {act.outcome}"
        for act in acts
    )
