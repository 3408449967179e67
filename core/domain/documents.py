"""Documents on their way from a source to the chunks that are searched; how texts are compared."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache


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


def content_hash(*parts: str) -> str:
    """Hash texts to 32 hexadecimal digits; the boundary between parts counts."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return digest.hexdigest()


INDENTED = 40
"""Characters of white space that a line may begin with: code pasted without a fence stays as it is."""

_SPACE = re.compile(
    r"(?P<code>(?P<fence>`{3,}+).*?(?:(?P=fence)|\Z)"
    r"|^[ \t]*(?P<tildes>~{3,}+).*?(?:^[ \t]*(?P=tildes)|\Z)"
    r"|`{1,2}[^`\n]++`++)"
    r"|(?P<lead>(?<![^\n])[^\S\n]+)(?=\S)"
    r"|(?P<lines>\n(?:[^\S\n]*+\n){2,}+)"
    r"|[^\S\n]{2,}+",
    re.MULTILINE | re.DOTALL,
)


@lru_cache(maxsize=512)  # the same posts are read again with every question asked after them
def single_spaced(text: str) -> str:
    """Return a text with one space, or one blank line, where there are several; code stays as it is.

    Code is what stands in fences and between backticks. A line keeps what it is indented by, up to 40
    characters. What is single spaced stays as it is.
    """
    return _SPACE.sub(_shortest, text)


def _shortest(found: re.Match[str]) -> str:
    if found["code"] is not None:
        return found[0]
    if found["lead"] is not None:
        return found[0][:INDENTED]
    return "\n\n" if found["lines"] is not None else " "
