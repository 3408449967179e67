"""Small words of other languages: by them rules tell that a message only names a release, without a model."""

from __future__ import annotations

import re

from core.vocabulary import words_of

_SMALL = frozenset(words_of(__package__)["beside_releases"].split())
_SIGNS = re.compile(r"[那在里中呢吗嗎也的版本用是又里面下上还還では版はの]+")


def says_little(word: str) -> bool:
    """Return True if a lower-case word only leads to a release: `und`, `en`, `dans la`, `那`, `呢`."""
    return word in _SMALL or bool(_SIGNS.fullmatch(word))
