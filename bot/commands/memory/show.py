"""`memory show`: one pair with its question, answer, pages and votes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.commands.command import Command, Given, Option, Result

if TYPE_CHECKING:
    from bot.operations.application import Application
    from core.ports import Remembered

ID = Option("id", "The pair's id, or the one it was imported under", required=True)
GONE = "(its words are not kept)"
ORIGINS = {
    "answer": "said by the bot",
    "person": "written by a person",
    "import": "brought by `memory import`",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A pair, what is written of it, and how it stands today."""

    pair: Remembered
    written: dict[str, Any]
    standing: str
    apart: Sequence[tuple[str, float]] = ()
    """Questions that people told apart from it, as they may be shown, and when."""

    def plain(self) -> dict[str, Any]:
        """Return what `memory export` writes of it, and the questions that it does not answer."""
        return self.written | {"told_apart": [question for question, _ in self.apart]}


async def found(app: Application, pair_id: str) -> Remembered:
    """Return a pair by its id or the one it was imported under. Raises UsageError."""
    from core.errors import UsageError

    pair = await app.memory.find(pair_id)
    if pair is None:
        raise UsageError(f"There is no pair {pair_id}; `threadlore memory list` names them.")
    return pair


async def run(app: Application, given: Given) -> Result:
    """Return a pair. Raises UsageError for one whose words may not be shown where it was asked for."""
    from bot.privacy.visibility import heard, may_hear
    from bot.rendering.pairs import standing
    from core.domain import Scope
    from core.errors import UsageError
    from core.memory.exchange import written

    pair = await found(app, given["id"])
    if not may_hear(given.audience, pair.scope):
        channel = Scope.parse(pair.scope).channel
        raise UsageError(
            f"{pair.id} was learnt in {channel}, a private channel: its words are shown there alone. It is "
            f"for {pair.release.replace('+', ' and ')}; now {standing(app.memory, pair)}."
        )
    apart = [
        (heard(given.audience, said.scope, said.question or GONE), said.at)
        for said in await app.memory.told_apart(pair.id)
    ]
    return Result(Shown(pair, written(pair, app.memory.thresholds), standing(app.memory, pair), apart))


def text(result: Result) -> Sequence[str]:
    """Say all of it."""
    from bot.rendering.pairs import meant_for, named
    from core.domain import sources
    from core.text.markup import inert

    pair: Remembered = result.data.pair
    made = time.strftime("%Y-%m-%d %H:%M", time.gmtime(pair.created_at))
    lines = [
        f"Pair {named(pair)}, {meant_for(pair)}, {ORIGINS[pair.origin]} on {made} UTC",
        f"“{pair.question}”",
        f"Compared as: {pair.topic}",
        "",
        pair.answer,
        "",
        *(f"[{c.number}] {c.title} {c.url}" for c in sources(pair.citations)),
        f"Now {result.data.standing}.",
    ]
    if result.data.apart:
        lines += ["", "Not its question, as people said (`memory restore ID --question N` takes it back):"]
        lines += [
            f"{number}. {inert(question)} ({time.strftime('%Y-%m-%d', time.gmtime(at))})"
            for number, (question, at) in enumerate(result.data.apart, start=1)
        ]
    return ["\n".join(lines)]


COMMAND = Command(
    "memory show", "admin", "one pair: question, answer, pages, votes", run, text, (ID,), rank=31
)
