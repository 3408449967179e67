"""What a text says, by sentence and line: to compare two releases, or an answer with its pages."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from core.text.words import one_line, query_terms, sentences, words
from core.vocabulary import NEGATIONS, OPPOSITES, words_of

_FENCE = re.compile(r"^[ >]*(`{3,}|~{3,})")
_MARK = re.compile(r"^(?:[ \t]*(?:>|[-*+](?=\s)|\d{1,3}[.)](?=\s)|#{1,6}(?=\s)))*[ \t]*")
_STARTS = re.compile(r"^[ \t>]*(?:[-*+]|\d{1,3}[.)]|#{1,6}|\|)\s")
_CITED = re.compile(r"\s?\[\d{1,2}\](?!\()")
_TARGET = re.compile(r"\]\\?\([^()\s]{0,500}\)")
_UNTOLD = re.compile(r"[`*\[\]\\|]")
_ENDS = re.compile(r"^[\s.,:;!?…=~_-]+|[\s.,:;!?…=~_-]+$")
_PACKAGE = re.compile(r"(?<![\w.-])[A-Za-z][\w.]{0,40}-\d[\w.]*")
_FIGURE = re.compile(r"\d[\d.]*")
_WORD = re.compile(r"\w")
_WAYS_TO_DENY = frozenset(words_of(__package__)["turning"].split())
_TURNING = NEGATIONS | _WAYS_TO_DENY
_DENIAL = re.compile(
    rf"(?i)n['’]t\b|\b(?:unless|until|otherwise|{'|'.join(sorted(NEGATIONS))})\b(?!\s(?:only|just|merely))"
)
_SIDES = tuple(tuple(side.union(*map(query_terms, side)) for side in sides) for sides in OPPOSITES)
"""Opposites with their stems."""
_NOTHING = re.compile(r"`(?:[Nn]one|no|not|never|without)`|\bNone\b")
_STOP = re.compile(r"[();:]|\s[-–—]+\s")
"""Over what a "not" does not reach."""
_CODE = re.compile(r"`[^`\n]{1,200}`")
_TENSE = re.compile(r"n['’]t\b")
_ANSWER = re.compile(r"^(?:yes|no)\b[,.;:]? *", re.IGNORECASE)
_PLAIN = re.compile(r"(?<![\w.`'\"(=-])[A-Za-z][a-z]+(?![\w(=_]|\.\w)")
PROSE = 4
"""Words of a sentence from which it says something that can be turned."""
NEAR = 0.6
"""Share of a sentence's terms from which a place of a text speaks of the same."""
AS_NEAR = 0.15
"""How much less than the best place another one may hold to be asked, too."""


def statements(text: str, product: str = "") -> list[str]:
    """Return the sentences of a Markdown text's prose and the lines of its code, without markup and case.

    A version right behind the name of the `product` is left out, and in what a program printed (below a
    prompt) every figure: those are different in each release.
    """
    own = version_of(product) if product else None
    found = (_plain(piece, own) for piece in _pieces(text))
    return [told for told in dict.fromkeys(found) if _WORD.search(told)]


@lru_cache(maxsize=16)
def version_of(product: str) -> re.Pattern[str]:
    """Return the pattern of a version right behind the name of a product."""
    return re.compile(rf"(?<!\w)({re.escape(product.lower())})[\s=~<>/v-]{{0,4}}\d[\w.]*")


def _pieces(text: str) -> Iterator[str]:
    prose: list[str] = []
    code: list[str] | None = None
    mark = ""
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if code is not None:
            if fence and fence[1].startswith(mark) and not line.strip(" >`~"):
                yield from _printed(code)
                code = None
            else:
                code.append(line)
        elif fence:
            yield from _told(prose)
            prose, code, mark = [], [], fence[1]
        elif not line.strip(" >") or _STARTS.match(line):
            yield from _told(prose)
            prose = [line]
        else:
            prose.append(line)
    yield from _told(prose)
    yield from _printed(code or ())


def _told(lines: Iterable[str]) -> Iterator[str]:
    yield from sentences(one_line(_CITED.sub("", " ".join(_MARK.sub("", line) for line in lines))))


