"""The extractive answer: the section that answers, whole and with its code, where no model writes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from core.domain import Citation, Evidence
from core.errors import (
    ModelBusy,
    ModelError,
    ModelInterrupted,
    ModelMalformed,
    ModelMissing,
    ModelRefused,
)
from core.generation.citations import citation
from core.generation.phrases import both
from core.generation.quotes.blocks import headings, last_heading, terms
from core.generation.quotes.stretches import Stretch, marked, stretches
from core.generation.quotes.writing import Piece, written
from core.languages import N_, _, translations_of
from core.text.words import STOP_WORDS, one_line

Weight = Callable[[str], float]

MAX_QUOTES = 2
WHOLE = 950
"""Characters up to which a section is quoted whole; of a longer one the part that holds the answer."""
_GOAL = 600
"""Characters up to which a part of a section grows by what bears on the question."""
_MOST = 1_300
"""Characters up to which it grows by what it is not understood without, and by its code."""
_ENOUGH = 0.75
"""Share of the question's weight that a quote holds which needs no further one; ours."""
_ADDS = 0.4
"""Share of the question's weight that a further quote must add; ours."""
_NEAR = 0.75
"""Share of the best page's score that a further quote's page must have; ours."""
_ALONE = 0.1
"""What it counts against a section that just an item of a list in it answers; ours."""
_INTRODUCTION = 400
"""Characters up to which a section without code is taken for the introduction of its parts; ours."""
_BEARING = 0.45
_FITTING = 0.2
"""What it counts for a page, beside its standing, that it holds the question, and that its heading does."""
_IDENTIFIER_BOOST = 1.5
_HEADING_SHARE = 0.6
_CODE_SHARE = 0.6

_FAILED = N_("No language model answered, so I quote the {product} documentation:")
_FAILURES: Mapping[type[ModelError], str] = {
    ModelBusy: N_("The language model is busy, so I quote the {product} documentation:"),
    ModelMissing: N_("The language model is not installed, so I quote the {product} documentation:"),
    ModelRefused: N_("The language model refused the question, so I quote the {product} documentation:"),
    ModelInterrupted: N_("The language model broke off, so I quote the {product} documentation:"),
    ModelMalformed: N_("The language model wrote nothing usable, so I quote the {product} documentation:"),
}
_CLOSEST = N_("The closest I found:")

