"""The product's own words: expand a query by them, and propose new ones from the documents (QAMR)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

_DEFINED = re.compile(r"(?<![\w-])((?:[A-Za-z][\w-]*+\s++){1,7})\(([A-Z][A-Za-z0-9]{0,20}[A-Z0-9])(s?)\)")
_AFTER = re.compile(r"\b([A-Z][A-Z0-9]{1,7})\s+\(((?:[A-Za-z][\w-]*\s+){0,6}[A-Za-z][\w-]*)\)")
_STANDS = re.compile(
    r"\b([A-Z][A-Z0-9]{1,7}),?\s+(?:which\s+)?(?:stands\s+for|is\s+short\s+for|short\s+for)\s+"
    r"[\"“']?((?:[A-Za-z][\w-]*\s+){0,7}[A-Za-z][\w-]*)"
)
_MARKS = re.compile(r"[*`_]{1,3}(?=\w)|(?<=\w)[*`]{1,3}")
_LINK = re.compile(r"\[([^\]]{1,300}+)\]\([^)]{0,1000}+\)")
_SMALL = frozenset(["a", "an", "and", "for", "in", "of", "on", "the", "to", "with"])


@lru_cache(maxsize=4096)
def _pattern(term: str) -> re.Pattern[str]:
    # a short acronym in capitals is not the same word in small letters: PM, pm; IT, it
    flags = 0 if term.isupper() and len(term) <= 3 else re.IGNORECASE
    spaced = r"[\s-]+".join(re.escape(part) for part in term.split())
    return re.compile(rf"(?<![\w.]){spaced}(?:s|es)?(?!\w)", flags)


def expansions(text: str, glossary: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return what the glossary adds to a query: meanings of its terms, and terms of its meanings."""
    added: list[str] = []
    for term, meanings in glossary.items():
        spelled = (term, *meanings)
        present = [word for word in spelled if _pattern(word).search(text)]
        if present:
            added += [word for word in spelled if word not in present]
    return tuple(dict.fromkeys(added))


@dataclass(frozen=True, slots=True)
class Proposal:
    """An acronym as texts define it: its meaning, how often it says so, and on which pages, in order."""

    acronym: str
    meaning: str
    count: int
    pages: tuple[str, ...]


def propose(texts: Iterable[tuple[str, str]]) -> tuple[Proposal, ...]:
    """Find acronyms that pages define, "Performance Monitoring (PM)" or "PM (performance monitoring)".

    `texts` are (Markdown, page) pairs. Returns them by acronym, the most frequent meaning first; for a
    person to review.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for text, page in texts:
        for acronym, meaning in _definitions(_MARKS.sub("", _LINK.sub(r"\1", text))):
            found.setdefault((acronym, meaning), []).append(page)
    proposals = [
        Proposal(acronym, meaning, len(pages), tuple(dict.fromkeys(pages)))
        for (acronym, meaning), pages in found.items()
    ]
    return tuple(sorted(proposals, key=lambda p: (p.acronym, -p.count, p.meaning)))


def _definitions(text: str) -> Iterator[tuple[str, str]]:
    for match in _DEFINED.finditer(text):
        meaning = _long_form(match[1].split(), match[2])
        if meaning:
            yield match[2], (_singular(meaning) if match[3] else meaning).lower()
    for pattern in (_AFTER, _STANDS):
        for match in pattern.finditer(text):
            words = match[2].split()
            # what follows "stands for" runs on to the end of the sentence
            runs = [words] if pattern is _AFTER else [words[:n] for n in range(len(words), 0, -1)]
            if meaning := next((m for run in runs if (m := _long_form(run, match[1]))), ""):
                yield match[1], meaning.lower()


def _singular(text: str) -> str:
    return text[:-1] if text.endswith("s") and not text.endswith("ss") else text


def toml(proposals: Sequence[Proposal], known: Mapping[str, Sequence[str]]) -> str:
    """Write proposals as the `[acronyms]` of a glossary, each under the pages that it comes from.

    What the glossary has already is left out; two meanings of one acronym make a list.
    """
    new: dict[str, list[Proposal]] = {}
    for proposal in proposals:
        if proposal.meaning not in [meaning.lower() for meaning in known.get(proposal.acronym, ())]:
            new.setdefault(proposal.acronym, []).append(proposal)
    lines = ["[acronyms]"]
    for acronym, some in new.items():
        for proposal in some:
            more = f" and {len(proposal.pages) - 1} more" if len(proposal.pages) > 1 else ""
            lines.append(f"# {proposal.meaning}: {proposal.pages[0]}{more}")
        told = ", ".join(f'"{proposal.meaning}"' for proposal in some)
        lines.append(f"{acronym} = {told if len(some) == 1 else f'[{told}]'}")
    return "\n".join(lines) if new else ""


def _long_form(words: Sequence[str], acronym: str) -> str:
    """Return the shortest run of last words that spell the acronym, "" where none does."""
    runs = (words[start:] for start in range(len(words) - 1, -1, -1))
    found = (run for run in runs if run[0].lower() not in _SMALL and _spells(_pieces(run), acronym.lower()))
    return " ".join(next(found, []))


def _pieces(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(piece.lower() for word in words for piece in word.split("-") if piece)


@lru_cache(maxsize=4096)
def _spells(words: tuple[str, ...], letters: str) -> bool:
    """Return True if letters are those of the words in order, with the first of each word.

    Small words may give none, and a word may give further letters of its own ("hypertext": HT).
    """
    if not words or not letters:
        return not words and not letters
    word, rest = words[0], words[1:]
    if word in _SMALL and _spells(rest, letters):
        return True
    crossed = letters[0] == "x" and (word == "cross" or word.startswith("ex"))
    if word[0] != letters[0] and not crossed:
        return False
    given, at = 1, 1
    while True:
        if _spells(rest, letters[given:]):
            return True
        at = word.find(letters[given], at) + 1 if given < len(letters) else 0
        if not at:
            return False
        given += 1
