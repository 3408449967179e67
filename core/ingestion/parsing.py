"""Raw documents to parsed ones: decode the bytes, then hand over to the format's own file; then to chunks.

A worker process does it in one go, and every new one pays for what is imported here.
"""

from __future__ import annotations

import asyncio
import codecs
import logging
import re
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

from core.domain import ChunkedDocument, Document, RawDocument, content_hash
from core.errors import NoDocument, OverQuota, SourceError, ThreadloreError
from core.ingestion import formats
from core.ingestion.chunking import chunk
from core.ingestion.formats._shared import without_nul
from core.ports import Source, Workers
from core.text.invisible import visible
from core.text.markup import literal, unlinked
from core.text.words import one_line

MAX_CONTROL_SHARE = 0.02
"""Share of control characters above which what is no UTF-8 counts as binary; ours."""

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(
    rb"""<(?:meta|\?xml)\b[^>]{0,300}?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{2,40})""", re.I
)
_DECLARATION_BYTES = 4096
"""Where browsers look for a declaration: the first 1,024 bytes (HTML standard); pages are sloppier."""
# Browsers read both names as Windows-1252 (encoding.spec.whatwg.org).
_AS_WINDOWS = frozenset({"iso8859-1", "ascii"})
NO_CHARSETS = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "utf-7"})
"""Codecs that are no page's charset and cost far more than linear time or change the text's meaning."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f]")


def parse(raw: RawDocument) -> Document:
    """Parse a raw document to its title and sections (none where it holds no text of its own).

    What the format's own file leaves as text says what it says: no character in it is invisible, and none
    reads as a link or an entity of Markdown.
    Raises SourceError, with what to do, for content that is too large, empty, binary or nested
    beyond reason.
    """
    size, kind = len(raw.content), formats.kind_of(raw.format)
    limit = kind.max_bytes
    if size > limit:
        raise SourceError(
            f"{raw.path} has {size / 1e6:.1f} MB, more than the {limit / 1e6:.0f} MB that one"
            " document may have; split it or leave it out of the source."
        )
    parser = formats.parser_of(raw.format)
    text = "" if kind.is_binary else decode(raw)
    if not text.strip() and not kind.is_binary:
        raise NoDocument(f"{raw.path} is empty; fill it or leave it out of the source.")
    try:
        document: Document = parser.parse(raw, visible(text))
    except RecursionError:
        raise SourceError(
            f"{raw.path} is nested too deeply to be read; simplify it or leave it out of the source."
        ) from None
    sections = (
        replace(
            section,
            headings=tuple(_heading(heading) for heading in section.headings),
            text=literal(visible(section.text)),
            terms=tuple(one_line(visible(term)) for term in section.terms),
        )
        for section in document.sections
    )
    told = tuple(section for section in sections if section.text.strip())
    return replace(document, title=_heading(document.title), sections=told)


def _heading(text: str) -> str:
    return unlinked(one_line(visible(text).replace("`", "")))


def reaches_out(raw: RawDocument) -> bool:
    """Return True if other files are part of a document, so that it may change while its own bytes do not."""
    reaching = formats.kind_of(raw.format).reaching
    return bool(raw.root and reaching and reaching.search(raw.content))


def decode(raw: RawDocument) -> str:
    """Decode a document's bytes: byte order mark, declared charset (HTML), UTF-8, then Windows-1252.

    Line ends become `\\n`. Raises SourceError where the bytes are no text.
    """
    text = _decoded(raw)
    if text is None:
        raise SourceError(f"{raw.path} is a binary file, not {raw.format}; leave it out of the source.")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n").replace("\v", "\n")


def _decoded(raw: RawDocument) -> str | None:
    content = raw.content
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            text = content[len(mark) :].decode(encoding, "replace")
            return None if "\0" in text else text
    said = without_nul(content)
    if said is None:
        return None
    declared = _declared(said) if raw.format == "html" else ""
    for encoding in filter(None, (declared, "utf-8")):
        with suppress(UnicodeDecodeError, LookupError):
            return said.decode(encoding)
    try:
        text = said.decode("cp1252")
    except UnicodeDecodeError:
        text = said.decode("latin-1")
    return None if len(_CONTROL.findall(text)) > MAX_CONTROL_SHARE * len(text) else text


def _declared(content: bytes) -> str:
    found = _DECLARED.search(content[:_DECLARATION_BYTES])
    if not found:
        return ""
    try:
        codec = codecs.lookup(found.group(1).decode("ascii"))
    except (LookupError, ValueError):
        return ""
    if codec.name in _AS_WINDOWS:
        return "cp1252"
    # A page whose declaration could be read byte by byte cannot be UTF-16 or UTF-32 (HTML standard).
    return "" if codec.name in NO_CHARSETS or codec.name.startswith(("utf-16", "utf-32")) else codec.name


INDEX_VERSION = "26"
"""Raised when parsing or chunking change, so that unchanged files are read again."""
PDF_PATIENCE = 10.0
"""Times as long as another document a PDF may take: a page takes 0.1 s, and manuals have thousands."""


def cut(
    raw: RawDocument,
    release: str,
    source: str,
    count_tokens: Callable[[str], int],
    max_tokens: int,
    before: str = "",
) -> ChunkedDocument | None:
    """Parse and cut a document; None where its hash is the one `before`.

    Raises SourceError with what is wrong with it, and MemoryError.
    """
    try:
        return _cut(raw, release, source, count_tokens, max_tokens, before)
    except (ThreadloreError, MemoryError):
        raise
    except Exception as error:  # one page that trips a parser must not keep the others from being read
        raise SourceError(f"it cannot be parsed ({type(error).__name__}: {error})") from error


_MOVED = re.compile(
    r"\W*(?:note\W+)?(?:this|the)\s(?:section|page|document|documentation|content|chapter|guide|information)\s"
    r"(?:has|have|was|were)\s(?:been\s)?(?:moved|relocated)\b[^.\n]{0,200}\.?"
    r"(?:\s[^.\n]{0,40}\b(?:update|bookmarks?|links?|references?|redirect\w*)\b[^.\n]{0,80}\.?)?\s*",
    re.IGNORECASE,
)
"""All that a section says whose text is somewhere else by now."""


def without_moved(document: Document) -> Document:
    """Return a document without the sections that only say where their text has gone."""
    left = tuple(section for section in document.sections if not _MOVED.fullmatch(section.text))
    return replace(document, sections=left)


def patience(raw: RawDocument) -> float:
    """Return by how much the limit of time is multiplied for a document."""
    return PDF_PATIENCE if raw.format == "pdf" else 1.0


def _cut(
    raw: RawDocument,
    release: str,
    source: str,
    count_tokens: Callable[[str], int],
    max_tokens: int,
    before: str,
) -> ChunkedDocument | None:
    content = raw.content.decode("latin-1")
    site = formats.configured(raw)
    hash_ = content_hash(INDEX_VERSION, str(max_tokens), raw.path, raw.url, raw.format, content, site)
    document = None
    if reaches_out(raw):  # what it includes may change while it stays the same
        document = parse(raw)
        read = (text for s in document.sections for text in (*s.headings, s.page + s.anchor, s.text))
        hash_ = content_hash(hash_, *read)
    if before == hash_:
        return None
    made = chunk(
        without_moved(document or parse(raw)),
        release=release,
        source=source,
        count_tokens=count_tokens,
        max_tokens=max_tokens,
    )
    if not made.searches:
        raise NoDocument("holds no text")
    return replace(_keyed(made, hash_), people=raw.people)


def _keyed(made: ChunkedDocument, hash_: str) -> ChunkedDocument:
    """Let every id depend on the hash, so that two versions of a document share none."""
    contexts = {context.id: content_hash(hash_, context.id) for context in made.contexts}
    return replace(
        made,
        id=content_hash(hash_, made.id),
        hash=hash_,
        contexts=tuple(replace(context, id=contexts[context.id]) for context in made.contexts),
        searches=tuple(
            replace(piece, id=content_hash(hash_, piece.id), context_id=contexts[piece.context_id])
            for piece in made.searches
        ),
    )


log = logging.getLogger(__name__)


@asynccontextmanager
async def opened(source: Source, workers: Workers) -> AsyncIterator[Iterator[RawDocument]]:
    """Begin to read a source in a thread, and let go of it in one: a crawler may have to be waited for.

    Whatever breaks the reading off ends what `workers` do for it.
    """
    documents = await asyncio.to_thread(_begun, source)
    try:
        yield documents
    except BaseException:  # also when it is cancelled, for a crawler waits for its worker
        workers.interrupt()
        raise
    finally:
        await asyncio.to_thread(_ended, documents)


def _ended(documents: Iterator[RawDocument]) -> None:
    if isinstance(documents, Generator):
        with suppress(ValueError):  # a thread whose caller was cancelled still reads; it ends by itself
            documents.close()


def _begun(source: Source) -> Iterator[RawDocument]:
    """Begin to read a source; whatever goes wrong is a SourceError."""
    try:
        return iter(source.documents())
    except ThreadloreError:
        raise
    except Exception as error:  # anything may lie in a source, and the others are to be read
        raise _broken(source, error) from error


def following(source: Source, documents: Iterator[RawDocument]) -> RawDocument | None:
    """Return the next document, None at the end; whatever goes wrong is a SourceError."""
    try:
        return next(documents, None)
    except ThreadloreError:
        raise
    except Exception as error:  # anything may lie in a source, and the others are to be read
        raise _broken(source, error) from error


def _broken(source: Source, error: Exception) -> SourceError:
    log.error("%s cannot be read", source.name, exc_info=error)
    return SourceError(
        f"{source.name} cannot be read ({type(error).__name__}: {error}); the log says where. Its pages of "
        f"before stay."
    )


@dataclass(frozen=True, slots=True)
class Quota:
    """Limits of a reindex, and of pairs made of documents, looked at before each batch; 0 is no limit.

    `max_passages` is of one release, `reserve_bytes` what stays free where `free` looks.
    """

    max_passages: int = 0
    reserve_bytes: int = 0
    free: Callable[[], int] = lambda: 0

    def is_over(self, count: int) -> bool:
        """Return True if these are more passages than one release may have."""
        return bool(self.max_passages) and count > self.max_passages

    def check_passages(self, release: str, count: int) -> None:
        """Raise OverQuota where a corpus would have too many passages."""
        if self.is_over(count):
            raise OverQuota(
                f"The pages of {release} have {count:,} passages and more may come, MAX_PASSAGES allows "
                f"{self.max_passages:,}; leave pages out (`exclude`, `max_pages`), or raise it. What was "
                f"indexed before goes on answering, and the next run goes on where this one stopped."
            )

    def check_pairs(self, release: str, count: int) -> None:
        """Raise OverQuota where more pairs were made of a release's pages than it may have passages."""
        if self.is_over(count):
            raise OverQuota(
                f"{count:,} pairs were made of the pages of {release} and more may come, MAX_PASSAGES allows "
                f"{self.max_passages:,}; raise it, leave pages out (`exclude`, `max_pages`), or make no more "
                f"pairs (PREGENERATE=off). What was made is searched, and the next run goes on where this "
                f"one stopped."
            )

    def check_disk(self) -> None:
        """Raise OverQuota where too little of the disk is left."""
        if self.reserve_bytes and (free := self.free()) < self.reserve_bytes:
            raise OverQuota(
                f"The disk of the home folder has {free / 1e6:,.0f} MB left, an index leaves "
                f"{self.reserve_bytes / 1e6:,.0f} MB free (DISK_RESERVE_MB); free some space. What was "
                f"indexed before goes on answering, and the next run goes on where this one stopped."
            )


UNLIMITED = Quota()
