"""What a question wants to know, of how much, and of which in order."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from core.languages import _
from core.memory.guard.sense import Sense, root
from core.memory.guard.words import apart, exclusive, is_light, only, said
from core.text.words import STOP_WORDS
from core.vocabulary import UNITS, words_of

_WORDS = words_of(__package__)
_ELSE = 2
"""Other words in which two questions may differ when these are compared."""

# --- what it asks --------------------------------------------------------------------------------

_GREETED = r"^\W*(?:(?:hi|hello|hey|please|so|ok|and|but)\b\W*)*"
_ASKS = tuple((name, re.compile(pattern.replace("<greeted>", _GREETED))) for name, pattern in _WORDS["asks"])
_APART = {
    "must": ("can", "should", "how", "cause", "effect"),
    "should": ("can", "how", "cause", "effect"),
    "effect": ("cause", "how", "can", "when"),
    "cause": ("can", "when", "who"),
    "when": ("how", "can"),
    "who": ("how", "can"),
}
"""What a question may ask; one of the first kind is never one of the others."""


def purpose(left: Sense, right: Sense) -> str:
    """Find that they ask for something else: whether it must be or can be, why it is or what then."""
    ours, theirs = _asks(left.said), _asks(right.said)
    if theirs not in _APART.get(ours, ()) and ours not in _APART.get(theirs, ()):
        return ""
    if apart(left, right) > _ELSE or ({ours, theirs} == {"must", "can"} and _goes_without(left, right)):
        return ""
    told = {
        "how": _("how"),
        "effect": _("what happens then"),
        "cause": _("why"),
        "when": _("when"),
        "who": _("who"),
        "must": _("whether it must be"),
        "should": _("whether it should be"),
        "can": _("whether it can be"),
    }
    return _("One asks {one}, the other {other}.").format(one=told[ours], other=told[theirs])


def _goes_without(left: Sense, right: Sense) -> bool:
    """Return True if one asks whether it is needed, the other whether it goes without."""
    return ("without" in left.said.split()) != ("without" in right.said.split())


@lru_cache(maxsize=512)
def _asks(text: str) -> str:
    """Return what a question asks; "" where nothing says so."""
    return next((name for name, pattern in _ASKS if pattern.search(text)), "")


# --- how much ------------------------------------------------------------------------------------


def _named(lines: str) -> dict[str, str]:
    """Map each word to the name of its line."""
    found: dict[str, str] = {}
    for line in lines.strip().splitlines():
        name, _colon, words = line.partition(":")
        found |= {word.replace("~", " "): name for word in words.split()}
    return found


def _any_of(words: Iterable[str]) -> str:
    """Return a group that matches one of the words, the longest first."""
    longest = "|".join(sorted(words, key=len, reverse=True))
    return rf"\b({longest})\b".replace(" ", r"\s+")


_AMOUNTS = _named(_WORDS["amounts"])
_AMOUNTS_APART = [pair.split() for pair in _WORDS["amounts_apart"].split("|")]
_ALONE = _WORDS["amounts_alone"].split()
_HARMLESS = re.compile(
    r"\b(?:at\s+all|all\s+right|in\s+all|after\s+all|all\s+the\s+time|if\s+any|some\s*times?"
    r"|(?:is|are)\s+there\s+(?:any|some)|only\s+(?:way|those|the\s+ones|want\w*|if|when)|not\s+only"
    r"|read[\s-]+only|only\s+read|any\s+(?:way|idea|help|one\s+know\w*|more)|some\s+(?:way|help)"
    r"|(?:some|any)(?:one|body)\s+(?:know|tell|explain|help)\w*|nothing\s+(?:happens|works|else)"
    r"|(?:how|so)\s+many|(?:does|do|can|could|should|would|must|may|might)\s+one"
    r"|one\s+(?:can|could|should|must|has|another)|one\s+by\s+one"
    r"|(?:the|this|that|which|another|each|every|any|new|old|right|wrong|other|last|first|next)\s+one)\b"
)
_AMOUNT = re.compile(_any_of(_AMOUNTS))
_SINGLE = re.compile(
    r"(?:\b(before|after|for|on|at|per|with|by|in|of|within)\s+(?=an?\b))?"
    r"\b(?<!than )(?<!just )(?:an?|one|single|this|that|current)\s+(?=((?:[\w'-]+\s+){0,2}[\w'-]+))"
)
_MUCH = re.compile(
    r"\b(?:all|every|each|several|many|multiple|numerous|more\s+than\s+one"
    r"|two|three|four|five|six|seven|eight|nine|ten)\s+"
    r"((?:[\w'-]+\s+){0,3}[\w'-]+)"
)
_LASTING = frozenset(("ms", "s", "min", "h", "d", "week", "month", "year"))
_FEW = re.compile(r"\b(?:two|three|four|five|six|seven|eight|nine|ten)\b")
_OTHER = re.compile(r"\b(?:others?|another|and|or|with|from|to|into|between)\b")
_TIMES = "second|minute|hour|day|night|morning|evening|week|weekend|month|quarter|year|time"
_PERIODS = f"{_TIMES}|release|version|boot|run|session"


def amount(left: Sense, right: Sense) -> str:
    """Find that one asks about one thing, the other about all, some, none, or no others."""
    others = apart(left, right)
    if others > _ELSE:
        return ""
    ours, theirs = _amounts(left.said), _amounts(right.said)
    for a, b in _AMOUNTS_APART:
        if a in ours and b in theirs and a not in theirs and b not in ours:
            return said(ours[a], theirs[b])
        if b in ours and a in theirs and b not in theirs and a not in ours:
            return said(ours[b], theirs[a])
    for name in _ALONE:
        if others <= (name in ("exceptions", "once")) and (name in ours) != (name in theirs):
            return only(ours.get(name) or theirs.get(name) or "")
    for one, other, mine, yours in ((left, right, ours, theirs), (right, left, theirs, ours)):
        many = {"all", "many"} & mine.keys() or (
            not others and _FEW.search(one.said) and not _OTHER.search(other.said)
        )
        of_many = many and not ({"all", "many"} & yours.keys() or _FEW.search(other.said))
        if of_many and _singles(other.said) & _many(one.said):
            single, every = _("one"), _("all")
            return said(every, single) if one is left else said(single, every)
    return ""


@lru_cache(maxsize=512)
def _amounts(text: str) -> dict[str, str]:
    """Map each amount that a text names to the word for it."""
    quiet = _HARMLESS.sub(" ", text)
    return {_AMOUNTS[" ".join(word.split())]: word for word in _AMOUNT.findall(quiet)}


@lru_cache(maxsize=512)
def _singles(text: str) -> frozenset[str]:
    """Return the stems of what is spoken of as one: "a pod", "one value"; not "for a pod"."""
    return _heads(words for before, words in _SINGLE.findall(text) if not before)


@lru_cache(maxsize=512)
def _many(text: str) -> frozenset[str]:
    """Return the stems of what is spoken of as all or many."""
    return _heads(_MUCH.findall(text))


def _heads(found: Iterable[str]) -> frozenset[str]:
    """Return the stems of the words in phrases that are no stop words, units or times."""
    plain = {word for words in found for word in words.split()}
    times = {unit for unit, name in UNITS.items() if name in _LASTING} | {*_TIMES.split("|")}
    return frozenset(map(root, plain - STOP_WORDS - times))


# --- which in order ------------------------------------------------------------------------------

_PLACES = _named(_WORDS["places"])
_PLACE = re.compile(
    r"(?<!\d )(?<!per )(?<!every )(?<!a )"
    + _any_of(word for word in _PLACES if word not in ("this", "second", "present"))
    + rf"|\b(this)\s+(?:{_PERIODS})\b|\bthe\s+(second)\s+\w"
)
_POINTING = frozenset(("this", "that", "current"))
_BEFORE = re.compile(r"\bbefore\W*$")
_NEAR = frozenset({("last", "previous"), ("last", "latest"), ("latest", "this")})
"""Places that may be one: the last week is the previous one."""


def place(left: Sense, right: Sense) -> str:
    """Find that they ask about the first, the last, this or the next of something."""
    if apart(left, right) > _ELSE:
        return ""
    ours, theirs = _places(left.said), _places(right.said)
    for a in sorted(ours.keys() - theirs.keys()):
        for b in sorted(theirs.keys() - ours.keys()):
            if (min(a, b), max(a, b)) not in _NEAR:
                return said(ours[a], theirs[b])
    for one, named, other in ((left.said, theirs, right.said), (right.said, ours, left.said)):
        pointed = {noun for this, noun in pairwise(one.split()) if this in _POINTING}
        for name, word in sorted(named.items()):
            nouns = {noun for placing, noun in pairwise(other.split()) if placing == word}
            if name not in ("this", "latest") and pointed & nouns:
                noun = min(pointed & nouns).rstrip("?.,!")
                return said(f"this {noun}", f"{word} {noun}")
    return ""


@lru_cache(maxsize=512)
def _places(text: str) -> dict[str, str]:
    """Map each place in time or order that a text names to the word for it."""
    found = [next(filter(None, groups)) for groups in _PLACE.findall(text)]
    named = {_PLACES[word]: word for word in found}
    return named | ({"previous": "before"} if _BEFORE.search(text) else {})


# --- in which case, and when -----------------------------------------------------------------------

_LINKS = {
    **dict.fromkeys(("if", "when", "whenever", "unless"), "when"),
    **dict.fromkeys(("while", "during"), "while"),
    **dict.fromkeys(("until", "till"), "until"),
    "before": "before",
    **dict.fromkeys(("after", "once"), "after"),
}
"""Words between what is asked and the case in which, each to its kind."""
_LINK = re.compile(
    rf"\b(?<!even )(?<!only )(?<!what )(?<!not )({'|'.join(_LINKS)})\b"
    rf"(?!\s+(?:an?|per|every)\s+(?:{_PERIODS})\b)"
)
_NEVER_ONE = {
    "while": {"before", "after", "until"},
    "until": {"after", "when"},
    "before": {"after", "when"},
}


def circumstance(left: Sense, right: Sense) -> str:
    """Find that they ask about other cases: while and after, "if it is hot" and "if it rains"."""
    ours, theirs = _LINK.search(left.said), _LINK.search(right.said)
    if not (ours and theirs):
        return ""
    mine, yours = _LINKS[ours[1]], _LINKS[theirs[1]]
    differ = yours in _NEVER_ONE.get(mine, ()) or mine in _NEVER_ONE.get(yours, ())
    if differ and apart(left, right) <= _ELSE and left.negated == right.negated:
        return said(ours[1], theirs[1])
    if _alone(left, right, ours) and _alone(right, left, theirs):
        return said(left.said[ours.start() :].strip(" ?.!"), right.said[theirs.start() :].strip(" ?.!"))
    return ""


def _alone(one: Sense, other: Sense, link: re.Match[str]) -> bool:
    """Return True if a case shares no word that weighs with the other question, and all the rest does."""
    weighs = {word for word in one.stems if not is_light(word, one)}
    case = weighs & {root(word) for word in re.findall(r"[\w'-]+", one.said[link.end() :])}
    return bool(case and weighs - case) and exclusive(one, other) == case
