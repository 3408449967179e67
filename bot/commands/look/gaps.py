"""`gaps`: what the community asked and the documentation does not answer."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.commands.command import Command, Given, Option, Result

if TYPE_CHECKING:
    from bot.operations.application import Application
    from core.insights.statistics import Gap
    from core.settings import Settings

DAYS, MOST_DAYS = 30, 3650


@dataclass(frozen=True, slots=True)
class Found:
    """The gaps of the last `days`, and how they are to be shown: `most` of a list, a page, or in a file."""

    gaps: Sequence[Gap]
    days: int
    product: str
    most: int | None = None
    markdown: bool = False
    file: str = ""

    def plain(self) -> list[dict[str, Any]]:
        """Return them as JSON holds them."""
        return [asdict(gap) | {"reasons": gap.reasons, "page": gap.page} for gap in self.gaps]


async def run(app: Application, given: Given) -> Result:
    """Return the gaps; write them as a page where a file is named. Raises UsageError."""
    import asyncio

    from bot.commands.slash.words import whole_number
    from bot.rendering.gaps import SHOWN
    from core.insights.gaps import page

    days = whole_number(str(given.get("days", DAYS)), "`--days`", MOST_DAYS)
    product = app.engine.product.name
    found = await app.statistics.gaps(days)
    target = str(given.get("markdown") or "")
    if not target or target == "-" or given.is_chat:
        most = SHOWN if given.is_chat else None
        return Result(Found(found, days, product, most, bool(target)))
    ids = [question.answer_id for gap in found for question in gap.questions]
    await asyncio.to_thread(_write, app.settings.home, Path(target), page(found, product, days), ids)
    return Result(Found(found, days, product, file=target))


def text(result: Result) -> Sequence[str]:
    """List them, or write the page for those who document."""
    from bot.rendering.gaps import gaps_text
    from core.insights.gaps import page

    found: Found = result.data
    if found.file:
        return [f"{len(found.gaps)} topics are in {found.file}."]
    if found.markdown:
        return [page(found.gaps, found.product, found.days).rstrip("\n")]
    return [gaps_text(found.gaps, found.days, found.most or len(found.gaps))]


def _write(home: Path, path: Path, page: str, ids: Sequence[str]) -> None:
    """Write the page, and remember the file: forgetting goes by the answers whose questions it holds."""
    from bot.privacy.exports import note
    from core.errors import UsageError

    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}); name a file in a folder.") from None
    note(home, path, ids)


def check(settings: Settings, options: Namespace) -> None:
    """Raise UsageError for two shapes at once."""
    from core.errors import UsageError

    if options.markdown and options.json:
        raise UsageError("--markdown and --json are not given together (see `threadlore gaps --help`)")


COMMAND = Command(
    "gaps",
    "look",
    "list what was asked in public and not answered, or not well",
    run,
    text,
    (
        Option("days", f"Days to look back (default: {DAYS})", kind="number", named=True, most=MOST_DAYS),
        Option("markdown", "As a page for those who document", kind="flag", where="chat"),
        Option(
            "markdown",
            "Write a page for those who document, to a file or to the terminal",
            kind="path",
            named=True,
            where="terminal",
            alone="-",
            metavar="[FILE]",
        ),
    ),
    here=check,
    rank=16,
)
