"""What an answer may name: words, names, numbers, defaults and lines of code of evidence and question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.generation.quotes.blocks import split
from core.text.words import identifiers, one_line, quantities, query_terms, words
from core.vocabulary import UNITS

_NAME = re.compile(r"[A-Za-z_]\w*")
_CODE_SPAN = re.compile(r"(?<!`)`++([^`\n]+)`+")
_GROUPED = re.compile(r"(?<=\d)_(?=\d{3})")
_ASSIGNED = re.compile(
    r"(?<![\w.])([A-Za-z_][\w.]{0,80}+)[\"']?\]?(?:\s?:\s?[A-Za-z][\w.\[\]| ]{0,60}?)?\s?=\s?"
    r"([\"']?[\w.+-]{1,60}+[\"']?)"
)
_DEFAULT = re.compile(r"default|standard|voreingestellt|predetermin|por defecto|默认|預設", re.IGNORECASE)
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget)\s+(?:all|any|every|the|your|these|previous|prior|earlier|above)\b[^.\n]{0,60}"
    r"\b(?:instructions?|rules?|prompts?|evidence|questions?)\b"
    r"|\byou\s+are\s+now\s+(?:a|an|in|the)\b"
    r"|\b(?:reply|respond|answer)\s+(?:only\s+)?with\s+(?:the\s+words?|exactly|only|nothing)\b"
    r"|\bsystem\s+prompt\b",
    re.IGNORECASE,
)
"""What speaks to a model, not to a reader: nothing that it says is a fact."""


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
    units, `lines` its lines of code without blanks, `assigned` which values names are given.
    """

    number: int
    names: frozenset[str]
    code: frozenset[str]
    numbers: frozenset[tuple[str, str]]
    lines: frozenset[str]
    assigned: frozenset[tuple[str, str]]
    blocks: tuple[Block, ...]
    terms: frozenset[str]

    @classmethod
    def of(cls, number: int, head: str, text: str) -> Source:
        """Read a text under its title and headings; a block that gives a model orders is left out."""
        kept = _without_orders(text)
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
            frozenset((last_of(name).lower(), value) for name, value in _ASSIGNED.findall(said)),
            tuple(_blocks(head, kept)),
            frozenset(query_terms(said)),
        )


class Material:
    """Everything that an answer was to be written from: pieces of evidence, and what was asked."""

    def __init__(self, evidence: Sequence[tuple[int, str, str]], asked: Sequence[str]) -> None:
        self.sources = tuple(Source.of(*piece) for piece in evidence)
        self.asked = Source.of(0, "", "\n\n".join(asked))
        every = (*self.sources, self.asked)
        self.names = frozenset().union(*(source.names for source in every))
        self.code = frozenset().union(*(source.code for source in every))
        self.lines = frozenset().union(*(source.lines for source in every))
        self.terms = frozenset().union(*(source.terms for source in every))
        self.numbers: dict[str, set[str]] = {}
        for value, unit in (found for source in every for found in source.numbers):
            self.numbers.setdefault(value, set()).add(unit)

    def has(self, name: str) -> bool:
        """Return True if a name stands here, or a dotted one's last part in code."""
        return any(_has(source, name) for source in (*self.sources, self.asked))

    def holders(self, names: Sequence[str], values: Sequence[str]) -> list[int]:
        """Return the numbers of the pieces of evidence that hold all of these names and numbers."""
        return [
            source.number
            for source in self.sources
            if all(_has(source, name) for name in names)
            and set(values) <= {value for value, _ in source.numbers}
        ]

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
            found += [block.text for block in (*own, *owner) if _DEFAULT.search(block.text)]
            found += [f"{name} = {value}" for assigned, value in source.assigned if assigned == name]
        return found

    def any_default(self, value: str) -> bool:
        """Return True if a block that tells of a default holds a value."""
        return any(
            value.lower() in block.words and _DEFAULT.search(block.text)
            for source in self.sources
            for block in source.blocks
        )

    def speaks_of_default(self, text: str) -> bool:
        """Return True if a statement says what a default is."""
        return bool(_DEFAULT.search(text))


def _has(source: Source, name: str) -> bool:
    lowered = name.lower().removesuffix("()").lstrip("@")
    if lowered in source.names or lowered.removesuffix("s") in source.names:
        return True
    return last_of(lowered) in source.code


def last_of(name: str) -> str:
    """Return the name that is called, without what it belongs to: `run` of `app.run()`."""
    return re.split(r"\.|::|->", name.removesuffix("()"))[-1]


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
            yield from (found[1] for found in _CODE_SPAN.finditer(block.text))


def _plain_words(text: str) -> frozenset[str]:
    """Return the words of a text, also of `Jinja's` and `Linux/macOS` what is named."""
    found = set(words(text))
    found |= {re.sub(r"['’]s$", "", word) for word in found}
    return frozenset(found | {part for word in found if "/" in word for part in word.split("/")})


def _without_orders(text: str) -> str:
    return "\n\n".join(part for part in re.split(r"\n\s*\n", text) if not _ORDERS.search(part))


def _blocks(head: str, text: str) -> Iterator[Block]:
    top = _words(head)
    heading: frozenset[str] = frozenset()
    for block in split(text):
        if block.kind == "heading":
            heading = _words(block.text)
        # a heading in the text is that of a neighbour, or the page's own over what follows
        yield Block(one_line(block.text), _words(block.text), heading or top)


def _words(text: str) -> frozenset[str]:
    """Return the words of a text in lower case, dotted names also by their last part, and its numbers."""
    found = set(words(text)) | {name.lower() for name in identifiers(text)}
    found |= {last_of(name) for name in found}
    return frozenset(found | {value for value, _ in numbers_of(text)})
