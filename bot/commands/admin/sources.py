"""`sources`: where pages come from; documentation that is added by its address, or removed again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Option, Result
from core.text.plurals import plural

if TYPE_CHECKING:
    from bot.commands.slash.table import Call
    from bot.operations.application import Application
    from core.ingestion.indexer import Indexed
    from core.ingestion.reading import Report

ACTIONS = ("list", "add", "remove")


async def run(app: Application, given: Given) -> Result:
    """Return what is known of every source, or add or remove one. Raises ThreadloreError."""
    from bot.commands.progress import passed_on
    from bot.rendering.sources import kept_lines, sources_of

    action, address = _asked(given)
    if action == "add":
        name = await app.added.add(address, private=bool(given.get("private")))
        async with passed_on(given.along) as hear:
            return Result(read_text(await app.added.read(name, hear)))
    if action == "remove":
        return Result(removed_text(await app.added.remove(address)))
    kept = kept_lines(await app.corpus_manager.kept())
    return Result(await sources_of(app.corpora, app.schedules), tuple(kept), outcome="shown")


def _asked(given: Given) -> tuple[str, str]:
    """Return what to do with which address; raises UsageError where one is missing, or too many are there."""
    from core.catalogue.added import WANTED
    from core.errors import UsageError

    action, address = str(given.get("action") or ACTIONS[0]), str(given.get("address") or "").strip()
    if action not in ACTIONS:
        raise UsageError(f"`sources` takes {', '.join(ACTIONS)}, not {action}.")
    if (action != ACTIONS[0]) != bool(address):
        raise UsageError(
            WANTED if action == "add" else "Write `sources remove` and the release whose pages are to go."
        )
    return action, address


def read_text(done: Indexed) -> str:
    """Say what was read, and how to ask about it."""
    corpus = done.corpus
    pages = f"{corpus.documents:,} {plural(corpus.documents, 'page')}"
    return f"Read {pages} of {corpus.release}. Name it in a question, or choose it as the release."


def removed_text(name: str) -> str:
    """Say what was removed."""
    return f"Removed {name} with its pages."


def text(result: Result) -> Sequence[str]:
    """List them by release, or say what was done."""
    from bot.rendering.sources import sources_text

    return [result.data if isinstance(result.data, str) else sources_text(result.data)]


async def dialogue(app: Application, call: Call) -> str:
    """List them, or add one in chat and show its progress in one message. Raises ThreadloreError."""
    from bot.commands.slash.reindexing import begin_reading
    from bot.ports.chat import Reply

    given = Given(call.given, call.person.id, call.scope.key, call.where.channel_key)
    action, address = _asked(given)
    if action != "add":
        result = await run(app, given)
        await call.tell("\n".join([*text(result), *result.notes]))
        return result.outcome or "done"
    await call.responder.reply(Reply(f"Looking at {address} …", final=False))
    name = await app.added.add(address)
    await call.tell(f"Reading {name}. The other releases keep answering.")

    async def read(hear: Report) -> tuple[str, str]:
        return read_text(await app.added.read(name, hear)), "done"

    begin_reading(read, f"Reading {name}", call)
    return "begun"


COMMAND = Command(
    "sources",
    "admin",
    "list the documentation sources and what failed; add one by its address, or remove it",
    run,
    text,
    (
        Option("action", "What to do; list when left out", choices=ACTIONS),
        Option("address", "A website, a git repository (@ref:folder), or package==version", rest=True),
        Option(
            "private", "Allow a website of your own network, and no others", kind="flag", where="terminal"
        ),
    ),
    changes=True,
    audit=lambda given: (given.get("action"), given.get("address")),
    is_audited=lambda given: given.get("action") in ACTIONS[1:],
    dialogue=dialogue,
    rank=12,
    further=(
        "the list also says when each is read next, and what was passed over and why; what is added is kept "
        "in `added.toml` in the home, and answers as a release of its own; `remove` also deletes the pages "
        "of a release that `corpora.toml` no longer lists"
    ),
)
