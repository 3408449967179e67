"""The extractive answer: the best sentences of the best passages, when no model is there to write."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from core.domain import Citation, ContextChunk, Evidence
from core.generation.citations import citation
from core.generation.phrases import both
from core.generation.quotes.blocks import headings, last_heading, terms
from core.generation.quotes.units import Unit, units
from core.languages import N_, _, translations_of
from core.text.markup import inert
from core.text.words import STOP_WORDS, one_line

Weight = Callable[[str], float]

_INTRODUCTION = N_("No language model answered, so I quote the {product} documentation:")
MAX_QUOTES = 3
_QUOTE_CHARACTERS = 420
"""Length to which a quote grows by the sentences around it."""
_LEAST = 0.6
"""Share of the best quote's score that a further one must have; ours."""
_IDENTIFIER_BOOST = 1.5
_HEADING_SHARE = 0.6
_CODE_SHARE = 0.3
_SHORT = 20
"""Characters up to which a text may stand in another by chance."""

_LEANING = re.compile(
    r"(?:it|its|this|that|these|those|they|them|their|he|she|such|however|but|then|otherwise|therefore|thus|also"
    r"|instead|in\s+(?:this|that|these|those)|for\s+(?:this|that|example|instance)|the\s+(?:latter|former|above"
    r"|following|same|second|other)|as\s+(?:above|such)|both|either|similarly|additionally|furthermore|so)\b",
    re.IGNORECASE,
)


_POINTER = re.compile(
    r"(?:please\s+)?(?:see|refer\s+to|read|for\s+(?:more|further|details|information))\b", re.IGNORECASE
)


@dataclass(slots=True)
class _Passage:
    """A passage's units with their scores for one question."""

    evidence: Evidence
    units: list[Unit]
    scores: list[float]
    held: list[set[str]]


def quote(
    question_terms: Sequence[str],
    evidence: Sequence[Evidence],
    weight: Weight,
    product: str,
    release: str,
    max_quotes: int = MAX_QUOTES,
) -> tuple[str, tuple[Citation, ...]]:
    """Quote what bears most on the question, as Markdown, with its citations numbered from 1.

    `weight` is a term's inverse document frequency. Code stands after its quote, in its own fence.
    Returns an empty text where the evidence holds no whole sentence.
    """
    wanted = {t: weight(t) * (1.0 if t.isalpha() else _IDENTIFIER_BOOST) for t in question_terms}
    top = max((item.score for item in evidence), default=0.0) or 1.0
    passages = [_weighed(item, wanted, list(question_terms), item.score / top) for item in evidence]
    chosen = _choose(passages, wanted, max_quotes)
    if not chosen:
        return "", ()
    parts = [introduced(product, release)]
    citations: list[Citation] = []
    for number, (passage, runs) in enumerate(chosen, 1):
        citations.append(citation(passage.evidence, number))
        # what is cut out of a page may read otherwise than it did there
        parts.append(inert(_written(passage, runs, number, product, release)))
    return "\n\n".join(parts), tuple(citations)


def introduced(product: str, release: str) -> str:
    """Return the line above quotes, which says that no model wrote."""
    return _(_INTRODUCTION).format(product=f"{product} {both(release)}".rstrip())


def heading_over(chunk: ContextChunk, product: str, release: str) -> str:
    """Return what stands above a quote: title and heading, with the release where it is not the asked one."""
    heading = headings(chunk.title, chunk.heading)
    if chunk.release and release and chunk.release != release:
        heading = f"{heading} ({product} {chunk.release})" if heading else f"{product} {chunk.release}"
    return heading


def without_introduction(text: str) -> str:
    """Return an answer without the line above quotes, which tells of the moment in which it was written."""
    first, _gap, rest = text.partition("\n\n")
    return rest if rest and _introductions().fullmatch(first) else text


@cache
def _introductions() -> re.Pattern[str]:
    before_after = (sentence.split("{product}") for sentence in translations_of(_INTRODUCTION))
    return re.compile("|".join(".{1,300}".join(map(re.escape, parts)) for parts in before_after))


@lru_cache(maxsize=1024)
def _read(page: str) -> tuple[list[Unit], list[list[str]], list[frozenset[str]]]:
    """Return the units of a page with the terms of each and of what follows it; pages are quoted often."""
    found = units(page)
    words = [list(terms(f"{unit.term} {unit.text}")) for unit in found]
    return found, words, [frozenset(terms(unit.follow)) if unit.follow else frozenset() for unit in found]


def _weighed(item: Evidence, wanted: dict[str, float], asked: list[str], standing: float) -> _Passage:
    found, words, codes = _read(item.chunk.page)
    total = sum(wanted.values()) or 1.0
    chunk = item.chunk
    heading = wanted.keys() & set(terms(headings(chunk.title, chunk.heading, whole=True)))
    last = {t for t in terms(last_heading(chunk.title, chunk.heading)) if t not in STOP_WORDS}
    fitting = len(last & wanted.keys()) / len(last) if last else 0.0
    matched = [one_line(passage) for passage in item.matched]
    bigrams = set(pairwise(asked))
    scores: list[float] = []
    held: list[set[str]] = []
    for unit, said, followed in zip(found, words, codes, strict=True):
        order = [t for t in said if t in wanted]
        here = set(order)
        code = (wanted.keys() & followed) - here
        score = sum(wanted[t] for t in here)
        score += _HEADING_SHARE * sum(wanted[t] for t in heading - here)
        score += _CODE_SHARE * sum(wanted[t] for t in code - heading)
        score /= total
        score += 0.1 * sum(pair in bigrams for pair in pairwise(order)) / max(1, len(asked))
        if here or heading or code:
            score += 0.25 * standing + 0.2 * fitting
        if matched and any(one_line(unit.text) in passage for passage in matched):
            score += 0.1
        if unit.first:
            score += 0.08
        if unit.follow and code | here:
            score += 0.05
        if _LEANING.match(unit.text):
            score *= 0.7
        if unit.text.endswith("?") or _POINTER.match(unit.text):
            score *= 0.3
        scores.append(score)
        held.append(here | code | heading)
    return _Passage(item, found, scores, held)


