"""Dual chunking (QAMR, algorithm 1): small chunks to search, a page with its surroundings to read.

A *page* is a section, or a part of one that is longer than a page. Sections are never merged, not
even tiny ones: a page has one anchor, and an answer that cites it must land where its words stand.
Each search chunk leads to one page, each page to one context chunk.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import urljoin

from core.domain import ChunkedDocument, ContextChunk, Document, SearchChunk, Section, content_hash
from core.ingestion.blocks import Piece, fitting, groups, join, pieces
from core.ingestion.sites import anchored
from core.text.markup import GAP, address

PAGE_CHARACTERS = 2_000
"""Size of a page; QAMR's 500 characters of padding are a third to a quarter of its pages."""
SEARCH_CHUNKS = 2
"""Search chunks per page (QAMR, table II); more where they would not fit the encoder."""
SURROUND_CHARACTERS = 500
"""Characters of the neighbouring pages in a context chunk (QAMR, table II)."""
HEAD_CHARACTERS = 80
"""Characters of an item's beginning that stand before a page which goes on with it; ours."""
_ITEM = re.compile(r"^( *)(?:[-*+]|\d{1,3}[.)]) ")
SENTENCES = 3
"""Sentences that stay together (Hybrid CRAG)."""
PREFIX_SHARE = 0.25
"""Share of the encoder's tokens that title and headings may take; ours."""
WHOLE_SHARE = 0.5
"""Share of the encoder's tokens up to which a page stays one search chunk; ours: QAMR's pages are far longer,
and half of a config value's few lines is found by nobody."""
CRUMB_TOKENS = 16
"""Tokens below which a search chunk joins its neighbour if there is room; ours."""
PREVIEW_CHARACTERS = 40
"""Characters below which a neighbour's words are not worth quoting; ours."""

