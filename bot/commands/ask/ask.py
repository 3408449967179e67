"""`ask`: one question, or a file of them; `vote`: a vote on an answer."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from bot.commands.command import Given, Option, Result, Sent, at_terminal

if TYPE_CHECKING:
    from bot.operations.application import Application
    from core.domain import Answer
    from core.settings import Settings


UNREAD = "Nothing is read yet: run `threadlore index`, or `threadlore serve`, which answers in chat, too."


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, what is known of it where that was asked for, and the product it is about."""

    answer: Answer
    known: dict[str, Any]
    product: str
    is_unread: bool = False
    """No release is read yet, and none is being read."""

    def plain(self) -> dict[str, Any]:
        """Return everything that is known."""
        return self.known

    @property
    def kept(self) -> dict[str, Any]:
        """Return what `chat` goes on with."""
        told = {"answer_id": self.answer.id, "release": self.answer.release, "text": self.answer.text}
        failed = self.answer.trace.get("model_error") if self.answer.trace.get("unwritten") else ""
        return told | ({"problem": failed} if failed else {})


async def run(app: Application, given: Given) -> Result:
    """Answer a question. Raises UsageError for one that cannot be."""
    from bot.commands.answers import pair_id_of, question_of, shown, with_evidence

    question = await question_of(app, given.values)
    answer = await app.engine.answer(question)
    known: dict[str, Any] = {}
    if given.get("json"):
        answer = await with_evidence(app, question, answer)
        known = shown(answer) | await pair_id_of(app, answer) | {"answer_id": answer.id}
    is_unread = not app.engine.ready and not app.corpus_manager.progress()
    return Result(Answered(answer, known, app.engine.product.name, is_unread))


def text(result: Result) -> Sequence[str]:
    """Say the answer, with its id."""
    from bot.rendering.answers import compose, reasoning

    found: Answered = result.data
    folded = reasoning(found.answer)
    told = compose(found.answer, found.product).markdown + (f"\n\n---\n\n{folded}" if folded else "")
    hint = f"\n\n{UNREAD}" if found.is_unread else ""
    return [f"{told}{hint}\n\n(answer {found.answer.id})"]


def here(settings: Settings, options: Namespace) -> Sent | None:
    """Answer a file of questions where one is given. Raises UsageError for what does not go together."""
    from core.errors import UsageError

    if options.batch or options.out:
        if not (options.batch and options.out) or options.question:
            raise UsageError(
                "--batch and --out go together, without a question (see `threadlore ask --help`)"
            )
        return _batch(settings, options)
    if not options.question:
        raise UsageError('write the question: threadlore ask "How do I …?" (see `threadlore ask --help`)')
    return None


def _batch(settings: Settings, options: Namespace) -> Sent:
    from bot.privacy.exports import note

    lines = options.batch.read_text(encoding="utf-8-sig", errors="replace").split("\n")
    for place, line in enumerate(lines):
        if (options.release or options.channel) and line.strip():
            lines[place] = _with_defaults(line, options)
    settings.home.mkdir(parents=True, exist_ok=True)
    note(settings.home, options.out)  # remembered answers of the community may be in it
    return Sent({"command": "batch", "lines": lines}, options.out)


def _with_defaults(line: str, options: Namespace) -> str:
    try:
        entry = json.loads(line)
    except ValueError:
        return line
    if not isinstance(entry, dict):
        return line
    given = {"release": options.release, "channel": options.channel}
    return json.dumps({key: value for key, value in given.items() if value} | entry)


COMMAND = at_terminal(
    "ask",
    "ask",
    "ask one question, or a file of them",
    run,
    text,
    (
        Option("question", "The question"),
        Option("release", "Answer for this release", named=True),
        Option("channel", "Ask as if in this channel, such as slack:C0123", named=True),
        Option("why", "Also show how the model reasoned", kind="flag"),
        Option("user", "Ask as this person, such as slack:U1", named=True, default="cli"),
        Option(
            "batch",
            "Answer a file of questions, one JSON a line",
            kind="path",
            named=True,
            metavar="IN.jsonl",
        ),
        Option("out", "Where the answers of --batch go", kind="path", named=True, metavar="OUT.jsonl"),
    ),
    here=here,
    rank=1,
)


VALUES: Mapping[str, Literal[0, 1] | None] = {"up": 1, "down": 0, "none": None}


async def count_vote(app: Application, given: Given) -> Result:
    """Count a vote, or take it back. Raises UsageError for no such answer, and for who has opted out."""
    from core.domain import Vote
    from core.errors import UsageError

    vote = Vote(given["answer_id"], given["user"], VALUES[given["vote"]])
    if app.privacy.is_out(vote.voter):
        raise UsageError(f"{vote.voter} has opted out, so their votes are not stored.")
    if not await app.engine.feedback(vote):
        raise UsageError(f"There is no answer {vote.answer_id}; `threadlore ask --json` prints answer_id.")
    return Result({"vote": given["vote"], "user": vote.voter, "answer_id": vote.answer_id})


def vote_text(result: Result) -> Sequence[str]:
    """Say that it was counted."""
    counted = result.data
    return [f"Counted: {counted['vote']} by {counted['user']} on {counted['answer_id']}."]


VOTE = at_terminal(
    "vote",
    "ask",
    "vote on an answer",
    count_vote,
    vote_text,
    (
        Option("answer-id", "What `ask --json` calls answer_id", required=True),
        Option("vote", "None takes the vote back", required=True, choices=tuple(VALUES)),
        Option("user", "Who votes, such as slack:U1", named=True, default="cli"),
    ),
    changes=True,
    audit=lambda given: (given.get("answer_id"), given.get("vote")),
    rank=2,
)
