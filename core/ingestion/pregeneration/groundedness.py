"""Whether a document holds what a generated answer says: names, numbers, code, negation (QA pre-generation,
quality check of what a model made; how it is done is *ours*).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from core.domain import ContextChunk
from core.ingestion.pregeneration.pairs import Made
from core.text.said import Place, contrary, places
from core.text.words import identifiers, last_of, parts_of, quantities, query_terms, sentences, words

HELD = 0.5
"""Share of a sentence's terms that the document must hold: below it the sentence is somebody's own."""
ALIGNED = 0.5
"""Share of the best place's share that the places with a number or a name must hold of what is said of it."""
LONGEST_QUESTION = 300
"""Characters of a question; what is longer is no question."""
_NAMED = re.compile(
    r"(?<![.!?:>•\-] )(?<!^)(?<![\w`'\"/.(=-])((?!True\b|False\b|None\b)[A-Z][A-Za-z]+[a-z0-9]\b)"
)
"""A name: acronyms and literals (`True`) say what kind of thing something is, not which."""
_FENCE = re.compile(r"^\s*(```|~~~)")
_MARK = re.compile(r"^[\s>]*(?:(?:[-*+]|\d+[.)])\s+)?")


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
    places: tuple[Place, ...]
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
            tuple(_places(document)),
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
            if contrary(sentence, self.places, self.words):
                return Unfounded("contrary", f"{short} is the contrary of the document")
            if fact := self._misplaced(sentence, terms):
                return Unfounded("misplaced", f"{fact} belongs to something else in the document")
        return None

    def _has(self, name: str) -> bool:
        lowered = name.lower()
        return lowered in self.names or last_of(lowered) in self.lasts

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


def _places(document: str) -> Iterator[Place]:
    """Read the sentences and items of a document, each also with the one after it."""
    return places((_statements(block), ()) for block in re.split(r"\n\s*\n", document))


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
