"""How an answer reaches the page while it is written: server-sent events in the answer to one request.

begun {conversation, release, said}   who it is for; `conversation` is the key to go on with
reading {markdown}                    the pages that are being read
text {text} | more {text}             the text so far, or what is added to it
done {question, markdown, answer, release, remembered, vote}
failed {error}
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from bot.platforms.web.http.guard import HEADERS
from bot.platforms.web.http.stream import HEARTBEAT_SECONDS
from bot.platforms.web.widget.conversations import Growing

PACE_SECONDS = 0.05
"""Time between two shown states; faster than the eye needs, slower than tokens."""


async def stream(
    request: web.Request, headers: Mapping[str, str], begun: Mapping[str, Any], growing: Growing
) -> web.StreamResponse:
    """Tell a page how an answer grows, until it is there; a page that goes away ends nothing."""
    response = web.StreamResponse(headers={**HEADERS, **headers, "X-Accel-Buffering": "no"})
    response.content_type = "text/event-stream"
    response.charset = "utf-8"
    await response.prepare(request)
    with contextlib.suppress(ConnectionError):
        await response.write(_frame("begun", begun))
        await _follow(response, growing)
    return response


async def _follow(response: web.StreamResponse, growing: Growing) -> None:
    number, reading, text = -1, "", ""
    while True:
        if not await growing.wait(number, HEARTBEAT_SECONDS):
            await response.write(b": still here\n\n")
            continue
        number = growing.number
        if growing.told is not None:
            await response.write(_frame("done", growing.told.shown()))
            return
        if growing.failed:
            await response.write(_frame("failed", {"error": growing.failed}))
            return
        if growing.written.startswith(text) and text:
            if len(growing.written) > len(text):
                await response.write(_frame("more", {"text": growing.written[len(text) :]}))
        elif growing.written != text:
            await response.write(_frame("text", {"text": growing.written}))
        elif growing.reading != reading:
            reading = growing.reading
            await response.write(_frame("reading", {"markdown": reading}))
        text = growing.written
        await asyncio.sleep(PACE_SECONDS)


def _frame(kind: str, data: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps(data)}\n\n".encode("ascii")
