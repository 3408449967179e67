"""A SPARQL endpoint that answers as Wikidata's does, and refuses what Wikidata's would."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

JSON = "application/sparql-results+json"
_VALUES = re.compile(r"VALUES \?name \{ ((?:\"(?:[^\"\\]|\\.)*\"@\w+ ?)+)\}")
_LITERAL = re.compile(r"\"((?:[^\"\\]|\\.)*)\"@(\w+)")


class WikidataServer:
    """Knows statements by label; `trouble` is what happens to the next requests, one each."""

    def __init__(self, statements: Mapping[str, Sequence[tuple[str, str]]]) -> None:
        self.statements = statements
        self.trouble: list[str] = []
        self.asked: list[list[str]] = []
        self.times: list[float] = []
        self.queries: list[str] = []
        self.url = ""
        self._busy = False

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer one query."""
        assert not self._busy, "Wikimedia wants no requests side by side"
        self._busy = True
        try:
            return await self._answered(request)
        finally:
            self._busy = False

    async def _answered(self, request: web.Request) -> web.StreamResponse:
        self.times.append(time.monotonic())
        agent = request.headers.get("User-Agent", "")
        if not re.fullmatch(r"\S+/\S+ \(.*(?:@|https?://).*\).*", agent):
            return web.Response(status=403, text="Please set a user-agent and respect our robot policy.")
        query = request.query.get("query", "")
        listed = _VALUES.search(query)
        if request.headers.get("Accept") != JSON or listed is None or not re.search(r"LIMIT \d+$", query):
            return web.Response(status=400, text="MalformedQueryException")
        self.queries.append(query)
        names = [re.sub(r"\\(.)", r"\1", text) for text, _ in _LITERAL.findall(listed[1])]
        self.asked.append(names)
        return await self._told(names, self.trouble.pop(0) if self.trouble else "")

    async def _told(self, names: Sequence[str], trouble: str) -> web.StreamResponse:
        if trouble.startswith("429"):
            return web.Response(status=429, headers={"Retry-After": trouble[4:]}, text="Too Many Requests")
        if trouble == "500":
            text = "SPARQL-QUERY: queryStr=…\njava.util.concurrent.TimeoutException"
            return web.Response(status=500, text=text)
        if trouble == "maxlag":
            lag = {"error": {"code": "maxlag", "info": "Waiting for a server: 6 seconds lagged", "lag": 6}}
            return web.json_response(lag, headers={"Retry-After": "5"})
        if trouble == "html":
            return web.Response(text="<html>Wikimedia Error</html>", content_type="text/html")
        if trouble == "slow":
            await asyncio.sleep(5)
        rows: list[dict[str, Any]] = []
        for name in names:
            for relation, value in self.statements.get(name, ()):
                row = {"name": name, "relation": relation, "value": value}
                rows.append({k: {"type": "literal", "xml:lang": "en", "value": v} for k, v in row.items()})
        told = {"head": {"vars": ["name", "relation", "value"]}, "results": {"bindings": rows}}
        return web.json_response(told, content_type=JSON)


@asynccontextmanager
async def wikidata(statements: Mapping[str, Sequence[tuple[str, str]]]) -> AsyncIterator[WikidataServer]:
    """Serve the statements on 127.0.0.1."""
    server = WikidataServer(statements)
    app = web.Application()
    app.router.add_get("/sparql", server.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/sparql"
    try:
        yield server
    finally:
        await runner.cleanup()
