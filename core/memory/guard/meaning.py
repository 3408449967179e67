"""What turns the meaning of a question: opposites, negation, direction, amount, time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product

from core.languages import _
from core.memory.guard.sense import Sense, root
from core.memory.guard.words import apart, exclusive, only, said
from core.vocabulary import OPPOSITES, word_list, words_of

_WORDS = words_of(__package__)

ALL = frozenset(root(w) for w in _WORDS["all"].split())
"""Stems of words for all things."""
_PREFIXES = ("un", "de", "dis", "non", "in", "im", "ir")
_TURNED = frozenset(root(w) for w in _WORDS["turned"].split())
"""Words that say by themselves what another question says with "not"."""
_BACK = re.compile(r"\bagain\b|(?<!roll )(?<!go )\bback(?=\W*$)")
_WITHOUT = re.compile(r"\bwithout\b")
_NEEDS = re.compile(r"\b(?:must|need(?:s|ed)?|ha(?:ve|s)\s+to|required|necessary|mandatory|prerequisite)\b")
"""Who asks whether it goes without something asks whether it is needed."""
_AGAINST = frozenset(root(w) for w in _WORDS["against"].split())
"""Those of them that ask for the opposite where only one question has them."""
_ENDING = frozenset(root(w) for w in _WORDS["ending"].split())
"""The same where such a word is what is to be done."""
_GRANTING = frozenset(
    root(w) for w in word_list("enable activate allow permit let show display start accept include add")
)
_FEW = 2
"""Other words in which two questions may differ where one wants something and the other wants it not."""
_EVERYDAY = (line.partition("|") for line in words_of(__package__)["opposites"].strip().splitlines())
_POLES = tuple(
    (frozenset(map(root, a)), frozenset(map(root, b)))
    for a, b in (*OPPOSITES, *((left.split(), right.split()) for left, _, right in _EVERYDAY))
)
_SIDES: dict[str, list[tuple[frozenset[str], frozenset[str]]]] = {}
for _left, _right in _POLES:
    for _mine, _yours in ((_left, _right), (_right, _left)):
        for _word in _mine:
            _SIDES.setdefault(_word, []).append((_mine, _yours))
"""Each word to the sides that it is on, with the side across."""


def opposites(left: Sense, right: Sense) -> str:
    """Find that one of them has a word whose opposite, or the same with a prefix, the other has."""
    ours, theirs = left.stems - right.stems, right.stems - left.stems
    return _poles(left, right, ours, theirs) or _prefixed(left, right, ours, theirs) or _added(left, right)


def _added(left: Sense, right: Sense) -> str:
    """Find the only word that is not in both: the opposite of one that is, as in "show hidden files"."""
    lone = [(word, other) for one, other in ((left, right), (right, left)) for word in exclusive(one, other)]
    if len(lone) != 1:
        return ""
    (word, other), one = lone[0], left if lone[0][1] is right else right
    for _mine, yours in _sides_of((word,)):
        if other.stems & yours - one.stems:
            return said(one.spelled[word], other.spelled[min(other.stems & yours - one.stems)])
    return ""


def _poles(left: Sense, right: Sense, ours: frozenset[str], theirs: frozenset[str]) -> str:
    shared = left.stems & right.stems
    for mine, yours in _sides_of(ours):
        if theirs & yours and not ours & yours and not theirs & mine:
            if _turned(left, ours) and _turned(right, theirs) and (mine | yours) & _TURNED:
                continue  # "stop it from playing" and "disable that it starts", "don't show" and "hide"
            return said(left.spelled[min(ours & mine)], right.spelled[min(theirs & yours)])
    for mine, yours in _sides_of(ours | theirs):
        if shared & yours and (not theirs or not ours):
            one, lone = (left, ours) if ours else (right, theirs)
            return only(one.spelled[min(lone & mine)])
    return ""


def _sides_of(words: Iterable[str]) -> list[tuple[frozenset[str], frozenset[str]]]:
    """Return for the words that have opposites their side and the other one."""
    return [sides for word in sorted(words) for sides in _SIDES.get(word, ())]


def _prefixed(left: Sense, right: Sense, ours: frozenset[str], theirs: frozenset[str]) -> str:
    for a, b in product(sorted(ours), sorted(theirs)):
        longer, shorter = (a, b) if len(a) > len(b) else (b, a)
        if len(shorter) > 2 and any(longer == prefix + shorter for prefix in _PREFIXES):
            base = left if shorter == a else right
            if base.denied or base.stems & _TURNED:
                continue  # "unlabeled" and "not labeled", "untrust" and "revoke the trust"
            return said(left.spelled[a], right.spelled[b])
    return ""


def _turned(one: Sense, exclusive: frozenset[str]) -> bool:
    """Return True if a question is turned around by a negation, or by a word that only it has."""
    return bool(one.denied or exclusive & _TURNED)


def reversal(left: Sense, right: Sense) -> str:
    """Find that one wants back what the other one does away with: hide it, and get it back."""
    for one, other in ((left, right), (right, left)):
        back = _BACK.search(one.said)
        if back and not _BACK.search(other.said) and other.stems & {*other.order[:1]} & _TURNED:
            return only(back[0])
    return ""


def negation(left: Sense, right: Sense) -> str:
    """Find a negation before a word that the other has without one."""
    others = apart(left, right)
    for one, other in ((left, right), (right, left)):
        turned = (other.stems - one.stems) & _TURNED
        if one.denied and not other.negated and not turned and one.denied & other.stems:
            if _WITHOUT.search(one.said) and _NEEDS.search(other.said):
                continue
            word = min(one.denied & other.stems)
            told = _("Only one of them has a negation before “{word}”.")
            return told.format(word=other.spelled[word])
        alike = not others or (others <= _FEW and _grants(other, one))
        if one.negated > other.negated and alike and not turned:
            return _("Only one of them has a negation.")
        if others == 1 and not (one.negated or other.negated or turned) and (lone := _against(one, other)):
            return only(one.spelled[lone])
    return ""


def _grants(one: Sense, other: Sense) -> bool:
    """Return True if what one wants done grants or shows something, and the other does not say that."""
    return bool({*one.order[:1]} & _GRANTING - other.stems)


def _against(one: Sense, other: Sense) -> str:
    """Return the word that turns a question around and that the other one lacks; "" where there is none."""
    return min(exclusive(one, other) & (_AGAINST | (_ENDING & {*one.order[:1]})), default="")
