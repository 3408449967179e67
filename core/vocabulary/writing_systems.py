"""Words of scripts and alphabets that English has not: cut where nobody writes spaces, without accents.

Chinese, Japanese and Korean are found by pairs of neighbouring signs: no dictionary tells their words better
than the text does. What is written with accents is found without them, too: not every keyboard has them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache

from core.vocabulary import words_of

_HAN = "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HIRAGANA = "\u3041-\u309f"
_HANGUL = "\uac00-\ud7a3"
_RUN = re.compile(f"[{_HAN}]+|[{_KATAKANA}]+|[{_HIRAGANA}]+|[{_HANGUL}]+")
SPACED = f"(?![{_HAN}{_KATAKANA}{_HIRAGANA}])"
"""Before a sign in a pattern: not one of a script without spaces, where a name may end anywhere."""
_SMALL = re.compile(f"[{_HIRAGANA}]+")
_ASKING = re.compile(
    "|".join([r"(?<=\d)\s?版本?", *sorted(words_of(__package__)["asking"].split(), key=len, reverse=True)])
)
_PARTICLES = re.compile("[的了吗呢吧嗎]")
SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!\bz\.(?=\s?B\.))[\"')\]»]*\s+(?=[A-Z0-9\"'`*(\[«„¿¡\u00c0-\u00de\u0400-\u042f])"
    r"|(?<=[。！？])[」』”’）]*(?=\S)"
)
"""What stands between two sentences of a paragraph."""
ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|Mr|Mrs|Dr|No|Fig|Sec|al"
    r"|bzw|usw|ca|ggf|evtl|Nr|vgl|inkl|z\.\s?B|d\.\s?h|p\.\s?ej|Sra?|pág|núm|т\.\s?[ед])\.|\b[A-Z]\.)$"
)
"""What ends in a dot and ends no sentence."""
LONGEST = 10
"""Characters that an abbreviation has at most."""
_TWO_LETTERS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_PLAIN = str.maketrans({"ß": "ss", "ı": "i", "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe"})
_WITH_ACCENTS = 0x0530
"""Letters below it are Latin, Greek or Cyrillic: their marks are accents, and no vowels."""


def apart(text: str) -> str:
    """Put spaces around what is written without any, which has Latin words and numbers in its midst."""
    return text if text.isascii() else _RUN.sub(lambda run: f" {run[0]} ", text)


def asking_apart(text: str) -> str:
    """Do the same, and leave out how a question is asked: `如何`, `ですか`."""
    return text if text.isascii() else _SMALL.sub(" ", apart(_ASKING.sub(" ", text)))


def unaccented(word: str) -> str:
    """Return a lower-case word without accents: `größe` as `grosse`, `configuración` as `configuracion`."""
    marked = unicodedata.normalize("NFD", word.translate(_PLAIN))
    return "".join(sign for sign in marked if not unicodedata.combining(sign)).translate(_PLAIN)


@lru_cache(maxsize=65_536)
def forms(word: str) -> tuple[str, ...]:
    """Return under what a lower-case word with letters of its own is found, with its ending.

    A word with umlauts is found as it is written without them, too: `löschen` as `loschen` and `loeschen`.
    """
    if runs := _RUN.findall(word):
        return tuple(dict.fromkeys(piece for run in runs for piece in _pieces(run)))
    if ord(max(word)) >= _WITH_ACCENTS:
        return (word,)
    composed = unicodedata.normalize("NFC", word)
    return tuple(dict.fromkeys((unaccented(word), unaccented(composed.translate(_TWO_LETTERS)))))


def asked_forms(word: str) -> tuple[str, ...]:
    """Return under what a word of a question is looked up: a sign that stands alone tells too little."""
    if not _RUN.match(word):
        return forms(word)[:1]
    return tuple(form for form in forms(word) if len(form) > 1)


def _pieces(run: str) -> list[str]:
    """Return the pairs of neighbouring signs of a run, or the sign that stands alone."""
    found: list[str] = []
    for part in filter(None, _PARTICLES.split(run)):
        found += [part[at : at + 2] for at in range(len(part) - 1)] or [part]
    return found


def bridges(terms: Sequence[str], counts: Mapping[str, int]) -> set[str]:
    """Return pairs of signs that no text has, where two words meet: `改重` of `修改` and `重试`."""
    pairs = [term for term in terms if len(term) == 2 and _RUN.fullmatch(term)]
    begun = {term[0] for term in pairs if counts.get(term)}
    ended = {term[1] for term in pairs if counts.get(term)}
    return {term for term in pairs if not counts.get(term) and term[0] in ended and term[1] in begun}
