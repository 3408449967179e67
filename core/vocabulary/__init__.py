"""Word lists that question understanding and the guard on reuse share.

Lower case throughout. They hold general knowledge of the field, never of one product; a community
adds its own words by the glossary.
"""

from core.vocabulary.quantities import NUMBER_WORDS, UNITS
from core.vocabulary.relations import NEGATIONS, OPPOSITES, RIVALS, SYNONYMS
from core.vocabulary.software import BEFORE_VERSIONS, SOFTWARE
from core.vocabulary.written import word_list

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
]
