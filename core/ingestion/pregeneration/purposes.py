"""Questions that sentences answer: what a sentence says one does for a purpose, somebody asks how to do.

"To reload templates, set …" answers "How do I reload templates?" in the words of who has the problem, which
the heading above it seldom has (*ours*; QA pre-generation leaves such questions to a model).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.text.words import one_line, sentences

LONGEST = 16
"""Words of a purpose; what is longer is a clause of its own."""
_ITEM = re.compile(r"^[ ]*(?:[-*+]|\d+[.)]) +", re.MULTILINE)
_STOPS = r"(?=[.,;:]| (?:by|when|if|instead|without|using|unless|while|before|after|it is|you)\b|$)"
_VERB = (
    r"(?!(?:be|have|this|that|the|an?|do (?:so|this|that|it)|which|it|other|different|any|all|some)\b)"
    r"(?!\w+ing\b)(?P<what>[a-z][a-z-]++\b[^,;:.()]{0,400}?)"
)
_HOW = (
    re.compile(rf"^(?:In order to|To) {_VERB}(?:, (?=\S)| it is\b)", re.IGNORECASE),
    re.compile(
        rf"^If (?:you|one|we) (?:want|need|would like|wish|'d like|have|like|are looking|intend|prefer) to "
        rf"{_VERB}(?:, (?=\S)| it is\b)"
    ),
    re.compile(
        rf"^(?:It is (?:also )?possible to|(?:\w+, )?(?:[Yy]ou|[Ww]e|[Oo]ne) can"
        rf"(?: also| then| easily| now)?|"
        rf"(?:\w+, )?(?:[Yy]ou|[Ww]e) may(?: also)?) {_VERB} (?:by|with|using|via|through|from within) \S"
    ),
    re.compile(rf"\b(?:(?:can|should|may|must) be|is|are) used to {_VERB}{_STOPS}"),
    re.compile(
        r"\b(?:(?:allows|lets|enables|helps)(?: you| one| us)? to|(?:lets|helps) (?:you|us)|"
        rf"makes it (?:easy|possible)(?: for you)? to) {_VERB}{_STOPS}"
    ),
    re.compile(
        r"^(?:Use|Call|Set|Pass|Add|Enable|Override|Register|Run|Create|Define|Set up|Provide)\b"
        rf"[^.]{{3,90}}? to {_VERB}{_STOPS}"
    ),
)
_WHEN = re.compile(r"^(?P<word>When|If|Whenever) (?P<what>(?!you want|you need)[^,;:.]{8,90}), (?=\S)")
_BARE = re.compile(r"(?:used|not|in|on|set|given|called|enabled|disabled)\b")
_ING = re.compile(r"\w+ing\b")
_IS = re.compile(
    r"^(?P<what>(?:The |An? )?[A-Z`][\w`.-]*(?: (?!that |this |which )[\w`.-]+){0,3}?) (?P<is>is|are) "
    r"(?:an? |the |used |responsible |a way )"
)
_POINTS = re.compile(
    r"^(?:this|that|it|its|these|those|there|here|what|such|they|you|we|one|all|each|since|by|be|in|on|for|"
    r"if|when|as|with|note|the (?:following|above|class|name|value))\b",
    re.IGNORECASE,
)
_POINTING = re.compile(r"\b(?:it|them|this|that|those|these|so)$")
_CODE = r"(?P<what>`[^`]+`)"
_GONE = r"(?:is|are|was|were|has been|have been) (?:now |also )?"
_FACTS = (
    (
        re.compile(
            r"\b(?:[Rr]equires?|[Nn]eeds?|[Bb]ump(?:ed)?(?: to)?|[Uu]pdated?(?: to)?|[Ss]upports?)"
            r"(?: the)?(?: latest)?(?: minimum)? (?P<what>`[^`]+`|[A-Z][\w-]+) "
            r"?(?:(?:version|dependency)? ?(?:to )?[<>=~]+ ?|version |to )?v?\d[\w.]*"
        ),
        "Which version of {what} is needed?",
    ),
    (
        re.compile(r"\b[Dd]rop(?:ped)? support for (?P<what>[A-Z][\w-]* [\d.]*\d)"),
        "Is {what} still supported?",
    ),
    (
        re.compile(rf"{_CODE}(?: \w+){{0,3}} {_GONE}deprecated\b"),
        "Is {what} deprecated, and what replaces it?",
    ),
    (re.compile(rf"^Deprecated? (?:the )?{_CODE}"), "Is {what} deprecated, and what replaces it?"),
    (
        re.compile(rf"{_CODE}(?: \w+){{0,3}} {_GONE}removed\b"),
        "What happened to {what}, and what replaces it?",
    ),
    (
        re.compile(rf"^Removed? (?:the )?(?:deprecated )?{_CODE}"),
        "What happened to {what}, and what replaces it?",
    ),
    (re.compile(rf"{_CODE}(?: \w+){{0,3}} {_GONE}renamed to\b"), "What is {what} called now?"),
)
_MINE = (
    (re.compile(r"\byourself\b"), "myself"),
    (re.compile(r"\byours?\b"), "my"),
    (re.compile(r"\byou are\b"), "I am"),
    (re.compile(r"\byou\b"), "I"),
)


def asked_by(text: str) -> Iterator[tuple[str, str]]:
    """Yield a question and the sentence that answers it for each sentence of prose that says what for."""
    for item in _ITEM.split(text):
        for sentence in sentences(one_line(item)):
            if question := _question(sentence.lstrip("> ").strip()):
                yield question, sentence


def _question(sentence: str) -> str:
    for pattern in _HOW:
        if (found := pattern.search(sentence)) and _fits(found["what"]):
            return f"How do I {_mine(found['what'])}?"
    if (found := _WHEN.match(sentence)) and not _BARE.match(found["what"]) and _fits(found["what"]):
        happens = "must I know" if _ING.match(found["what"]) else "happens"
        return f"What {happens} {found['word'].lower()} {_mine(found['what'])}?"
    if (found := _IS.match(sentence)) and not _POINTS.match(found["what"]):
        what = found["what"]
        what = what[0].lower() + what[1:] if re.match(r"(?:The|An?) ", what) else what
        return f"What {found['is']} {what}?"
    for pattern, asks in _FACTS:
        if (found := pattern.search(sentence)) and not _POINTS.match(found["what"]):
            return asks.format(what=found["what"])
    return ""


def _fits(what: str) -> bool:
    return 2 <= len(what.split()) <= LONGEST and not _POINTING.search(what)


def _mine(what: str) -> str:
    for pattern, word in _MINE:
        what = pattern.sub(word, what)
    return what.strip()
