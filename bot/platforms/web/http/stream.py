"""The playground's stream of server-sent events to one page."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable

from aiohttp import web

from bot.platforms.web.http.feed import Event, Feed
from bot.platforms.web.http.guard import HEADERS

HEARTBEAT_SECONDS = 15.0
"""Silence after which a stream says that it is alive; proxies give up after 30 to 60 seconds."""


async def stream(request: web.Request, feed: Feed, concerns: Callable[[Event], bool]) -> web.StreamResponse:
    """Tell a page what happens from its mark on, until it closes; `concerns` picks what it may hear."""
    mark = request.headers.get("Last-Event-ID") or request.query.get("since", "")
    number = feed.resume(mark) if mark else feed.number
    response = web.StreamResponse(headers={**HEADERS, "X-Accel-Buffering": "no"})
    response.content_type = "text/event-stream"
    response.charset = "utf-8"
    await response.prepare(request)
    feed.readers += 1
    # A page that closes is the normal end of its stream.
    with contextlib.suppress(ConnectionError):
        await response.write(b"retry: 1000\n\n")
        try:
            while not feed.closed:
                number = await _tell(response, feed, concerns, number)
                if not await feed.wait(number, HEARTBEAT_SECONDS):
                    await response.write(b": still here\n\n")
        finally:
            feed.readers -= 1
    return response


async def _tell(
    response: web.StreamResponse, feed: Feed, concerns: Callable[[Event], bool], number: int | None
) -> int:
    latest = feed.number
    news = None if number is None else feed.since(number)
    if news is None:
        await response.write(_frame(feed.mark(latest), "reset", {}))
        return latest
    for event in news:
        if concerns(event):
            await response.write(_frame(feed.mark(event.number), event.kind, event.data))
    return latest


def _frame(mark: str, kind: str, data: object) -> bytes:
    return f"id: {mark}\nevent: {kind}\ndata: {json.dumps(data)}\n\n".encode("ascii")
