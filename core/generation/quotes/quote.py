"""The extractive answer: the section that answers, whole and with its code, where no model writes."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial

from core.domain import Citation, Evidence, numbered
from core.errors import (
    ModelBusy,
    ModelError,
    ModelInterrupted,
    ModelMalformed,
    ModelMissing,
    ModelRefused,
)
from core.generation.citations import citation
from core.generation.quotes.sections import BRIEF, DOUBT, FULL, GLANCE, Section, Whole
from core.generation.quotes.stretches import Stretch, marked
from core.generation.quotes.tables import row_among
from core.generation.quotes.titles import last_heading
from core.generation.quotes.weighing import Asked, weighed
from core.generation.quotes.writing import Cut, Piece, signed, written_all
from core.languages import N_, _, translations_of
from core.retrieval.features import is_name
from core.text.version_order import version_key

Weight = Callable[[str], float]

MAX_QUOTES = 3
_IDENTIFIER_BOOST = 1.5
_ENOUGH = 0.75
"""Share of the question's weight that a quote holds which needs no further one; ours."""
_ADDS = 0.4
"""Share of the question's weight that a further quote must add; ours."""
_NEAR = 0.75
"""Share of the best page's score that a further quote's page must have; ours."""
_CLOSE = 1.5
"""What a section may be worth less than the first one and be about as likely to answer; ours."""
_DOUBT = 0.4
"""Share of the question's weight under which the first section's best part is hardly the answer; ours."""
_OTHERWISE = 0.2
"""Share of the question's weight under which a section says it in other words, from its beginning; ours."""
_FITS = 0.2
"""How well a heading is what is asked from which on a part of its section shows how; ours."""
_ROOM, _ROOM_IN_DOUBT = 400, 1_000
"""Characters up to which a section is quoted beside the first because it is as likely to answer; ours."""
_AT_A_GLANCE, _OF_THE_BEST, _GLIMPSED, _THIRD = 600, 1_500, 0.2, 0.7
"""Characters up to which a part is shown as one that may be the answer, too, and one of the best page; the
share of the best page's score that the page of a second and of a third part must have; ours."""
_SOMETHING, _AS_NEAR = 0.1, 0.9
"""Share of the question's weight that what stands beside the closest section adds, and of the best page's
score from which on it need not; ours."""
_INTRODUCTION = 800
"""Characters up to which a section without code is taken for the introduction of its parts; ours."""

_FAILED = N_("No language model answered, so I quote the {product} documentation:")
_FAILURES: Mapping[type[ModelError], str] = {
    ModelBusy: N_("The language model is busy, so I quote the {product} documentation:"),
    ModelMissing: N_("The language model is not installed, so I quote the {product} documentation:"),
    ModelRefused: N_("The language model refused the question, so I quote the {product} documentation:"),
    ModelInterrupted: N_("The language model broke off, so I quote the {product} documentation:"),
    ModelMalformed: N_("The language model wrote nothing usable, so I quote the {product} documentation:"),
}
"""What stood above quotes before it stood below them: remembered answers may begin with it."""
_GONE = N_("no language model answered")
_SHORT: Mapping[type[ModelError], str] = {
    ModelBusy: N_("the language model is busy"),
    ModelMissing: N_("the language model is not installed"),
    ModelRefused: N_("the language model's server rejected the request"),
    ModelInterrupted: N_("the language model broke off"),
    ModelMalformed: N_("the language model wrote nothing usable"),
}
_CLOSEST = N_("The closest I found:")
_TELLS = 0.2
"""Share of the question's weight that the mark of a version must add to what is quoted; ours."""
_IS = 0.25
"""How well a heading is what is asked from which on "what is it?" is answered from its beginning; ours."""
_WHAT_IS = re.compile(
    r"(?:hi|hey|so|and|ok|well)?\W{0,3}what(?:['’]?s|\s++is|\s++are)\s++(?![^?,.!\n]*\b(?:of|when|if|with|between|to|default|maximum"
    r"|limit|name|differ\w*|wrong|new|changed|instead|variable|arguments?|options?|way)\b)(?:[^\s?,.!]++\s++){0,5}?[^\s?,.!]++"
    r"(?:\s++(?:(?:good|used)\s++)?for)?[ \t]*+(?:[?,.!\n]|$)",
    re.IGNORECASE,
)
_MARKS = 3
"""Marks of versions that are quoted of a section where it is asked since when something is there; ours."""
_STATUSES = frozenset(map(str, range(100, 600)))
"""Numbers that name something, as those of HTTP do; others mostly say how many."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """Quotes as Markdown, their citations, what they are made of, and how much of the question they hold."""

    text: str = ""
    citations: tuple[Citation, ...] = ()
    pieces: tuple[Piece, ...] = ()
    held: float = 0.0
    """Share of the weight of the question's terms that stand in the quotes or over them."""
    closest: Callable[[], Quoted] | None = field(default=None, compare=False)
    """Quotes the same, and the next best sections beside it: for where it hardly is the answer."""


