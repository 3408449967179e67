"""Documents on their way from a source, over sections, to the chunks that are searched and read."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain.hashing import content_hash


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A document as a source hands it over, before parsing.

    `path` is relative to the source's root; `root` is a folder on disk that includes may be read
    from (never outside of it) and `file` the document's own place there.
    """

    path: str
    url: str
    content: bytes
    format: str
    root: str = ""
    file: str = ""
    people: tuple[str, ...] = ()
    """One-way names of those who wrote it, where it is made of what people said."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with the text under it, as Markdown; `headings` runs from the outermost heading."""

    headings: tuple[str, ...]
    anchor: str
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed document: title, link without anchor, and sections in reading order."""

    path: str
    title: str
    url: str
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class ContextChunk:
    """What a model reads: a page with the neighbouring text before and after it (QAMR algorithm 1)."""

    id: str
    path: str
    title: str
    heading: str
    url: str
    page: str
    before: str = ""
    after: str = ""
    release: str = ""
    people: tuple[str, ...] = ()
    """One-way names of those who wrote it, where it is made of what people said."""

    @property
    def text(self) -> str:
        """Return the page with its surroundings."""
        return "\n\n".join(part for part in (self.before, self.page, self.after) if part)

    @property
    def hash(self) -> str:
        """Hash what the page says, so that a changed page is noticed wherever it is cited."""
        return content_hash(self.path, self.page)


@dataclass(frozen=True, slots=True)
class SearchChunk:
    """What is embedded and searched; several lead to one context chunk.

    `text` is the passage itself, `embedded` the passage under its title and heading.
    """

    id: str
    context_id: str
    text: str
    embedded: str


@dataclass(frozen=True, slots=True)
class ChunkedDocument:
    """A document cut both ways, with the hash of what it was cut from."""

    id: str
    hash: str
    source: str
    path: str
    title: str
    url: str
    contexts: tuple[ContextChunk, ...]
    searches: tuple[SearchChunk, ...]
    people: tuple[str, ...] = ()
