"""`memory bursts`: votes that came close together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bot.commands.command import Command, Given, Result

if TYPE_CHECKING:
    from bot.operations.application import Application
    from core.memory.scoring.vote_weighting import Burst


@dataclass(frozen=True, slots=True)
class Row:
    """A burst; the store of its pair, and the question as who asked may hear it."""

    burst: Burst
    store: str
    question: str

    def plain(self) -> dict[str, Any]:
        """Return the burst."""
        return asdict(self.burst)


async def run(app: Application, given: Given) -> Result:
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


def text(result: Result) -> Sequence[str]:
    """Say each in a line."""
    return [_told(row) for row in result.data]


def _told(row: Row) -> str:
    burst = row.burst
    began = time.strftime("%Y-%m-%d %H:%M", time.gmtime(burst.began_at))
    minutes = (burst.ended_at - burst.began_at) / 60
    spent = f"{burst.votes} votes within {minutes:.0f} minutes from {began} UTC"
    if burst.voter:
        return f"{burst.voter}: {spent}; what exceeded the usual rate was capped"
    return f"{burst.pair_id} ({row.store} store): {spent} by {burst.people} strangers  {row.question}"


COMMAND = Command(
    "memory bursts", "admin", "votes that came close together", run, text, is_list=True, rank=36
)
