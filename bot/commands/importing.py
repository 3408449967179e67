"""Bring in pairs from a file, as `memory export` or a spreadsheet writes them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.operations.application import Application
from core.domain import Product, Question, content_hash
from core.errors import UsageError
from core.languages import DEFAULT
from core.memory.import_export import Bad, Entry, read
from core.memory.partitions.partition_index import EVERY_RELEASE
from core.ports import Remembered
from core.query.language import detected
from core.query.releases.resolve import lookup, resolve
from core.query.understand import queries
from core.system.offload import SHORT, aside
from core.text.words import storable

AT_ONCE = 128
"""Pairs that are embedded and placed in one go, so that questions are answered in between."""


@dataclass(frozen=True, slots=True)
class Brought:
    """How many pairs an import brought, and what became of the others."""

    imported: int
    merged: int
    replaced: int
    already: int
    not_kept: int
    left_out: int


async def brought(app: Application, text: str, name: str) -> tuple[Brought, list[Bad]]:
    """Bring in pairs from JSONL or CSV; return what came of it, and the lines that cannot be used.

    `name` is that of the file: its suffix says which of both it is. Raises UsageError for one that is empty.
    """
    pairs: list[Remembered] = []
    bad: list[Bad] = []
    there = {pair.id: pair for pair in await app.memory.everything()}
    again = 0
    for entry in read(text, name):
        try:
            await asyncio.sleep(0)  # the rules that a pair goes through take a millisecond
            if isinstance(entry, Bad):
                bad.append(entry)
                continue
            pair = await aside(len(entry.question), _pair, app.engine.product, entry, few=SHORT)
            if _is_there(pair, there.get(pair.label)):
                again += 1
            else:
                pairs.append(pair)
        except UsageError as error:
            bad.append(Bad(entry.line, str(error)))
    if not (pairs or bad or again):
        raise UsageError('There is nothing to import: write {"question": …, "answer": …} on each line.')
    outdated = await _outdated(app, pairs)
    new: set[str] = set()
    for start in range(0, len(pairs), AT_ONCE):
        new |= await app.memory.seed(pairs[start : start + AT_ONCE])
    await app.memory.retire(sorted(outdated))
    stores = await app.memory.placed()
    merged = sum(1 for pair_id in new if pair_id in stores and not stores[pair_id][1])
    evicted = len(new - stores.keys())
    again += len(pairs) - len(new)
    return Brought(len(new), merged, len(outdated), again, evicted, len(bad)), bad


def _is_there(pair: Remembered, known: Remembered | None) -> bool:
    """Return True if a line is what `memory export` wrote of a pair that is still there, under its own id.

    Raises UsageError for a person's words that were taken back since.
    """
    if known is None or _said(known) != _said(pair):
        return False
    if known.aside == "retired" and known.origin == "person":
        raise UsageError("a person wrote this answer, and it was taken back")
    return known.aside != "retired"


def _said(pair: Remembered) -> tuple[str, ...]:
    return (storable(pair.question).strip(), storable(pair.answer).strip(), pair.release, pair.scope)


async def _outdated(app: Application, pairs: Sequence[Remembered]) -> set[str]:
    """Return what was imported earlier for the same question under the same id, with another answer."""
    now = {(p.label, p.release, p.scope, p.question): p.id for p in pairs if p.label}
    ids = {pair.id for pair in pairs}
    return {
        old.id
        for old in await app.memory.everything()
        if old.origin == "import"
        and not old.aside
        and (old.label, old.release, old.scope, old.question) in now
        and old.id not in ids
    }


def _pair(product: Product, entry: Entry) -> Remembered:
    """Make a pair of a line; raises UsageError where its release cannot be told."""
    release = release_of(product, entry.release) if entry.release else _release_named(product, entry.question)
    first = "" if release == EVERY_RELEASE else release.split("+")[0]
    asked = Question(entry.question, release=first)
    forms = queries(asked, product, resolve(asked, product))
    key = content_hash("import", entry.question, entry.answer, release, entry.scope, entry.label)
    return Remembered(
        id=f"i{key[:16]}",
        question=entry.question,
        topic=forms.topic or forms.base,
        answer=entry.answer,
        release=release,
        scope=entry.scope,
        prior=entry.score,
        # of two that are the same and equally good the earlier line counts
        created_at=round(time.time(), 3) + entry.line * 1e-6,
        citations=tuple(
            replace(c, release=c.release if product.release(c.release) else first) for c in entry.citations
        ),
        origin="import",
        label=entry.label,
        language=detected(entry.answer) or DEFAULT,
    )


def release_of(product: Product, spelled: str) -> str:
    """Return the name that memory files a spelling of a release under; several are joined by `+`."""
    if spelled == EVERY_RELEASE:
        return EVERY_RELEASE
    found = [lookup(part, product) for part in spelled.split("+")]
    if not all(found):
        names = ", ".join(release.name for release in product.releases)
        raise UsageError(f"there is no release {spelled}; there is: {names}, or * for all of them")
    return "+".join(found)


def _release_named(product: Product, question: str) -> str:
    """Return the release that a question is about by its own words; every release where it names none."""
    found = resolve(Question(question), product)
    if found.unknown:
        raise UsageError(
            f'the question names {" and ".join(found.unknown)}, which is not a release; write its "release"'
        )
    if found.origin != "question":
        return EVERY_RELEASE
    return "+".join(found.named) if found.comparison else found.release
