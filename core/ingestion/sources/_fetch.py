"""Fetching one page within limits: addresses, redirects, time, bytes on the wire and unpacked."""

from __future__ import annotations

import asyncio
import time
import zlib
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from types import TracebackType
from urllib.parse import urljoin, urlsplit

import aiohttp

from core.ingestion.sources._addresses import PublicResolver, Refused, check_literal
from core.ingestion.sources._files import MAX_PDF_BYTES

AGENT = "Threadlore"
"""The name that robots.txt knows the crawler by."""
REDIRECTS = 5
"""Redirects that are followed for one page (RFC 9309 asks for five with robots.txt)."""
PAGE_SECONDS = 30.0
"""Time that one page may take from the connection to its last byte: a slow drip is cut off."""
TRIES = 3
WAIT_SECONDS = 30.0
"""Longest wait that a server's Retry-After is granted."""
_RETRYABLE = frozenset({429, 500, 502, 503, 504})
_BLOCK = 64 * 1024


class Failed(Exception):
    """A page that could not be fetched now but may be later; the message says why."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page as its server gave it; `content` is None where it has not changed (304)."""

    url: str
    status: int
    content: bytes | None
    media: str = ""
    charset: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


class Fetcher:
    """Fetches pages over http and https, each host at a polite rate; use as an async context manager."""

    def __init__(
        self,
        *,
        private: bool = False,
        delay: float = 0.25,
        parallel: int = 4,
        max_bytes: int = 5_000_000,
        page_seconds: float = PAGE_SECONDS,
    ) -> None:
        self._private = private
        self._delay = delay
        self._max_bytes = max_bytes
        self._page_seconds = page_seconds
        self._delays: dict[str, float] = {}
        self._next: defaultdict[str, float] = defaultdict(float)
        self._slots = asyncio.Semaphore(parallel)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Fetcher:
        resolver = None if self._private else PublicResolver()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(resolver=resolver),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=self._page_seconds, sock_connect=10, sock_read=15),
            headers={"User-Agent": f"{AGENT}/0.1", "Accept-Encoding": "gzip, deflate"},
            auto_decompress=False,
            trust_env=False,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._session is not None
        await self._session.close()

    def slow_down(self, host: str, seconds: float) -> None:
        """Leave at least that long between two requests to a host, as its robots.txt wishes."""
        self._delays[host] = max(seconds, self._delay)

    async def fetch(self, url: str, known: Mapping[str, str] | None = None) -> Fetched:
        """Fetch a page, following redirects; `known` are the conditions of an earlier copy.

        Raises Refused for what will never be fetched and Failed for what may work later.
        """
        async with self._slots:
            for attempt in range(1, TRIES + 1):
                try:
                    return await self._follow(url, known or {})
                except _Later as later:
                    if attempt == TRIES:
                        raise Failed(str(later)) from None
                    await asyncio.sleep(min(later.seconds or 0.5 * 4 ** (attempt - 1), WAIT_SECONDS))
        raise AssertionError("the last try returns or raises")

    async def _follow(self, url: str, known: Mapping[str, str]) -> Fetched:
        seen = {url}
        for _ in range(REDIRECTS + 1):
            found = await self._once(url, known)
            if isinstance(found, Fetched):
                return found
            if found in seen:
                raise Refused(f"it redirects in a circle over {found}")
            seen.add(found)
            url, known = found, {}
        raise Refused(f"it redirects more than {REDIRECTS} times")

    async def _once(self, url: str, known: Mapping[str, str]) -> Fetched | str:
        """Ask once; return the page, or the address that it redirects to."""
        assert self._session is not None
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise Refused(f"{url} is not http or https")
        if not self._private:
            check_literal(parts.hostname)
        await self._turn(parts.hostname)
        try:
            async with self._session.get(url, headers=dict(known), allow_redirects=False) as response:
                if response.status in (301, 302, 303, 307, 308):
                    target = response.headers.get("Location", "")
                    if not target:
                        raise Refused("it redirects to nowhere")
                    return urljoin(url, target)
                if response.status in _RETRYABLE:
                    raise _Later(f"HTTP {response.status}", _seconds(response.headers.get("Retry-After")))
                content = None
                if response.status == 200:
                    content = await self._read(response)
                return Fetched(
                    url,
                    response.status,
                    content,
                    response.content_type,
                    response.charset or "",
                    {
                        name: response.headers[name]
                        for name in ("ETag", "Last-Modified")
                        if name in response.headers
                    },
                )
        except TimeoutError:
            raise Failed(f"it takes longer than {self._page_seconds:.0f} s") from None
        except (aiohttp.ClientError, OSError, zlib.error) as error:
            raise _Later(f"{type(error).__name__}: {error}") from None
        except (ValueError, LookupError) as error:  # aiohttp cannot read the address or the headers
            raise Refused(f"it cannot be read: {error}") from None

    async def _turn(self, host: str) -> None:
        """Wait until this host may be asked again."""
        now = time.monotonic()
        at = max(now, self._next[host])
        self._next[host] = at + self._delays.get(host, self._delay)
        await asyncio.sleep(at - now)

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        pdf = response.content_type == "application/pdf"
        limit = max(self._max_bytes, MAX_PDF_BYTES) if pdf else self._max_bytes
        if (response.content_length or 0) > limit:
            raise Refused(f"too large: {response.content_length:,} bytes, at most {limit:,}")
        content = bytearray()
        encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
        async for block in _unpacked(response, encoding):
            content += block
            if len(content) > limit:
                raise Refused(f"too large: more than {limit:,} bytes unpacked")
        return bytes(content)


class _Later(Exception):
    def __init__(self, message: str, seconds: float = 0.0) -> None:
        super().__init__(message)
        self.seconds = seconds


async def _unpacked(response: aiohttp.ClientResponse, encoding: str) -> AsyncIterator[bytes]:
    """Yield the body unpacked, never more than a block at a time, whatever it would grow to."""
    if encoding in ("", "identity"):
        async for block in response.content.iter_chunked(_BLOCK):
            yield block
        return
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise Refused(f"it is packed with {encoding}, which was not asked for")
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)  # gzip or zlib, by its header
    async for packed in response.content.iter_chunked(_BLOCK):
        block = packed
        while block:
            yield unpacker.decompress(block, _BLOCK)
            block = unpacker.unconsumed_tail
    while rest := unpacker.decompress(unpacker.unconsumed_tail, _BLOCK):
        yield rest


def _version(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: headers[name] for name in ("ETag", "Last-Modified") if name in headers}


def _seconds(value: str | None) -> float:
    """Read Retry-After, seconds or a date; 0 where there is none."""
    if not value:
        return 0.0
    if value.strip().isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return 0.0
