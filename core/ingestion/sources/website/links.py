"""Which addresses a crawler may speak to, what a page says of its own and of others, what crawlers may do."""

from __future__ import annotations

import gzip
import io
import ipaddress
import socket
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urldefrag, urljoin, urlsplit
from xml.etree.ElementTree import Element, ParseError  # nosec B405 # defusedxml parses

from aiohttp import ThreadedResolver
from aiohttp.abc import AbstractResolver, ResolveResult
from courlan import normalize_url
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import iterparse
from lxml import etree

from core.ingestion.sources._public import is_public

MAX_URL = 500
"""Characters of an address; longer ones are made by machines for machines."""
MAX_REPEATS = 3
"""How often one folder's name may stand in an address: more is a link that leads into itself."""
MAX_PARAMETERS = 3
"""Parameters of an address; more are the settings of a search, without end."""
MAX_TAGS = 200_000
"""Tags of a page that are looked at for links; the longest pages of documentation have a tenth of it."""
MAX_LINKS = 10_000
"""Links of a page that are followed."""
_PIECE = 64 * 1024
SITEMAP_BYTES = 50_000_000
SITEMAP_ENTRIES = 50_000
"""Bytes of a sitemap, unpacked, and addresses in it (the limits of the sitemap protocol)."""
SITEMAP_DEPTH = 16
"""Elements of a sitemap inside each other; it has three, extensions some more."""


@dataclass(frozen=True, slots=True)
class Links:
    """What the head and the links of a page say."""

    links: tuple[str, ...]
    canonical: str = ""
    index: bool = True
    """False where the page asks not to be indexed."""


def tidy(url: str, base: str = "") -> str:
    """Return an address in its one form, without fragment and tracking; empty for what is no page."""
    try:
        url = urldefrag(urljoin(base, url.strip()))[0]
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or len(url) > MAX_URL:
            return ""
        url = normalize_url(url)
        if not urlsplit(url).path:
            url = f"{url}/" if "?" not in url else url.replace("?", "/?", 1)
    except ValueError:
        return ""
    return url


def is_trap(url: str) -> bool:
    """Return True if an address looks like one of endlessly many."""
    parts = urlsplit(url)
    folders = [part for part in parts.path.split("/") if part]
    repeats = max((folders.count(folder) for folder in set(folders)), default=0)
    return repeats > MAX_REPEATS or len(parse_qsl(parts.query, keep_blank_values=True)) > MAX_PARAMETERS


class _Enough(Exception):
    """Enough of a page was looked at."""


