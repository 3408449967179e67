"""`memory corrections`: what people found wrong with answers; `memory bursts`: votes close together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bot.commands.command import Command, Given, Result
from core.text.plurals import counted

if TYPE_CHECKING:
    from bot.operations.application import Application
    from core.memory.scoring import Burst
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
        lines.append(f"{hidden} more from private channels and direct messages, shown only there")
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
    "list what people found wrong with answers, and what they wrote instead",
    run,
    text,
    where="chat",
    is_list=True,
    rank=37,
)


@dataclass(frozen=True, slots=True)
class Row:
    """A burst; the store of its pair, and the question as who asked may hear it."""

    burst: Burst
    store: str
    question: str

    def plain(self) -> dict[str, Any]:
        """Return the burst."""
        return asdict(self.burst)


async def find_bursts(app: Application, given: Given) -> Result:
    """Return the bursts of the last seven days."""
    from bot.privacy.visibility import heard
    from bot.rendering.pairs import shortened

    rows = []
    for burst in await app.vote_weighting.bursts(time.time()):
        pair = None if burst.voter else await app.memory.find(burst.pair_id)
        asked = heard(given.audience, pair.scope, shortened(pair.question)) if pair else ""
        store = app.memory.stores().get(burst.pair_id, ("no", False))[0]
        rows.append(Row(burst, store, asked or "an answer that is gone"))
    return Result(rows, () if rows else ("No votes came in a burst in the last seven days.",))


def bursts_text(result: Result) -> Sequence[str]:
    """Say each in a line."""
    return [_told(row) for row in result.data]


def _told(row: Row) -> str:
    burst = row.burst
    from core.text.times import minute_of

    began = minute_of(burst.began_at)
    minutes = (burst.ended_at - burst.began_at) / 60
    spent = f"{counted(burst.votes, 'vote')} within {counted(round(minutes), 'minute')} from {began} UTC"
    if burst.voter:
        return f"{burst.voter}: {spent}; what exceeded the usual rate was capped"
    return f"{burst.pair_id} ({row.store} store): {spent} by {burst.people} strangers  {row.question}"


BURSTS = Command(
    "memory bursts",
    "admin",
    "list bursts of votes",
    find_bursts,
    bursts_text,
    is_list=True,
    rank=36,
)
