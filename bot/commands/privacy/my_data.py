"""`my-data`: show what is stored about a person; `retention`: delete what is too old."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.commands.command import Command, Given, Option, Result, at_terminal

if TYPE_CHECKING:
    from bot.commands.slash.table import Call
    from bot.operations.application import Application
    from bot.ports.chat import Attachment

USER = Option(
    "user",
    "Whom, such as slack:U1; with all linked accounts",
    required=True,
    named=True,
    where="terminal",
)


@dataclass(frozen=True, slots=True)
class Held:
    """What is held of a person."""

    user: str
    held: dict[str, object]

    def plain(self) -> dict[str, object]:
        """Return it as it is handed to them."""
        return self.held


async def run(app: Application, given: Given) -> Result:
    """Return what is held of a person and their linked accounts."""
    from bot.commands.privacy_texts import whom

    user = await whom(app, given)
    return Result(Held(user, await app.my_data.of(user)))


def text(result: Result) -> Sequence[str]:
    """Say how much it is, and how all of it is shown."""
    from bot.privacy.my_data import short

    found: Held = result.data
    return [short(found.held, f"All of it: `threadlore my-data --user {found.user} --json`.")]


async def dialogue(app: Application, call: Call) -> None:
    """Show somebody in chat what is kept of them, with a file of all of it where the platform takes files."""
    from bot.commands.privacy_texts import WHOLE, WHOLE_BY_ADMIN, within
    from bot.ports.chat import Reply
    from bot.ports.platforms import saying
    from bot.privacy.my_data import short
    from core.languages import _

    within(app, call, call.person.id)
    held = await app.my_data.of(call.person.id)
    platform = call.person.id.partition(":")[0]
    sends_files = platform not in saying("SENDS_NO_FILES")
    whole = _(WHOLE if sends_files else WHOLE_BY_ADMIN).format(user=call.person.id)
    files = () if not sends_files or len(held) <= len(("accounts", "opted_out")) else _file(held)
    await call.reply(Reply(short(held, whole), attachments=files))


def _file(held: Mapping[str, Any]) -> tuple[Attachment, ...]:
    from bot.ports.chat import Attachment
    from bot.privacy.my_data import FILE, as_json

    return (Attachment(FILE, as_json(dict(held))),)


COMMAND = Command(
    "my-data",
    "admin",
    "show everything stored about a person",
    run,
    text,
    (USER,),
    who="everybody",
    help_in_chat="show what I store about you; only you see it",
    dialogue=dialogue,
    logged=False,
    indent=2,
    rank=50,
)


@dataclass(frozen=True, slots=True)
class Removed:
    """How many of what was removed, or would be on a `dry_run`."""

    counts: dict[str, int]
    dry_run: bool

    def plain(self) -> dict[str, int]:
        """Return the counts."""
        return self.counts


async def remove_old(app: Application, given: Given) -> Result:
    """Remove what is too old, or count it."""
    from core.privacy.retention import removed_text

    dry_run = bool(given.get("dry_run"))
    counts = await app.retention.run(dry_run=dry_run)
    return Result(Removed(counts, dry_run), outcome=removed_text(counts))


def removed(result: Result) -> Sequence[str]:
    """Say what was removed, or would be."""
    counts = result.data.counts
    if not any(counts.values()):
        return ["Nothing is older than it may be."]
    told = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return [f"Would remove: {told}." if result.data.dry_run else f"Removed: {told}."]


RETENTION = at_terminal(
    "retention",
    "admin",
    "delete what is older than RETENTION_…_DAYS (the bot does this daily)",
    remove_old,
    removed,
    (Option("dry-run", "Only say how much there is", kind="flag"),),
    changes=True,
    is_audited=lambda given: not given.get("dry_run"),
    rank=66,
)
