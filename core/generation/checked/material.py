"""What an answer may name: words, names, numbers, defaults and lines of code of evidence and question."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from core.generation.calculator import follows, multiples, restated
from core.generation.quotes.blocks import split
from core.prompts import ordering, orders, without_orders
from core.text.said import Place, contrary
from core.text.words import (
    cut_at_word,
    identifiers,
    last_of,
    one_line,
    quantities,
    query_terms,
    sentences,
    whole_word,
    words,
)
from core.vocabulary import UNITS

_NAME = re.compile(r"[A-Za-z_]\w*")
SPAN = re.compile(r"(?<!`)`++([^`\n]+)`+")
AS_CODE = re.compile(r"\w\([^()\n]{1,120}+\)|\w\s?=\s?\S|\A\$?\s?[\w-]{1,40}+ [^\n]{0,80}--?\w")
_CAMEL = re.compile(r"\A[A-Z]\w*[a-z][A-Z]")
_CALLED = re.compile(r"(?<=\w )`[^`\n]{1,120}?\([^`\n]{0,200}+`")
"""A call in the middle of a sentence: what it is given there is an example, and no default."""
_GROUPED = re.compile(r"(?<=\d)_(?=\d{3})")
_ASSIGNED = re.compile(
    r"(?<![\w.])([A-Za-z_][\w.]{0,80}+)[\"']?\]?(?:\s?:\s?[A-Za-z][\w.\[\]| ]{0,60}?)?\s?=\s?"
    r"([\"']?[\w.+-]{1,60}+[\"']?)"
)
DEFAULT = re.compile(r"default|standard|voreingestellt|predetermin|por defecto|默认|預設", re.IGNORECASE)
QUOTED = 160
"""Characters of the evidence that a fault quotes."""
_CLAUSES = re.compile(r"[;:]\s|\s[–—]\s")
"""Between what may each stand on another page."""


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, item or block of code: its words, and those of the headings that it stands `under`."""

    text: str
    words: frozenset[str]
    under: frozenset[str]


@dataclass(frozen=True, slots=True)
class Source:
    """What one piece of evidence, or the question, says.

    `names` are names and words in lower case, `code` the words of its code, `numbers` each value with its
    units, `lines` its lines of code without blanks, `assigned` which values names are given
    in prose and signatures.
    """

    number: int
    names: frozenset[str]
    code: frozenset[str]
    numbers: frozenset[tuple[str, str]]
    lines: frozenset[str]
    assigned: frozenset[tuple[str, str]]
    blocks: tuple[Block, ...]
    terms: frozenset[str]
    release: str = ""

    @classmethod
    def of(cls, number: int, head: str, text: str, release: str = "") -> Source:
        """Read a text under its title and headings; a block that gives a model orders is left out.

        What else is known of it, such as its release, stands in a second line of the head.
        """
        kept = without_orders(text)
        said = f"{head}\n\n{kept}"
        inside = "\n".join(_code_of(kept))
        named = identifiers(said)
        code = {word.lower() for word in _NAME.findall(inside)}
        code |= {word.lower() for name in named for word in _NAME.findall(name)}
        return cls(
            number,
            frozenset(name.lower() for name in named) | _plain_words(said),
            frozenset(code),
            frozenset(numbers_of(said)),
            frozenset(bare(line) for line in inside.split("\n") if bare(line)),
            frozenset((last_of(name).lower(), value) for name, value in _ASSIGNED.findall(_signed(said))),
            tuple(_blocks(head.partition("\n")[0], kept)),
            frozenset(query_terms(said)),
            release,
        )


