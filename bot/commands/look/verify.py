"""`verify` and `memory verify`: all, or memory alone, against the database; `memory rebuild` mends memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Option, Result, at_terminal
from core.text.plurals import counted

if TYPE_CHECKING:
    from bot.operations.application import Application


@dataclass(frozen=True, slots=True)
class Verified:
    """Sentences about what is as it should be, and about what is wrong; what was repaired before."""

    right: tuple[str, ...]
    wrong: tuple[str, ...]
    repaired: tuple[str, ...] = ()


async def run(app: Application, given: Given) -> Result:
    """Compare everything, and mend before what can be; the code is 1 where something is wrong."""
    from bot.commands.verification import verified

    repaired: tuple[str, ...] = ()
    if given.get("repair"):
        before = (await verified(app))[1]
        done = await app.corpus_manager.repair() if before else {}
        mended = [f"{count} {what}" for what, count in done.items() if count]
        repaired = (*before, f"Repaired: {', '.join(mended) or 'nothing'}.")
    right, wrong = await verified(app)
    way = " `threadlore verify --repair` rebuilds what derives from the database."
    told = counted(len(wrong), "thing is wrong", "things are wrong")
    notes = (f"{told}.{'' if given.get('repair') else way}",) if wrong else ()
    return Result(Verified(tuple(right), tuple(wrong), repaired), notes, code=1 if wrong else 0)


def text(result: Result) -> Sequence[str]:
    """Say what was repaired, what is right, then what is wrong."""
    return (*result.data.repaired, *result.data.right, *result.data.wrong)


COMMAND = at_terminal(
    "verify",
    "look",
    "check corpora, indexes, pairs and memory; exit status 1 where something is wrong",
    run,
    text,
    (
        Option(
            "repair",
            "Rebuild from the database what is wrong: vectors, both indexes, memory's order",
            kind="flag",
            named=True,
        ),
    ),
    changes=True,
    is_audited=lambda given: bool(given.get("repair")),
    rank=60,
)


@dataclass(frozen=True, slots=True)
class MemoryVerified:
    """Sentences about what is wrong, and how many pairs are placed and recalled."""

    wrong: tuple[str, ...]
    placed: int
    recalled: int


async def verify_memory(app: Application, given: Given) -> Result:
    """Compare; the code is 1 where something is wrong."""
    wrong = tuple(await app.memory.verify() + await app.upkeep.broken())
    stores = (await app.memory.placed()).values()
    data = MemoryVerified(wrong, len(stores), sum(1 for _, is_kept in stores if is_kept))
    repair = f"`{given.program} memory rebuild` recalculates memory from the votes."
    notes = (f"{len(wrong)} things in memory do not match the votes; {repair}",) if wrong else ()
    return Result(data, notes, code=1 if wrong else 0)


def memory_text(result: Result) -> Sequence[str]:
    """Say what is wrong, or that all is well."""
    data: MemoryVerified = result.data
    if data.wrong:
        return data.wrong
    return [f"Memory matches the votes. Answers: {data.placed}, in use: {data.recalled}."]


VERIFY_MEMORY = Command(
    "memory verify", "admin", "check memory against the votes", verify_memory, memory_text, rank=40
)


async def rebuild(app: Application, given: Given) -> Result:
    """Derive them, and say whether they are as before."""
    before = await app.memory.placed()
    await app.memory.rebuild()
    after = await app.memory.placed()
    return Result({"placements": len(after), "as_before": after == before})


def rebuilt_text(result: Result) -> Sequence[str]:
    """Say how many there are."""
    same = (
        "with the same result" if result.data["as_before"] else "with a different result: please report this"
    )
    return [f"Recalculated {result.data['placements']} remembered answers from the votes, {same}."]


async def asks_rebuild(app: Application, given: Given) -> str:
    """Say what it does."""
    return "This recalculates memory from the votes, which takes a while if memory is large."


REBUILD = Command(
    "memory rebuild",
    "admin",
    "recalculate memory from the votes",
    rebuild,
    rebuilt_text,
    changes=True,
    asks=asks_rebuild,
    sure="Yes, rebuild it",
    rank=41,
)
