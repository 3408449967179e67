"""Whether a document holds what a generated answer says: names, numbers, code, negation (QA pre-generation,
quality check of what a model made; how it is done is *ours*).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from core.domain import ContextChunk
from core.ingestion.pregeneration.pairs import Made
from core.text.said import WAYS_TO_DENY
from core.text.words import identifiers, last_of, parts_of, quantities, query_terms, sentences, words
from core.vocabulary import NEGATIONS, OPPOSITES

HELD = 0.5
"""Share of a sentence's terms that the document must hold: below it the sentence is somebody's own."""
NEAR = 0.6
"""Share of a sentence's terms from which a place of the document speaks of the same."""
AS_NEAR = 0.15
"""How much less than the best place another one may hold to be asked, too."""
ALIGNED = 0.5
"""Share of the best place's share that the places with a number or a name must hold of what is said of it."""
PROSE = 4
"""Words of a sentence from which it says something that can be turned."""
LONGEST_QUESTION = 300
"""Characters of a question; what is longer is no question."""
_NAMED = re.compile(
    r"(?<![.!?:>•\-] )(?<!^)(?<![\w`'\"/.(=-])((?!True\b|False\b|None\b)[A-Z][A-Za-z]+[a-z0-9]\b)"
)
"""A name: acronyms and literals (`True`) say what kind of thing something is, not which."""
_FENCE = re.compile(r"^\s*(```|~~~)")
_MARK = re.compile(r"^[\s>]*(?:(?:[-*+]|\d+[.)])\s+)?")
_NOTHING = re.compile(r"`(?:[Nn]one|no|not|never|without)`|\bNone\b")
_PLAIN = re.compile(r"(?<![\w.`'\"(=-])[A-Za-z][a-z]+(?![\w(=_]|\.\w)")
_ANSWER = re.compile(r"^(?:yes|no)\b[,.;:]? *", re.IGNORECASE)
_TENSE = re.compile(r"n['’]t\b")
_TURNING = NEGATIONS | WAYS_TO_DENY


@dataclass(frozen=True, slots=True)
class _Place:
    terms: frozenset[str]
    words: frozenset[str]
    denied: frozenset[str]
    stated: frozenset[str]

    @classmethod
    def of(cls, text: str) -> _Place:
        plain = words(_NOTHING.sub("", _TENSE.sub(" not", text)))
        denied, stated, negated = list[str](), list[str](), False
        for word in plain:
            if word in NEGATIONS:
                negated = True
            elif terms := query_terms(word):
                (denied if negated else stated).extend(terms)
                negated = False
        return cls(frozenset(query_terms(text)), frozenset(plain), frozenset(denied), frozenset(stated))

    def turns(self, term: str, other: _Place) -> bool:
        """Return True if one only denies what the other only states."""
        ours = (term in self.denied, term in self.stated)
        return sum(ours) == 1 and ours == (term in other.stated, term in other.denied)


Kind = Literal["no question", "empty", "code", "number", "name", "other words", "contrary", "misplaced"]


