"""`index`, in chat `reindex`: bring the corpora up to date, or say what that would change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.commands.command import Command, Given, Option, Result

if TYPE_CHECKING:
    from bot.commands.slash.table import Call
    from bot.operations.application import Application
    from bot.rendering.sources import Plan
    from core.ingestion.indexer import Indexed
    from core.ingestion.reading import Reading


@dataclass(frozen=True, slots=True)
class Planned:
    """What a reindex would change, by release."""

    plans: Sequence[Plan]

    def plain(self) -> list[dict[str, Any]]:
        """Return it as JSON holds it."""
        return [
            {"release": plan.release}
            | _changes(plan.reading)
            | {"answers_to_look_at": [pair.id for pair in plan.touched]}
            for plan in self.plans
        ]


@dataclass(frozen=True, slots=True)
class Done:
    """What a reindex changed, by release."""

    releases: Sequence[Indexed]

    def plain(self) -> list[dict[str, Any]]:
        """Return it as JSON holds it."""
        return [
            {"release": done.corpus.release, "documents": done.corpus.documents, "chunks": done.corpus.chunks}
            | _changes(done.reading)
            for done in self.releases
        ]


def _changes(reading: Reading) -> dict[str, Any]:
    return {
        "added": list(reading.added),
        "changed": list(reading.changed),
        "removed": list(reading.removed),
        "failed": [{"source": source, "error": error} for source, error in reading.failed],
    }


async def run(app: Application, given: Given) -> Result:
    """Read the sources again; what failed is the result's problem. Raises UsageError for no such release."""
    from bot.commands.progress import passed_on
    from bot.rendering.sources import plans
    from core.errors import ThreadloreError, UsageError

    release = given.get("release") or ""
    if release and not app.corpus_manager.known(release):
        names = ", ".join(entry.name for entry in app.corpus_manager.product.releases)
        raise UsageError(f"There is no release {release} in corpora.toml; there is: {names}.")
    if given.get("dry_run"):
        return Result(Planned(await plans(app.corpus_manager, app.memory, release)))
    async with passed_on(given.along) as hear:
        done, failed = await app.corpus_manager.reindexed(release, hear, rebuild=bool(given.get("rebuild")))
    problem: ThreadloreError | None = failed[0][1] if failed else None
    unread = [f"{source}: {error}" for item in done for source, error in item.reading.failed]
    if problem is None and unread:
        problem = ThreadloreError(f"{unread[0]} (what was indexed before still answers)")
    return Result(Done(done), tuple(str(error) for _, error in failed[1:]), problem=problem)


def text(result: Result) -> Sequence[str]:
    """Say what changed, or would change."""
    from bot.rendering.sources import plan_lines
    from bot.rendering.status import done_text

    if isinstance(result.data, Planned):
        return [line for plan in result.data.plans for line in plan_lines(plan)]
    return [done_text(list(result.data.releases))] if result.data.releases else []


async def dialogue(app: Application, call: Call) -> str:
    """Begin in chat, and show the progress in one message. Raises UsageError for no such release."""
    from bot.commands.slash.reindexing import begin
    from bot.ports.chat import Reply
    from bot.rendering.sources import plan_text, plans
    from core.errors import UsageError

    release = call.given.get("release", "")
    if release and not app.corpus_manager.known(release):
        names = ", ".join(entry.name for entry in app.corpus_manager.product.releases)
        raise UsageError(f"There is no release `{release}`. There is: {names}.")
    if "dry-run" in call.given:
        await call.responder.reply(Reply("Reading the sources; nothing is changed.", final=False))
        found = await plans(app.corpus_manager, app.memory, release)
        await call.tell(plan_text(found, {"hears": call.scope.key}))
        return "shown"
    what = f"{app.corpus_manager.product.name} {release}" if release else "every release"
    await call.tell(f"Reindexing {what}. The old pages keep answering until it is done.")
    begin(app, release, what, call)
    return "begun"


COMMAND = Command(
    "index",
    "admin",
    "re-index the documentation; the old index keeps answering until it's done",
    run,
    text,
    (
        Option("release", "One release, such as 2.3; all of them when left out", dashed=True),
        Option("dry-run", "Only say what would change", kind="flag"),
        Option(
            "rebuild",
            "Embed everything again after EMBEDDING_MODEL changed, or let nearly all pages of a source go",
            kind="flag",
            where="terminal",
        ),
    ),
    changes=True,
    audit=lambda given: (given.get("release"), "--rebuild" if given.get("rebuild") else ""),
    is_audited=lambda given: not given.get("dry_run"),
    in_chat="reindex",
    dialogue=dialogue,
    rank=13,
    further=(
        "the progress is one message; `--dry-run` says which pages would be added, changed and removed, "
        "and which remembered answers cite them"
    ),
)
