"""Walking a site from its start pages, level by level, within its rules and ours."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit

from protego import Protego

from core.domain import content_hash
from core.errors import TooCostly
from core.ingestion.formats import kind_of
from core.ingestion.sources.website.fetch import AGENT, Endless, Failed, Fetched, Fetcher
from core.ingestion.sources.website.links import (
    Links,
    Refused,
    is_sitemap,
    is_trap,
    links_in,
    sitemap_of,
    tidy,
)
from core.ingestion.sources.website.page_cache import Copy, PageCache
from core.ports import Unread, Workers

ROBOTS_BYTES = 500 * 1024
"""Bytes of robots.txt that count (RFC 9309, 2.5)."""
SLOWEST = 10.0
"""Seconds of a Crawl-delay that are kept to; a crawl would take days with more."""
LOST_AFTER = 8
"""Pages that fail one after the other before it is asked whether a site is down."""
WINDOW = 16
"""Pages that are under way at once, most of them waiting for their turn."""
SPARE = 5_000
"""Addresses beyond `max_pages` that are counted."""
MAX_SITEMAPS = 500
"""Sitemaps that are read for one crawl: those of an index, and of the indexes that it names."""
MAX_SKIPPED = 5_000
"""Reasons that are kept; a site with more is hostile, or not meant."""
HTML = kind_of("html").media


class SiteDown(Exception):
    """The site does not answer; the message says how."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What belongs to a crawl. `inside` judges an address; the rest are limits."""

    inside: Callable[[str], bool]
    max_pages: int = 2_000
    max_depth: int = 10
    max_seconds: float = 3_600.0
    max_sitemaps: int = MAX_SITEMAPS


