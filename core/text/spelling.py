"""Words with a slip of the keyboard: one edit away from a word that pages have (*ours*)."""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

from core.text.words import COMMON_WORDS, index_terms, query_terms
from core.vocabulary import spellings, words_of

Rarity = Callable[[Sequence[str]], Awaitable[Mapping[str, float]]]
"""Returns the inverse document frequency of each term."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"
OFTEN = 3
"""Passages in which a word has to stand to be what was meant; ours."""
MOST = 3
"""Words of a question that are mended; ours."""
SHORT: dict[str, str] = spellings(words_of(__package__)["short"])
"""How people shorten words, each with what documents write."""
_RARER = 10
"""Times that pages must have the long form more often than the short one, which may be a name there; ours."""
_WITHOUT_MARK = r"(?:do|does|did|is|are|was|were|has|have|had|ca|wo|could|should|would)nt"
"""Contracted forms as people type them, without the apostrophe."""
_CONTRACTED = re.compile(rf"{_WITHOUT_MARK}|w/o")
_PLAIN = re.compile(
    rf"(?<![\w`'’./\\@:#$-])(?:{_CONTRACTED.pattern}|[a-z]{{6,24}})(?![\w`'’/\\@:=(\[-]|\.\w)"
)
_SHORT = re.compile(r"(?<![\w`'’./\\@:#$-])[a-z]{1,6}(?![\w`'’/\\@:=(\[-]|\.\w)")
_COUNTED = re.compile(
    r"\b(?:every|each|of|than|at most|at least|up to)\s+n\s+\w|\b(?:first|last|next|top)\s+n\s+\w{3,40}s\b"
    r"|\bn\s?[+*/^-]\s?\d|\d\s?[+*/^-]\s?n\b",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    r"(?<![\w`'’./\\@:#$-])(?:(?:w/o|[a-z]{1,24})(?![\w`'’/\\@:=(\[-]|\.\w)|[45]\d\d(?![\w`'’/\\@-]|[.:]\d))"
)
_CODE = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]{0,200}`|[\"“][^\"”\n]{0,200}[\"”]|(?<=[(\[{=,])\s?'[^'\n]{0,200}'", re.DOTALL
)
_WORD_OR_CODE = re.compile(f"(?P<code>{_CODE.pattern})|{_WHOLE.pattern}", re.DOTALL)


def outside_code(text: str) -> str:
    """Return a text without code and what stands in quotes."""
    return _CODE.sub(" ", text)


def suspects(text: str) -> list[str]:
    """Return the plain words that may have a slip in them: in lower case, no code, not in quotes."""
    return list(dict.fromkeys(_PLAIN.findall(outside_code(text))))


def shortened(text: str) -> list[str]:
    """Return the plain words that people shorten so: in lower case, no code, not in quotes.

    The "n" of "every n requests" and "n+1" is a number.
    """
    found = _SHORT.findall(outside_code(text))
    if _COUNTED.search(text):
        found = [word for word in found if word != "n"]
    return [word for word in dict.fromkeys(found) if SHORT.get(word, word) != word]


def is_contracted(word: str) -> bool:
    """Return True for a contracted form without its apostrophe, and `w/o`: `doesnt`."""
    return _CONTRACTED.fullmatch(word) is not None


def slips(word: str) -> Iterator[str]:
    """Yield what a word may have been: a letter left out, too many, another one, or two the wrong way round.

    The first letter stays: hardly anybody mistypes that.
    """
    for at in range(1, len(word) + 1):
        before, after = word[:at], word[at:]
        if len(after) > 1 and after[0] != after[1]:
            yield f"{before}{after[1]}{after[0]}{after[2:]}"
        if after:
            yield f"{before}{after[1:]}"
            yield from (f"{before}{letter}{after[1:]}" for letter in LETTERS if letter != after[0])
        yield from (f"{before}{letter}{after}" for letter in LETTERS)


def replaced(text: str, found: Mapping[str, str]) -> str:
    """Return a text with words replaced by others, as whole words outside of code and quotes."""
    if not found:
        return text
    return _WORD_OR_CODE.sub(lambda match: match[0] if match["code"] else found.get(match[0], match[0]), text)


async def mended(
    words: Sequence[str], rarity: Rarity, chunks: int, tokens: Callable[[str], int]
) -> dict[str, str]:
    """Return what words were meant to be that none of a corpus's `chunks` has: one slip away, often there.

    Contracted forms get their apostrophe, whatever pages have: `doesnt` is no slip of `doesn`. `w/o` is
    "without". What people shorten is written out where pages write it out far more often: `ctx` is context.
    Of several other words it is the one of which the encoder makes the fewest `tokens`, as of words, then the
    commonest.
    """
    found = {w: "without" if w == "w/o" else f"{w[:-1]}'t" for w in words if is_contracted(w)}
    words = [word for word in words if word not in found]
    if not words or chunks <= OFTEN:
        return found
    found |= await _written_out([word for word in words if word in SHORT], rarity, chunks)
    words = [word for word in words if word not in SHORT]
    never, often = (math.log1p((chunks - n + 0.5) / (n + 0.5)) for n in (0, OFTEN))
    stems = {word: one[0] for word in words if len(one := index_terms(word)) == 1}
    held = await rarity(list(stems.values()))
    for word in [word for word, one in stems.items() if held[one] >= never - 1e-9][:MOST]:
        others = {other: one[0] for other in slips(word) if len(one := index_terms(other)) == 1}
        there = await rarity(list(dict.fromkeys(others.values())))
        common = [other for other, one in others.items() if there[one] <= often]
        if common:
            found[word] = min(common, key=lambda other: (tokens(other), there[others[other]], -len(other)))
    return found


async def _written_out(words: Sequence[str], rarity: Rarity, chunks: int) -> dict[str, str]:
    """Return the long forms of short ones; what says nothing in either form is written out, too."""
    terms = {form: query_terms(form) for word in words for form in (word, SHORT[word])}
    held = await rarity(list(dict.fromkeys(term for some in terms.values() for term in some)))

    def stands(form: str) -> float:
        """Return in about how many chunks the rarest word of a form stands."""
        odds = [math.expm1(held[term]) for term in terms[form]]
        return min(((chunks + 0.5 - 0.5 * one) / (one + 1) for one in odds), default=float(chunks))

    names = {word for word in words if terms[SHORT[word]] and SHORT[word] not in COMMON_WORDS}
    return {
        word: SHORT[word]
        for word in words
        if word not in names or stands(SHORT[word]) >= max(OFTEN, _RARER * stands(word))
    }
