"""Words that were exchanged for others, added or dropped, where all the rest is the same."""

from __future__ import annotations

from collections.abc import Sequence

from core.memory.guard.meaning import ALL
from core.memory.guard.sense import Sense, root
from core.memory.guard.sentences import said
from core.memory.guard.words import exclusive, is_light, mentions, met, of_a_kind


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
    lone, other = _weighty(mine, left, right), _weighty(yours, right, left)
    if lone and other:
        return said(_worded(lone, left), _worded(other, right))
    return ""


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
