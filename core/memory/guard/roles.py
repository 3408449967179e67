"""Who does what to whom, and from where to where: the same words in another order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from core.memory.guard.sense import Sense, root
from core.memory.guard.words import DEEDS, apart, said
from core.text.words import STOP_WORDS
from core.vocabulary import SOFTWARE

_MARKS = {
    **dict.fromkeys(("from", "off"), "from"),
    **dict.fromkeys(("to", "into", "onto", "toward", "towards"), "to"),
    **{word: word for word in ("of", "in", "on", "at", "by", "with", "for", "about", "through", "as")},
}
"""Prepositions, by what they say of the words after them."""
_COORDINATED = frozenset(("and", "or", "vs", "versus", "between"))
_PERSONS = {
    **dict.fromkeys(("i", "me", "we", "us"), "self"),
    "my": "self's",
    **dict.fromkeys(("others", "somebody", "someone", "they", "them", "people"), "others"),
}
_ACTING = re.compile(
    r"\W*(?:can|could|may|must|should|does|do|did|will)"
    r"\s+(?:an?\s+|the\s+|my\s+|our\s+)?(\w+)\b(?!.{0,200}\bbe\b)"
)
_DROPPED = frozenset(
    ("a", "an", "the", "its", "their", "his", "her", "your", "our", "this", "that", "these", "those")
)
_OUT_OF = re.compile(r"\bout\s+of\b")
_TOKEN = re.compile(r"(?<![\w+#.-])[\w+#.-]*[\w+#]")
_PARTICLE = re.compile(r"\b([a-z]{2,20})(?:\s+(?:it|them))?\s+(in|out|up|down|on|off)\b")
_DOER = re.compile(r"\W*how\s+(?:can|could|does|do|did|should)\s+(?:an?|the|my|our)\s+(\w+)\b")
_WHO = re.compile(r"\bwho(?:m|se)?\b.*", re.DOTALL)
_SELF = re.compile(r"\b(i|me|my)\b")
_DONE_BY = re.compile(r"\W*what\s+(?:is|are|gets?)\s+(\w+)\s+by\b")
_TURNED = {"in": "out", "out": "in", "up": "down", "down": "up", "on": "off", "off": "on"}
_NEITHER = STOP_WORDS | {"one", "another", "back"}
_HOLDS = 2
"""Words that a preposition speaks of: "to world coordinates"."""
_ELSE = 3
"""Other words in which two questions may differ when their directions are compared."""
_LONGEST = 3
"""Words of a thing that may change places with another one: the API server."""


class _Laid(NamedTuple):
    """The words of a question in order, the prepositions that each stands under, and verbs with particles."""

    order: tuple[str, ...]
    marks: dict[str, set[str]]
    particles: frozenset[tuple[str, str]]
    agent: str
    """Who is to do it, after "let"; "" where that is not said."""


@lru_cache(maxsize=512)
def _laid_out(text: str) -> _Laid:
    """Lay out the words of a question."""
    order: list[str] = []
    marks: dict[str, set[str]] = {}
    mark = ""
    since = 0
    for word in _TOKEN.findall(_OUT_OF.sub("from", text)):
        if word in _DROPPED:
            continue
        mark, since = (_MARKS[word], 0) if word in _MARKS else (mark, since + 1)
        stem = _PERSONS.get(word) or (word if word in SOFTWARE else root(word))
        order.append(stem)
        if word not in _NEITHER:
            marks.setdefault(stem, set()).add(mark if since <= _HOLDS else "")
    acting = [word for word in order if word != "self's"]
    after_let = [after for word, after in pairwise(acting) if word == "let"]
    particles = frozenset((root(m[1]), m[2]) for m in _PARTICLE.finditer(text))
    return _Laid(tuple(order), marks, particles, after_let[0] if after_let else "")


def _acting(text: str) -> str:
    """Return who may or does do it, in a question such as "Can a user change it"; else ""."""
    found = _ACTING.match(text)
    if not found or found[1] in STOP_WORDS or found[1] in _PERSONS:
        return ""
    return root(found[1])


def direction(left: Sense, right: Sense) -> str:
    """Find that one goes from a thing and the other to it, or the one in and the other out."""
    ours, theirs = _laid_out(left.body), _laid_out(right.body)
    others = apart(left, right)
    if others > _ELSE:
        return ""
    for word in sorted(ours.marks.keys() & theirs.marks.keys()):
        mine, yours = ours.marks[word], theirs.marks[word]
        if (mine, yours) in (({"from"}, {"to"}), ({"to"}, {"from"})):
            spelled = left.spelled.get(word, word)
            return said(f"{min(mine)} {spelled}", f"{min(yours)} {spelled}")
    for asked, told, marks in ((left, right, theirs.marks), (right, left, ours.marks)):
        doer = _DOER.match(asked.said)
        if doer and marks.get(root(doer[1])) == {"to"} and {*told.order[:1]} & told.stems & asked.stems:
            return said(doer[1], f"to {doer[1]}")
    both = (ours.marks.keys() & theirs.marks.keys()) - {"others"}
    for mark in ("to", "from") if others < _ELSE else ():
        there = [w for w in both if (ours.marks[w], theirs.marks[w]) == ({mark}, {""})]
        back = [w for w in both if (theirs.marks[w], ours.marks[w]) == ({mark}, {""})]
        if there and back and not {*there, *back} <= DEEDS.keys():  # "register to read" has no direction
            one, two = (left.spelled.get(w, w) for w in (min(back), min(there)))
            return said(f"{one} {mark} {two}", f"{two} {mark} {one}")
    for verb, particle in sorted(ours.particles - theirs.particles):
        if (verb, _TURNED[particle]) in theirs.particles:
            return said(f"{verb} {particle}", f"{verb} {_TURNED[particle]}")
    return ""


def swapped(left: Sense, right: Sense) -> str:
    """Find that two things changed places where all the rest is the same, or that another one is to do it."""
    ours, theirs = _laid_out(left.body), _laid_out(right.body)
    mine, yours = ours.agent, theirs.agent
    if not (mine or yours) and apart(left, right) <= 2:
        mine, yours = _acting(left.said), _acting(right.said)
    beside = {*pairwise(ours.order), *pairwise(theirs.order)} & {(mine, yours), (yours, mine)}
    if mine and yours and mine != yours and (mine in theirs.order or yours in ours.order) and not beside:
        return said(left.spelled.get(mine, mine), right.spelled.get(yours, yours))
    for one, other in ((left, right), (right, left)):
        by = _DONE_BY.match(one.body)
        if by and other.order[1:2] == (root(by[1]),) and other.order[:1] == ("what",):
            return said(by[0], f"what {other.spelled.get(root(by[1]), by[1])}")
    mine, yours = _myself(left.said), _myself(right.said)
    if {mine, yours} == {"i", "me"} and not (apart(left, right) or left.negated or right.negated):
        return said(mine, yours)
    found = _transposed(ours.order, theirs.order) or _transposed(
        _laid_out(left.said).order, _laid_out(right.said).order
    )
    if not found:
        return ""
    first, second = (" ".join(left.spelled.get(w, w) for w in words) for words in found)
    return said(f"{first} … {second}", f"{second} … {first}")


def _myself(text: str) -> str:
    """Return "i" or "me" where somebody asks who it is that they see, or that sees them; else ""."""
    found = _WHO.search(text)
    persons = {"me" if word == "my" else word for word in _SELF.findall(found[0])} if found else set()
    return persons.pop() if len(persons) == 1 else ""


def _transposed(ours: Sequence[str], theirs: Sequence[str]) -> tuple[Sequence[str], Sequence[str]] | None:
    """Return X and Y where one is "… X between Y …" and the other "… Y between X …"; None where not."""
    if sorted(ours) != sorted(theirs) or ours == theirs:
        return None
    begin, end = 0, len(ours)
    while ours[begin] == theirs[begin]:
        begin += 1
    while ours[end - 1] == theirs[end - 1]:
        end -= 1
    mine, yours = ours[begin:end], theirs[begin:end]
    if len({*mine}) < len(mine):
        return None  # "line by line"
    for first in range(1, min(_LONGEST, len(mine) - 2) + 1):
        for second in range(1, min(_LONGEST, len(mine) - first - 1) + 1):
            between = mine[first : len(mine) - second]
            if (
                sorted(yours[:second]) == sorted(mine[len(mine) - second :])
                and sorted(yours[len(yours) - first :]) == sorted(mine[:first])
                and yours[second : len(yours) - first] == between
            ):
                if _COORDINATED & {*between, *ours[max(0, begin - 1) : begin]}:
                    return None  # "both x and y" is "both y and x"
                return mine[:first], mine[len(mine) - second :]
    return None
