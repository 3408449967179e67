"""What two releases say at the same place: that it is the same, or what of it differs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from core.domain import Citation, Evidence
from core.generation.citations import citation
from core.generation.phrases import both
from core.generation.quotes.blocks import Block
from core.generation.quotes.quote import Quoted
from core.generation.quotes.stretches import stretches
from core.generation.quotes.titles import headings_of, last_heading
from core.generation.quotes.writing import Piece, more, written, written_all
from core.languages import N_, _
from core.text.markup import link
from core.text.said import Said, statements
from core.text.words import index_terms, last_of, one_line, sentences

MOST_LINES = 24
"""Lines of a difference that are shown; where there are more, both sides alone tell more. Ours."""
_SIGNATURE = re.compile(r"(?:#[^\n]*\n|\s)*+`(?:class |async )?(?P<name>[\w.]+)")
_FULL = 300
"""Characters of an entry that tells what something is, and not only that it is there; ours."""
_SAME = N_("The same in {release}: {pages}")
_SAME_IN_ALL = N_("The same in {releases}:")
_OTHER = N_("Different in {release} than in {other}:")


def unchanged(piece: Piece, section: str) -> bool:
    """Return True if all that is quoted stands in another release's section, too."""
    said = one_line(section)
    return all(one_line(block.text[len(block.lead) :]) in said for block in piece.blocks)


def stands(piece: Piece, said: Said, product: str) -> bool:
    """Return True if all that is quoted stands somewhere in what is `said`: a page may have another name."""
    return not said.lacking(statements("\n\n".join(block.text for block in piece.blocks), product))


def at_one_place(first: Piece, second: Piece) -> bool:
    """Return True if two releases are quoted under the same path and heading, or with the same words."""
    told = [[one_line(block.text) for block in piece.blocks] for piece in (first, second)]
    return place_of(first) == place_of(second) or told[0] == told[1]


def place_of(piece: Piece) -> tuple[str, str]:
    """Return the path and heading of what is quoted."""
    return piece.evidence.chunk.path, piece.evidence.chunk.heading


def same(pieces: Sequence[Piece], release: str) -> tuple[str, tuple[Citation, ...]]:
    """Say that what was quoted is the same in a release; the `pieces` are of that one."""
    chunks = [piece.evidence.chunk for piece in pieces]
    pages = [f"{link(headings_of(one), one.url)} [{n}]" for n, one in enumerate(chunks, 1)]
    citations = tuple(citation(piece.evidence, n) for n, piece in enumerate(pieces, 1))
    return _(_SAME).format(release=release, pages=" · ".join(pages)), citations


def other(
    old: Piece, new: Piece, sections: tuple[str, str], product: str, release: str
) -> tuple[str, tuple[Citation, ...]]:
    """Show what a release says where another one was quoted, and in what both whole sections differ."""
    before, after = ([block for one in stretches(text) for block in one.blocks] for text in sections)
    marks = difference(before, after) or difference(old.blocks, new.blocks)
    lead = _(_OTHER).format(release=release, other=old.evidence.chunk.release)
    parts = [f"{lead}\n\n{marks}"] if marks else []
    return "\n\n".join([*parts, written_all([(new, 1)], product, release)]), (citation(new.evidence, 1),)


def sides(first: Quoted, second: Quoted, product: str, release: str) -> tuple[str, tuple[Citation, ...]]:
    """Show what two releases say at one place, with what differs marked; once where they say the same."""
    old, new = first.pieces[0], second.pieces[0]
    citations = (citation(old.evidence, 1), citation(new.evidence, 2))
    told = [block.text for block in old.blocks]
    if [one_line(text) for text in told] == [one_line(block.text) for block in new.blocks]:
        lead = _(_SAME_IN_ALL).format(releases=both(release))
        # it is the same place in both, so the one quote bears both numbers
        text = written_all([(new, 2)], product, new.evidence.chunk.release).replace(" [2]", " [1][2]")
        return f"{lead}\n\n{text}", citations
    parts = [written(piece, number, product, release) for number, piece in enumerate((old, new), 1)]
    cut = [number for number, piece in enumerate((old, new), 1) if piece.cut]
    if marks := difference(old.blocks, new.blocks, share=0.5):
        parts.append(marks)
    return more("\n\n".join(parts), cut), citations