def _choose(
    passages: Sequence[_Passage], wanted: dict[str, float], limit: int
) -> list[tuple[_Passage, list[list[int]]]]:
    """Pick units greedily: what was quoted already counts for less, and nothing is said twice.

    Returns passages in order of their best quote, each with its runs of units in reading order.
    """
    total = sum(wanted.values()) or 1.0
    chosen: list[tuple[_Passage, list[int]]] = []
    covered: set[str] = set()
    said: set[str] = set()
    led: list[str] = []
    best = 0.0
    while len(chosen) < limit:
        pick: tuple[float, _Passage, int] | None = None
        for passage in passages:
            for at, score in enumerate(passage.scores):
                known = passage.held[at] & covered
                value = score - 0.5 * sum(wanted[t] for t in known) / total
                if (pick is None or value > pick[0]) and not _repeats(passage.units[at], said, led):
                    pick = (value, passage, at)
        if pick is None or pick[0] <= 0 or pick[0] < _LEAST * best:
            break
        best = best or pick[0]
        _, passage, at = pick
        run = _grown(passage, at, said)
        said |= {one_line(passage.units[i].text) for i in run}
        led += [one_line(passage.units[i].follow) for i in run if passage.units[i].follow]
        covered |= set().union(*(passage.held[i] for i in run))
        chosen.append((passage, run))
    runs: dict[int, tuple[_Passage, list[list[int]]]] = {}
    for passage, run in chosen:
        runs.setdefault(passage.evidence.number, (passage, []))[1].append(run)
    return [(passage, sorted(found)) for passage, found in runs.values()]


def _repeats(unit: Unit, said: Collection[str], led: Sequence[str]) -> bool:
    """Return True if a unit was said, stands in a list that was led to, or leads to a list that was said."""
    text, follow = one_line(unit.text), one_line(unit.follow)
    if text in said or any(text in other for other in led):
        return True
    return bool(follow) and (follow in led or any(other in follow for other in said if len(other) > _SHORT))


def _grown(passage: _Passage, at: int, said: Collection[str]) -> list[int]:
    """Add what a unit leans on, then what goes on from it, up to a length that is read."""
    run = [at]
    found = passage.units

    def fits(other: int) -> bool:
        return (
            0 <= other < len(found)
            and found[other].block == found[at].block
            and one_line(found[other].text) not in said
            and sum(len(found[i].text) for i in run) + len(found[other].text) <= _QUOTE_CHARACTERS
        )

    while _LEANING.match(found[run[0]].text) and fits(run[0] - 1) and found[run[0] - 1].next == run[0]:
        run.insert(0, run[0] - 1)
    while found[run[-1]].next == run[-1] + 1 and fits(run[-1] + 1):
        following = run[-1] + 1
        leads_to_code = bool(found[following].follow)
        if passage.scores[following] < 0.4 * passage.scores[at] and not leads_to_code:
            break
        run.append(following)
    return run


def _written(
    passage: _Passage, runs: Sequence[Sequence[int]], number: int, product: str, release: str
) -> str:
    """Write the quotes of one passage under its heading; the last one bears the number."""
    chunk = passage.evidence.chunk
    heading = heading_over(chunk, product, release)
    parts: list[str] = []
    for run in runs:
        chosen = [passage.units[i] for i in run]
        body = _body(chosen, last_heading(chunk.title, chunk.heading))
        if body:
            parts.append("\n".join(f"> {line}".rstrip() for line in body.split("\n")))
        parts += [unit.follow for unit in chosen if unit.follow]
    at = next((i for i in range(len(parts) - 1, -1, -1) if parts[i].startswith("> ")), None)
    if at is None:
        return "\n\n".join([f"**{heading or chunk.path}** [{number}]", *parts])
    parts[at] += f"\n> [{number}]" if parts[at].endswith("|") else f" [{number}]"
    if heading and parts[0].startswith("> "):
        parts[0] = f"**{heading}**\n{parts[0]}"
    elif heading:
        parts.insert(0, f"**{heading}**")
    return "\n\n".join(parts)


def _body(chosen: Sequence[Unit], heading: str) -> str:
    separator = "\n" if chosen[0].kind == "item" else " "
    body = separator.join(unit.text for unit in chosen if unit.text)
    term = chosen[0].term
    named = re.sub(r"[*`]|\(.*", "", term).rsplit(" = ")[0]
    # Under a heading of the same name the term would be said twice.
    if term and body and not named.endswith(re.sub(r"\(.*", "", heading)):
        return f"{term}: {body}"
    return body
