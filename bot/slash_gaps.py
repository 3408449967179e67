"""`/threadlore gaps`: what was asked in public and not answered, or not well."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from bot.gaps_text import gaps_text
from bot.slash import Call, Subcommand
from core.gaps import DAYS, Gap

Gaps = Callable[[int], Awaitable[Sequence[Gap]]]


def gaps_commands(gaps: Gaps) -> tuple[Subcommand, ...]:
    """Return the command that lists gaps of the documentation."""

    async def list_gaps(call: Call) -> None:
        await call.tell(gaps_text(await gaps(DAYS), DAYS))

    return (Subcommand("gaps", "what was asked in public and not answered, or not well", list_gaps),)
