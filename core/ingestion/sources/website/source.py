"""Documents of a website, from start pages or a sitemap."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import queue
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, ClassVar, cast
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, Field

from core.catalogue import SourceOptions, SourceSpec, without_password
from core.domain import RawDocument, content_hash
from core.errors import SourceAway, SourceError
from core.ingestion.formats import MAX_DOCUMENT_BYTES, told_by
from core.ingestion.sources._files import Patterns
from core.ingestion.sources.website.crawl import HTML, MAX_SITEMAPS, Bounds, Crawl, SiteDown
from core.ingestion.sources.website.fetch import PAGE_SECONDS, Failed, Fetcher, host_of
from core.ingestion.sources.website.links import Refused, is_sitemap, tidy
from core.ingestion.sources.website.page_cache import Copy, PageCache
from core.ports import Workers
from core.settings import Settings

STOP_SECONDS = 0.2
"""How often a crawl looks whether it is to end."""
_LATER = "check the network; what was read before keeps answering"
_PIECE = 256 * 1024
"""Bytes that are decoded in one go, in which no other thread runs."""
_AHEAD = 32
"""Pages that are fetched ahead of what is read."""


def _address(value: str) -> str:
    if not (address := tidy(value)):
        raise ValueError('the address of a page or a sitemap, "https://docs.example.com/"')
    return address


class Options(SourceOptions):
    """`start` holds pages or sitemaps; what lies below their folders belongs to the source.

    With `include`, patterns on the path below the host decide instead. `delay` is in seconds between two
    requests to a host, `minutes` bounds a crawl; `private` allows the hosts of `start`, and only them, to
    have addresses of the own network.
    """

    start: Annotated[list[Annotated[str, AfterValidator(_address)]], Field(min_length=1)]
    max_pages: Annotated[int, Field(ge=1, le=100_000)] = 2_000
    max_depth: Annotated[int, Field(ge=0, le=100)] = 10
    max_sitemaps: Annotated[int, Field(ge=1, le=10_000)] = MAX_SITEMAPS
    delay: Annotated[float, Field(ge=0, le=60, strict=False)] = 0.25
    parallel: Annotated[int, Field(ge=1, le=16)] = 4
    minutes: Annotated[float, Field(gt=0, le=24 * 60, strict=False)] = 60.0
    private: bool = False
    apart: ClassVar[tuple[str, ...]] = (
        "start", "max_pages", "max_depth", "max_sitemaps", "delay", "parallel", "minutes", "private"
    )  # fmt: skip

    @property
    def called(self) -> str:
        """Return the first start, and how many more there are."""
        shown = re.sub(r"^https?://", "", without_password(self.start[0])).rstrip("/")
        return f"{shown}+{len(self.start) - 1}" if len(self.start) > 1 else shown


class WebsiteSource:
    """Walk through a website and hand over its pages."""

    def __init__(
        self,
        spec: SourceSpec,
        home: Path,
        workers: Workers,
        max_bytes: int = MAX_DOCUMENT_BYTES,
        page_seconds: float = PAGE_SECONDS,
    ) -> None:
        self._options = cast(Options, spec.options)
        self._spec, self._workers = spec, workers
        self._max_bytes, self._page_seconds = max_bytes, page_seconds
        self._starts = self._options.start
        self.name = f"website:{self._options.called}{spec.suffix}"
        # a twin sweeps what it does not use; one with other patterns has its own copies already
        apart = [spec.suffix] if " = " in spec.suffix else []
        folder = content_hash(*self._starts, *spec.include, *spec.exclude, *apart)[:16]
        self._kept = home / "sources" / "website" / folder
        self._hosts = {urlsplit(url).netloc for url in self._starts}
        self._folders = tuple(_folder(url) for url in self._starts)
        self._include, self._exclude = Patterns(spec.include), Patterns(spec.exclude)
        self.skipped: list[tuple[str, str]] = []

    def documents(self) -> Iterator[RawDocument]:
        """Yield each page; raises SourceError where the site does not answer, or shows no page."""
        self.skipped = []
        found = False
        pages: queue.Queue[Copy | BaseException | None] = queue.Queue(_AHEAD)
        stop = threading.Event()
        worker = threading.Thread(target=self._work, args=(pages, stop), name=self.name, daemon=True)
        worker.start()
        try:
            while (page := pages.get()) is not None:
                if isinstance(page, BaseException):
                    raise page
                document = self._document(page)
                if isinstance(document, str):
                    self.skipped.append((page.url, document))
                else:
                    found = True
                    yield document
        finally:
            stop.set()
            worker.join()
        if not found and self.skipped:
            raise self._spec.error(self._nothing())

    def _nothing(self) -> str:
        """Say why no page can be read, by its start if that is told, and what to do."""
        url, reason = next((entry for entry in self.skipped if entry[0] in self._starts), self.skipped[0])
        advice = "" if "`" in reason else "; correct `start`"
        if "which is not part of the source" in reason:
            advice = "; write that into `start` if it is the documentation"
        return f"No page of the site can be read: {url}: {reason}{advice}"

    def reach(self, seconds: float) -> None:
        """Ask for the start pages; raises SourceAway and SourceError."""
        asyncio.run(self._reach(seconds))

    async def _reach(self, seconds: float) -> None:
        async def ask(url: str) -> None:
            try:
                async with asyncio.timeout(seconds):
                    found = await fetcher.fetch(url, first=1)
            except Refused as error:
                raise self._spec.error(f"{url}: {error}; correct `start`") from None
            except (Failed, TimeoutError) as error:
                why = str(error) or f"no answer within {seconds:g} s"
                raise self._spec.error(f"{url}: {why}; {_LATER}", SourceAway) from None
            if found.status != 200:
                raise self._spec.error(f"{url} answers with HTTP {found.status}; correct `start`")

        async with self._fetcher(seconds, delay=0.0) as fetcher:
            for failed in await asyncio.gather(*map(ask, self._starts), return_exceptions=True):
                if failed:
                    raise failed

    def _fetcher(self, seconds: float, delay: float) -> Fetcher:
        return Fetcher(
            private={host_of(url) for url in self._starts} if self._options.private else (),
            delay=delay,
            parallel=self._options.parallel,
            max_bytes=self._max_bytes,
            page_seconds=seconds,
        )

    def inside(self, url: str) -> bool:
        """Return True if an address belongs to the source."""
        parts = urlsplit(url)
        path = unquote(parts.path).lstrip("/")
        if parts.netloc not in self._hosts or self._exclude.match(path):
            return False
        if self._spec.include:
            return self._include.match(path) or url in self._starts
        return any(f"{parts.netloc}{parts.path}".startswith(folder) for folder in self._folders)

    def _work(self, pages: queue.Queue[Copy | BaseException | None], stop: threading.Event) -> None:
        """Crawl in a loop of its own; what goes wrong travels to the reader."""
        end: BaseException | None = None
        try:
            asyncio.run(self._crawled(pages, stop))
        except SiteDown as error:
            end = self._spec.error(f"The site cannot be read: {error}; try later, or correct `start`")
        except SourceError as error:
            end = error
        except Exception as error:  # noqa: BLE001 - raised again where the pages are read
            end = error
        while not stop.is_set():
            try:
                pages.put(end, timeout=0.1)
                return
            except queue.Full:
                continue

    async def _crawled(self, pages: queue.Queue[Copy | BaseException | None], stop: threading.Event) -> None:
        """Crawl until the end, or until nobody reads the pages any more, wherever the crawl is then."""
        crawling = asyncio.create_task(self._crawl(pages, stop))
        while not crawling.done():
            await asyncio.wait({crawling}, timeout=STOP_SECONDS)
            if stop.is_set():
                crawling.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await crawling

    async def _crawl(self, pages: queue.Queue[Copy | BaseException | None], stop: threading.Event) -> None:
        kept, options = PageCache(self._kept), self._options
        seconds = options.minutes * 60
        bounds = Bounds(self.inside, options.max_pages, options.max_depth, seconds, options.max_sitemaps)
        async with self._fetcher(self._page_seconds, options.delay) as fetcher:
            crawl = Crawl(fetcher, kept, bounds, self.skipped, self._workers)
            async for page in crawl.pages(self._starts):
                while not stop.is_set():
                    try:
                        pages.put_nowait(page)
                        break
                    except queue.Full:
                        await asyncio.sleep(0.02)
                if stop.is_set():
                    return
        kept.sweep()

    def _document(self, page: Copy) -> RawDocument | str:
        """Return the page as a document, or say why not."""
        parts = urlsplit(page.url)
        path = unquote(parts.path).strip("/") or "index"
        path += f"?{parts.query}" if parts.query else ""
        if len(self._hosts) > 1:
            path = f"{parts.netloc}/{path}"
        kind = self._spec.format or ("html" if page.media in HTML else told_by(page.media, parts.path))
        if kind is None:
            return f"{page.media or 'what it is'} is no text"
        if not page.content.strip():
            return "empty"
        return RawDocument(path, page.url, _as_utf8(page), kind)


def _as_utf8(page: Copy) -> bytes:
    """Return the content in UTF-8 with its mark, as the server's charset says (it beats the page's own)."""
    charset = "cp1252" if page.charset.lower() in _AS_WINDOWS else page.charset
    if not charset or page.content.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return page.content
    try:
        " ".encode(charset)  # not every codec is one of texts
        pieces = (page.content[at : at + _PIECE] for at in range(0, len(page.content), _PIECE))
        return b"\xef\xbb\xbf" + b"".join(piece.encode() for piece in codecs.iterdecode(pieces, charset))
    except (LookupError, UnicodeError, TypeError):
        return page.content


_VERSION = re.compile(r"/(?:v?\d+(?:\.\d+)*(?:\.x)?|latest|stable|current|main|master|dev)$", re.IGNORECASE)
_AS_WINDOWS = frozenset({"iso-8859-1", "iso8859-1", "latin1", "latin-1", "us-ascii", "ascii"})
"""Charsets that browsers read as Windows-1252 (WHATWG Encoding)."""


def _folder(url: str) -> str:
    """Return host and folder that a start page opens; of a sitemap, the whole host.

    A last part that names a version is a folder, also where people leave its slash out.
    """
    parts = urlsplit(url)
    path = f"{parts.path}/" if _VERSION.search(parts.path) else parts.path
    folder = "/" if is_sitemap(url) else path[: path.rfind("/") + 1]
    return f"{parts.netloc}{folder}"


def open_source(spec: SourceSpec, settings: Settings, workers: Workers) -> WebsiteSource:
    """Build the source of a website."""
    return WebsiteSource(spec, settings.home, workers)
