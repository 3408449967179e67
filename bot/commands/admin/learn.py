"""`learn`: what votes taught the ranking of pages; learn it now, or undo it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bot.commands.command import Command, Given, Option, Result

if TYPE_CHECKING:
    from bot.operations.application import Application

ACTIONS = ("status", "run", "undo")


async def run(app: Application, given: Given) -> Result:
    """Say what is learned, learn, or undo it. Raises UsageError."""
    from dataclasses import asdict

    from core.errors import UsageError

    action = str(given.get("action") or ACTIONS[0])
    if action not in ACTIONS:
        raise UsageError(f"`learn` takes {', '.join(ACTIONS)}, not {action}.")
    undone = await app.learner.undo() if action == "undo" else None
    if action == "run":
        await app.learner.run()
    learnt = await app.learner.standing()
    every = app.settings.learn_hours
    data = asdict(learnt) | {"told": learnt.told, "undone": undone, "every_hours": every}
    outcome = "shown" if action == ACTIONS[0] else learnt.told or learnt.why or "undone"
    return Result(data, outcome=outcome)


def text(result: Result) -> Sequence[str]:
    """Say what is used, or why nothing is."""
    from core.text.times import minute_of

    learnt: dict[str, Any] = result.data
    if learnt["undone"] is not None:
        was = "What votes taught is undone" if learnt["undone"] else "Nothing was learned from votes"
        return [f"{was}: pages are ranked without it, until `learn run`."]
    lines = [f"The ranking is {learnt['told']}." if learnt["told"] else "Votes have not changed the ranking."]
    if learnt["why"]:
        lines.append(f"The last time: {learnt['why']}.")
    when = f"Last tried {minute_of(learnt['at'])} UTC" if learnt["at"] and not learnt["off"] else ""
    every = "" if learnt["off"] or not learnt["every_hours"] else f"every {learnt['every_hours']:g} hours"
    how = "it was undone; `learn run` learns again" if learnt["off"] else every
    said = "; ".join(filter(None, (when, how or "not on schedule")))
    lines.append(f"{said[:1].upper()}{said[1:]}.")
    return lines


COMMAND = Command(
    "learn",
    "admin",
    "show, update or undo what the page ranking learned from votes",
    run,
    text,
    options=(Option("action", "What to do; status when left out", choices=ACTIONS),),
    changes=True,
    audit=lambda given: (given.get("action"),),
    is_audited=lambda given: given.get("action") in ACTIONS[1:],
    rank=26,
)
