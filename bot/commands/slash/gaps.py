"""`/threadlore gaps`: what was asked in public and not answered, or not well."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from bot.commands.slash.table import Call, Option, Subcommand
from bot.commands.slash.words import whole_number
from bot.rendering.gaps import gaps_text
from core.insights.gaps import DAYS, Gap
from core.insights.gaps_page import page

Gaps = Callable[[int], Awaitable[Sequence[Gap]]]


def gaps_commands(gaps: Gaps, product: str) -> tuple[Subcommand, ...]:
    """Return the command that lists gaps of the documentation."""

    async def list_gaps(call: Call) -> str:
        days = whole_number(call.given.get("days", str(DAYS)), "`--days`", most=3650)
        found = await gaps(days)
        is_page = "markdown" in call.given
        await call.tell(page(found, product, days).rstrip("\n") if is_page else gaps_text(found, days))
        return "shown"

    return (
        Subcommand(
            "gaps",
            "what was asked in public and not answered, or not well",
            list_gaps,
            (
                Option("days", f"Of the last days, {DAYS} when left out", named=True),
                Option("markdown", "As a page for those who document", kind="flag"),
            ),
        ),
    )
