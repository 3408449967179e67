"""`vote`: vote on an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from bot.commands.command import Command, Given, Option, Result

if TYPE_CHECKING:
    from bot.operations.application import Application

VALUES: Mapping[str, Literal[0, 1] | None] = {"up": 1, "down": 0, "none": None}


async def run(app: Application, given: Given) -> Result:
    """Count a vote, or take it back. Raises UsageError for no such answer, and for who has opted out."""
    from core.domain import Vote
    from core.errors import UsageError

    vote = Vote(given["answer_id"], given["user"], VALUES[given["vote"]])
    if app.privacy.is_out(vote.voter):
        raise UsageError(f"{vote.voter} has opted out, so no votes of theirs are kept.")
    if not await app.engine.feedback(vote):
        raise UsageError(f"There is no answer {vote.answer_id}; `threadlore ask --json` prints answer_id.")
    return Result({"vote": given["vote"], "user": vote.voter, "answer_id": vote.answer_id})


def text(result: Result) -> Sequence[str]:
    """Say that it was counted."""
    counted = result.data
    return [f"Counted: {counted['vote']} by {counted['user']} on {counted['answer_id']}."]


COMMAND = Command(
    "vote",
    "ask",
    "vote on an answer",
    run,
    text,
    (
        Option("answer-id", "What `ask --json` calls answer_id", required=True),
        Option("vote", "None takes the vote back", required=True, choices=tuple(VALUES)),
        Option("user", "Who votes, such as slack:U1", named=True, default="cli"),
    ),
    who="owner",
    where="terminal",
    changes=True,
    audit=lambda given: (given.get("answer_id"), given.get("vote")),
    rank=2,
)
