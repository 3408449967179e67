"""`sources`: where pages come from, when they were read, what failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Result

if TYPE_CHECKING:
    from bot.operations.application import Application


async def run(app: Application, given: Given) -> Result:
    """Return what is known of every source, in the order of `corpora.toml`."""
    from bot.rendering.sources import sources_of

    return Result(await sources_of(app.corpora, app.schedules))


def text(result: Result) -> Sequence[str]:
    """List them by release."""
    from bot.rendering.sources import sources_text

    return [sources_text(result.data)]


COMMAND = Command(
    "sources",
    "look",
    "where pages come from, when they were read, what failed",
    run,
    text,
    rank=12,
    further="also when each is read next, and what was passed over and why",
)