@dataclass(frozen=True, slots=True)
class Unfounded:
    """What of a pair is not in the document: which kind of thing, and in words."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Ground:
    """What a page says, read once for all of its pairs.

    `names` are its names and words in lower case, `lasts` these without what they belong to, `parts` their
    words; `places` are its sentences, `blocks` its paragraphs with those around them; `head` are the terms of
    title and heading.
    """

    names: frozenset[str]
    lasts: frozenset[str]
    parts: frozenset[str]
    numbers: Mapping[str, frozenset[str]]
    places: tuple[_Place, ...]
    blocks: tuple[frozenset[str], ...]
    head: frozenset[str]
    words: frozenset[str]
    terms: frozenset[str]

    @classmethod
    def of_page(cls, page: ContextChunk) -> Ground:
        """Read a page with its title, release and heading."""
        return cls.of(f"{page.title} {page.release}\n{page.heading}\n\n{page.page}")

    @classmethod
    def of(cls, document: str) -> Ground:
        """Read a text; what stands before the first empty line is its head."""
        plain = words(document)
        numbers: dict[str, set[str]] = {}
        for value, unit in quantities(document):
            numbers.setdefault(value, set()).add(unit)
        names = {name.lower() for name in identifiers(document)} | set(plain)
        return cls(
            frozenset(names),
            frozenset(last_of(name) for name in names),
            frozenset(part for name in names for part in parts_of(name)) | frozenset(plain),
            {value: frozenset(units) for value, units in numbers.items()},
            tuple(_Place.of(text) for text in _places(document)),
            tuple(_blocks(document)),
            frozenset(query_terms(document.partition("\n\n")[0])),
            frozenset(plain),
            frozenset(query_terms(document)),
        )

    def unfounded(self, made: Made) -> Unfounded | None:
        """Say what of a pair is not here; None where all of it is."""
        if not made.question.strip().endswith(("?", "？")) or len(made.question) > LONGEST_QUESTION:
            return Unfounded("no question", f"{made.question[:60]!r} is no question")
        if not words(made.answer):
            return Unfounded("empty", "the answer is empty")
        texts = dict.fromkeys((made.answer, made.full_answer, made.summary))
        return next((problem for text in texts if (problem := self._unsaid(text))), None)

    def _unsaid(self, said: str) -> Unfounded | None:
        for name in identifiers(said):
            if not self._has(name):
                return Unfounded("code", f"`{name}` is not in the document")
        for value, _ in quantities(said):
            if value not in self.numbers:
                return Unfounded("number", f"{value} is not in the document")
        for name in _NAMED.findall(said):
            if name.lower() not in self.parts and name.lower().rstrip("s") not in self.parts:
                return Unfounded("name", f"{name} is not in the document")
        for sentence in _statements(said):
            terms, short = frozenset(query_terms(sentence)), f"{sentence[:60]!r}"
            if terms and len(terms & self.terms) < HELD * len(terms):
                return Unfounded("other words", f"{short} is not from the document")
            if self._turned(sentence, terms):
                return Unfounded("contrary", f"{short} is the contrary of the document")
            if fact := self._misplaced(sentence, terms):
                return Unfounded("misplaced", f"{fact} belongs to something else in the document")
        return None

    def _has(self, name: str) -> bool:
        lowered = name.lower()
        return lowered in self.names or last_of(lowered) in self.lasts

    def _turned(self, sentence: str, terms: frozenset[str]) -> bool:
        """Return True if a sentence says the contrary of the places that speak of the same."""
        sentence = _ANSWER.sub("", sentence)
        if not terms or len(_PLAIN.findall(sentence)) < PROSE:
            return False
        shares = [len(terms & place.terms) / len(terms) for place in self.places]
        best = max(shares, default=0.0)
        if best < NEAR:
            return False
        order = sorted(range(len(shares)), key=lambda at: (-shares[at], len(self.places[at].terms)))
        near = [self.places[at] for at in order if shares[at] >= best - AS_NEAR]
        own = _Place.of(sentence)
        for term in own.terms:
            there = [place for place in near if term in place.terms]
            if there and all(own.turns(term, place) for place in there):
                return True
        if own.words & NEGATIONS and not any(place.words & _TURNING for place in near):
            return True
        return any(
            self._opposed(own, near, mine, theirs)
            for one, other in OPPOSITES
            for mine, theirs in ((one, other), (other, one))
        )

    def _opposed(
        self, own: _Place, near: Sequence[_Place], mine: frozenset[str], theirs: frozenset[str]
    ) -> bool:
        """Return True if a sentence has a word where the places near it (nearest first) have its opposite."""
        if not own.words & mine or own.words & theirs:
            return False
        meets = [bool(place.words & theirs and not place.words & mine) for place in near]
        return all(meets) or (meets[0] and not mine & self.words)

    def _misplaced(self, sentence: str, terms: frozenset[str]) -> str:
        """Return the number or name of a sentence that stands where the page speaks of something else."""
        for fact in (*identifiers(sentence), *(value for value, _ in quantities(sentence))):
            own = frozenset(query_terms(fact))
            others = (terms - own) & self.terms
            if len(others) < 2 or own <= self.head:
                continue
            best = max((len(others & block) for block in self.blocks), default=0)
            there = [block for block in self.blocks if own <= block]
            if there and max(len(others & block) for block in there) < ALIGNED * best:
                return fact
        return ""


def _places(document: str) -> list[str]:
    """Return the sentences and items of a document, each also with the one after it."""
    found: list[str] = []
    for block in re.split(r"\n\s*\n", document):
        some = _statements(block)
        found += some
        found += [f"{one} {two}" for one, two in itertools.pairwise(some)]
    return found


def _blocks(document: str) -> list[frozenset[str]]:
    """Return the terms of each paragraph or item with those before and after it."""
    texts = [
        text for block in re.split(r"\n\s*\n", document) for text in re.split(r"\n(?=[^\S\n]*[-*] )", block)
    ]
    terms = [frozenset(query_terms(text)) for text in texts]
    return [frozenset().union(*terms[max(at - 1, 0) : at + 2]) for at in range(len(terms))]


def _statements(text: str) -> list[str]:
    """Return the sentences, items and lines of code of a text."""
    found, prose, in_code = list[str](), list[str](), False

    def close() -> None:
        found.extend(s for s in sentences(" ".join(prose)) if words(s))
        prose.clear()

    for line in text.split("\n"):
        if _FENCE.match(line):
            close()
            in_code = not in_code
        elif in_code or not line.strip():
            close()
            found += [line.strip()] if words(line) else []
        else:
            mark = _MARK.match(line)
            rest = line[mark.end() :] if mark else line
            if rest != line:
                close()
            prose.append(rest)
    close()
    return found
