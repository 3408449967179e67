"""Pronouns that point outside of a message: "it", "that option", "his"."""

from __future__ import annotations

import re
from itertools import islice

from core.query.followups.anaphora import names, phrases
from core.text.words import identifiers
from core.vocabulary import words_of

_WORDS = words_of("core.query")["pronouns"]

_CLAUSE = re.compile(
    r"[,.;:!?\n]|\b(?:and|but|or|so|then|when|if|because|after|before|while|which|unless|until|since"
    r"|whether|without|instead of|says?|said|think|complain\w*|reports?)\b",
    re.I,
)
_REACTION = re.compile(
    r"(?:^|(?<=[.!?]\s))(?:(?:that|this|it)(?:['’]s|\s+(?:is|was|sounds?|seems?|looks?))|i['’]m|i\s+(?:am|see|know)|sounds?|never"
    r"|wow|cool|nice|great|good|fair|very|interesting|awesome)(?:\s+[^\s.!?]+){0,3}[.!]\s+(?=\S)",
    re.IGNORECASE,
)
"""A short sentence about the answer, before what is asked: "That's interesting."."""
_PURPOSE = r"(?:to|that|for|if|like|when|how|why)\b"
_EXPLETIVE = re.compile(
    r"\b(?:(?:is|was|would|will|be|isn['’]t)\s+it|it(?:['’]s|\s+(?:is|was|would be|seems|looks"
    r"|turns out)))\s++"
    rf"(?:(?:also|even|still|really|not|like|always|ever|generally|usually)\s++)*"
    rf"(?:[\w-]*+\s++(?:(?:idea|practice|way)\s*+)?{_PURPOSE}"
    rf"|[\w-]*(?:idea|practice|way)\s*+{_PURPOSE}|[\w-]*{_PURPOSE})"
    r"|\b(?:does|will|did|would)\s+it\s+(?:take|cost|make sense|matter|mean)\b"
    r"(?:\s+\w+)?\s+(?:to|if|that|for|when)\b|\bmakes?\s+it\s+\w+\s+to\b",
    re.IGNORECASE,
)
_AFTER_THAT = (
    r"(?=\s*(?:[?.!,;:]|$)|\s+(?:\w{2,}er\b|better|safe|ok|enough|required|needed|supported|allowed|available|deprecated|removed|gone|stored|set|called"
    r"|cached|kept|sent|is|was|are|were|isn|also|still|only|too|not|in|with|for|on|from|to|by"
    r"|without|at|into|inside"
    r"|work\w*|mean\w*|happen\w*|appl\w+|chang\w+|affect\w*|support\w*|look\w*|caus\w+|have|has|had|be|do"
    r"|does|did|go|goes"
    r"|need\w*|take\w*|return\w*|possible|safe|instead|off|up|down|out|over|again|as|and|or|when|if|the"
    r"|get|break\w*|requir\w+"
    r"|depend\w*|compar\w+|differ\w*|relat\w+|come|comes|cost\w*|help\w*|run\w*|start\w*|stop\w*|use\w*"
    r"|make\w*)\b)"
)
_ITS_SO = (
    r"(?=\s+(?:too|not|a|an|the|already|still|gone|missing|empty|null|none|there|full|down|broken|dead|lost"
    r"|\w{3,}(?:ed|ing))(?:\s*(?:[?.!,;:]|$)|\s+(?:and|or|by|in|on|to|for|because|when|if|big|small|large|slow|late"
    r"|long|short|many|much|old|new|there|set|found|allowed|supported|installed)\b))"
)
"""What follows "its" that stands for "it's": "if its missing"."""
_PRONOUN = re.compile(
    rf"\b(?P<do>do(?:ing)?\s+(?:this|that|it|so))\b(?!\s+\w+(?:ing|ed)\b)"
    rf"|\b(?P<hers>his|her)\b(?=\s+(?!(?:and|or|in|at|on|with|for|to|from|by|about|when|if|as|after|before)\b)[a-z])"
    rf"|\b(?P<person>he|she|him|her)\b"
    rf"|\b(?P<poss>its|their)\b(?!{_ITS_SO})(?=\s+[a-z])"
    rf"|\b(?P<plural>they|them)\b(?!['’])"
    rf"|\b(?P<those>these|those){_AFTER_THAT.replace('|the|', '|the|all|both|')}"
    rf"|\b(?P<single>it|its{_ITS_SO})\b(?!['’]s\s+(?:a|an)\b)"
    rf"|\b(?P<this>this|that)(?:{_AFTER_THAT}|(?<=^is this)(?=\s\w+\?$)|(?<=^was this)(?=\s\w+\?$))"
    rf"|\b(?P<one>one|ones){_AFTER_THAT.replace('|the|', '|')}",
    re.IGNORECASE,
)
_POINTED = re.compile(
    r"\b(?P<det>this|that|these|those|the same|such an?|said)\s+(?P<noun>settings?|options?|flags?"
    r"|commands?|functions?|methods?"
    r"|classe?s?|decorators?|variables?|parameters?|arguments?|errors?|exceptions?|messages?|features?"
    r"|files?|keys?|values?"
    r"|env(?:ironment)? var(?:iable)?s?|attributes?|fields?|endpoints?|routes?|views?|callbacks?"
    r"|prompts?|warnings?|plugins?|tools?|packages?|modules?|extensions?|hooks?|handlers?|objects?|things?|approach|way|part|stuff)\b",
    re.IGNORECASE,
)
_BEFORE_THAT = frozenset(_WORDS["before_that"].split())

