"""Fetching one page within limits: addresses, redirects, time, bytes on the wire and unpacked."""

from __future__ import annotations

import asyncio
import codecs
import time
import zlib
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from types import TracebackType
from urllib.parse import urljoin

import aiohttp
from yarl import URL

from core.ingestion.formats import MAX_DOCUMENT_BYTES, most_bytes
from core.ingestion.parsing import NO_CHARSETS
from core.ingestion.sources.website.links import Gate, Host, Refused

AGENT = "Threadlore"
"""The name that robots.txt knows the crawler by."""
REDIRECTS = 5
"""Redirects that are followed for one page (RFC 9309 asks for five with robots.txt)."""
PAGE_SECONDS = 30.0
"""Time that one page may take from the connection to its last byte: a slow drip is cut off."""
TRIES = 3
WAIT_SECONDS = 30.0
"""Longest wait that a server's Retry-After is granted."""
LONGEST_ADDRESS = 2_000
"""Characters of an address that a page redirects to."""
_RETRYABLE = frozenset({408, 429})
"""Statuses under 500 that may be another one later."""
_BLOCK = 64 * 1024
_GZIP = b"\x1f\x8b"


class Failed(Exception):
    """A page that could not be fetched now but may be later; the message says why."""


class Endless(Refused):
    """A page that redirects in a circle, or too often."""


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
    """Fetches pages over http and https, each host at a polite rate; use as an async context manager.

    `private` names the hosts that may have addresses of the own network; all others must be public, also
    where a page redirects to them. No proxy is used, whatever the environment says: it would resolve
    the names itself, and nobody could check to which addresses.
    """

    def __init__(
        self,
        *,
        private: Collection[Host] = (),
        delay: float = 0.25,
        parallel: int = 4,
        max_bytes: int = 5_000_000,
        page_seconds: float = PAGE_SECONDS,
    ) -> None:
        self._gate = Gate(private)
        self._delay = delay
        self._max_bytes = max_bytes
        self._page_seconds = page_seconds
        self._delays: dict[str, float] = {}
        self._next: defaultdict[str, float] = defaultdict(float)
        self._slots = asyncio.Semaphore(parallel)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Fetcher:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(resolver=self._gate, socket_factory=self._gate.open),
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

    async def fetch(self, url: str, known: Mapping[str, str] | None = None, first: int = 0) -> Fetched:
        """Fetch a page, following redirects; `known` are the conditions of an earlier copy. With `first`
        only so many bytes of it are read, however many there are.

        Raises Refused for what will never be fetched and Failed for what may work later.
        """
        async with self._slots:
            for attempt in range(1, TRIES + 1):
                try:
                    return await self._follow(url, known or {}, first)
                except _Later as later:
                    if attempt == TRIES:
                        raise Failed(str(later)) from None
                    await asyncio.sleep(min(later.seconds or 0.5 * 4 ** (attempt - 1), WAIT_SECONDS))
        raise AssertionError("the last try returns or raises")

    async def _follow(self, url: str, known: Mapping[str, str], first: int) -> Fetched:
        seen = {url}
        for _ in range(REDIRECTS + 1):
            found = await self._once(url, known, first)
            if isinstance(found, Fetched):
                return found
            if found in seen:
                raise Endless(f"it redirects in a circle over {found}")
            seen.add(found)
            url, known = found, {}
        raise Endless(f"it redirects more than {REDIRECTS} times")

    async def _once(self, url: str, known: Mapping[str, str], first: int) -> Fetched | str:
        """Ask once; return the page, or the address that it redirects to."""
        assert self._session is not None
        host, port = host_of(url)
        self._gate.check(host, port)
        await self._turn(host)
        try:
            async with self._session.get(url, headers=dict(known), allow_redirects=False) as response:
                if response.status in (301, 302, 303, 307, 308):
                    target = response.headers.get("Location", "")
                    if not target:
                        raise Refused("it redirects to nowhere")
                    return _target(url, target)
                if response.status in _RETRYABLE or response.status >= 500:
                    raise _Later(f"HTTP {response.status}", _seconds(response.headers.get("Retry-After")))
                content = None
                if response.status == 200:
                    content = await self._read(response, first)
                return Fetched(
                    url,
                    response.status,
                    content,
                    response.content_type,
                    _charset(response.charset or ""),
                    {
                        name: response.headers[name]
                        for name in ("ETag", "Last-Modified")
                        if name in response.headers
                    },
                )
        except aiohttp.InvalidURL as error:
            raise Refused(f"its address cannot be read: {error}") from None
        except TimeoutError:
            raise Failed(f"it takes longer than {self._page_seconds:.0f} s") from None
        except (aiohttp.ClientError, OSError, zlib.error) as error:
            raise _Later(_unreached(error, host, port)) from None
        except (ValueError, LookupError) as error:  # aiohttp cannot read the address or the headers
            raise Refused(f"it cannot be read: {error}") from None

    async def _turn(self, host: str) -> None:
        """Wait until this host may be asked again."""
        now = time.monotonic()
        at = max(now, self._next[host])
        self._next[host] = at + self._delays.get(host, self._delay)
        await asyncio.sleep(at - now)

    async def _read(self, response: aiohttp.ClientResponse, first: int) -> bytes:
        most = most_bytes(response.content_type)  # more for what is mostly pictures
        limit = max(self._max_bytes, most) if most > MAX_DOCUMENT_BYTES else self._max_bytes
        if (response.content_length or 0) > limit and not first:
            raise Refused(f"too large: {response.content_length:,} bytes, at most {limit:,}")
        content = bytearray()
        encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
        async for block in _unpacked(response, encoding):
            content += block
            if first and len(content) >= first:
                return bytes(content[:first])
            if len(content) > limit and not first:
                raise Refused(f"too large: more than {limit:,} bytes unpacked")
        return bytes(content)