CountTokens = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a section, of bounded size."""

    section: Section
    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """Write the page as Markdown."""
        return join(self.pieces)


def chunk(
    document: Document,
    *,
    release: str,
    source: str,
    count_tokens: CountTokens,
    max_tokens: int,
    page_characters: int = PAGE_CHARACTERS,
    k: int = SEARCH_CHUNKS,
    surround: int = SURROUND_CHARACTERS,
) -> ChunkedDocument:
    """Cut a document into context chunks and search chunks (QAMR, algorithm 1).

    `count_tokens` counts special tokens as well; the embedded form of every search chunk, title
    and headings included, has at most `max_tokens`. Ids are hashes of release, source, path and
    content: the same document gives the same chunks.
    """
    content = content_hash(
        document.title,
        document.url,
        *(
            part
            for s in document.sections
            for part in (" > ".join(s.headings), s.page + s.anchor, s.text, *s.terms)
        ),
    )
    document_id = content_hash(release, source, document.path, content)
    found = [page for section in document.sections for page in cut_pages(section, page_characters)]
    contexts: list[ContextChunk] = []
    searches: list[SearchChunk] = []
    heads = _heads(found)
    for position, page in enumerate(found):
        near = (
            _before(found[position - 1], page, surround, heads[position]) if position else "",
            _after(found[position + 1], page, surround) if position + 1 < len(found) else "",
        )
        context = _context(content_hash(document_id, str(position)), document, page, near, release)
        contexts.append(context)
        prefix = _prefix(document.title, page.section.headings, count_tokens, max_tokens)
        cut = cut_search_chunks(page, prefix, count_tokens, max_tokens, k)
        if page.section.terms and (not position or found[position - 1].section is not page.section):
            cut = [*cut, _listed(page.section.terms, prefix, count_tokens, max_tokens)]
        for ordinal, text in enumerate(cut):
            searches.append(
                SearchChunk(
                    content_hash(context.id, str(ordinal), text), context.id, text, _embedded(prefix, text)
                )
            )
    return ChunkedDocument(
        document_id,
        content,
        source,
        document.path,
        document.title,
        document.url,
        tuple(contexts),
        tuple(searches),
    )


def _listed(terms: Sequence[str], prefix: str, count_tokens: CountTokens, max_tokens: int) -> str:
    """Return what a section is listed under as one more text to search, as far as it fits; ours."""
    kept = list(terms)
    while len(kept) > 1 and count_tokens(_embedded(prefix, ", ".join(kept))) > max_tokens:
        kept.pop()
    return ", ".join(kept)


def _context(key: str, document: Document, page: Page, near: tuple[str, str], release: str) -> ContextChunk:
    """Return a page of a document as a context chunk; `near` is what stands before and after it."""
    return ContextChunk(
        id=key,
        path=document.path,
        title=document.title,
        heading=" > ".join(page.section.headings),
        url=linked(document.url, page.section),
        page=page.text,
        before=near[0],
        after=near[1],
        release=release,
    )


# --- pages ---------------------------------------------------------------------------------------


def cut_pages(section: Section, size: int) -> list[Page]:
    """Cut a section into pages of at most `size` characters: at paragraphs, then sentences, then lines."""
    blocks = pieces(section.text)
    if not blocks:
        return []
    whole = Page(section, tuple(blocks))
    if len(whole.text) <= size:
        return [whole]
    units = [part for block in blocks for part in fitting(block, lambda text: len(text) <= size)]
    # Even pages rather than full ones and a crumb: what is left over is spread.
    target = max(sum(len(unit.text) for unit in units) / -(-len(whole.text) // size), 1)
    found: list[Page] = []
    current: list[Piece] = []
    length = 0
    for unit in units:
        added = len(unit.text) + 2
        full = length + added > size + 2
        # A heading-like line or a question goes with what it introduces, if there is any room.
        led = bool(current) and current[-1].leads
        enough = length + added / 2 > target and not led
        if current and (full or enough):
            carried = (
                [current.pop()]
                if full and led and len(current) > 1 and len(current[-1].text) + added <= size
                else []
            )
            found.append(Page(section, tuple(current)))
            current, length = carried, sum(len(piece.text) + 2 for piece in carried)
        current.append(unit)
        length += added
    found.append(Page(section, tuple(current)))
    return found


# --- search chunks -------------------------------------------------------------------------------


def cut_search_chunks(
    page: Page, prefix: str, count_tokens: CountTokens, max_tokens: int, k: int = SEARCH_CHUNKS
) -> list[str]:
    """Cut a page into `k` search chunks, or as many more as it takes for each to fit the encoder.

    A page that fills less than half of the encoder stays whole.
    """
    if count_tokens(_embedded(prefix, page.text)) <= max_tokens * WHOLE_SHARE:
        return [page.text]

    def fits(text: str) -> bool:
        return count_tokens(_embedded(prefix, text)) <= max_tokens

    units = [
        part for piece in page.pieces for group in groups(piece, SENTENCES) for part in fitting(group, fits)
    ]
    sizes = [count_tokens(unit.text) for unit in units]
    for count in range(min(max(k, 1), len(units)), len(units)):
        cuts = _without_crumbs(units, sizes, _balanced(units, sizes, count), fits)
        texts = [join(units[start:stop]) for start, stop in pairwise(cuts)]
        if all(fits(text) for text in texts):
            return texts
    cuts = _without_crumbs(units, sizes, list(range(len(units) + 1)), fits)
    return [join(units[start:stop]) for start, stop in pairwise(cuts)]


def _without_crumbs(
    units: Sequence[Piece], sizes: Sequence[int], cuts: list[int], fits: Callable[[str], bool]
) -> list[int]:
    """Take out the cuts beside runs of a few words, where the neighbour has room for them."""
    position = 0
    while position < len(cuts) - 1 and len(cuts) > 2:
        start, stop = cuts[position], cuts[position + 1]
        if sum(sizes[start:stop]) < CRUMB_TOKENS:
            following = [position + 1] if position + 2 < len(cuts) else []
            for cut in (*following, *([position] if position else [])):
                if fits(join(units[cuts[cut - 1] : cuts[cut + 1]])):
                    del cuts[cut]
                    position = max(cut - 2, -1)
                    break
        position += 1
    return cuts


def _balanced(units: Sequence[Piece], sizes: Sequence[int], count: int) -> list[int]:
    """Choose where to cut units into `count` runs of about equal size, not behind one that leads on."""
    total = sum(sizes)
    cuts = [0]
    passed = 0
    for position in range(1, len(units)):
        passed += sizes[position - 1]
        left = len(units) - position
        wanted = count - len(cuts)
        if wanted <= 0:
            break
        due = passed + sizes[position] / 2 >= total * len(cuts) / count
        if left <= wanted or (due and not (units[position - 1].leads and left > wanted)):
            cuts.append(position)
    return [*cuts, len(units)]


def _prefix(title: str, headings: Sequence[str], count_tokens: CountTokens, max_tokens: int) -> str:
    """Write title and headings for the embedder; outer headings go first where they take too much."""
    parts = [part for part in headings if part]
    if title and (not parts or parts[0] != title):
        parts.insert(0, title)
    budget = max_tokens * PREFIX_SHARE
    while len(parts) > 2 and count_tokens(" > ".join(parts)) > budget:
        del parts[1]
    if len(parts) == 2 and count_tokens(" > ".join(parts)) > budget:
        del parts[0]
    words = " > ".join(parts).split()
    while words and count_tokens(" ".join(words)) > budget:
        words = words[: len(words) * 3 // 4]
    return " ".join(words)


def _embedded(prefix: str, text: str) -> str:
    return f"{prefix}\n{text}" if prefix else text


# --- context chunks ------------------------------------------------------------------------------


def _before(neighbour: Page, page: Page, size: int, head: str) -> str:
    """Return what stands before a page, and first how the `head` begins with whose entry it goes on."""
    edge = _edge(neighbour.pieces, size - len(head), last=True)
    edge = edge if not head or head.removesuffix(f" {GAP}") in edge else f"{head}\n\n{edge}"
    return _quoted(neighbour, page, edge)


def _heads(pages: Sequence[Page]) -> list[str]:
    """Return for each page how the item of a list begins that it goes on with, cut short; "" for none.

    A long entry of a setting is told on several pages, and its name stands on the first.
    """
    found: list[str] = []
    opened: list[tuple[int, str]] = []
    section: Section | None = None
    for page in pages:
        opened = opened if page.section is section else []
        section, lines = page.section, page.text.split("\n")
        indent = len(lines[0]) - len(lines[0].lstrip())
        inside = [line for at, line in opened if at < indent] if not _ITEM.match(lines[0]) else []
        head = inside[-1] if inside else ""
        short = f"{head[:HEAD_CHARACTERS].rpartition(' ')[0]} {GAP}"
        found.append(short if len(head) > HEAD_CHARACTERS else head)
        for line in lines:
            if item := _ITEM.match(line):
                opened = [(at, text) for at, text in opened if at < len(item[1])] + [(len(item[1]), line)]
            elif line.strip() and not line.startswith(" "):
                opened = []
    return found


def _after(neighbour: Page, page: Page, size: int) -> str:
    return _quoted(neighbour, page, _edge(neighbour.pieces, size, last=False))


def _quoted(neighbour: Page, page: Page, text: str) -> str:
    """Put another section's heading over its words, so that a reader does not take them for this one's."""
    if len(text) < PREVIEW_CHARACTERS:
        return ""
    if neighbour.section.headings == page.section.headings or not neighbour.section.headings:
        return text
    return f"### {neighbour.section.headings[-1]}\n\n{text}"


def _edge(parts: Sequence[Piece], size: int, *, last: bool) -> str:
    """Return up to `size` characters from one end of a page, cut between sentences or lines."""
    taken: list[Piece] = []
    for piece in reversed(parts) if last else parts:
        atoms = len(piece.atoms)
        for count in range(atoms, 0, -1) if atoms else (0,):
            some = piece.part(atoms - count, atoms) if last else piece.part(0, count)
            candidate = [some, *taken] if last else [*taken, some]
            if len(join(candidate)) <= size:
                taken = candidate
                break
        else:
            count = -1
        if count < atoms:
            break
    return join(taken)


def linked(url: str, section: Section) -> str:
    """Return the address of a section of the document that stands at `url`."""
    url = urljoin(url, section.page) if url and section.page else url
    return address(anchored(url, section.anchor) if section.anchor and url else url)
