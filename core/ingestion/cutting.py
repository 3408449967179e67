"""A raw document to its chunks in one go: what a worker process does with a document.

It imports what parsing needs and no more, for every new worker pays for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from core.domain import ChunkedDocument, RawDocument, content_hash
from core.errors import SourceError, ThreadloreError
from core.ingestion.chunking import chunk
from core.ingestion.parsing import parse, reaches_out

INDEX_VERSION = "5"
"""Raised when parsing or chunking change, so that unchanged files are read anew."""
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
    hash_ = content_hash(INDEX_VERSION, str(max_tokens), raw.path, raw.url, raw.format, content)
    document = None
    if reaches_out(raw):  # what it includes may change while it stays the same
        document = parse(raw)
        hash_ = content_hash(hash_, *(t for s in document.sections for t in (*s.headings, s.anchor, s.text)))
    if before == hash_:
        return None
    made = chunk(
        document or parse(raw),
        release=release,
        source=source,
        count_tokens=count_tokens,
        max_tokens=max_tokens,
    )
    if not made.searches:
        raise SourceError("holds no text")
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
