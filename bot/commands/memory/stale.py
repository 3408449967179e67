"""`memory stale`: remembered answers whose pages changed; `memory renew` lets one be reused again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.commands.command import Command, Given, Option, Result
from bot.commands.memory.show import ID
from core.text.plurals import counted

if TYPE_CHECKING:
    from bot.operations.application import Application
    from core.ports import StalePair


AT_ONCE = 20
"""Stale pairs that are looked at between two lines of progress."""


@dataclass(frozen=True, slots=True)
class Row:
    """A stale pair, with its question and what was found as who asked may hear them."""

    item: StalePair
    question: str
    finding: str

    def plain(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        item = self.item
        return {
            "id": item.pair.id,
            "label": item.pair.label,
            "question": item.pair.question,
            "answer": item.pair.answer,
            "releases": list(item.releases),
            "looked_at": bool(item.finding),
            "finding": item.finding,
            "proposal": item.proposal,
            "proposed": [{"number": c.number, "title": c.title, "url": c.url} for c in item.proposed],
        }


async def run(app: Application, given: Given) -> Result:
    """Return what waits to be renewed; with `check` after looking at those nobody looked at yet."""
    from bot.privacy.visibility import heard
    from bot.rendering.pairs import shortened

    if given.get("check"):
        while done := await app.stale_review.slice(AT_ONCE):
            await given.along({"note": f"Checked {counted(done, 'answer')}."})
    rows = []
    for item in await app.stale_review.waiting():
        scope = item.pair.scope
        seen = heard(given.audience, scope, item.finding) if item.finding else "Not checked yet."
        rows.append(Row(item, heard(given.audience, scope, shortened(item.pair.question)), seen))
    return Result(rows, () if rows else ("No remembered answer waits: all cite pages as they are.",))


def text(result: Result) -> Sequence[str]:
    """Say each in two lines."""
    return [_told(row) for row in result.data]


def _told(row: Row) -> str:
    offer = " `--new` replaces it with what the bot would answer now." if row.item.proposal else ""
    return f"{row.item.pair.id}  {' and '.join(row.item.releases)}  {row.question}\n  {row.finding}{offer}"


COMMAND = Command(
    "memory stale",
    "admin",
    "list remembered answers whose pages changed",
    run,
    text,
    (Option("check", "Check the answers first that are not checked yet", kind="flag", where="terminal"),),
    is_list=True,
    rank=34,
)


async def renew(app: Application, given: Given) -> Result:
    """Renew it with its own words, or with what would be answered now. Raises UsageError."""
    from core.errors import UsageError

    pair = await app.memory.find(given["id"])
    waiting = {item.pair.id: item for item in await app.stale_review.waiting()}
    if pair is None or pair.id not in waiting:
        raise UsageError(f"No stale pair has the id {given['id']}; `threadlore memory stale` lists them.")
    if problem := await app.stale_review.renew(waiting[pair.id], bool(given.get("new"))):
        raise UsageError(problem)
    return Result({"id": pair.id, "is_new": bool(given.get("new"))})


def renewed_text(result: Result) -> Sequence[str]:
    """Say with which words."""
    words = "with the new answer" if result.data["is_new"] else "with the words it had"
    return [f"Renewed {result.data['id']}, {words}: it is reused again as its votes say."]


RENEW = Command(
    "memory renew",
    "admin",
    "allow an answer again whose pages changed",
    renew,
    renewed_text,
    (ID, Option("new", "Replace it with what the bot would answer now", kind="flag")),
    changes=True,
    audit=lambda given: (given.get("id"),),
    rank=35,
)
