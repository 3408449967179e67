"""`threadlore memory …`: look into community memory, seed it, take pairs out, check it."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bot.bootstrap import Threadlore
from bot.control import Send
from bot.hearing import heard, may_hear
from bot.memory_upkeep import upkeep
from bot.pair_text import flags, meant_for, named, shortened, standing
from bot.why_command import why
from core.domain import Product, Question, Scope, content_hash
from core.errors import UsageError
from core.languages import DEFAULT
from core.memory.exchange import Bad, Entry, read, written
from core.memory.filing import EVERY_RELEASE
from core.ports import Remembered
from core.query.language import detected
from core.query.releases import lookup, resolve
from core.query.rewrite import queries
from core.text import storable

AT_ONCE = 128
"""Pairs that are embedded and placed in one go, so that questions are answered in between."""


async def memory(app: Threadlore, request: dict[str, Any], send: Send) -> None:
    """Carry out one action on memory; raises ThreadloreError."""
    match request.get("action"):
        case "list":
            await _list(app, request, send)
        case "show":
            await _show(app, request, send)
        case "why":
            await why(app, request, send)
        case "find":
            await _found(app, request)
        case "retire":
            await _retire(app, request, send)
        case "restore":
            await _restore(app, request, send)
        case "rebuild":
            await _rebuild(app, send)
        case "verify":
            await _verify(app, send)
        case "export":
            await _export(app, send)
        case "import":
            await _import(app, request, send)
        case "stale" | "renew" | "bursts" | "private" | "public" | "may publish":
            await upkeep(app, request, send)
        case other:
            raise UsageError(f"There is no action '{other}'; `threadlore memory --help` lists them.")


async def _list(app: Threadlore, request: dict[str, Any], send: Send) -> None:
    release, store = request.get("release") or "", request.get("store") or ""
    if release:
        release = _release(app.engine.product, release)
    told = 0
    for pair in await app.memory.everything():
        row = written(pair, app.memory.thresholds)
        if (release and pair.release != release) or (store and row["store"] != store):
            continue
        told += 1
        line = (
            f"{named(pair)}  {row['store']} {row['score']:.2f}  {row['up']}👍 {row['down']}👎  "
            f"used {pair.uses}x  {meant_for(pair)}{flags(app.memory, pair)}  "
            f"{heard(request, pair.scope, shortened(pair.question))}"
        )
        await send({"line": _json(row) if request.get("json") else line})
    if not told:
        await send({"note": "Nothing is remembered here yet; votes and `threadlore memory import` fill it."})
    await send({"code": 0})


async def _show(app: Threadlore, request: dict[str, Any], send: Send) -> None:
    pair = await _found(app, request)
    if not may_hear(request, pair.scope):
        channel = Scope.parse(pair.scope).channel
        raise UsageError(
            f"{pair.id} was learnt in {channel}, a private channel: its words are shown there alone. It is "
            f"for {pair.release.replace('+', ' and ')}; now {standing(app.memory, pair)}."
        )
    if request.get("json"):
        await send({"line": _json(written(pair, app.memory.thresholds))})
    else:
        made = time.strftime("%Y-%m-%d %H:%M", time.gmtime(pair.created_at))
        origins = {
            "answer": "said by the bot",
            "person": "written by a person",
            "import": "brought by `memory import`",
        }
        lines = [
            f"Pair {named(pair)}, {meant_for(pair)}, {origins[pair.origin]} on {made} UTC",
            f"“{pair.question}”",
            f"Compared as: {pair.topic}",
            "",
            pair.answer,
            "",
            *(f"[{c.number}] {c.title} {c.url}" for c in pair.citations),
            f"Now {standing(app.memory, pair)}.",
        ]
        await send({"line": "\n".join(lines)})
    await send({"code": 0})


async def _retire(app: Threadlore, request: dict[str, Any], send: Send) -> None:
    pair = await _found(app, request)
    await app.memory.retire([pair.id])
    await send({"line": f"Retired {named(pair)}: it is in no store any more, whatever its votes are."})
    await send({"code": 0})


async def _restore(app: Threadlore, request: dict[str, Any], send: Send) -> None:
    pair = await _found(app, request)
    if pair.aside != "retired":
        raise UsageError(f"{named(pair)} is not retired; now {standing(app.memory, pair)}.")
    if pair.origin == "person":
        raise UsageError(
            f"{named(pair)} is what a person wrote, who may have taken it back: a helper's ✅ put anew on "
            "their message brings it back, or the better answer sent once more."
        )
    if newer := await _in_place_of(app, pair):
        raise UsageError(f"{named(pair)} was replaced by {newer} in an import; retire that one first.")
    await app.memory.restore([pair.id])
    now = await _found(app, {"id": pair.id})
    await send({"line": f"Restored {named(pair)}: {standing(app.memory, now)}."})
    await send({"code": 0})


async def _in_place_of(app: Threadlore, pair: Remembered) -> str:
    """Return the pair that was imported later under the same id for the same question; empty for none."""
    same = (pair.label, pair.release, pair.scope, pair.question)
    for other in await app.memory.everything() if pair.label else ():
        if not other.aside and (other.label, other.release, other.scope, other.question) == same:
            return other.id
    return ""


async def _rebuild(app: Threadlore, send: Send) -> None:
    before = app.memory.stores()
    await app.memory.rebuild()
    same = "as before" if app.memory.stores() == before else "other than before: please report this"
    await send({"line": f"Derived {len(app.memory.stores())} placements from the votes, {same}."})
    await send({"code": 0})


async def _verify(app: Threadlore, send: Send) -> None:
    wrong = await app.memory.verify() + await app.upkeep.broken()
    for sentence in wrong:
        await send({"line": sentence})
    if wrong:
        repair = "`threadlore memory rebuild` derives every placement from the votes again."
        await send({"note": f"{len(wrong)} things are not as the votes say; {repair}"})
    else:
        stores = app.memory.stores().values()
        kept = sum(1 for _, is_kept in stores if is_kept)
        await send({"line": f"All is as the votes say: {len(stores)} pairs placed, {kept} of them recalled."})
    await send({"code": 1 if wrong else 0})


async def _export(app: Threadlore, send: Send) -> None:
    count = 0
    for pair in await app.memory.everything():
        if pair.aside != "retired":
            count += 1
            await send({"line": _json(written(pair, app.memory.thresholds))})
    await send({"note": f"Exported {count} pairs."})
    await send({"code": 0})


async def _import(app: Threadlore, request: dict[str, Any], send: Send) -> None:
    pairs: list[Remembered] = []
    bad: list[Bad] = []
    there = {pair.id: pair for pair in await app.memory.everything()}
    again = 0
    for entry in read(request["text"], request.get("name") or ""):
        try:
            if isinstance(entry, Bad):
                bad.append(entry)
                continue
            pair = _pair(app.engine.product, entry)
            if _is_there(pair, there.get(pair.label)):
                again += 1
            else:
                pairs.append(pair)
        except UsageError as error:
            bad.append(Bad(entry.line, str(error)))
    for line in bad:
        await send({"note": f"line {line.line} was left out: {line.reason}"})
    if not (pairs or bad or again):
        raise UsageError('There is nothing to import: write {"question": …, "answer": …} on each line.')
    outdated = await _outdated(app, pairs)
    new: set[str] = set()
    for start in range(0, len(pairs), AT_ONCE):
        new |= await app.memory.seed(pairs[start : start + AT_ONCE])
    await app.memory.retire(sorted(outdated))
    stores = app.memory.stores()
    merged = sum(1 for pair_id in new if pair_id in stores and not stores[pair_id][1])
    evicted = len(new - stores.keys())
    again += len(pairs) - len(new)
    said = [
        f"Imported {len(new)} pairs",
        f"{merged} merged with a better one that is as good as the same" if merged else "",
        f"{len(outdated)} replaced what was imported under their id" if outdated else "",
        f"{again} were there already" if again else "",
        f"{evicted} not kept, MEMORY_LIMIT is reached" if evicted else "",
        f"{len(bad)} lines left out" if bad else "",
    ]
    await send({"line": f"{', '.join(part for part in said if part)}."})
    await send({"code": 1 if bad else 0})


def _is_there(pair: Remembered, known: Remembered | None) -> bool:
    """Tell whether a line is what `memory export` wrote of a pair that is still there, under its own id.

    Raises UsageError for a person's words that were taken back since.
    """
    if known is None or _said(known) != _said(pair):
        return False
    if known.aside == "retired" and known.origin == "person":
        raise UsageError("a person wrote this answer, and it was taken back")
    return known.aside != "retired"


def _said(pair: Remembered) -> tuple[str, ...]:
    return (storable(pair.question).strip(), storable(pair.answer).strip(), pair.release, pair.scope)


async def _outdated(app: Threadlore, pairs: Sequence[Remembered]) -> set[str]:
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
    release = _release(product, entry.release) if entry.release else _release_named(product, entry.question)
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


def _release(product: Product, spelled: str) -> str:
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
            f'the question names {" and ".join(found.unknown)}, which is no release; write its "release"'
        )
    if found.origin != "question":
        return EVERY_RELEASE
    return "+".join(found.named) if found.comparison else found.release


async def _found(app: Threadlore, request: dict[str, Any]) -> Remembered:
    pair = await app.memory.find(request["id"])
    if pair is None:
        raise UsageError(f"There is no pair {request['id']}; `threadlore memory list` names them.")
    return pair


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()