_POINTER = re.compile(
    r"(?:please\s+)?(?:see|refer\s+to|read|for\s+(?:more|further|details|information))\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Quoted:
    """Quotes as Markdown, their citations, what they are made of, and how much of the question they hold."""

    text: str = ""
    citations: tuple[Citation, ...] = ()
    pieces: tuple[Piece, ...] = ()
    held: float = 0.0
    """Share of the weight of the question's terms that stand in the quotes or over them."""


@dataclass(slots=True)
class _Section:
    """A section's stretches with their scores for one question."""

    evidence: Evidence
    found: Sequence[Stretch]
    scores: list[float]
    held: list[set[str]]
    value: float
    standing: float

    @property
    def best(self) -> int:
        """Return the stretch that bears most on the question."""
        return max(range(len(self.scores)), key=self.scores.__getitem__)


def quote(
    question_terms: Sequence[str],
    evidence: Sequence[Evidence],
    weight: Weight,
    product: str,
    release: str,
    max_quotes: int = MAX_QUOTES,
    sections: Mapping[str, str] | None = None,
) -> Quoted:
    """Quote the section that bears most on the question, and another one where it adds what the first lacks.

    `weight` is a term's inverse document frequency; `sections` holds the whole section of each page, by the
    page's id, where it is longer. Citations are numbered from 1. Nothing is quoted where the evidence holds
    nothing that is whole.
    """
    wanted = {t: weight(t) * (1.0 if t.isalpha() else _IDENTIFIER_BOOST) for t in question_terms}
    top = max((item.score for item in evidence), default=0.0)
    weighed: dict[tuple[str, str, str], _Section] = {}
    for item in evidence:
        place = (item.chunk.release, item.chunk.path, item.chunk.heading)
        text = (sections or {}).get(item.chunk.id, item.chunk.page)
        # a second look may give scores of any sign
        standing = item.score / top if top > 0 else 1 / (1 + 0.1 * item.number)
        section = _weighed(item, text, wanted, list(question_terms), standing)
        if section.found and place not in weighed:
            weighed[place] = section
    pieces, held = _chosen(list(weighed.values()), wanted, max_quotes)
    citations = tuple(citation(piece.evidence, number) for number, piece in enumerate(pieces, 1))
    # what is cut out of a page may read otherwise than it did there
    parts = [written(piece, number, product, release) for number, piece in enumerate(pieces, 1)]
    total = sum(wanted.values())
    share = sum(wanted[t] for t in held) / total if total else 0.0
    return Quoted("\n\n".join(parts), citations, tuple(pieces), share)


def introduction(product: str, release: str, failure: ModelError | None, sure: bool) -> str:
    """Return the line above quotes: why no model wrote, and that they may not answer; empty for neither."""
    said = []
    if failure is not None:
        why = _FAILURES.get(type(failure), _FAILED)
        said.append(_(why).format(product=f"{product} {both(release)}".rstrip()))
    return " ".join([*said, *([] if sure else [_(_CLOSEST)])])


def without_introduction(text: str) -> str:
    """Return an answer without the line above quotes, which tells of the moment in which it was written."""
    first, _gap, rest = text.partition("\n\n")
    return rest if rest and _introductions().fullmatch(first) else text


@cache
def _introductions() -> re.Pattern[str]:
    before_after = (
        sentence.split("{product}")
        for why in (_FAILED, *_FAILURES.values())
        for sentence in translations_of(why)
    )
    whys = "|".join(".{1,300}".join(map(re.escape, parts)) for parts in before_after)
    closest = "|".join(map(re.escape, translations_of(_CLOSEST)))
    return re.compile(f"(?:{whys})(?: (?:{closest}))?|(?:{closest})")


@lru_cache(maxsize=1024)
def _read(section: str) -> tuple[list[Stretch], list[list[str]], list[frozenset[str]]]:
    """Return the stretches of a section with the terms of what each says, and of its code."""
    found = stretches(section)
    code = (" ".join(b.text for b in stretch.blocks if b.kind == "code") for stretch in found)
    return found, [list(terms(s.said)) for s in found], [frozenset(terms(text)) for text in code]


def _weighed(
    item: Evidence, text: str, wanted: dict[str, float], asked: list[str], standing: float
) -> _Section:
    found, words, codes = _read(text)
    total = sum(wanted.values()) or 1.0
    chunk = item.chunk
    heading = wanted.keys() & set(terms(headings(chunk.title, chunk.heading, whole=True)))
    last = {t for t in terms(last_heading(chunk.title, chunk.heading)) if t not in STOP_WORDS}
    shared = sum(wanted[t] for t in last & wanted.keys()) / total
    # how well the heading is what is asked, both ways
    fitting = shared * len(last & wanted.keys()) / len(last) if last else 0.0
    matched = [one_line(passage) for passage in item.matched]
    bigrams = set(pairwise(asked))
    scores: list[float] = []
    held: list[set[str]] = []
    for stretch, said, code in zip(found, words, codes, strict=True):
        order = [t for t in said if t in wanted]
        here = set(order)
        inside = (wanted.keys() & code) - here - heading
        score = sum(wanted[t] for t in here)
        score += _HEADING_SHARE * sum(wanted[t] for t in heading - here)
        score += _CODE_SHARE * sum(wanted[t] for t in inside)
        score /= total
        score += 0.1 * sum(pair in bigrams for pair in pairwise(order)) / max(1, len(asked))
        first = one_line(stretch.blocks[0].text)
        if matched and any(first in passage for passage in matched):
            score += 0.1
        if stretch is found[0]:
            score += 0.08
        if stretch.has_code:
            score += 0.05
        if _POINTER.match(first) or first.endswith("?"):
            score *= 0.3
        if marked(stretch):
            score *= 0.5
        scores.append(score)
        held.append(here | set(inside) | heading)
    value = standing + _BEARING * max(scores, default=0.0) + _FITTING * fitting
    if found and found[scores.index(max(scores))].stands_alone:
        value -= _ALONE
    return _Section(item, found, scores, held, value, standing)


def _part_of(section: _Section, others: Iterable[_Section]) -> _Section | None:
    """Return the best part of a section that has no code and is short: it only introduces its parts."""
    chunk = section.evidence.chunk
    if any(one.has_code for one in section.found) or sum(one.length for one in section.found) > _INTRODUCTION:
        return None
    parts = [
        other
        for other in others
        if other.evidence.chunk.path == chunk.path
        and other.evidence.chunk.heading.startswith(f"{chunk.heading} > ")
        and other.standing >= _NEAR * section.standing
    ]
    return max(parts, key=lambda part: part.value, default=None)


def _chosen(
    sections: Sequence[_Section], wanted: dict[str, float], limit: int
) -> tuple[list[Piece], set[str]]:
    """Pick the best section, then those that hold of the question what is not held yet."""
    total = sum(wanted.values()) or 1.0
    pieces: list[Piece] = []
    covered: set[str] = set()
    said: set[str] = set()
    left = list(sections)
    first: _Section | None = None
    while left and len(pieces) < limit:
        part = _part_of(first, left) if first else None
        section = part or max(left, key=lambda one: one.value)
        left.remove(section)
        start, end = _range(section)
        news = set().union(*section.held[start : end + 1]) - covered
        told = {one_line(stretch.said) for stretch in section.found[start : end + 1]}
        if (
            pieces
            and section is not part
            and (section.standing < _NEAR or sum(wanted[t] for t in news) < _ADDS * total or told & said)
        ):
            continue
        whole = section.found[start].stands_alone or (start, end) == (0, len(section.found) - 1)
        shown = _unmarked(section, start, end)
        pieces.append(Piece(section.evidence, shown, not whole))
        covered |= news
        said |= told
        first = first or section
        if sum(wanted[t] for t in covered) >= _ENOUGH * total and not (
            len(pieces) < 2 and _part_of(first, left)
        ):
            break
    return pieces, covered


def _range(section: _Section) -> tuple[int, int]:
    """Return the first and last stretch to quote: all of a short section, else what holds the answer."""
    found, at = section.found, section.best
    if found[at].stands_alone:
        return at, at
    if sum(stretch.length for stretch in found) <= WHOLE:
        return 0, len(found) - 1

    def size(start: int, end: int) -> int:
        return sum(stretch.length for stretch in found[start : end + 1])

    start = end = at
    while start and found[start].leans and size(start - 1, end) <= _MOST:
        start -= 1
    if size(0, end) <= WHOLE:
        start = 0
    while end + 1 < len(found):
        following = found[end + 1]
        needed = following.has_code and not any(s.has_code for s in found[start : end + 1])
        bears = section.scores[end + 1] >= 0.4 * section.scores[at] or following.leans
        if not ((needed and size(start, end + 1) <= _MOST) or (bears and size(start, end + 1) <= _GOAL)):
            break
        end += 1
    return start, end


def _unmarked(section: _Section, start: int, end: int) -> tuple[Stretch, ...]:
    """Return stretches without what tells of other versions, unless that is what answers."""
    best, release = section.found[section.best], section.evidence.chunk.release
    kept = [
        s
        for s in section.found[start : end + 1]
        if s is best or not marked(s) or marked(s).startswith(release)
    ]
    return tuple(kept)
