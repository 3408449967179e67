"""Overlap of what two texts name (GraphContextGen, section 5), by rule: entities, and which of them meet.

An entity is code, an option, a number or a name; a triplet is two entities that follow one another in a
sentence, with the stems of the words between them. Both are measured as F1 with the gold answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from core.generation.citations import uncited
from core.text.words import index_terms

_ENTITY = re.compile(
    r"`(?P<code>[^`\n]{1,80})`|(?<![\w.-])(?P<option>--?[a-zA-Z][\w-]*)|(?P<number>\b\d+(?:\.\d+)*\b)"
    r"|(?P<name>\b(?:\w+[._])+\w+\b|\b[A-Z][A-Z0-9_]{2,}\b|\b[a-z]+[A-Z]\w*|(?<=[a-z,;:] )[A-Z][a-z]\w+)"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
BETWEEN = 6
"""Words between two entities beyond which they are not said of one another."""


def overlap(answers: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    """Return the mean F1 of entities and of triplets, over the pairs where either text has any."""
    told: dict[str, float] = {}
    for name, read in (("entities", entities), ("triplets", triplets)):
        both = [(read(said), read(true)) for said, true in zip(answers, gold, strict=True)]
        scores = [_f1(said, true) for said, true in both if said or true]
        if scores:
            told[name] = round(sum(scores) / len(scores), 4)
    return told


def entities(text: str) -> frozenset[str]:
    """Return the entities of a text, as they are compared: in small letters, without brackets of calls."""
    return frozenset(_plain(found) for found in _ENTITY.finditer(uncited(text)))


def triplets(text: str) -> frozenset[tuple[str, frozenset[str], str]]:
    """Return which entities a text names one after another, with the stems of the words between them."""
    told: set[tuple[str, frozenset[str], str]] = set()
    for sentence in _SENTENCE.split(uncited(text)):
        found = list(_ENTITY.finditer(sentence))
        for one, other in pairwise(found):
            between = index_terms(sentence[one.end() : other.start()])
            if len(between) <= BETWEEN and _plain(one) != _plain(other):
                told.add((_plain(one), frozenset(between), _plain(other)))
    return frozenset(told)


def _plain(found: re.Match[str]) -> str:
    text = next(group for group in found.groups() if group)
    return text.casefold().removesuffix("()").strip(" .")


def _f1(said: frozenset[object], true: frozenset[object]) -> float:
    return 2 * len(said & true) / (len(said) + len(true))
