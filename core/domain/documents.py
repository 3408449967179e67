"""The product, its releases, and its documents on their way to the chunks that are searched and found."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple


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
    """A heading with the text under it, as Markdown; `headings` runs from the outermost heading.

    `terms` are what the documentation's own index lists it under; they are searched and never shown. `page`
    is the address, relative to the document's, of the page that it is published on, where that is another.
    """

    headings: tuple[str, ...]
    anchor: str
    text: str
    terms: tuple[str, ...] = ()
    page: str = ""


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
    is_alike: bool = False
    """Whether another section of its document has the same innermost heading, so that the one around it
    tells them apart."""

    @property
    def text(self) -> str:
        """Return the page with its surroundings."""
        return "\n\n".join(part for part in (self.before, self.page, self.after) if part)

    @property
    def hash(self) -> str:
        """Hash what the page says, so that a changed page is noticed wherever it is cited."""
        return _hash_of(self.path, self.page)


class Hit(NamedTuple):
    """A search chunk found by one retriever for one query; a higher score is better."""

    chunk_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """A context chunk offered to the answer under a number; `matched` are the passages found in it.

    `margin` tells how far it stands out by how well it holds the question's tokens, among all that was looked
    at, a difference of cosines; None where that is not known.
    """

    number: int
    chunk: ContextChunk
    score: float
    matched: tuple[str, ...] = ()
    margin: float | None = None


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


@lru_cache(maxsize=8192)
def _hash_of(path: str, page: str) -> str:
    """Hash a page once, though a question compares its hash dozens of times."""
    return content_hash(path, page)


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


@dataclass(frozen=True, slots=True)
class Release:
    """One release of the product."""

    name: str
    aliases: tuple[str, ...] = ()
    latest: bool = False
    lts: bool = False


@dataclass(slots=True)
class Product:
    """What the community talks about: its name, other names for it, and its releases, oldest first.

    Everybody has the same one, so that a release which is added while the bot runs is known everywhere.
    """

    name: str
    aliases: tuple[str, ...] = ()
    releases: tuple[Release, ...] = ()
    glossary: dict[str, tuple[str, ...]] = field(default_factory=dict)
    language: str = "en"
    """The language that the documentation is written in."""
    questions: tuple[str, ...] = ()
    """Questions to show to people who do not know what to ask."""

    @property
    def latest(self) -> Release:
        """Return the release that is marked latest, or the newest one."""
        return next((r for r in self.releases if r.latest), self.releases[-1])

    def release(self, name: str) -> Release | None:
        """Return the release of exactly that name, if there is one."""
        return next((r for r in self.releases if r.name == name), None)


@dataclass(frozen=True, slots=True)
class Resolution:
    """Which release a question is about and how that was found.

    `named` holds every known release the question names, in its order; `unknown` the spellings
    that look like a release of this product but are none; `spans` the character ranges of all of
    them in the question's text.
    """

    release: str
    origin: Literal["given", "question", "thread", "channel", "person", "latest"]
    named: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    comparison: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """Versions whose release notes are asked for, and the release whose pages are to tell them.

    `until` is a version as numbers and stands for all that begin so: (3, 1) for 3.1.0 and 3.1.2. With
    `after` it is the end of a range that begins behind that version. `release` is empty where none of
    that name is known: a newer one's pages may still tell of it.
    """

    release: str
    until: tuple[int, ...]
    after: tuple[int, ...] = ()

    def covers(self, version: tuple[int, ...]) -> bool:
        """Return True if the notes of a version are asked for."""
        if not self.after:
            return begins(version, self.until)
        newer = version > self.after and not begins(version, self.after)
        return newer and (version <= self.until or begins(version, self.until))


@dataclass(frozen=True, slots=True)
class News:
    """A question about what releases bring: of which versions, and which kind of change ("" for all)."""

    spans: tuple[Span, ...]
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Dated:
    """A question for the version in which something came or went: the kind of change, and words for what."""

    kind: str
    subject: tuple[str, ...]


def begins(version: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Return True if a version is the wanted one or a patch of it: 3.1.2 is of 3.1, and 3.1 is 3.1.0."""
    shared = min(len(version), len(wanted))
    return bool(wanted) and version[:shared] == wanted[:shared] and not any(wanted[shared:])
