"""What is read of each page, and context reduction and selection by rule (QAMR steps 3 and 4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from core.domain import ContextChunk, Evidence
from core.generation.quotes.blocks import Block, prose, split, terms
from core.generation.quotes.titles import headings, last_heading
from core.text.markup import GAP
from core.text.words import one_line

SHORT = 1_200
"""Characters up to which a section is never reduced: often one line of five defines an option. Ours."""
Weight = Callable[[str], float]
KEPT = 3
"""Chunks that reach the answer after selection (QAMR step 4)."""
_ENOUGH = 0.25
"""Share of the best block's weight that a block must have to be kept; ours."""
_FIRST = 400
"""Characters up to which the first paragraph of a page is kept with what bears on the question; ours."""
_SIGNATURE = re.compile(r"(?:`[^`\n]{1,2000}`\s*)+")
_COPY = 0.9
"""Share of a page that earlier ones say from which on it is a copy; ours."""
_ROWS = 40
"""Tokens from which on the first lines of a table that has no room tell something; ours."""
_HEADING = re.compile(r"#{1,6} [^\n]*|\*\*[^*\n]{1,120}\*\*:?")
"""What tells nothing without the text below it."""


@dataclass(frozen=True, slots=True)
class Laid:
    """A page as it is read: its own part, and all of it with what is left of its neighbours."""

    own: str
    whole: str


def laid_out(evidence: Sequence[Evidence]) -> dict[int, Laid]:
    """Return by number what is read of each page; of pages that say the same in one release only the first.

    What another page says, or an earlier one has told, is left out of the neighbouring text.
    """
    pages: set[tuple[str, str]] = set()
    first: list[Evidence] = []
    for item in evidence:
        key = item.chunk.release, one_line(item.chunk.page)
        if key not in pages:
            first.append(item)
        pages.add(key)
    first = _without_copies(first)
    said = {_plain(block) for item in first for block in split(item.chunk.page)}
    found: dict[int, Laid] = {}
    for item in first:
        chunk = item.chunk
        before, after = _new(chunk.before, said), _new(chunk.after, said)
        own = _under_heading(chunk) if before or after else chunk.page
        # the section's own text before it has no heading of its own (`core.ingestion.chunking`)
        goes_on = before and not before.startswith("#")
        whole = (_under_heading(chunk, before), chunk.page, after) if goes_on else (before, own, after)
        found[item.number] = Laid(own, "\n\n".join(part for part in whole if part))
    return found


