"""Word lists that question understanding and the guard on reuse share.

Lower case throughout. They hold general knowledge of the field, never of one product; a community
adds its own words by the glossary.
"""

from core.vocabulary.written import spellings, word_groups, word_list, words_of

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

_WORDS = words_of(__package__)
_LEFT_AND_RIGHT = (line.partition("|") for line in _WORDS["opposites"].splitlines())

NEGATIONS = frozenset(_WORDS["negations"].split())
"""Words that turn a statement around; words in `n't` count as well."""

SYNONYMS = word_groups(_WORDS["synonyms"])
"""Words of which one may stand for the other in a question; a word may be in several groups."""

RIVALS = word_groups(_WORDS["rivals"])
"""Words of one kind: where two questions differ in them, they ask about different things."""

OPPOSITES = tuple((frozenset(left.split()), frozenset(right.split())) for left, _, right in _LEFT_AND_RIGHT)
"""Words of which one question may not have the left and the other the right."""

SOFTWARE = {name: name for name in _WORDS["names"].split()} | spellings(_WORDS["aliases"])
"""Spellings of software, formats, protocols and services, each to one canonical spelling."""

BEFORE_VERSIONS = frozenset(_WORDS["names_before_versions"].split()) | SOFTWARE.keys()
"""Words after which a version is another product's."""

UNITS = spellings(_WORDS["units"])
"""Units after a number, each to one spelling."""

NUMBER_WORDS = dict(pair.split("=") for pair in _WORDS["numbers"].split())
"""Numbers in words, to digits."""