class Material:
    """Everything that an answer was to be written from: pieces of evidence, and what was asked."""

    def __init__(
        self, evidence: Sequence[tuple[int, str, str, str]], asked: Sequence[str], known: str = ""
    ) -> None:
        self.sources = tuple(Source.of(*piece) for piece in evidence)
        self.blocks = [block for source in self.sources for block in source.blocks]
        self.asked = Source.of(0, "", "\n\n".join(asked))
        every = (*self.sources, self.asked)
        self.names = frozenset().union(*(source.names for source in every))
        self.code = frozenset().union(*(source.code for source in every))
        self.lines = frozenset().union(*(source.lines for source in every))
        self.terms = frozenset().union(*(source.terms for source in every))
        self.known = frozenset(query_terms(known))
        given = [part for piece in evidence for part in ordering(piece[2])]
        self.ordered = _flat(" ".join([*(text for text in asked if orders(text)), *given]))
        """What gives orders in question and evidence, in lower case: who repeats it obeys."""
        self.numbers: dict[str, set[str]] = {}
        told = (found for source in every for found in source.numbers)
        for value, unit in (*told, *restated(" ".join(asked))):
            self.numbers.setdefault(value, set()).add(unit)
        mine = dict(self.asked.numbers)
        self.multiples = frozenset().union(*(multiples(block.text, mine) for block in self.blocks))

    def has(self, name: str) -> bool:
        """Return True if a name stands here, or a dotted one's last part in code."""
        return any(_has(source, name) for source in (*self.sources, self.asked))

    def units(self, value: str) -> set[str] | None:
        """Return the units of a number, None where none is said; 3.x is any that begins so."""
        is_series = value.endswith(".x") and any(one.startswith(value[:-1]) for one in self.numbers)
        return {""} if is_series or value in self.multiples else self.numbers.get(value)

    def elsewhere(self, prose: str, cited: Collection[int]) -> dict[str, list[int]]:
        """Return the numbers of a text that nothing cited has, each with the evidence that has it."""
        if not cited:
            return {}
        own = {value for one in self.sources if one.number in cited for value, _ in one.numbers}
        own |= {value for value, _ in self.asked.numbers} | self.multiples | {*"012"}
        values = [value for value, _ in numbers_of(prose) if value not in own]
        found = {v: [one.number for one in self.sources if v in {n for n, _ in one.numbers}] for v in values}
        return {v: some for v, some in found.items() if some and not follows(v, prose, self.numbers)}

    def holders(self, names: Sequence[str], values: Sequence[str]) -> list[int]:
        """Return the numbers of the pieces of evidence that hold all of these names and numbers."""
        return [
            source.number
            for source in self.sources
            if all(_has(source, name) for name in names)
            and set(values) <= {value for value, _ in source.numbers}
        ]

    def obeyed(self, said: str) -> bool:
        """Return True if a sentence says what a question ordered, and no page has it in these words."""
        said = _flat(said)
        return bool(said) and said in self.ordered and not any(said in _flat(one.text) for one in self.blocks)

    @cached_property
    def _places(self) -> tuple[Place, ...]:
        prose = [block for block in self.blocks if "| " not in block.text]
        told = ((sentences(" ".join(one.text.split("```")[::2])), one.under) for one in prose)
        return tuple(Place.of(sentence, under) for some, under in told for sentence in some)

    def contrary(self, sentence: str) -> str:
        """Return what the evidence says where a sentence says the contrary of it; "" otherwise."""
        found = (contrary(clause, self._places) for clause in _CLAUSES.split(sentence))
        place = next((one for one in found if one), None)
        return cut_at_word(place.text.lstrip("-* "), QUOTED) if place else ""

    def reads(self, code: str) -> bool:
        """Return True if a stretch of code stands here as it is, or in a longer line."""
        return any(bare(code) in line for line in self.lines)

    def holds(self, text: str) -> bool:
        """Return True if a stretch of text stands here as it is."""
        return any(text in block.text for source in (*self.sources, self.asked) for block in source.blocks)

    def marks(self, value: str) -> bool:
        """Return True if a value stands here as code or between quotation marks: `utf-8`, "Lax"."""
        return any(self.holds(f"{mark}{value}{mark}") for mark in "`\"'")

    def has_all(self, numbers: Collection[int], names: Sequence[str]) -> bool:
        """Return True if each of these names stands in one of these pieces of evidence."""
        some = [source for source in self.sources if source.number in numbers]
        return all(any(_has(source, name) for source in some) for name in names)

    def held_by(self, numbers: Collection[int], terms: frozenset[str]) -> float:
        """Return the share of terms that these pieces of evidence hold together."""
        said = frozenset[str]().union(*(one.terms for one in self.sources if one.number in numbers))
        return len(terms & said) / len(terms)

    def held(self, terms: frozenset[str], cited: Collection[int]) -> float:
        """Return the share of terms that the cited evidence holds together, or the best piece alone."""
        alone = [self.held_by([source.number], terms) for source in self.sources]
        return max([self.held_by(cited, terms), *alone])

    def releases(self, cited: Collection[int]) -> list[str]:
        """Return the releases of what is cited, where there are several."""
        found = {source.release: None for source in self.sources if source.number in cited and source.release}
        return list(found) if len(found) > 1 else []

    def says_of(self, release: str, name: str, value: str) -> bool | None:
        """Return whether what a release has under a name has a value, too; None where it has nothing."""
        name = last_of(name).lower()
        blocks = [block for one in self.sources if one.release == release for block in one.blocks]
        own = [block for block in blocks if words(block.text[:200])[:1] == [name]]
        return any(value.lower() in block.words for block in own) if own else None

    def together(self, one: str, other: str) -> bool:
        """Return True if two words stand in one block, in neighbours, or one in a heading over the other."""
        for source in (*self.sources, self.asked):
            for at, block in enumerate(source.blocks):
                if one in block.words or one in block.under:
                    near = source.blocks[max(at - 1, 0) : at + 2]
                    if other in block.under or any(other in beside.words for beside in near):
                        return True
        return False

    def defaults(self, name: str) -> list[str]:
        """Return what is said of the default of a name: in blocks with it or under it, and in signatures."""
        name = last_of(name).lower()
        found: list[str] = []
        for source in self.sources:
            owner = [block for block in source.blocks if name in block.under and name not in block.words]
            own = [block for block in source.blocks if name in block.words]
            found += [block.text for block in (*own, *owner) if DEFAULT.search(block.text)]
            found += [f"{name} = {value}" for assigned, value in source.assigned if assigned == name]
        named = {last_of(text.rpartition(" = ")[2]).lower() for text in found if " = " in text}
        every = (pair for source in self.sources for pair in source.assigned)
        return found + [f"{one} = {value}" for one, value in every if one in named]

    def any_default(self, value: str) -> bool:
        """Return True if a block that tells of a default holds a value."""
        low = value.lower()
        if any(value == given.strip("\"'") for source in self.sources for _, given in source.assigned):
            return True
        as_it_stands = None if re.fullmatch(r"[\w.]*", low) else whole_word(low)  # such as an address
        return any(
            (low in block.words or (as_it_stands and as_it_stands.search(block.text.lower())))
            and DEFAULT.search(block.text)
            for block in self.blocks
        )


