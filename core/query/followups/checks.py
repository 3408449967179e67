"""Check that a rewrite, a rule's or a model's, keeps to what was said."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.domain import Turn
from core.text.words import STOP_WORDS, identifiers, parts_of, quantities, words
from core.vocabulary import NEGATIONS, NUMBER_WORDS

_EXACT = re.compile(r"(?<![\w-])-[A-Za-z](?![\w-])|(?<![\w.])[A-Z]{3,}(?![\w.])")


def checked(rewrite: str, question: str, history: Sequence[Turn]) -> bool:
    """Return True if a rewrite keeps to what was said: a rule's and a model's alike.

    Every identifier, constant, flag, number, negation and "why" of the question must be in it, and it may
    hold none that neither question nor thread has. It must not be empty or grow beyond what it was made
    from. A pronoun such as "the last two" may go.
    """
    if not rewrite.strip():
        return False
    said = " ".join([question, *(turn.text for turn in history), *(turn.release for turn in history)])
    if len(rewrite) > len(question) + max((len(t.text) for t in history), default=0) + 120:
        return False
    if not keeps_facts(rewrite, question, said) or not _asks(question) <= _asks(rewrite):
        return False
    if not _numbers(rewrite) <= _numbers(said) | _digits(said):
        return False
    return negated(rewrite) if negated(question) else not negated(rewrite) or negated(said)


def keeps_facts(rewrite: str, question: str, said: str) -> bool:
    """Return True if every identifier, constant, flag and digit of a question is in a text, in any language.

    The text may hold none that was not `said`, by the question or before it.
    """
    said_plain, rewrite_plain = _plain(said), _plain(rewrite)
    if any(_plain(name) not in rewrite_plain for name in identifiers(question)):
        return False
    if any(_plain(name) not in said_plain for name in identifiers(rewrite)):
        return False
    asked, told, heard = (_digits(text) for text in (question, rewrite, said))
    if not asked <= told or not told <= heard or not _exact(question) <= _exact(rewrite):
        return False
    return all(name in said or name.lower() in words(said) for name in _exact(rewrite))


def _plain(text: str) -> str:
    return (
        " "
        + " ".join(part for word in re.findall(r"\w+", text) for part in (parts_of(word) or [word.lower()]))
        + " "
    )


def _digits(text: str) -> set[str]:
    return {digits.rstrip(".xX") for digits, _ in quantities(text)}


def _exact(text: str) -> set[str]:
    """Return what differs by its capitals: `-p` and `-P`, and DEBUG where not all is shouted."""
    found = _EXACT.findall(text)
    return {name for name in found if name[0] == "-" or not (text.isupper() or name.lower() in STOP_WORDS)}


def _asks(text: str) -> set[str]:
    return {word for word in words(text) if word in ("why", "where", "who")}


def _numbers(text: str) -> set[str]:
    """Return the numbers that are written as words; "one" stands for too much else."""
    return {NUMBER_WORDS[word] for word in words(text) if word in NUMBER_WORDS and NUMBER_WORDS[word] != "1"}


def negated(text: str) -> bool:
    """Return True if an English text says "not"."""
    return any(word in NEGATIONS or word.endswith(("n't", "n’t")) for word in words(text))