def quote(
    question_terms: Sequence[str],
    evidence: Sequence[Evidence],
    weight: Weight,
    product: str,
    release: str,
    max_quotes: int = MAX_QUOTES,
    sections: Mapping[str, Whole] | None = None,
    marks: bool = False,
    under: Mapping[str, Sequence[Evidence]] | None = None,
    question: str = "",
    changes: bool = False,
    defaults: bool = False,
) -> Quoted:
    """Quote the section that bears most on the question, and another one where it adds what the first lacks.

    `weight` is a term's inverse document frequency; `sections` holds the whole section of each page, by the
    page's id, where more is known of it, `under` those of the sections inside of it; `marks` tells that it
    is asked since when something is there, `changes` whether it is as it was: what versions did is quoted;
    `defaults` that it is asked what holds where nobody set anything.
    Of a table only the row is quoted of which the `question` asks.
    Citations are numbered from 1. Nothing is quoted where the evidence holds nothing that is whole.
    """
    wanted = {t: weight(t) * (_IDENTIFIER_BOOST if _names(t) else 1.0) for t in question_terms}
    top = max((item.score for item in evidence), default=0.0)
    found: dict[tuple[str, str, str], Section] = {}
    asked = Asked.of(question, question_terms, not marks, defaults and not marks, product)

    def section_of(item: Evidence) -> Section:
        whole = (sections or {}).get(item.chunk.id) or Whole(item.chunk.page)
        # a second look may give scores of any sign
        standing = item.score / top if top > 0 else 1 / (1 + 0.1 * item.number)
        return weighed(item, whole, wanted, standing, asked)

    for item in evidence:
        place = (item.chunk.release, item.chunk.path, item.chunk.heading)
        section = section_of(item)
        if section.found and place not in found:
            found[place] = section

    def inside(section: Section) -> Iterator[Section]:
        return map(section_of, (under or {}).get(section.evidence.chunk.id, ()))

    every, what, total = list(found.values()), _WHAT_IS.match(question) is not None, sum(wanted.values())

    def told(doubtful: bool) -> Quoted:
        pieces, held = _cell(every, question) or _chosen(
            every, wanted, max_quotes, marks, changes, inside, what, doubtful
        )
        pieces = [signed(piece, (sections or {}).get(piece.evidence.chunk.id)) for piece in pieces]
        citations = numbered(citation(piece.evidence, 0) for piece in pieces)
        numbers = [cited.number for cited in citations]
        # what is cut out of a page may read otherwise than it did there
        text = written_all(zip(pieces, numbers, strict=True), product, release)
        share = sum(wanted[t] for t in held) / total if total else 0.0
        return Quoted(text, citations, tuple(pieces), share)

    return replace(told(False), closest=partial(told, True))


def _cell(sections: Sequence[Section], question: str) -> tuple[list[Piece], set[str]] | None:
    """Quote the row of the best section's table that a question about a cell asks for; None without one."""
    if not question or not sections:
        return None
    best = max(sections, key=lambda one: one.value)
    for at, stretch in enumerate(best.found):
        if row := row_among(stretch.blocks, question):
            return [Piece(best.evidence, (Stretch(row),), "section")], best.held[at]
    return None


def _names(term: str) -> bool:
    """Return True if a term is no mere word: it has other signs than letters, and does not only count."""
    return not term.isalpha() and (not term.isdigit() or term in _STATUSES)


def introduction(sure: bool) -> str:
    """Return the line above quotes that may not answer; empty above those that do."""
    return "" if sure else _(_CLOSEST)


def why_unwritten(failure: ModelError | None) -> str:
    """Return why quotes stand in a model's place, in English, for the line below them; else empty."""
    return _SHORT.get(type(failure), _GONE) if failure is not None else ""


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
    whys = whys.replace(":", "[:.]").replace("：", "[：。]")
    closest = "|".join(map(re.escape, translations_of(_CLOSEST)))
    return re.compile(f"(?:{whys})(?: (?:{closest}))?|(?:{closest})")


def introduces(page: str) -> bool:
    """Return True if a page is short and has no code, so that it may only introduce what is inside of it."""
    return len(page) <= _INTRODUCTION and "```" not in page


