"""Word lists that question understanding and the guard on reuse share.

Lower case throughout. They hold general knowledge of the field, never of one product; a community
adds its own words by the glossary.
"""

from core.vocabulary.lists import (
    BEFORE_VERSIONS,
    NEGATIONS,
    NUMBER_WORDS,
    OPPOSITES,
    RIVALS,
    SOFTWARE,
    SYNONYMS,
    UNITS,
)
from core.vocabulary.written import word_list, words_of

__all__ = [
    "BEFORE_VERSIONS",
    "NEGATIONS",
    "NUMBER_WORDS",
    "OPPOSITES",
    "RIVALS",
    "SOFTWARE",
    "SYNONYMS",
    "UNITS",
    "word_list",
    "words_of",
]
