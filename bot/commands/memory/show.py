"""`memory list`, `show`, `retire` and `restore`: remembered answers, seen, taken out and let back in."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.commands.command import Command, Given, Option, Result

if TYPE_CHECKING:
    from bot.operations.application import Application
    from core.ports import Remembered

AT_ONCE = 100
"""Pairs that are told of before others are served."""
ID = Option("id", "The pair's id, or the one it was imported under", required=True)
GONE = "(its words are not kept)"
ORIGINS = {
    "answer": "said by the bot",
    "person": "written by a person",
    "import": "imported by `memory import`",
}
QUESTION = Option(
    "question",
    "Number of a ruled-out question that `memory show` lists: reuse the answer for it again",
    kind="number",
    named=True,
    metavar="N",
)


@dataclass(frozen=True, slots=True)
class Row:
    """A pair in a list: what is written of it, and how it is told to who asked."""

    written: dict[str, Any]
    named: str
    meant_for: str
    flags: str
    question: str

    def plain(self) -> dict[str, Any]:
        """Return what `memory export` writes of it."""
        return self.written


async def list_pairs(app: Application, given: Given) -> Result:
    """Return every pair of a release and a store, or all of them. Raises UsageError for no such release."""
    from bot.commands.importing import release_of
    from bot.privacy.visibility import heard
    from bot.rendering.pairs import flags, meant_for, named, shortened
    from core.memory.import_export import written

    release, store = given.get("release") or "", given.get("store") or ""
    if release:
        release = release_of(app.engine.product, release)
    rows = []
    for count, pair in enumerate(await app.memory.everything()):
        if count % AT_ONCE == 0:
            await asyncio.sleep(0)
        row = written(pair, app.memory.thresholds)
        if (not release or pair.release == release) and (not store or row["store"] == store):
            asked = heard(given.audience, pair.scope, shortened(pair.question))
            rows.append(Row(row, named(pair), meant_for(pair), flags(app.memory, pair), asked))
    fill = f"votes and `{given.program} memory import` fill it."
    return Result(rows, () if rows else (f"Nothing is remembered here yet; {fill}",))


def listed(result: Result) -> Sequence[str]:
    """Say each in a line."""
    return [
        f"{row.named}  {row.written['store']} {row.written['score']:.2f}  {row.written['up']}👍 "
        f"{row.written['down']}👎  used {row.written['uses']}x  {row.meant_for}{row.flags}  {row.question}"
        for row in result.data
    ]


LIST = Command(
    "memory list",
    "admin",
    "list answers that people voted on or imported",
    list_pairs,
    listed,
    (
        Option("release", "Only this release", where="chat"),
        Option(
            "release",
            "Only this release; * for pairs that hold for all of them",
            named=True,
            where="terminal",
        ),
        Option("store", "Only this store", choices=("high", "low", "retired", "evicted"), named=True),
    ),
    is_list=True,
    rank=30,
)


@dataclass(frozen=True, slots=True)
class Shown:
    """A pair, what is written of it, and how it stands today."""

    pair: Remembered
    written: dict[str, Any]
    standing: str
    apart: Sequence[tuple[str, float]] = ()
    """Questions that people told apart from it, as they may be shown, and when."""

    def plain(self) -> dict[str, Any]:
        """Return what `memory export` writes of it, and the questions that it does not answer."""
        return self.written | {"told_apart": [question for question, _ in self.apart]}


async def found(app: Application, pair_id: str) -> Remembered:
    """Return a pair by its id or the one it was imported under. Raises UsageError."""
    from core.errors import UsageError

    pair = await app.memory.find(pair_id)
    if pair is None:
        raise UsageError(f"There is no pair {pair_id}; `threadlore memory list` names them.")
    return pair


async def run(app: Application, given: Given) -> Result:
    """Return a pair. Raises UsageError for one whose words may not be shown where it was asked for."""
    from bot.privacy.visibility import heard, may_hear
    from bot.rendering.pairs import standing
    from core.domain import Scope
    from core.errors import UsageError
    from core.memory.import_export import written

    pair = await found(app, given["id"])
    if not may_hear(given.audience, pair.scope):
        channel = Scope.parse(pair.scope).channel
        raise UsageError(
            f"{pair.id} was learned in {channel}, a private channel: its text is shown only there. It is "
            f"for {pair.release.replace('+', ' and ')}; now {standing(app.memory, pair)}."
        )
    apart = [
        (heard(given.audience, said.scope, said.question or GONE), said.at)
        for said in await app.memory.told_apart(pair.id)
    ]
    return Result(Shown(pair, written(pair, app.memory.thresholds), standing(app.memory, pair), apart))


def text(result: Result) -> Sequence[str]:
    """Say all of it."""
    from bot.rendering.pairs import meant_for, named
    from core.domain import sources
    from core.text.markup import inert
    from core.text.times import minute_of

    pair: Remembered = result.data.pair
    made = minute_of(pair.created_at)
    lines = [
        f"Pair {named(pair)}, {meant_for(pair)}, {ORIGINS[pair.origin]} on {made} UTC",
        f"“{pair.question}”",
        f"Compared as: {pair.topic}",
        "",
        pair.answer,
        "",
        *(f"[{c.number}] {c.title} {c.url}" for c in sources(pair.citations)),
        f"Now {result.data.standing}.",
    ]
    if result.data.apart:
        lines += ["", "Not its question, as people said (`memory restore ID --question N` takes it back):"]
        lines += [
            f"{number}. {inert(question)} ({minute_of(at)} UTC)"
            for number, (question, at) in enumerate(result.data.apart, start=1)
        ]
    return ["\n".join(lines)]


COMMAND = Command(
    "memory show", "admin", "show one remembered answer: question, pages, votes", run, text, (ID,), rank=31
)


async def retire(app: Application, given: Given) -> Result:
    """Take a pair out of every store. Raises UsageError where there is none."""
    from bot.rendering.pairs import named

    pair = await found(app, given["id"])
    await app.memory.retire([pair.id])
    return Result({"id": pair.id, "named": named(pair)})


def retired_text(result: Result) -> Sequence[str]:
    """Say that it is out."""
    return [f"Retired {result.data['named']}: it is in no store any more, whatever its votes are."]


async def asks_retire(app: Application, given: Given) -> str:
    """Say what it does. Raises UsageError where there is no such pair."""
    await found(app, given["id"])
    return f"This stops reusing {given['id']}, whatever the votes. `/threadlore memory restore` undoes it."


RETIRE = Command(
    "memory retire",
    "admin",
    "stop reusing an answer, whatever the votes",
    retire,
    retired_text,
    (ID,),
    changes=True,
    audit=lambda given: (given.get("id"),),
    asks=asks_retire,
    sure="Yes, retire it",
    rank=32,
)


async def restore(app: Application, given: Given) -> Result:
    """Take a pair back in. Raises UsageError for one that is not out, or that stays out."""
    from bot.rendering.pairs import named, standing
    from core.errors import UsageError

    pair = await found(app, given["id"])
    if (number := given.get("question")) is not None:
        apart = await app.memory.told_apart(pair.id)
        if not 1 <= number <= len(apart):
            raise UsageError(f"{named(pair)} has no question {number}; `memory show {pair.id}` lists them.")
        await app.memory.take_back(apart[number - 1])
        return Result({"id": pair.id, "named": named(pair), "question": number})
    if pair.aside != "retired":
        raise UsageError(f"{named(pair)} is not retired; now {standing(app.memory, pair)}.")
    if pair.origin == "person":
        raise UsageError(
            f"{named(pair)} was written by a person, who may have withdrawn it. To bring it back, a helper "
            "puts ✅ on their message again, or the better answer is sent again."
        )
    if newer := await _in_place_of(app, pair):
        raise UsageError(f"{named(pair)} was replaced by {newer} in an import; retire that one first.")
    await app.memory.restore([pair.id])
    now = await found(app, pair.id)
    return Result({"id": pair.id, "named": named(pair), "standing": standing(app.memory, now)})


def restored_text(result: Result) -> Sequence[str]:
    """Say how it stands again."""
    if "question" in result.data:
        return [f"Taken back: {result.data['named']} may answer that question again."]
    return [f"Restored {result.data['named']}: {result.data['standing']}."]


async def _in_place_of(app: Application, pair: Remembered) -> str:
    """Return the pair that was imported later under the same id for the same question; empty for none."""
    same = (pair.label, pair.release, pair.scope, pair.question)
    for other in await app.memory.everything() if pair.label else ():
        if not other.aside and (other.label, other.release, other.scope, other.question) == same:
            return other.id
    return ""


def _numbered(given: Given) -> Sequence[str]:
    """Return the words that name a question."""
    number = given.get("question")
    return () if number is None else ("--question", str(number))


RESTORE = Command(
    "memory restore",
    "admin",
    "allow a retired answer again if votes support it, or undo one *Not my question*",
    restore,
    restored_text,
    (ID, QUESTION),
    changes=True,
    audit=lambda given: (given.get("id"), *_numbered(given)),
    rank=33,
)
