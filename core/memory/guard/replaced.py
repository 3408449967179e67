"""Words that were replaced by others, added or dropped, where all the rest is the same."""

from __future__ import annotations

from collections.abc import Sequence

from core.memory.guard.meaning import ALL
from core.memory.guard.sense import Sense, root
from core.memory.guard.words import DEEDS, apart, exclusive, is_light, mentions, met, of_a_kind, only, said
from core.vocabulary import NUMBER_WORDS, words_of

_AFTER = DEEDS["read"] | DEEDS["remov"] | DEEDS["restor"]
"""What is done with something that something was done to."""
_MAKING = DEEDS["creat"] | DEEDS["show"]
_ACTING = frozenset(map(root, ("make", "take", "do")))
"""Words with which something is just done, as a call or a screenshot."""
_DEEDS_APART = [{*map(root, pair.split())} for pair in words_of(__package__)["deeds_apart"].split("|")]
_MOST = 3
"""Words in which two questions may differ when what is to be done is compared."""


def deeds(left: Sense, right: Sense) -> str:
    """Find that something else is to be done, as restoring a backup and creating one.

    Only what is known to be another deed counts: people have many words for what they do.
    """
    firsts = [*left.order[:1], *right.order[:1]]
    if {*firsts} in _DEEDS_APART and left.order[1:] == right.order[1:]:
        return said(left.spelled.get(firsts[0], firsts[0]), right.spelled.get(firsts[1], firsts[1]))
    if lone := _lone(left, right) or _lone(right, left):
        return only(lone)
    mine, yours = _deed(left), _deed(right)
    one_deed = not (mine and yours) or mine == yours or bool(DEEDS[mine] & DEEDS[yours])
    if one_deed or left.negated != right.negated or met(mine, left, right) or met(yours, right, left):
        return _done(left, right) or _done(right, left)
    if apart(left, right) > _MOST or not _shares(left, right):
        return ""
    return said(left.spelled[mine], right.spelled[yours])


def _lone(one: Sense, other: Sense) -> str:
    """Return what is done with what the other one just does: record a call, and make a call."""
    deed = _deed(one)
    if not deed or DEEDS[deed] & _MAKING or one.order[1:] != other.order[1:] or met(deed, one, other):
        return ""
    return one.spelled[deed] if {*other.order[:1]} & _ACTING else ""


def _done(one: Sense, other: Sense) -> str:
    """Find that the other does more with what the one does: encrypt it, and read what is encrypted."""
    first, then = next(iter(one.order), ""), _deed(other)
    if not then or then == first or first not in one.stems & other.stems or not DEEDS[then] & _AFTER:
        return ""
    state, deed = other.spelled[first].lower(), one.spelled[first].lower()
    if not state.endswith("ed") or deed.endswith(("ed", "s")) or met(then, other, one):
        return ""
    return said(deed, other.spelled[then])


def _deed(one: Sense) -> str:
    """Return the stem of what is to be done, where a question begins with it and it is known; else ""."""
    first = next(iter(one.order), "")
    return first if first in DEEDS and first in one.stems and not is_light(first, one) else ""


def _shares(left: Sense, right: Sense) -> bool:
    """Return True if two questions have a word that weighs in common."""
    return any(
        word in right.stems or met(word, left, right) for word in left.stems if not is_light(word, left)
    )


def kinds(left: Sense, right: Sense) -> str:
    """Find two words of one kind, such as table and column, where little else differs."""
    ours, theirs = exclusive(left, right), exclusive(right, left)
    if len(ours) > 2 or len(theirs) > 2 or not left.stems & right.stems:
        return ""
    for mine in sorted(ours):
        for yours in sorted(theirs):
            if of_a_kind(mine, yours):
                return said(left.spelled[mine], right.spelled[yours])
    return ""


def unjudged(left: Sense, right: Sense) -> str:
    """Find the one word on each side that weighs and is not in the other, between the same words.

    Whether two such words mean the same cannot be judged, so the remembered answer is for reference. The
    first word of a question is what is done; people have so many words for it that most are the same.
    """
    ours, theirs = exclusive(left, right), exclusive(right, left)
    if len(ours) != 1 or len(theirs) != 1:
        return ""
    (mine,), (yours,) = ours, theirs
    around = _around(mine, left, right)
    if not around[0] or around != _around(yours, right, left):
        return ""
    if left.spelled[mine].endswith("ly") or right.spelled[yours].endswith("ly"):
        return ""
    return said(left.spelled[mine], right.spelled[yours])


def _around(word: str, one: Sense, other: Sense) -> tuple[list[str], list[str]]:
    """Return the words before and after one in order, those that both have."""
    at = one.order.index(word) if word in one.order else 0
    shared = one.stems & other.stems
    return [w for w in one.order[:at] if w in shared], [w for w in one.order[at + 1 :] if w in shared]


def replaced(left: Sense, right: Sense) -> str:
    """Find the one word or two that were replaced, added or dropped where all the rest is the same."""
    ours, theirs = left.order, right.order
    begin = 0
    while begin < min(len(ours), len(theirs)) and ours[begin] == theirs[begin]:
        begin += 1
    end = 0
    while end < min(len(ours), len(theirs)) - begin and ours[-1 - end] == theirs[-1 - end]:
        end += 1
    mine, yours = ours[begin : len(ours) - end], theirs[begin : len(theirs) - end]
    if not (mine or yours) or begin + end < 1 or max(len(mine), len(yours)) > 2:
        return ""
    if len(mine) == len(yours) == 1 and _is_number(mine[0]) and _is_number(yours[0]):
        return said(mine[0], yours[0])
    lone, other = _weighty(mine, left, right), _weighty(yours, right, left)
    if mine and yours and (_software(lone, left, right) or _software(other, right, left)):
        return said(_worded(lone or mine, left), _worded(other or yours, right))
    if lone and other:
        return said(_worded(lone, left), _worded(other, right))
    return ""


def _software(words: Sequence[str], one: Sense, other: Sense) -> bool:
    """Return True if one of the words is written like a name that the other question has not."""
    return any(word in one.names and not met(word, one, other) for word in words)


def _is_number(word: str) -> bool:
    return word in NUMBER_WORDS or word.isdigit()


def _weighty(words: tuple[str, ...], one: Sense, other: Sense) -> list[str]:
    """Return the words that weigh, of those in which two questions differ."""
    coded = {root(name.lower()) for name in one.code if not mentions(name, other)}
    return [
        w
        for w in words
        if w in coded
        or (w in ALL and not ALL & set(other.order))
        or (w in one.stems and not is_light(w, one) and not met(w, one, other))
    ]


def _worded(words: Sequence[str], sense: Sense) -> str:
    return " ".join(sense.spelled.get(w, w) for w in words)
