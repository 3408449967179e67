"""What turns the meaning of a question: opposites, negation, direction, amount, time."""

from __future__ import annotations

import re
from itertools import product

from core.languages import _
from core.memory.guard.sense import Sense, root
from core.memory.guard.sentences import only, said
from core.vocabulary import OPPOSITES, word_list

_PAIRED = re.compile(
    r"(?<![\w+#.-])([\w+#.-]+(?:\s\d[\w.]*)?)\s+(?:in)?to\s+(?:an?\s+|the\s+)?([\w+#.-]+(?:\s+\d[\w.]*)?)",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(last|previous|past|this|current|present|next|coming|following)\s+"
    r"(?:second|minute|hour|day|night|week|weekend|month|quarter|year|release|version)\b",
    re.IGNORECASE,
)
_WHEN = {
    **dict.fromkeys(("last", "previous", "past"), "the last"),
    **dict.fromkeys(("this", "current", "present"), "this"),
    **dict.fromkeys(("next", "coming", "following"), "the next"),
}
ONE = frozenset(root(w) for w in word_list("one single individual"))
ALL = frozenset(root(w) for w in word_list("all every each everyone everybody entire whole"))
"""Stems of words for one thing, and for all things."""
_PREFIXES = ("un", "de", "dis", "non", "in", "im", "ir")
_TURNED = frozenset(
    root(w)
    for w in word_list(
        """disable deactivate remove delete prevent stop avoid hide deny forbid block uninstall refuse
        reject suppress silence ignore skip exclude lack fail fails error broken problem trouble unable
        impossible miss missing lose lost wrong invalid issue restrict undo unable hidden invisible rid
        clear omit bypass escape forgot forget unlike gone dead empty off offline quit cancel kill leave
        halt pause cease revoke withdraw"""
    )
)
"""Words that say by themselves what another question says with "not"."""
_POLES = tuple((frozenset(map(root, a)), frozenset(map(root, b))) for a, b in OPPOSITES)


def opposites(left: Sense, right: Sense) -> str:
    """Find that one of them has a word whose opposite, or the same with a prefix, the other has."""
    ours, theirs = left.stems - right.stems, right.stems - left.stems
    return _poles(left, right, ours, theirs) or _prefixed(left, right, ours, theirs)


def _poles(left: Sense, right: Sense, ours: frozenset[str], theirs: frozenset[str]) -> str:
    shared = left.stems & right.stems
    for one, other in _POLES:
        for mine, yours in ((one, other), (other, one)):
            if ours & mine and theirs & yours and not ours & yours and not theirs & mine:
                if _turned(left, ours) and _turned(right, theirs) and (mine | yours) & _TURNED:
                    continue  # "stop it from playing" and "disable that it starts", "don't show" and "hide"
                return said(left.spelled[min(ours & mine)], right.spelled[min(theirs & yours)])
            if shared & mine and not ours and theirs & yours:
                return only(right.spelled[min(theirs & yours)])
            if shared & mine and not theirs and ours & yours:
                return only(left.spelled[min(ours & yours)])
    return ""


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


def negation(left: Sense, right: Sense) -> str:
    """Find a negation before a word that the other has without one."""
    for one, other in ((left, right), (right, left)):
        turned = (other.stems - one.stems) & _TURNED
        if one.denied and not other.denied and not turned and one.denied & other.stems:
            word = min(one.denied & other.stems)
            told = _("Only one of them has a negation before “{word}”.")
            return told.format(word=other.spelled[word])
    return ""


def direction(left: Sense, right: Sense) -> str:
    """Find that one goes from A to B, the other from B to A."""
    ours, theirs = set(_PAIRED.findall(left.text)), set(_PAIRED.findall(right.text))
    for a, b in sorted(ours):
        if (b, a) in theirs and (b, a) not in ours:
            return said(f"{a} to {b}", f"{b} to {a}")
    if len(left.stems ^ right.stems) > 2:
        return ""
    (start, end), (other_start, other_end) = _parted(left), _parted(right)
    there, back = (start & other_end) - end - other_start, (end & other_start) - start - other_end
    if there and back:
        one, two = left.spelled[min(there)], left.spelled[min(back)]
        return said(f"{one} to {two}", f"{two} to {one}")
    return ""


def _parted(one: Sense) -> tuple[frozenset[str], frozenset[str]]:
    """Return the content words before and after the last "to" or "into" of a question."""
    at = max((place for place, word in enumerate(one.order) if word in ("to", "into")), default=-1)
    if at < 0:
        return frozenset(), frozenset()
    return frozenset(one.order[:at]) & one.stems, frozenset(one.order[at:]) & one.stems


def amount(left: Sense, right: Sense) -> str:
    """Find that one of them asks about one thing, the other about all."""
    for a, b in ((left, right), (right, left)):
        ours, theirs = set(a.order), set(b.order)
        if ours & ONE and theirs & ALL and not ours & ALL and not theirs & ONE:
            one, every = ("one", "all") if a is left else ("all", "one")
            return said(one, every)
    return ""


def time(left: Sense, right: Sense) -> str:
    """Find that they ask about the last, this, or the next time."""
    ours = {_WHEN[word.lower()] for word in _TIME.findall(left.text)}
    theirs = {_WHEN[word.lower()] for word in _TIME.findall(right.text)}
    return said(f"{min(ours)} time", f"{min(theirs)}") if ours and theirs and ours != theirs else ""
