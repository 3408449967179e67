"""`memory corrections` in chat: what people found wrong with answers, and what they wrote instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Result

if TYPE_CHECKING:
    from bot.operations.application import Application
    from core.ports.opinions import Correction


@dataclass(frozen=True, slots=True)
class Found:
    """The corrections that may be shown, and how many may not."""

    shown: tuple[Correction, ...]
    hidden: int


async def run(app: Application, given: Given) -> Result:
    """Return the corrections, the latest first."""
    from bot.privacy.visibility import may_hear

    found = await app.engine.accepted.corrections()
    shown = tuple(said for said in found if may_hear(given.audience, said.scope))
    notes = () if found else ("Nobody has said yet what was wrong with an answer.",)
    return Result(Found(shown, len(found) - len(shown)), notes)


def text(result: Result) -> Sequence[str]:
    """Say each in a line."""
    lines = corrections_lines(result.data.shown)
    if hidden := result.data.hidden:
        lines.append(f"{hidden} more from private channels and direct messages, which are shown there alone")
    return lines


def corrections_lines(corrections: Sequence[Correction]) -> list[str]:
    """List what people found wrong with answers, the latest first."""
    from bot.rendering.answers import WRONG
    from core.text.markup import inert

    lines = []
    for said in corrections:
        better = f" Better: {inert(' '.join(said.better.split()))}" if said.better else ""
        taken = " (remembered)" if said.pair_id else ""
        who = f"“{inert(said.question)}” ({said.release}), {inert(said.name)}"
        lines.append(f"{who}: {WRONG[said.what]}.{better}{taken}")
    return lines


COMMAND = Command(
    "memory corrections",
    "admin",
    "what people found wrong with answers, and what they wrote instead",
    run,
    text,
    where="chat",
    is_list=True,
    rank=37,
)