_MOST = 20
"""Pronouns of a text that are looked at; one with more tells a story."""
_NEAR = 60
"""Characters before a pronoun in which the word before it stands."""
_WORD = re.compile(r"[\w'’-]+")
_SOMEBODY = re.compile(r"\b(?:my|our|a|an|the|every|each|some|this|that)\s+[a-z]{3,}", re.IGNORECASE)
"""Whoever "he" may be in "the admin says that he …"."""


def pronouns(text: str) -> list[re.Match[str]]:
    """Return the pronouns that nothing in the text itself explains."""
    open_ones: list[re.Match[str]] = []
    masked = _EXPLETIVE.sub(lambda m: "\0" * len(m[0]), text)
    for match in islice(_PRONOUN.finditer(masked), _MOST):
        kind = match.lastgroup
        before = _WORD.findall(masked, max(0, match.start() - _NEAR), match.start())
        last = before[-1].lower() if before else ""
        if kind == "this" and last and last not in _BEFORE_THAT:
            after = masked[match.end() :].lstrip()
            relative = after and not re.match(
                r"[?.!,;:]|(?:in|with|for|on|from|by|without|instead|off|too|again|and|or|at|into)\b",
                after,
                re.I,
            )
            if relative:
                continue  # "the error that happens"
        if kind == "one" and last in (
            "",
            "no",
            "any",
            "every",
            "some",
            "each",
            "which",
            "only",
            "than",
            "just",
            "at",
            "in",
            "a",
        ):
            continue
        if kind in ("hers", "person"):
            known = bool(names(masked[: match.start()]) or _SOMEBODY.search(masked[: match.start()]))
        else:
            known = kind == "poss" and bool(phrases(masked[: match.start()]))
        if not known and not (_explained(masked, match.start()) and kind not in ("hers", "person")):
            open_ones.append(match)
    return open_ones


def pointed(text: str) -> re.Match[str] | None:
    """Return the first "that setting", "this error" that nothing in the text itself explains."""
    match = _POINTED.search(text)
    return match if match and not _explained(text, match.start()) else None


def _explained(text: str, position: int) -> bool:
    """Return True if an earlier clause of the text has a noun; in one clause a pronoun points outside."""
    clauses = [m.end() for m in _CLAUSE.finditer(text, 0, position)]
    earlier = text[: clauses[-1]] if clauses else ""
    earlier = _REACTION.sub("", f"{earlier} \0").rstrip(" \0")
    if not earlier:
        return False
    return bool(phrases(earlier)) or bool(identifiers(earlier))


def reacted(text: str) -> str:
    """Return a message without the short sentences that only comment on the answer."""
    return _REACTION.sub("", text)
