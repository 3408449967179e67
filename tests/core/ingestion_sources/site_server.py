"""A website on loopback in a thread of its own: kind pages, and all the ways to be a bad one."""

from __future__ import annotations

import asyncio
import gzip
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import cache
from types import TracebackType

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Site:
    """Serves `pages` by path; a value is HTML, bytes with a media type, or a handler."""

    def __init__(self, pages: dict[str, str | tuple[bytes, str] | Handler] | None = None) -> None:
        self.pages = dict(pages or {})
        self.asked: Counter[str] = Counter()
        self.bodies: Counter[str] = Counter()
        self.at: list[tuple[str, float]] = []
        self.versioned = True
        self.url = ""

    def __enter__(self) -> Site:
        self._loop = asyncio.new_event_loop()
        ready = threading.Event()

        async def start() -> None:
            app = web.Application()
            app.router.add_route("*", "/{path:.*}", self._answer)
            # what still answers at the end is not waited for
            self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
            await self._runner.setup()
            site = web.TCPSite(self._runner, "127.0.0.1", 0)
            await site.start()
            self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
            ready.set()

        def serve() -> None:
            asyncio.set_event_loop(self._loop)
            self._loop.run_until_complete(start())
            self._loop.run_forever()

        self._thread = threading.Thread(target=serve, daemon=True)
        self._thread.start()
        assert ready.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        path = request.path
        self.asked[request.path_qs] += 1
        self.at.append((path, time.monotonic()))
        page = self.pages.get(request.path_qs, self.pages.get(path))
        if page is None:
            return web.Response(status=404)
        if callable(page):
            return await page(request)
        content, media = (page.encode(), "text/html; charset=utf-8") if isinstance(page, str) else page
        tag = f'"{hash(content):x}"'
        if self.versioned and request.headers.get("If-None-Match") == tag:
            return web.Response(status=304)
        self.bodies[request.path_qs] += 1
        headers = {"Content-Type": media} | ({"ETag": tag} if self.versioned else {})
        return web.Response(body=content, headers=headers)


def page(title: str, text: str, *links: str, head: str = "") -> str:
    """Write a page with links in it."""
    listed = "".join(f'<li><a href="{link}">to {link}</a></li>' for link in links)
    return (
        f"<!doctype html><html><head><title>{title}</title>{head}</head><body><main><h1>{title}</h1>"
        f"<p>{text}</p><ul>{listed}</ul></main></body></html>"
    )


def redirect(to: str, status: int = 302) -> Handler:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, headers={"Location": to})

    return answer


def status(code: int, **headers: str) -> Handler:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(status=code, headers=headers)

    return answer


@cache
def _bomb() -> bytes:
    return gzip.compress(b"<p>boom</p>" * 1_900_000)


async def bomb(request: web.Request) -> web.StreamResponse:
    """Send 20 KB that unpack to 20 MB."""
    return web.Response(
        body=_bomb(),
        headers={"Content-Encoding": "gzip", "Content-Type": "text/html"},
    )


async def drip(request: web.Request) -> web.StreamResponse:
    """Send a letter at a time, for ever."""
    response = web.StreamResponse(headers={"Content-Type": "text/html"})
    await response.prepare(request)
    for _ in range(600):
        await response.write(b"x")
        await asyncio.sleep(0.05)
    return response


async def flood(request: web.Request) -> web.StreamResponse:
    """Send without an end, and without saying how much."""
    response = web.StreamResponse(headers={"Content-Type": "text/html"})
    await response.prepare(request)
    for _ in range(10_000):
        await response.write(b"flood " * 10_000)
    return response


async def calendar(request: web.Request) -> web.StreamResponse:
    """Send a page that links to the next one, as calendars do."""
    day = int(request.query.get("day", "0"))
    return web.Response(
        text=page(f"Day {day}", f"Nothing on {day}.", f"?day={day + 1}"), content_type="text/html"
    )
