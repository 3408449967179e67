"""Questions that say that something is otherwise than it was, and lines of notes that say so (*ours*).

"`region` used to take that, and now it errors" is told by "partial writes with `region` now raise an error".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from core.domain import ContextChunk
from core.retrieval.release_notes.gone import entries_of
from core.retrieval.release_notes.names import named
from core.text.words import identifiers, index_terms
from core.vocabulary import in_english, tells

_SAID = re.compile(
    r"(?<! get )(?<! got )(?<!['’]m )(?<! are )(?<! am )(?<! is )(?<! be )(?<! was )(?<! were )"
    r"(?<! being )(?<! been )\bused to\b[^?\n]{1,200}?\b(?:and|but|,) now\b"
    r"|\bnow (?:(?:it|they|just|only|always|also|suddenly) ){0,2}"
    r"(?:breaks?|complains?|crash(?:es)?|errors?|fails?|raises?|refuses?|rejects?|throws?|warns?)\b"
    r"|\b(?:older|old|earlier|previous) (?:versions?|releases?|one)"
    r" (?:(?:just|still|always|never|silently) ){0,2}"
    r"(?:accepted|allowed|did|didn['’]?t|gave|had|let|ran|returned|took|was|worked|wrote)\b"
    r"|\b(?:it|that|this|everything) (?:just )?worked (?:fine |ok |well )?(?:before|until)\b",
    re.IGNORECASE,
)
_TELLS = re.compile(
    r"\b(?:now|previously|formerly|no longer|used to)\b|\b(?:prior to|before) this\b", re.IGNORECASE
)
_WHETHER_THERE = re.compile(
    r"\bstill (?:in\b(?: (?:there|here|it))?|there|here|available|supported|exists?\b|around|included)"
    r"|(?:^|[.,;!?]\s|\b(?:so|and|but|or)\s)(?:was|were|has|have|did|got) [^.,;!?\n]{1,60}?"
    r"\b(?:removed|dropped|discontinued|gone)\b"
    r"|\bwhat(?: has|['’]?s)? happened (?:to|with)\b|\bbec[ao]me of\b",
    re.IGNORECASE,
)
"""How it is asked in plain words whether something is still there."""
_ENDS = re.compile(
    r"\b(?:has|have|was|were) (?:been )?(?:removed|dropped|discontinued|retired)\b"
    r"|^\W*(?:removed?|dropp?(?:ed)?|discontinued?)\b",
    re.IGNORECASE,
)
"""What says of a thing that it is there no more."""
_OF_ENDS = frozenset(index_terms("still there available supported exists removed dropped gone happened"))
_IS_THAT = 0.5
"""Share of a question that a line holds which tells that what it asks for has ended; ours."""
_ARGUMENT = re.compile(r"(?<![\w.`\"'-])([a-z]\w{2,60})=(?!=)", re.IGNORECASE)
"""An argument as people write it: `region=`."""
_HOLDS = 0.25
"""Share of a question that a line holds that tells of it; ours."""


def asks_what_turned(question: str) -> bool:
    """Return True if a question says that something is otherwise than it was in an older version."""
    return _SAID.search(in_english(question)) is not None


def names_in(question: str) -> tuple[str, ...]:
    """Return the names in code that a question speaks of, arguments with their sign of equality, too."""
    return tuple(dict.fromkeys((*identifiers(question), *_ARGUMENT.findall(question))))


def turns(line: str) -> bool:
    """Return True if a line of release notes says what is otherwise than it was, or is gone."""
    return _TELLS.search(in_english(line)) is not None or tells("removed", line) or tells("breaking", line)


def turning(names: Sequence[str], shares: Mapping[str, float], page: ContextChunk) -> list[str]:
    """Return the lines of a page that say so of one of the names, and hold enough of the question."""
    known = [named(name) for name in names]
    return [line for line in bearing(shares, page) if turns(line) and any(one.search(line) for one in known)]


def asks_whether_there(question: str) -> bool:
    """Return True if a question asks in plain words, by no name in code, whether something is still there."""
    return _WHETHER_THERE.search(in_english(question)) is not None and not names_in(question)


def ending(shares: Mapping[str, float], page: ContextChunk) -> list[str]:
    """Return the lines of a page that say of what is asked for that it is there no more."""
    told = {term: share for term, share in shares.items() if term not in _OF_ENDS}
    least = _IS_THAT * sum(told.values())
    return [line for line in bearing(told, page, least) if _ENDS.search(in_english(line))] if least else []


def bearing(shares: Mapping[str, float], page: ContextChunk, least: float = _HOLDS) -> list[str]:
    """Return the lines of a page that hold enough of the question, by the `shares` of its terms."""
    return [
        line
        for _above, line in entries_of(page.page)
        if sum(shares.get(term, 0.0) for term in set(index_terms(line))) >= least
    ]