def _part_of(section: Section, others: Iterable[Section], under: Iterable[Section]) -> Section | None:
    """Return the part to quote of a section that has no code and is short: it only introduces its parts.

    That is the best of those that were found. In a section that is named after what is asked, and not after a
    thing in code, it is the first with code of all `under` it that is about as likely as the best.
    """
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
    if section.fitting >= _FITS and not is_name(last_heading(chunk.title, chunk.heading)):
        inside = [one for one in under if one.found]
        best = max((part.value for part in (*parts, *inside)), default=0.0)
        coded = (one for one in inside if any(s.has_code for s in one.found))
        if shows := next((one for one in coded if one.value >= best - _CLOSE), None):
            return shows
    return max(parts, key=lambda part: part.value, default=None)


def _chosen(
    sections: Sequence[Section],
    wanted: Mapping[str, float],
    limit: int,
    marks: bool,
    changes: bool,
    inside: Callable[[Section], Iterable[Section]],
    what: bool = False,
    doubtful: bool = False,
) -> tuple[list[Piece], set[str]]:
    """Pick the best section, and briefly others that hold what it does not, or are as likely to answer.

    Where that one is `doubtful`, the next follow as their pages rank that add a little, or are about as near;
    before it goes the one whose page ranks first, unless the best section is headed by what is asked.
    Returns the terms of the question, too, that are held by what was not only picked for being as likely.
    """

    def share(terms_: Iterable[str]) -> float:
        return sum(wanted[t] for t in terms_) / (sum(wanted.values()) or 1.0)

    left = sorted(sections, key=lambda one: -one.value)
    if not left:
        return [], set()
    first = left.pop(0)
    holds = share(first.held[first.best])
    doubt = holds < _DOUBT
    whole = what and first.fitting >= _IS
    picked = first.picked(DOUBT if doubt else FULL, holds < _OTHERWISE, whole)
    bare = {t for n in picked if not marked(first.found[n]) for t in first.held[n]}
    telling = [n for n in first.marked if share(first.held[n] - bare) >= _TELLS]
    told = first.marked if marks else telling
    if changes and not marks:  # what bears on the question, then the newest
        told = sorted(
            first.marked,
            key=lambda n: (n not in telling, [-v for v in version_key(marked(first.found[n]))[0]]),
        )
    told = told[:_MARKS]
    picked = sorted({*picked, *told})
    pieces = [_piece(first, picked, marks, told)]
    covered, said, length = first.holds(picked), first.says(picked), first.size(picked)
    if part := _part_of(first, left, inside(first)):
        left = [part, *(one for one in left if one.evidence.chunk.id != part.evidence.chunk.id)]
    for section in sorted(
        left, key=lambda it: (it is not part and not it.entry, -it.standing if doubtful else 0.0)
    ):
        is_due = section is part or (section.entry and first.entry)
        if len(pieces) == limit or not (doubtful or is_due or share(covered) < _ENOUGH):
            break
        is_best = doubtful and section.standing == 1
        beside = DOUBT if is_best else GLANCE if doubtful and not is_due else BRIEF
        picked = section.picked(FULL if section is part else beside)
        added = share(section.holds(picked) - covered)
        adds = is_due or added >= _ADDS
        size, is_close = length + section.size(picked), section.value >= first.value - _CLOSE
        likely = is_close and size <= (_ROOM_IN_DOUBT if doubt else _ROOM)
        if section.says(picked) & said or section.pointing.issuperset(picked):
            continue
        more = added > _SOMETHING or is_close or share(covered) >= _ENOUGH or section.standing >= _AS_NEAR
        least, room = _GLIMPSED if len(pieces) == 1 else _THIRD, _OF_THE_BEST if is_best else _AT_A_GLANCE
        small = section.standing >= least and section.size(picked) <= room
        if not ((doubtful and small and more) or (section.standing >= _NEAR and (adds or likely))):
            continue
        pieces.insert(0 if is_best and first.fitting < _IS else len(pieces), _piece(section, picked, marks))
        covered |= section.holds(picked) if adds else set()
        said |= section.says(picked)
        length = size
    alone = len(pieces) == 1
    return [one if alone or one.cut == "list" else replace(one, cut="") for one in pieces], covered


def _piece(section: Section, picked: Sequence[int], marks: bool, telling: Collection[int] = ()) -> Piece:
    """Quote stretches of a section; of other versions what answers, or all where `marks` are asked for.

    `telling` are marks that hold of the question what the rest does not. What is deprecated is always said.
    """
    found, release = section.found, section.evidence.chunk.release
    best, ended = found[section.best], section.ended
    whole = found[picked[0]].stands_alone or len(picked) == len(found)
    shown = tuple(
        found[n]
        for n in picked
        if found[n] is best
        or marks
        or n in ended
        or n in telling
        or not marked(found[n])
        or marked(found[n]).startswith(release)
    )
    cut: Cut = "list" if section.lists_after(picked[-1]) else "" if whole else "section"
    return Piece(section.evidence, shown, cut)