@dataclass(slots=True)
class Crawl:
    """One walk through a site. `skipped` collects (address, reason)."""

    fetcher: Fetcher
    kept: PageCache
    bounds: Bounds
    skipped: list[tuple[str, str]]
    workers: Workers
    _rules: dict[str, Protego | Failed | Refused | None] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)
    _contents: dict[str, str] = field(default_factory=dict)
    _given: set[str] = field(default_factory=set)
    _lost: int = 0
    _end: float = 0.0
    _locks: dict[str, asyncio.Lock] = field(default_factory=dict)

    async def pages(self, starts: Sequence[str]) -> AsyncIterator[Copy]:
        """Yield every page once, the start pages first; raises SiteDown."""
        self._end = time.monotonic() + self.bounds.max_seconds
        level = await self._seeds(starts)
        left = self.bounds.max_pages
        for depth in range(self.bounds.max_depth + 1):
            if len(level) > left:
                more = " or more" if len(level) - left >= SPARE else ""
                self._skip(level[left], f"{len(level) - left}{more} addresses are beyond `max_pages`")
                level = level[:left]
            left -= len(level)
            following: dict[str, None] = {}
            for at in range(0, len(level), WINDOW):
                urls = level[at : at + WINDOW]
                for url, found in zip(
                    urls, await asyncio.gather(*(self._page(url) for url in urls)), strict=True
                ):
                    if found is None:
                        continue
                    links = await self._links(found)
                    if isinstance(links, str):
                        self._skip(found.url, links)
                        continue
                    page = self._kept_page(url, found, links)
                    if isinstance(page, Copy):
                        yield page
                    named = (page,) if isinstance(page, str) and page else ()
                    for link in (*named, *links.links):
                        if len(following) > left + SPARE:  # a page may name more than there is room for
                            break
                        if link not in self._known and self.bounds.inside(link):
                            following.setdefault(link)
            level = [url for url in following if self._is_new(url)]
            if not level:
                return
            if depth == self.bounds.max_depth:
                self._skip(level[0], f"{len(level)} addresses are deeper than `max_depth`")

    async def _seeds(self, starts: Sequence[str]) -> list[str]:
        """Return the first addresses, with those of sitemaps in place of the sitemap."""
        seeds: dict[str, None] = dict.fromkeys(url for url in starts if not is_sitemap(url))
        waiting = deque(url for url in starts if is_sitemap(url))
        hosts = {urlsplit(url).netloc for url in starts}
        read: set[str] = set()
        while waiting and len(seeds) < self.bounds.max_pages:
            url = waiting.popleft()
            if url in read:
                continue
            if len(read) >= (most := self.bounds.max_sitemaps):
                self._skip(url, f"more than {most} sitemaps; {len(waiting) + 1} are not read")
                break
            read.add(url)
            try:
                if urlsplit(url).netloc not in hosts:
                    raise Refused("a sitemap on another host")
                pages, further = await self._sitemap(url)
            except (Failed, Refused, ValueError, TooCostly) as error:
                if url in starts:
                    raise SiteDown(f"the sitemap {url} cannot be read: {error}") from None
                before = None if isinstance(error, Refused) else await self._named_before(url)
                self._skip(url, f"{error}{'; what it named before stays' if before else ''}")
                pages, further = before or ((), ())
            waiting += further[: self.bounds.max_sitemaps + 1]
            for page in pages:
                if len(seeds) <= self.bounds.max_pages and self.bounds.inside(page):
                    seeds.setdefault(page)
        self._known |= set(seeds)
        return list(seeds)

    async def _sitemap(self, url: str) -> tuple[Sequence[str], Sequence[str]]:
        """Return the pages and sitemaps that a sitemap names, and keep a copy of it."""
        if self._late:
            raise Failed("the crawl took too long")
        found = await self.fetcher.fetch(url)
        if found.content is None:
            raise Refused(f"HTTP {found.status}")
        named = await self._named_by(copy := Copy(found.url, found.content, found.media, found.charset))
        self._keep(url, copy)
        return named

    async def _named_by(self, sitemap: Copy) -> tuple[Sequence[str], Sequence[str]]:
        return await asyncio.to_thread(self.workers.run, sitemap_of, sitemap.content, sitemap.url)

    async def _named_before(self, url: str) -> tuple[Sequence[str], Sequence[str]] | None:
        """Return what the copy of a sitemap names; None where there is none that can be read."""
        if before := self.kept.get(url):
            self.kept.use(url)
            with suppress(ValueError, TooCostly):
                return await self._named_by(before)
        return None

    def _keep(self, url: str, copy: Copy) -> None:
        try:
            self.kept.put(url, copy)
            self.kept.use(url)
        except OSError as error:
            raise SiteDown(f"{url} cannot be kept: {error.strerror}; make room in the home") from None

    @property
    def _late(self) -> bool:
        return time.monotonic() > self._end

    async def _page(self, url: str) -> Copy | None:
        """Fetch a page or take its earlier copy; None where there is neither."""
        before = self.kept.get(url)
        if self._late:
            if before is None:
                self._skip(url, Unread("the crawl took too long"))
            else:
                self.kept.use(url)
            return before
        try:
            if not await self._allowed(url):
                raise Refused("robots.txt forbids it")
            found = await self.fetcher.fetch(url, before.conditions if before else None)
        except Refused as error:
            self._skip(url, str(error))
            return None
        except Failed as error:
            self._lost += 1
            alone = len(self._known) == 1 and before is None
            if alone or (self._lost >= LOST_AFTER and not await self._answers(url)):
                raise SiteDown(f"{url}: {error}") from None
            self._skip(url, f"{error}; its earlier copy stays" if before else Unread(error))
            if before:
                self.kept.use(url)
            return before
        self._lost = 0
        return self._taken(url, found, before)

    def _taken(self, url: str, found: Fetched, before: Copy | None) -> Copy | None:
        if found.status == 304 and before:
            self.kept.use(url)
            return before
        if found.content is None:
            self._skip(url, f"HTTP {found.status}")
            return None
        place = tidy(found.url) or url
        if place != url and not self.bounds.inside(place):
            self._skip(url, f"it leads to {place}, which is not part of the source")
            return None
        if place != url and place in self._known:
            return None
        self._known.add(place)
        copy = Copy(place, found.content, found.media, found.charset, dict(found.headers))
        self._keep(url, copy)
        return copy

    def _kept_page(self, url: str, page: Copy, links: Links) -> Copy | str:
        """Return the page where it counts, the address that it is a copy of, or nothing."""
        if not links.index:
            self._skip(url, "it asks not to be indexed")
            return ""
        own = links.canonical
        # documentation of an old release names the newest one: that is another page for us
        if own and own != page.url and self.bounds.inside(own) and _folder(own) == _folder(page.url):
            if _stem(own) == _stem(page.url):
                page = Copy(own, page.content, page.media, page.charset, page.headers)
                self._known.add(own)
            elif _stem(own):
                self._skip(url, f"it says that it is a copy of {own}")
                return own
        digest = content_hash(page.content.decode("latin-1"))
        if twin := self._contents.get(digest):
            if twin != page.url:
                self._skip(url, f"the same as {twin}")
            return ""
        if page.url in self._given:
            return ""
        self._contents[digest] = page.url
        self._given.add(page.url)
        return page

    def _is_new(self, url: str) -> bool:
        if url in self._known or not self.bounds.inside(url):
            return False
        self._known.add(url)
        if is_trap(url):
            self._skip(url, "its address looks like one of endlessly many")
            return False
        return True

    async def _links(self, page: Copy) -> Links | str:
        """Read the links of a page, or say why they cannot be read."""
        if page.media not in HTML:
            return Links(())
        run = partial(self.workers.run, links_in, page.content, page.charset, page.url)
        try:
            return await asyncio.to_thread(run)
        except TooCostly as error:
            return Unread(error)

    async def _answers(self, url: str) -> bool:
        """Return True if the host of a page answers at all, when several of its pages did not."""
        try:
            await self.fetcher.fetch(f"{_place(url)}/robots.txt", first=ROBOTS_BYTES)
        except (Failed, Refused):
            return False
        self._lost = 0
        return True

    async def _allowed(self, url: str) -> bool:
        """Return True if a host's rules allow a page; raises what they could not be had for."""
        place = _place(url)
        async with self._locks.setdefault(place, asyncio.Lock()):
            if place not in self._rules:
                try:
                    self._rules[place] = await self._robots(place)
                except (Failed, Refused) as error:
                    self._rules[place] = error
        rules = self._rules[place]
        if isinstance(rules, Exception):
            raise type(rules)(f"robots.txt: {rules}")
        return rules is None or bool(rules.can_fetch(url, AGENT))

    async def _robots(self, place: str) -> Protego | None:
        """Read a host's rules, the first 500 KB; None where it has none. Raises Failed and Refused."""
        try:
            found = await self.fetcher.fetch(f"{place}/robots.txt", first=ROBOTS_BYTES)
        except Endless as error:  # as if there were none (RFC 9309, 2.3.1.2)
            self._skip(f"{place}/robots.txt", str(error))
            return None
        if found.content is None:  # 4xx: there are no rules; 5xx never comes here (RFC 9309, 2.3.1)
            return None
        rules = Protego.parse(found.content.decode("utf-8", "replace"))
        if delay := rules.crawl_delay(AGENT):
            self.fetcher.slow_down(urlsplit(place).hostname or "", min(float(delay), SLOWEST))
        return rules

    def _skip(self, url: str, reason: str) -> None:
        if len(self.skipped) < MAX_SKIPPED:
            self.skipped.append((url, reason))
        elif len(self.skipped) == MAX_SKIPPED:
            self.skipped.append(("…", "more were passed over than are listed"))


def _place(url: str) -> str:
    return "://".join(urlsplit(url)[:2])


def _folder(url: str) -> str:
    return _stem(url).rpartition("/")[0]


def _stem(url: str) -> str:
    """Return what two addresses of one page share: without query, index file and ending."""
    path = urlsplit(url).path
    for ending in ("/index.html", "/index.htm", ".html", ".htm", "/"):
        path = path.removesuffix(ending)
    return path
