"""Whose words a text holds that was made of several people's: told by the words themselves.

A name that is taken too often costs an answer when that person is forgotten; one that is missed leaves a
word of theirs behind. So every word counts that others have said and that stands in nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from core.domain import Product, Question, Turn
from core.text.words import STOP_WORDS, index_terms, stem

Said = tuple[str, Collection[str]]
"""A text, and whose words it holds."""
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
"""Writing without spaces: there two characters count as a word."""
_SMALL = frozenset(stem(word) for word in STOP_WORDS)


def grains(text: str) -> set[str]:
    """Return what of a text can be recognised in another one: its words by their stems, no small words."""
    pairs = (run[at : at + 2] for run in _UNSPACED.findall(text) for at in range(len(run) - 1))
    return ({term for term in index_terms(text) if len(term) > 1} - _SMALL) | set(pairs)


def carried(text: str, own: Iterable[str], said: Sequence[Said]) -> frozenset[str]:
    """Return whose words a text holds, of those who `said` something, that do not stand in `own` texts."""
    new = grains(text).difference(*map(grains, own))
    found: set[str] = set()
    for words, people in said if new else ():
        if people and not new.isdisjoint(grains(words)):
            found.update(people)
    return frozenset(found)


def others(question: Question) -> list[Said]:
    """Return what others than the asker said in the thread before a question."""
    return [(turn.text, people) for turn in question.history if (people := _people(turn, question.asker))]


def own(question: Question, product: Product) -> list[str]:
    """Return the texts whose words are the asker's own, or nobody's: the product and its releases."""
    names = [product.name, *product.aliases]
    names += [name for release in product.releases for name in (release.name, *release.aliases)]
    mine = [turn.text for turn in question.history if not _people(turn, question.asker)]
    return [question.text, " ".join(names), *mine]


def of_thread(question: Question, product: Product, base: str, forms: str, by_model: bool) -> frozenset[str]:
    """Return whose words of the thread are in the queries: in `base`, and in `forms`, all of them together.

    Where a model wrote `base`, a word that nobody said may be anybody's in other words.
    """
    said = others(question)
    if not said:
        return frozenset()
    texts = own(question, product)
    every = [*texts, *(words for words, _ in said)]
    if by_model and base != question.text and grains(base).difference(*map(grains, every)):
        return frozenset(person for _, people in said for person in people)
    return carried(forms, texts, said)


def _people(turn: Turn, asker: str) -> tuple[str, ...]:
    people = (turn.author,) if turn.role == "user" else turn.authors
    return tuple(person for person in people if person and person != asker)
