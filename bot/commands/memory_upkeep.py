"""`threadlore memory stale | renew | bursts | private | public`: what needs an admin's eye."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from typing import Any

from bot.app.application import Application
from bot.app.control_socket import Send
from bot.interactions.visibility import heard, may_hear
from bot.rendering.pairs import shortened
from core.errors import UsageError
from core.memory.partitions.partition_key import platform_of
from core.memory.scoring.vote_weighting import Burst
from core.ports import StalePair

AT_ONCE = 20
"""Stale pairs that are looked at between two lines of progress."""


async def upkeep(app: Application, request: dict[str, Any], send: Send) -> None:
    """Carry out one of these actions; raises ThreadloreError."""
    match request["action"]:
        case "stale":
            await _stale(app, request, send)
        case "renew":
            await _renew(app, request, send)
        case "bursts":
            await _bursts(app, request, send)
        case "private":
            channel = _channel(request)
            pairs = await _learnt(app, channel, "public")
            moved = await app.memory.channel_became_private(channel)
            await send({"line": f"{_counted(pairs, moved, channel)} are told there alone from now on."})
        case "may publish" | "public":
            if not may_hear(request, f"private:{_channel(request)}"):
                raise UsageError(
                    f"What was learnt in {request['channel']} is made public from there alone: give the "
                    f"command in that channel."
                )
            if request["action"] == "may publish":
                return
            channel = _channel(request)
            pairs = await _learnt(app, channel, f"private:{channel}")
            moved = await app.memory.publish(channel)
            await send({"line": f"{_counted(pairs, moved, channel)} are told everywhere now."})
    await send({"code": 0})


async def _learnt(app: Application, channel: str, scope: str) -> int:
    """Return how many pairs of a channel have votes or were brought by people: what memory holds of it."""
    held = await app.memory.everything()
    return sum(1 for pair in held if (pair.channel, pair.scope) == (channel, scope))


def _counted(pairs: int, moved: int, channel: str) -> str:
    """Say what goes along: what was learnt, and answers without a vote, which may still get one."""
    neutral = moved - pairs
    also = f", and {neutral} answers given there that nobody voted on," if neutral > 0 else ""
    return f"{pairs} pairs learnt in {channel}{also}"


async def _stale(app: Application, request: dict[str, Any], send: Send) -> None:
    if request.get("check"):
        while done := await app.renewal.slice(AT_ONCE):
            await send({"note": f"Looked at {done} pairs."})
    waiting = await app.renewal.waiting()
    for item in waiting:
        await send({"line": _json(_row(item)) if request.get("json") else _told(item, request)})
    if not waiting:
        await send({"note": "No remembered answer waits: all cite pages as they are."})


async def _renew(app: Application, request: dict[str, Any], send: Send) -> None:
    pair = await app.memory.find(request["id"])
    waiting = {item.pair.id: item for item in await app.renewal.waiting()}
    if pair is None or pair.id not in waiting:
        raise UsageError(f"No stale pair has the id {request['id']}; `threadlore memory stale` lists them.")
    problem = await app.renewal.renew(waiting[pair.id], bool(request.get("new")))
    if problem:
        raise UsageError(problem)
    words = "with the new answer" if request.get("new") else "with the words it had"
    await send({"line": f"Renewed {pair.id}, {words}: it is reused again as its votes say."})


async def _bursts(app: Application, request: dict[str, Any], send: Send) -> None:
    found = await app.electorate.bursts(time.time())
    for burst in found:
        line = _json(asdict(burst)) if request.get("json") else await _burst(app, burst, request)
        await send({"line": line})
    if not found:
        await send({"note": "No votes came in a burst in the last seven days."})


async def _burst(app: Application, burst: Burst, request: dict[str, Any]) -> str:
    began = time.strftime("%Y-%m-%d %H:%M", time.gmtime(burst.began_at))
    minutes = (burst.ended_at - burst.began_at) / 60
    spent = f"{burst.votes} votes within {minutes:.0f} minutes from {began} UTC"
    if burst.voter:
        return f"{burst.voter}: {spent}; what exceeded the usual rate was capped"
    pair = await app.memory.find(burst.pair_id)
    asked = heard(request, pair.scope, shortened(pair.question)) if pair else "an answer that is gone"
    store = app.memory.stores().get(burst.pair_id, ("no", False))[0]
    return f"{burst.pair_id} ({store} store): {spent} by {burst.people} strangers  {asked}"


def _told(item: StalePair, request: dict[str, Any]) -> str:
    found = heard(request, item.pair.scope, item.finding) if item.finding else "Not looked at yet."
    asked = heard(request, item.pair.scope, shortened(item.pair.question))
    offer = " `--new` would take what would be answered now." if item.proposal else ""
    return f"{item.pair.id}  {' and '.join(item.releases)}  {asked}\n  {found}{offer}"


def _row(item: StalePair) -> dict[str, Any]:
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


def _channel(request: dict[str, Any]) -> str:
    channel = str(request["channel"])
    if not platform_of(channel):
        raise UsageError(f"'{channel}' names no channel; write platform and id, such as slack:C0123.")
    return channel


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()