def _unreached(error: Exception, host: str, port: int) -> str:
    """Say why no answer came, as somebody who knows no library of the network reads it."""
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"no host {host} is known here"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"the certificate of {host} is not trusted ({error.certificate_error})"
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        return f"{host}:{port} does not speak https ({error.os_error})"
    if isinstance(error, aiohttp.ClientConnectorError):
        is_cut = isinstance(error.os_error, ConnectionResetError)
        return f"{host}:{port} ends the connection" if is_cut else f"nothing answers at {host}:{port}"
    return f"{type(error).__name__}: {error}"


def host_of(url: str) -> Host:
    """Return host and port as the client will connect to them; raises Refused for what is no web address.

    Not as `urlsplit` reads them: an address such as `①②⑦.0.0.1` is a number for who connects.
    """
    try:
        parts = URL(url)
        host, port = parts.raw_host, parts.port
    except ValueError as error:
        raise Refused(f"its address cannot be read: {error}") from None
    if parts.scheme not in ("http", "https") or not host or not port:
        raise Refused(f"{url} is not http or https")
    return host.lower().rstrip("."), port


def _target(url: str, location: str) -> str:
    """Return the address that a page redirects to; raises Refused."""
    try:
        target = urljoin(url, location)
    except ValueError:
        raise Refused("it redirects to what is no address") from None
    if len(target) > LONGEST_ADDRESS:
        raise Refused(f"it redirects to an address of more than {LONGEST_ADDRESS:,} characters")
    return target


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
    unpacker, files = None, 0
    async for packed in response.content.iter_chunked(_BLOCK):
        block = packed
        while block:
            if unpacker is None:
                if files and not block.startswith(_GZIP):
                    return  # padding after the end
                unpacker = zlib.decompressobj(_window(block, encoding))
                files += 1
            yield unpacker.decompress(block, _BLOCK)
            # what follows the end of one gzip file is another one
            block = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
            unpacker = None if unpacker.eof else unpacker
    if unpacker is not None:
        while rest := unpacker.decompress(unpacker.unconsumed_tail, _BLOCK):
            yield rest
        if not unpacker.eof:
            raise zlib.error("the packed page ends in the middle")


def _window(block: bytes, encoding: str) -> int:
    """Tell zlib what comes: gzip or zlib by its header, or, as some servers send `deflate`, without one."""
    bare = (
        encoding == "deflate" and len(block) > 1 and (block[0] & 15 != 8 or (block[0] << 8 | block[1]) % 31)
    )
    return -zlib.MAX_WBITS if bare else zlib.MAX_WBITS | 32


def _charset(name: str) -> str:
    """Return the server's charset where it is one of texts; some codecs of Python are not, or never end."""
    try:
        codec = codecs.lookup(name)
    except (LookupError, ValueError):
        return ""
    return "" if codec.name in NO_CHARSETS else name


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
