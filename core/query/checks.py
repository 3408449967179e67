"""Check that a rewrite, a rule's or a model's, keeps to what was said."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.domain import Turn
from core.text import identifiers, parts_of, quantities, words
from core.vocabulary import NEGATIONS


def checked(rewrite: str, question: str, history: Sequence[Turn]) -> bool:
    """Tell whether a rewrite keeps to what was said: a rule's and a model's alike.

    Every identifier, number and negation of the question must be in it, and it may hold none that
    neither question nor thread has. It must not be empty or grow beyond what it was made from.
    """
    if not rewrite.strip():
        return False
    said = " ".join([question, *(turn.text for turn in history), *(turn.release for turn in history)])
    if len(rewrite) > len(question) + max((len(t.text) for t in history), default=0) + 120:
        return False
    said_plain, rewrite_plain = _plain(said), _plain(rewrite)
    if any(_plain(name) not in rewrite_plain for name in identifiers(question)):
        return False
    if any(_plain(name) not in said_plain for name in identifiers(rewrite)):
        return False
    asked, told, heard = (_digits(text) for text in (question, rewrite, said))
    if not asked <= told or not told <= heard:
        return False
    return not _negated(question) or _negated(rewrite)


def _plain(text: str) -> str:
    return (
        " "
        + " ".join(part for word in re.findall(r"\w+", text) for part in (parts_of(word) or [word.lower()]))
        + " "
    )


def _digits(text: str) -> set[str]:
    return {digits.rstrip(".xX") for digits, _ in quantities(text)}


def _negated(text: str) -> bool:
    return any(word in NEGATIONS or word.endswith(("n't", "n’t")) for word in words(text))