def _printed(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines of code; of what somebody typed at a prompt and got, what got printed without figures."""
    lines = list(lines)
    typed = any(line.lstrip().startswith("$ ") for line in lines)
    for line in lines:
        is_output = typed and not line.lstrip().startswith("$ ")
        yield _FIGURE.sub("", _PACKAGE.sub("", line)) if is_output else line


def _plain(piece: str, own: re.Pattern[str] | None) -> str:
    told = one_line(_UNTOLD.sub("", _TARGET.sub("", piece))).lower()
    return _ENDS.sub("", own.sub(r"\1", told) if own else told)


@dataclass(frozen=True, slots=True)
class Said:
    """All that a release says: a number for each statement, for as long as the process lives."""

    numbers: NDArray[np.int64]

    @classmethod
    def nothing(cls) -> Said:
        """Return what says nothing."""
        return cls(np.zeros(0, np.int64))

    @classmethod
    def of(cls, texts: Iterable[str], product: str = "") -> Said:
        """Note what texts say."""
        told = (hash(one) for text in texts for one in statements(text, product))
        return cls(np.unique(np.fromiter(told, np.int64)))

    def lacking(self, told: Iterable[str]) -> list[str]:
        """Return which of these statements are not there, in their order."""
        told = list(told)
        if not len(self.numbers):
            return told
        wanted = np.array([hash(one) for one in told], np.int64)
        at = np.minimum(np.searchsorted(self.numbers, wanted), len(self.numbers) - 1)
        return [one for one, there in zip(told, self.numbers[at] == wanted, strict=True) if not there]


@dataclass(frozen=True, slots=True)
class Place:
    """A sentence of a text, with what of it is denied and what stated, and how often it denies."""

    text: str
    terms: frozenset[str]
    words: frozenset[str]
    denied: frozenset[str]
    stated: frozenset[str]
    negations: int

    @classmethod
    def of(cls, text: str, under: Collection[str] = ()) -> Place:
        """Read a sentence, of what the words `under` head; its code denies nothing and has no opposite."""
        told, denied, stated = _TENSE.sub(" not", text), list[str](), list[str]()
        pieces = [words(piece) for piece in _STOP.split(_NOTHING.sub("", told))]
        for piece in pieces:
            negated = False
            for word in piece:
                if word in NEGATIONS:
                    negated = True
                elif terms := query_terms(word):
                    (denied if negated else stated).extend(terms)
                    negated = False
        prose = _CODE.sub(" ", told)
        return cls(
            text,
            frozenset(query_terms(f"{text} {' '.join(under)}")),
            frozenset({*words(prose), *query_terms(prose)}),
            frozenset(denied),
            frozenset(stated),
            sum(word in NEGATIONS for piece in pieces for word in piece),
        )

    def turns(self, term: str, other: Place) -> bool:
        """Return True if one only denies what the other only states."""
        ours = (term in self.denied, term in self.stated)
        return sum(ours) == 1 and ours == (term in other.stated, term in other.denied)


def places(blocks: Iterable[tuple[Sequence[str], Collection[str]]]) -> Iterator[Place]:
    """Read the sentences of each block with the words that head it, each also with the one after it."""
    for told, under in blocks:
        yield from (Place.of(one, under) for one in told)
        yield from (Place.of(f"{one} {two}", under) for one, two in itertools.pairwise(told))


def contrary(
    sentence: str, read: Sequence[Place], said: Collection[str], alone: float = NEAR, twice: bool = False
) -> Place | None:
    """Return the place that speaks of the same as a sentence and says the contrary; None where none does.

    `said` are all words of the text. A sentence that only denies, or has an opposite, says the contrary of a
    place that holds the share `alone` of its terms. With `twice`, what denies a denial ("not unless"), or
    denies as often as the place, says no contrary.
    """
    sentence = _ANSWER.sub("", sentence)
    terms = frozenset(query_terms(sentence))
    if not terms or len(_PLAIN.findall(sentence)) < PROSE:
        return None
    shares = [len(terms & place.terms) / len(terms) for place in read]
    best = max(shares, default=0.0)
    if best < NEAR:
        return None
    order = sorted(range(len(shares)), key=lambda at: (-shares[at], len(read[at].terms)))
    near = [read[at] for at in order if shares[at] >= best - AS_NEAR]
    own = Place.of(sentence)
    if twice and len(_DENIAL.findall(sentence)) > 1:
        return None
    for term in own.terms:
        there = [place for place in near if term in place.terms]
        turned = there and all(own.turns(term, place) for place in there)
        if turned and not (twice and there[0].negations == own.negations):
            return there[0]
    if best < alone:
        return None
    denies = own.words & NEGATIONS and not own.words & _WAYS_TO_DENY
    if denies and not any(place.words & _TURNING for place in near):
        return near[0]
    sides = ((one, other) for left, right in _SIDES for one, other in ((left, right), (right, left)))
    return near[0] if any(_opposed(own, near, mine, theirs, said) for mine, theirs in sides) else None


def _opposed(
    own: Place, near: Sequence[Place], mine: frozenset[str], theirs: frozenset[str], said: Collection[str]
) -> bool:
    """Return True if a sentence has a word where the places near it (nearest first) have its opposite."""
    if not own.words & mine or own.words & theirs:
        return False
    meets = [bool(place.words & theirs and not place.words & mine) for place in near]
    return all(meets) or (meets[0] and not mine.intersection(said))