def called(evidence: Iterable[Evidence], name: str) -> list[Evidence]:
    """Return the pages of sections that are called by a name, of what it belongs to where there are such.

    `req.media` is `Request.media` rather than `Response.media`; `self.write` is anybody's `write`. What is
    signed `kettle.json.dumps` is `json.dumps`, and `dump` only where nothing is spelled so. Where none is
    called so, `acks_late` is `task_acks_late`.
    """
    owner, short = _owned(name)
    found: dict[str, list[Evidence]] = {"named": [], "owned": [], "exact": [], "alike": [], "ends": []}
    for item in evidence:
        heading = last_heading(item.chunk.title, item.chunk.heading).strip("`").partition("(")[0].lower()
        last = last_of(heading)
        if set(index_terms(short)) == set(index_terms(last)):
            is_owned = owner and last_of(heading.removesuffix(last)[:-1]).startswith(owner)
            is_named = owner and f".{_signed(item)}".endswith(f".{owner}.{short}")
            kind = "alike" if last != short else "named" if is_named else "owned" if is_owned else "exact"
            found[kind].append(item)
        elif last.endswith(f"_{short}"):
            found["ends"].append(item)
    return next(filter(None, found.values()), [])


def _signed(item: Evidence) -> str:
    """Return the whole name in a page's signature, in lower case; empty where it begins with none."""
    found = _SIGNATURE.match(item.chunk.page.lower())
    return found["name"] if found else ""


def pair(names: Sequence[str], pages: Sequence[Iterable[Evidence]]) -> tuple[Evidence, Evidence] | None:
    """Return the best page of each of two names: of one page where there are such, and no mere line.

    What is said to belong to one thing (`req.media`, `req.params`) has to. None where either has no page.
    """
    first, second = (called(some, name) for some, name in zip(pages, names, strict=True))
    owners = {_owned(name)[0] for name in names}
    both = [(one, other) for one in first for other in second if one.chunk.id != other.chunk.id]
    if len(owners) == 1 and any(owners):
        both = [two for two in both if _above(two[0]) == _above(two[1])]
    return max(both, key=lambda two: (_told(*two), two[0].score + two[1].score), default=None)


def _owned(name: str) -> tuple[str, str]:
    """Return what a name belongs to, empty for nothing, and its last part, in lower case."""
    name = name.partition("=")[0].removesuffix("()").lower()
    short = last_of(name)
    return name.removesuffix(short).rstrip(".:->"), short


def _told(one: Evidence, other: Evidence) -> float:
    """Return how much two sections tell, each up to 1; 1 more on one page, and of one class."""
    told = sum(min(len(item.chunk.page), _FULL) / _FULL for item in (one, other))
    first, second = (item.chunk.heading.rpartition(" > ")[2].rpartition(".")[0] for item in (one, other))
    return told + (one.chunk.path == other.chunk.path) + bool(first and first == second)


def _above(item: Evidence) -> list[str]:
    """Return the headings, and the class, that a section stands under."""
    return re.split(r"\.| > ", item.chunk.heading)[:-1]


def together(pieces: Sequence[Piece], product: str, release: str) -> tuple[str, tuple[Citation, ...]]:
    """Show several pieces one below the other; what is quoted of one place twice stands there once."""
    told = list({place_of(piece): piece for piece in reversed(pieces)}.values())[::-1]
    numbered = [(piece, number) for number, piece in enumerate(told, 1)]
    return written_all(numbered, product, release), tuple(
        citation(piece.evidence, n) for n, piece in enumerate(told, 1)
    )


def difference(old: Sequence[Block], new: Sequence[Block], share: float = 1.0) -> str:
    """Write what one side says and the other does not, as marked lines of code; empty where that is all.

    Empty, too, where more than a `share` of all lines would be marked.
    """
    before, after = list(_lines(old)), list(_lines(new))
    marks: list[str] = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind != "equal":
            marks += [*(f"- {line}" for line in before[a:b]), *(f"+ {line}" for line in after[c:d])]
    is_all = not any(kind == "equal" for kind, *_places in matcher.get_opcodes())
    most = min(MOST_LINES, share * (len(before) + len(after)))
    if not marks or (len(marks) > 2 and (is_all or len(marks) > most)):
        return ""
    return "\n".join(["```diff", *marks, "```"])


def _lines(blocks: Sequence[Block]) -> Iterator[str]:
    """Yield sentences, items and lines of code; a mark that would end the block of code is left out."""
    for block in blocks:
        if block.kind == "code":
            yield from (line for line in block.text.split("\n")[1:-1] if line.strip())
        else:
            yield from (one_line(line.replace("```", "")) for line in sentences(one_line(block.text)))
