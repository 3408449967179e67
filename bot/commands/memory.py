"""`threadlore memory …`: look into community memory, seed it, take pairs out, check it."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

from bot.app.application import Application
from bot.app.control_socket import Send
from bot.commands.memory_import import brought, release_of
from bot.commands.memory_upkeep import upkeep
from bot.commands.why import why
from bot.interactions.visibility import heard, may_hear
from bot.rendering.pairs import flags, meant_for, named, shortened, standing
from core.domain import Scope
from core.errors import UsageError
from core.memory.exchange import written
from core.ports import Remembered

AT_ONCE = 100
"""Pairs that are told of before others are served."""


async def memory(app: Application, request: dict[str, Any], send: Send) -> None:
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
            await brought(app, request, send)
        case "stale" | "renew" | "bursts" | "private" | "public" | "may publish":
            await upkeep(app, request, send)
        case other:
            raise UsageError(f"There is no action '{other}'; `threadlore memory --help` lists them.")


async def _list(app: Application, request: dict[str, Any], send: Send) -> None:
    release, store = request.get("release") or "", request.get("store") or ""
    if release:
        release = release_of(app.engine.product, release)
    told = 0
    for count, pair in enumerate(await app.memory.everything()):
        if count % AT_ONCE == 0:
            await asyncio.sleep(0)
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


async def _show(app: Application, request: dict[str, Any], send: Send) -> None:
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


async def _retire(app: Application, request: dict[str, Any], send: Send) -> None:
    pair = await _found(app, request)
    await app.memory.retire([pair.id])
    await send({"line": f"Retired {named(pair)}: it is in no store any more, whatever its votes are."})
    await send({"code": 0})


async def _restore(app: Application, request: dict[str, Any], send: Send) -> None:
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


async def _in_place_of(app: Application, pair: Remembered) -> str:
    """Return the pair that was imported later under the same id for the same question; empty for none."""
    same = (pair.label, pair.release, pair.scope, pair.question)
    for other in await app.memory.everything() if pair.label else ():
        if not other.aside and (other.label, other.release, other.scope, other.question) == same:
            return other.id
    return ""


async def _rebuild(app: Application, send: Send) -> None:
    before = await app.memory.placed()
    await app.memory.rebuild()
    after = await app.memory.placed()
    same = "as before" if after == before else "other than before: please report this"
    await send({"line": f"Derived {len(after)} placements from the votes, {same}."})
    await send({"code": 0})


async def _verify(app: Application, send: Send) -> None:
    wrong = await app.memory.verify() + await app.upkeep.broken()
    for sentence in wrong:
        await send({"line": sentence})
    if wrong:
        repair = "`threadlore memory rebuild` derives every placement from the votes again."
        await send({"note": f"{len(wrong)} things are not as the votes say; {repair}"})
    else:
        stores = (await app.memory.placed()).values()
        kept = sum(1 for _, is_kept in stores if is_kept)
        await send({"line": f"All is as the votes say: {len(stores)} pairs placed, {kept} of them recalled."})
    await send({"code": 1 if wrong else 0})


async def _export(app: Application, send: Send) -> None:
    count = 0
    for place, pair in enumerate(await app.memory.everything()):
        if place % AT_ONCE == 0:
            await asyncio.sleep(0)
        if pair.aside != "retired":
            count += 1
            await send({"line": _json(written(pair, app.memory.thresholds))})
    await send({"note": f"Exported {count} pairs."})
    await send({"code": 0})


async def _found(app: Application, request: dict[str, Any]) -> Remembered:
    pair = await app.memory.find(request["id"])
    if pair is None:
        raise UsageError(f"There is no pair {request['id']}; `threadlore memory list` names them.")
    return pair


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()
