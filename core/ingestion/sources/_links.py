"""What a page says of itself and of others: its own address, its links, and what crawlers may do."""

from __future__ import annotations

import gzip
import io
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urldefrag, urljoin, urlsplit
from xml.etree.ElementTree import ParseError

from bs4 import BeautifulSoup
from bs4.filter import SoupStrainer
from courlan import normalize_url
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

MAX_URL = 500
"""Characters of an address; longer ones are made by machines for machines."""
MAX_REPEATS = 3
"""How often one folder's name may stand in an address: more is a link that leads into itself."""
MAX_PARAMETERS = 3
"""Parameters of an address; more are the settings of a search, without end."""
SITEMAP_BYTES = 50_000_000
"""Bytes of a sitemap, unpacked (the limit of the sitemap protocol)."""
_NAMES = ["a", "area", "base", "link", "meta"]
_WANTED = SoupStrainer(_NAMES)


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
    """Tell whether an address looks like one of endlessly many."""
    parts = urlsplit(url)
    folders = [part for part in parts.path.split("/") if part]
    repeats = max((folders.count(folder) for folder in set(folders)), default=0)
    return repeats > MAX_REPEATS or len(parse_qsl(parts.query, keep_blank_values=True)) > MAX_PARAMETERS


def links_of(html: str, url: str) -> Links:
    """Read the links of an HTML page, each once, in their order, without fragments."""
    soup = BeautifulSoup(html, "lxml", parse_only=_WANTED)
    base, canonical, told = url, "", ""
    found: dict[str, None] = {}
    for tag in soup.find_all(_NAMES):
        if tag.name == "meta":
            if str(tag.get("name") or "").lower() in ("robots", "threadlore"):
                told += f",{tag.get('content') or ''}".lower()
            continue
        href = str(tag.get("href") or "")
        if tag.name == "base" and base == url and href:
            base = tidy(href, url) or url
        elif tag.name == "link":
            relations = tag.get("rel") or ()
            if "canonical" in relations and not canonical:
                canonical = tidy(href, base)
        elif href and tag.name in ("a", "area") and (link := tidy(href, base)):
            found.setdefault(link)
    words = {word.strip() for word in told.split(",")}
    follow = not words & {"nofollow", "none"}
    return Links(tuple(found) if follow else (), canonical, not words & {"noindex", "none"})


def is_sitemap(url: str) -> bool:
    """Tell whether an address names a sitemap by its ending."""
    return urlsplit(url).path.lower().endswith((".xml", ".xml.gz"))


def sitemap_of(content: bytes, url: str) -> tuple[Sequence[str], Sequence[str]]:
    """Read a sitemap; return its pages and the further sitemaps that it names.

    Raises ValueError for what is no sitemap, unpacks to more than 50 MB, or defines entities.
    """
    if content[:2] == b"\x1f\x8b":
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
            content = packed.read(SITEMAP_BYTES + 1)
        if len(content) > SITEMAP_BYTES:
            raise ValueError(f"it unpacks to more than {SITEMAP_BYTES:,} bytes")
    try:
        root = fromstring(content, forbid_dtd=True)
    except (ParseError, DefusedXmlException) as error:
        raise ValueError(f"it is no sitemap: {error}") from None
    kind = root.tag.rpartition("}")[2]
    if kind not in ("urlset", "sitemapindex"):
        raise ValueError(f"it is no sitemap: its outer element is <{kind}>")
    places = [
        tidy(inner.text or "", url)
        for entry in root
        for inner in entry
        if inner.tag.rpartition("}")[2] == "loc"
    ]
    places = [place for place in dict.fromkeys(places) if place]
    return ((), places) if kind == "sitemapindex" else (places, ())
