"""What a text says, by sentence and line: to compare two releases, or an answer with its pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.system.offload import aside
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
WAYS_TO_DENY = frozenset(words_of(__package__)["turning"].split())
"""Words that deny something, in their way."""
_SIDES = tuple(tuple(side.union(*map(query_terms, side)) for side in sides) for sides in OPPOSITES)
"""Opposites with their stems."""
_NARROWS = re.compile(
    r"\b(?:only|unless|until|before|otherwise|instead|rather|except|besides|although|though|however|yet|even|just"
    r"|merely|same|sure|certain|enough|always|necessarily|other)\b|,\s(?:and\s)?not\b|\b(?:do|does)(?:n['’]t|\snot)\s(?:need|have)\b"
    r"|(?:^|[.;:,]\s|\bplease\s)(?:don['’]?t|do\snot|never|avoid)\b",
    re.IGNORECASE,
)
"""What says the same as a denial, in a way, and what is advised against."""
_WITHOUT = re.compile(r"(?:^|[.;:]\s)without\s", re.IGNORECASE)
"""What begins a condition: "Without this setting the default is 31 days" denies no default."""
_NOTHING = re.compile(r"`(?:[Nn]one|no|not|never|without)`|\bNone\b")
_NOT = re.compile(r"\b(?:not|never|cannot)\s(?:\w+ly\s|be(?:en)?\s|also\s|have\s)?([a-z]\w+)", re.IGNORECASE)
_TENSE = re.compile(r"n['’]t\b")
_STOP = re.compile(r"[();:]|\s[-–—]+\s")
"""Over what a "not" does not reach."""
_CODE = re.compile(r"`[^`\n]{1,200}`")
_ANSWER = re.compile(r"^(?:yes\b[,.;:!]?|no[,.;:!]) *", re.IGNORECASE)
_PLAIN = re.compile(r"(?<![\w.`'\"(=-])[A-Za-z][a-z]+(?![\w(=_]|\.\w)")
_LEAST_WORDS, _LEAST_TERMS = 4, 3
"""Words and terms of a sentence from which it says something that can be turned."""
NEAR = 0.7
"""Share of a sentence's terms that a place holds which speaks of the same."""
AS_NEAR = 0.1
"""How much less than the best place another one may hold to be asked, too."""
_OWN = 0.6
"""How many terms of a sentence a place holds for each of its own: a long one speaks of more."""


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
    """A sentence of a text.

    `terms` are those of what heads it, too, `own` counts its own; `words` are those of its prose, with stems;
    `denied` are the terms next to what denies, `done` those that a "not" denies, `negations` counts these.
    """

    text: str
    terms: frozenset[str]
    own: int
    words: frozenset[str]
    denied: frozenset[str]
    done: frozenset[str]
    negations: int

    @classmethod
    def of(cls, text: str, under: Collection[str] = ()) -> Place:
        """Read a sentence, of what the words `under` head; its code denies nothing and has no opposite."""
        told, denied = _NOTHING.sub("", _TENSE.sub(" not", text)), list[str]()
        pieces = [words(piece) for piece in _STOP.split(told)]
        for piece in pieces:
            negated = False
            for word in piece:
                if word in NEGATIONS:
                    negated = True
                elif negated and (terms := query_terms(word)):
                    denied += terms
                    negated = False
        prose, own = _CODE.sub(" ", told), frozenset(query_terms(text))
        return cls(
            text,
            own | frozenset(query_terms(" ".join(under))),
            len(own),
            frozenset({*words(prose), *query_terms(prose)}),
            frozenset(denied),
            frozenset(term for word in _NOT.findall(told) for term in query_terms(word)),
            sum(word in NEGATIONS for piece in pieces for word in piece),
        )


def contrary(sentence: str, read: Sequence[Place]) -> Place | None:
    """Return the place that says nearly what a sentence says, and denies it; None where none does.

    Or has the opposite of one of its words. All places that are as near have to, and none may say it with a
    word that narrows ("only", "unless").
    """
    sentence = _ANSWER.sub("", sentence)
    own = Place.of(sentence)
    if own.own < _LEAST_TERMS or len(_PLAIN.findall(sentence)) < _LEAST_WORDS:
        return None
    shares = [len(own.terms & place.terms) / own.own for place in read]
    best = max(shares, default=0.0)
    near = [
        place
        for place, share in zip(read, shares, strict=True)
        if share >= max(best - AS_NEAR, NEAR) and share * own.own >= _OWN * place.own >= _OWN * _LEAST_TERMS
    ]
    if not near:
        return None
    settled = any(_NARROWS.search(text) for text in (sentence, *(place.text for place in near)))
    settled = settled or any((own.words ^ place.words) & WAYS_TO_DENY for place in near)
    settled = settled or (bool(_WITHOUT.search(sentence)) and not any("without" in p.words for p in near))
    turned = not settled and (_denies(own, near) or any(_turned(own, near, term) for term in own.terms))
    return near[0] if turned or _opposed(own, near) else None


def _denies(own: Place, near: Sequence[Place]) -> bool:
    """Return True if either a sentence or all places denies once, and the other side does not."""
    if own.negations:
        return own.negations == 1 and not any(place.negations for place in near)
    return all(place.negations == 1 for place in near)


def _turned(own: Place, near: Sequence[Place], term: str) -> bool:
    """Return True if a "not" denies a term on one side alone, and both together do not deny twice."""
    if (own.negations + near[0].negations) % 2 == 0:
        return False
    there = [place for place in near if term in place.terms]
    if term in own.done:
        return bool(there) and not any(term in place.denied for place in there)
    return bool(there) and term not in own.denied and all(term in place.done for place in there)


def _opposed(own: Place, near: Sequence[Place]) -> bool:
    """Return True if all places have the opposite of a word of a sentence, and deny as it does."""
    if bool(own.negations) != bool(near[0].negations):
        return False
    return any(
        own.words & mine
        and not own.words & theirs
        and all(place.words & theirs and not place.words & mine for place in near)
        for left, right in _SIDES
        for mine, theirs in ((left, right), (right, left))
    )


class Spoken(Protocol):
    """What is live of a release: its texts, by id."""

    @property
    def text_of(self) -> Mapping[str, str]:
        """Return the texts."""


class Sayings:
    """All that releases say, to be compared with one another's pages: read once each, when it is asked for.

    `live` returns what is live of a release, `product` is the name of what it is about.
    """

    def __init__(self, live: Callable[[str], Spoken | None], product: str) -> None:
        self._live = live
        self._product = product
        self._read: dict[str, tuple[Spoken, Said]] = {}

    async def renew(self) -> None:
        """Read again what was read of releases of which something else is live now; forget what is gone."""
        for release, (live, _) in list(self._read.items()):
            if self._live(release) is not live:
                self._read.pop(release, None)
                await self.of(release)

    async def of(self, release: str) -> Said:
        """Return all that a release says, nothing for one that is not live."""
        live = self._live(release)
        if live is None:
            return Said.nothing()
        known = self._read.get(release)
        if known is None or known[0] is not live:
            texts = live.text_of.values()
            known = live, await aside(len(texts), Said.of, texts, self._product)
            if self._live(release) is live:
                self._read[release] = known
        return known[1]