def _flat(text: str) -> str:
    return one_line(text).lower().strip(" .,:;!?*_")


def _has(source: Source, name: str) -> bool:
    lowered = name.lower().removesuffix("()").lstrip("@")
    if lowered in source.names or lowered.removesuffix("s") in source.names:
        return True
    if _CAMEL.search(name) and any(lowered in one.split("_") for one in source.names if "_" in one):
        return True  # `SameSite` of SESSION_COOKIE_SAMESITE
    return last_of(lowered) in source.code


def names_in(prose: str) -> list[str]:
    """Return the names in a sentence; what stands in a span of code with blanks is checked as code."""
    spans = [span for span in SPAN.findall(prose) if AS_CODE.search(span)]
    inside = {name for span in spans for name in identifiers(f"`{span}`")}
    outside = prose
    for span in spans:
        outside = outside.replace(f"`{span}`", " ")
    names = identifiers(outside)
    return [name for name in names if name not in inside or name in outside]


def numbers_of(text: str) -> list[tuple[str, str]]:
    """Return each number of a text with its unit in one spelling, "" where the next word is none."""
    found = quantities(_GROUPED.sub("", text))
    return [(value.lower().removeprefix("v"), UNITS.get(unit, "")) for value, unit in found]


def bare(line: str) -> str:
    """Return a line of code without prompt, blanks, comment at its end, and kind of quotation marks."""
    line = re.sub(r"^\s*(?:>>>|\.\.\.|\$|>)\s", "", line)
    line = re.sub(r"(?<!\s)\s++(?:#|//)\s.*$", "", line)
    return "".join(line.replace("'", '"').split())


def _code_of(text: str) -> Iterator[str]:
    for block in split(text):
        if block.kind == "code":
            yield "\n".join(block.text.split("\n")[1:]).rstrip("`~\n ")
        elif "```" in block.text or "~~~" in block.text:
            yield block.text
        else:
            yield from (found[1] for found in SPAN.finditer(block.text))


def _signed(text: str) -> str:
    """Return a text without what its examples assign: of code only the lines that define something."""
    kept = []
    for block in split(text):
        lines = block.text.split("\n")
        if block.kind == "code":
            lines = [line for line in lines if re.match(r"\s*(?:async\s+)?(?:def|class)\s|\s*@", line)]
        kept += [_CALLED.sub("", line) for line in lines] if block.kind != "code" else lines
    return "\n".join(kept)


def _plain_words(text: str) -> frozenset[str]:
    """Return the words of a text, also of `Jinja's`, `Linux/macOS` and `Required-by` what is named."""
    found = set(words(text))
    found |= {re.sub(r"['’]s$", "", word) for word in found}
    return frozenset(found | {part for word in found for part in re.split("[/-]", word) if part})


def _blocks(head: str, text: str) -> Iterator[Block]:
    top, versions = _words(head), {value for value, _ in numbers_of(head)}
    heading: frozenset[str] = frozenset()
    above: list[tuple[int, frozenset[str]]] = []  # numbers of the headings around it, such as a release
    for block in split(text):
        if block.kind == "heading":
            level = len(block.text) - len(block.text.lstrip("#"))
            above = [one for one in above if one[0] < level]
            heading = _words(block.text).union(*(numbers for _, numbers in above))
            above.append((level, frozenset(value for value, _ in numbers_of(block.text))))
        # a heading in the text is that of a neighbour, or the page's own over what follows
        yield Block(one_line(block.text), _words(block.text), heading | versions if heading else top)


def _words(text: str) -> frozenset[str]:
    """Return the words of a text in lower case, dotted names also by their last part, and its numbers."""
    found = set(words(text)) | {name.lower() for name in identifiers(text)}
    found |= {last_of(name) for name in found}
    return frozenset(found | {value for value, _ in numbers_of(text)})