@dataclass
class _Head:
    """What is found while a page's tags go by, without keeping the page: its size costs no memory."""

    url: str
    base: str = ""
    canonical: str = ""
    told: str = ""
    links: dict[str, None] = field(default_factory=dict)
    tags: int = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Take note of a tag."""
        self.tags += 1
        if self.tags > MAX_TAGS or len(self.links) >= MAX_LINKS:
            raise _Enough
        href = attributes.get("href") or ""
        if tag == "meta":
            if (attributes.get("name") or "").lower() in ("robots", "threadlore"):
                self.told += f",{attributes.get('content') or ''}".lower()
        elif tag == "base":
            self.base = self.base or (tidy(href, self.url) if href else "")
        elif tag == "link":
            if "canonical" in (attributes.get("rel") or "").lower().split() and not self.canonical:
                self.canonical = tidy(href, self.base or self.url)
        elif tag in ("a", "area") and href and (link := tidy(href, self.base or self.url)):
            self.links.setdefault(link)

    def close(self) -> None:
        """Have nothing to return at the end."""


def links_of(html: str, url: str) -> Links:
    """Read the links of an HTML page, each once, in their order, without fragments.

    Time grows with the page's length alone, however its tags are nested, up to `MAX_TAGS`.
    """
    found = _Head(url)
    parser = etree.HTMLParser(target=found, encoding="utf-8", recover=True)
    try:
        content = html.encode("utf-8", "replace")
        for start in range(0, len(content), _PIECE):  # what is raised comes at the end of a piece
            parser.feed(content[start : start + _PIECE])
        parser.close()
    except _Enough:
        pass
    except (etree.LxmlError, AssertionError):  # nothing that looks like a tag
        return Links(())
    words = {word.strip() for word in found.told.split(",")}
    follow = not words & {"nofollow", "none"}
    return Links(tuple(found.links) if follow else (), found.canonical, not words & {"noindex", "none"})


def links_in(content: bytes, charset: str, url: str) -> Links:
    """Read the links of an HTML page as its server sent it."""
    try:
        text = content.decode(charset or "utf-8", "replace")
    except LookupError:
        text = content.decode("utf-8", "replace")
    return links_of(text, url)


def is_sitemap(url: str) -> bool:
    """Return True if an address names a sitemap by its ending."""
    return urlsplit(url).path.lower().endswith((".xml", ".xml.gz"))


def sitemap_of(content: bytes, url: str) -> tuple[Sequence[str], Sequence[str]]:
    """Read a sitemap; return its pages and the further sitemaps that it names, at most 50,000 of them.

    Raises ValueError for what is no sitemap, unpacks to more than 50 MB, or defines entities.
    """
    if content[:2] == b"\x1f\x8b":
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
                content = packed.read(SITEMAP_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"it cannot be unpacked: {error}") from None
    if len(content) > SITEMAP_BYTES:
        raise ValueError(f"it unpacks to more than {SITEMAP_BYTES:,} bytes")
    kind, found = "", dict[str, None]()
    inside: list[Element] = []
    try:
        for event, element in iterparse(io.BytesIO(content), events=("start", "end"), forbid_dtd=True):
            name = element.tag.rpartition("}")[2]
            if event == "start":
                inside.append(element)
                kind = kind or name
                if kind not in ("urlset", "sitemapindex"):
                    raise ValueError(f"it is no sitemap: its outer element is <{kind}>")
                if len(inside) > SITEMAP_DEPTH:
                    raise ValueError(
                        f"it is no sitemap: more than {SITEMAP_DEPTH} elements inside each other"
                    )
                continue
            inside.pop()
            if name == "loc" and len(inside) == 2 and (place := tidy(element.text or "", url)):
                found.setdefault(place)
            if inside:  # what was read is let go of, so that a large sitemap takes little memory
                inside[-1].remove(element)
            if len(found) >= SITEMAP_ENTRIES:
                break
    except (ParseError, DefusedXmlException) as error:
        raise ValueError(f"it is no sitemap: {error}") from None
    return ((), tuple(found)) if kind == "sitemapindex" else (tuple(found), ())


Host = tuple[str, int]
"""The name or number of a host, and its port."""


class Refused(Exception):
    """An address, a link or a page that is not fetched; the message says why."""


class Gate(AbstractResolver):
    """Lets a crawler through to public addresses, and to those of the hosts that may be private.

    As a resolver it leaves out private addresses: the connection goes to the address that was checked, so
    that a name cannot change its address in between, and names that look like numbers (`0x7f.1`,
    `2130706433`) come through here, too. As the maker of sockets it looks at every address once more.
    """

    def __init__(self, private: Collection[Host] = (), inner: AbstractResolver | None = None) -> None:
        self._private = frozenset(private)
        self._inner = inner or ThreadedResolver()
        self._admitted: set[tuple[str, int]] = set()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a host that may be asked; raises Refused where it has none but others."""
        found = await self._inner.resolve(host, port, family)
        if (host, port) in self._private:
            self._admitted |= {(_plain(entry["host"]), port) for entry in found}
            return found
        public = [entry for entry in found if is_public(entry["host"])]
        if found and not public:
            raise Refused(self._told(host, [entry["host"] for entry in found]))
        return public

    def check(self, host: str, port: int) -> None:
        """Refuse a host that is written as a private address; names are checked when they are resolved."""
        try:
            address = ipaddress.ip_address(host.strip("[]"))
        except ValueError:
            return
        if (host, port) in self._private:
            self._admitted.add((_plain(host), port))
        elif not is_public(str(address)):
            raise Refused(self._told(host, [host]))

    def open(self, where: tuple[Any, Any, int, str, tuple[Any, ...]]) -> socket.socket:
        """Make the socket for one address (family, type, protocol, name, address); raises Refused."""
        family, kind, protocol, _, address = where
        host, port = str(address[0]), int(address[1])
        if (_plain(host), port) not in self._admitted and not is_public(host):
            raise Refused(self._told(host, [host]))
        return socket.socket(family, kind, protocol)

    async def close(self) -> None:
        """Release the inner resolver."""
        await self._inner.close()

    def _told(self, host: str, addresses: Sequence[str]) -> str:
        shown = "" if [host] == list(addresses) else f" ({addresses[0]})"
        way = (
            "`private = true` opens the hosts of `start` alone"
            if self._private
            else "set `private = true` in its source to allow it"
        )
        return f"{host}{shown} is no public address; {way}"


def _plain(address: str) -> str:
    return str(ipaddress.ip_address(address.partition("%")[0]))