def _without_copies(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Leave out pages of which earlier ones of their release say nearly all, as manuals share sections."""
    kept: list[Evidence] = []
    told: dict[str, set[str]] = {}
    for item in evidence:
        blocks = [(_plain(block), len(block.text)) for block in split(item.chunk.page)]
        known = told.setdefault(item.chunk.release, set())
        again = sum(size for plain, size in blocks if plain in known)
        if not kept or again < _COPY * sum(size for _plain_text, size in blocks):
            kept.append(item)
        known |= {plain for plain, _size in blocks}
    return kept


def _new(text: str, said: set[str]) -> str:
    """Return the blocks of neighbouring text that nobody has said yet, and note them."""
    kept: list[str] = []
    heading = ""
    for block in split(text):
        if block.kind == "heading":
            heading = block.text
            continue
        plain = _plain(block)
        # a neighbour's text begins or ends in the middle of its page
        if plain in said or any(plain in other for other in said if len(other) > len(plain)):
            continue
        said.add(plain)
        kept += [heading, block.text] if heading else [block.text]
        heading = ""
    return "\n\n".join(kept)


def _plain(block: Block) -> str:
    """Return a block's words in one line; code without its fences, which a cut closes too early."""
    lines = block.text.split("\n")
    return one_line(" ".join(line for line in lines if not line.lstrip().startswith(("```", "~~~"))))


def _under_heading(chunk: ContextChunk, text: str = "") -> str:
    """Put a page's heading over a text of its section, over the page itself where none is given."""
    text = text or chunk.page
    heading = last_heading(chunk.title, chunk.heading)
    begins = text.lstrip().startswith(("#", f"**{heading}"))
    return text if begins or not heading else f"### {heading}\n\n{text}"


def reduce(
    evidence: Sequence[Evidence], wanted: Collection[str], weight: Weight, short: int = SHORT, whole: int = 0
) -> dict[int, str]:
    """Keep of each chunk what bears on the question: number → text, without those that have nothing.

    A block stays when its terms weigh enough (by `weight`, the inverse document frequency) or when
    retrieval matched it; the sentence that introduces code stays with the code, a heading with its text, the
    first paragraph of a page with whatever is kept of it. The first `whole` sections stay whole, and others
    of up to `short` characters.
    """
    laid = laid_out(evidence)
    evidence = [item for item in evidence if item.number in laid]
    weights = {term: weight(term) for term in wanted}
    if not any(weights.values()):
        return {item.number: laid[item.number].whole for item in evidence}
    cut = [(item, split(laid[item.number].whole)) for item in evidence]
    scored = [[_weight_of(block, weights) for block in blocks] for _, blocks in cut]
    best = max((score for scores in scored for score in scores), default=0.0)
    kept: dict[int, str] = {}
    for place, ((item, blocks), scores) in enumerate(zip(cut, scored, strict=True)):
        matched = [one_line(passage) for passage in item.matched]
        chosen = {
            at
            for at, (block, score) in enumerate(zip(blocks, scores, strict=True))
            if block.kind not in ("heading", "rule")
            and ((score and score >= _ENOUGH * best) or (score and _is_in(block, matched)))
        }
        if chosen:
            own = [one_line(block.text) for block in split(laid[item.number].own)]
            of_it = [at for at, block in enumerate(blocks) if one_line(block.text) in own]
            chosen |= _begins(blocks, of_it, min(chosen))
            company = _with_company(blocks, chosen)
            if place < whole or len(item.chunk.page) <= short:
                company = sorted({*company, *of_it})
            cut_off = f"\n\n{GAP}" if of_it and company[-1] < of_it[-1] else ""
            kept[item.number] = _joined(blocks, company) + cut_off
    return kept


def _begins(blocks: Sequence[Block], of_it: Sequence[int], until: int) -> set[int]:
    """Return the first paragraph of a page's own blocks where what is kept from `until` on needs it."""
    told = (at for at in of_it if blocks[at].kind == "paragraph")
    # a signature alone says what an entry is called, and not what it does
    first = [at for at in told if not _SIGNATURE.fullmatch(blocks[at].text.strip())][:1]
    under_it = not any(block.kind == "heading" for at in first for block in blocks[at:until])
    return {at for at in first if under_it and len(blocks[at].text) <= _FIRST}


def select(
    evidence: Sequence[Evidence],
    question_terms: Collection[str],
    weight: Weight,
    texts: Mapping[int, str] | None = None,
    keep: int = KEPT,
) -> tuple[Evidence, ...]:
    """Choose the most useful chunks, best first: what they add in weighed terms, and their own score.

    `texts` is what `reduce` left of them; chunks it dropped are not chosen.
    """
    left = [item for item in evidence if texts is None or item.number in texts]
    top = max((item.score for item in left), default=0.0) or 1.0
    total = sum(weight(term) for term in question_terms) or 1.0
    found = {}
    for item in left:
        text = texts[item.number] if texts is not None else item.chunk.text
        found[item.number] = {
            *terms(text),
            *terms(headings(item.chunk.title, item.chunk.heading, whole=True)),
        }
    chosen: list[Evidence] = []
    covered: set[str] = set()

    def use(item: Evidence, covered: Collection[str]) -> float:
        held = [term for term in question_terms if term in found[item.number]]
        new = sum(weight(term) for term in held if term not in covered)
        return (0.5 * sum(map(weight, held)) + 0.5 * new) / total + item.score / top

    while left and len(chosen) < keep:
        pick = max(left, key=partial(use, covered=frozenset(covered)))
        left.remove(pick)
        chosen.append(pick)
        covered |= found[pick.number]
    return tuple(chosen)


def shorten(text: str, matched: Sequence[str], limit: int, count: Callable[[str], int]) -> str:
    """Cut Markdown to `limit` tokens around the matched passages, at ends of sentences and blocks.

    Left-out text shows as an ellipsis. A single block that is too long is cut between its lines, as is a
    table beside what is kept: its caption alone tells nothing.
    """
    if count(text) <= limit:
        return text
    pieces = [
        _Piece(sentence, number)
        for number, block in enumerate(split(text))
        for sentence in ([block.text] if block.kind != "paragraph" else prose(block))
    ]
    costs = [count(piece.text) + 2 for piece in pieces]
    passages = [one_line(passage) for passage in matched if passage.strip()]
    inside = [at for at, piece in enumerate(pieces) if _is_in(piece, passages)] or [0]
    chosen: set[int] = set()
    left = limit - count(GAP) * 2
    for at in inside:
        if costs[at] <= left:
            chosen.add(at)
            left -= costs[at]
    if not chosen:
        first = pieces[inside[0]]
        return _lines_of(first.text, limit, count)
    low, high = min(chosen) - 1, max(chosen) + 1
    while low >= 0 or high < len(pieces):
        grown = False
        for at in (high, low):
            if 0 <= at < len(pieces) and costs[at] > left >= _ROWS and pieces[at].text.startswith("|"):
                pieces[at] = _Piece(_lines_of(pieces[at].text, left, count), pieces[at].block)
                costs[at] = left  # nothing else has room beside a table that is cut
            if 0 <= at < len(pieces) and costs[at] <= left:
                chosen.add(at)
                left -= costs[at]
                grown = True
                low, high = (low, high + 1) if at == high else (low - 1, high)
        if not grown:
            break
    told = {at for at in chosen if not _HEADING.fullmatch(pieces[at].text) or at + 1 in chosen}
    return _with_gaps(pieces, sorted(told or chosen))


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    block: int


def _weight_of(block: Block, wanted: Mapping[str, float]) -> float:
    return sum(wanted[term] for term in wanted.keys() & set(terms(block.text)))


def _is_in(piece: Block | _Piece, passages: Sequence[str]) -> bool:
    text = one_line(piece.text)
    return any(text in passage or (len(passage) > 20 and passage in text) for passage in passages)


def _with_company(blocks: Sequence[Block], chosen: set[int]) -> list[int]:
    company = set(chosen)
    for at in chosen:
        block = blocks[at]
        before = blocks[at - 1] if at else None
        if before and (before.introduces or (block.kind == "code" and before.kind == "paragraph")):
            company.add(at - 1)
        if block.introduces or (block.kind == "paragraph" and _is_code(blocks, at + 1)):
            company |= _what_follows(blocks, at + 1)
        heading = next((i for i in range(at - 1, -1, -1) if blocks[i].kind == "heading"), None)
        if block.text.startswith("  "):  # it goes on with an entry whose beginning is told before it
            company |= {i for i in range(at) if blocks[i].kind == "item" and blocks[i].text.endswith(GAP)}
        if heading is not None:
            company.add(heading)
    return sorted(company)


def _is_code(blocks: Sequence[Block], at: int) -> bool:
    return at < len(blocks) and blocks[at].kind == "code"


def _what_follows(blocks: Sequence[Block], at: int) -> set[int]:
    """Return what a sentence with a colon introduces: one block, or the whole list."""
    follow: set[int] = set()
    while at < len(blocks) and (not follow or blocks[at].kind == "item"):
        follow.add(at)
        if blocks[at].kind != "item":
            break
        at += 1
    return follow


def _joined(blocks: Sequence[Block], chosen: Sequence[int]) -> str:
    parts = [f"{GAP}\n\n"] if chosen and chosen[0] and blocks[chosen[0]].kind != "heading" else []
    for position, at in enumerate(chosen):
        if position:
            before = chosen[position - 1]
            both = blocks[at].kind == "item" and blocks[before].kind == "item"
            gap = f"{GAP}\n\n" if at > before + 1 and blocks[at].kind != "heading" else ""
            parts.append("\n" if both and at == before + 1 else f"\n\n{gap}")
        parts.append(blocks[at].text)
    return "".join(parts)


def _with_gaps(pieces: Sequence[_Piece], chosen: Sequence[int]) -> str:
    parts = [f"{GAP}\n\n"] if chosen[0] else []
    for position, at in enumerate(chosen):
        if position:
            previous = chosen[position - 1]
            same = pieces[previous].block == pieces[at].block
            gap = at > previous + 1
            parts.append((f" {GAP} " if gap else " ") if same else (f"\n\n{GAP}\n\n" if gap else "\n\n"))
        parts.append(pieces[at].text)
    if chosen[-1] < len(pieces) - 1:
        parts.append(f"\n\n{GAP}")
    return "".join(parts)


def _lines_of(text: str, limit: int, count: Callable[[str], int]) -> str:
    """Keep the first lines (of a code block, a table) or words that fit."""
    lines = text.split("\n")
    fence = lines[0].strip()[:3] in ("```", "~~~")
    separator, parts = ("\n", lines) if len(lines) > 1 else (" ", text.split(" "))
    closing = f"\n{lines[0].strip()[:3]}" if fence else ""
    kept: list[str] = []
    left = limit - count(closing) - count(GAP) - 2
    for part in parts:
        left -= count(part) + 1
        if left < 0:
            break
        kept.append(part)
    return f"{separator.join(kept)}{separator}{GAP}{closing}" if kept else ""
