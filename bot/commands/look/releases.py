"""`releases`: which releases can be asked about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Result

if TYPE_CHECKING:
    from bot.operations.application import Application


async def run(app: Application, given: Given) -> Result:
    """Return every release with the size of its corpus."""
    return Result(await app.corpus_manager.releases())


def text(result: Result) -> Sequence[str]:
    """List them, newest first."""
    from bot.rendering.status import releases_text

    return [releases_text(result.data)]


COMMAND = Command(
    "releases", "look", "which releases there are", run, text, who="everybody", where="chat", rank=11
)
