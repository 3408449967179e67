"""Words that were exchanged for others, added or dropped, where all the rest is the same."""

from __future__ import annotations

from collections.abc import Sequence

from core.memory.guard.meaning import ALL
from core.memory.guard.sense import Sense, root
from core.memory.guard.sentences import said
from core.memory.guard.words import exclusive, is_light, mentions, met, of_a_kind
from core.vocabulary import NUMBER_WORDS


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


def exchange(left: Sense, right: Sense) -> str:
    """Find the one word or two that were exchanged, added or dropped where all the rest is the same."""
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
