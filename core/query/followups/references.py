"""What the open pronouns of a message stand for: "it", "that option", "his", "doing so"."""

from __future__ import annotations

import re

from core.domain import Product
from core.query.followups.anaphora import antecedent, gerund, names, phrase_is_plural, phrases, predicate
from core.query.followups.focus import Thread
from core.query.followups.pronouns import pointed, pronouns
from core.query.forms import topic
from core.query.releases.mentions import mentions
from core.query.releases.spellings import spellings
from core.text.words import identifiers

_MOST = 2
"""Pronouns of one message that are put in words."""
_ACTS = re.compile(
    r"\s+(?:(?:also|still|even|already)\s+)?(?:works?|working|possible|apply|applies|supported|allowed"
    r"|recommended|break|breaks"
    r"|happen|happens)\b",
    re.IGNORECASE,
)
"""What is said of an action: "does this still work"."""
_DETERMINED = re.compile(
    r"\b(?:a|an|the|another|my|each|this|that|other|which|any|new)\s+(?:[\w-]+\s+)?$", re.IGNORECASE
)
_SINGULAR = re.compile(r"\b(does|is|was|has)\s+$", re.IGNORECASE)
_PLURAL = {"does": "do", "is": "are", "was": "were", "has": "have"}
_PLACED = re.compile(
    r"\bwhere\b[^.?!]{0,40}\b(?:put|set|add|define|configure|paste|write|place|insert|call)\s+$",
    re.IGNORECASE,
)
"""What asks for the place of a name that was told: "where do I put that"."""
Edit = tuple[int, int, str]
"""Begin and end of what is replaced, and by what."""


def resolved(text: str, thread: Thread, product: Product) -> str:
    """Put what they stand for in the place of a message's open pronouns; "" where there is nothing."""
    meant = _Referents(thread, product)
    edits: list[Edit] = []
    if (noun := pointed(text)) and (name := meant.pointed(noun["noun"].lower())):
        edits.append((noun.start(), noun.end(), name))
    for match in pronouns(text):
        if any(start <= match.start() < end for start, end, _ in edits):
            continue
        named = meant.of(match, text, [other for _, _, other in edits])
        if not named:
            continue
        if verb := meant.misfit(match, text, named):
            edits.append((verb.start(1), match.end(), f"{_PLURAL[verb[1].lower()]} {named}"))
            continue
        edits.append((match.start(), match.end(), named))
        if len(edits) >= _MOST:
            break
    out = text if edits else ""
    for start, end, named in sorted(edits, reverse=True):
        out = out[:start] + named + out[end:]
    return out


class _Referents:
    """What pronouns may stand for in a thread."""

    def __init__(self, thread: Thread, product: Product) -> None:
        self._thread = thread
        self._known = masked(thread.question, product)
        self._done = predicate(topic(thread.question, product))

    def of(self, pronoun: re.Match[str], text: str, others: list[str]) -> str:
        """Return what a pronoun of the text stands for, "" for nothing; `others` is what the others do."""
        kind, word = pronoun.lastgroup or "", pronoun[0].lower()
        if kind == "do":
            return "" if word.startswith("doing") else self._done
        if kind in ("this", "single") and self._done and _ACTS.match(text, pronoun.end()):
            return gerund(self._done)
        told = identifiers(self._known) or identifiers(self._thread.answer)
        if kind in ("this", "single") and told and _PLACED.search(text, 0, pronoun.start()):
            return told[0]
        if kind in ("person", "hers"):
            return self._person(kind, word, text[pronoun.end() :], others)
        return self._thing(kind, word, text[: pronoun.start()])

    def pointed(self, noun: str) -> str:
        """Return what "that option" stands for: a phrase with that noun, else a name."""
        stem = noun.rstrip("s")
        for phrase in phrases(self._known):
            if stem in phrase.text.lower():
                return phrase.text
        named = identifiers(self._known) or identifiers(self._thread.answer)
        return named[0] if named else ""

    def misfit(self, pronoun: re.Match[str], text: str, named: str) -> re.Match[str] | None:
        """Return the verb before a pronoun that is singular where what it stands for is plural."""
        if pronoun.lastgroup not in ("this", "single") or not phrase_is_plural(named):
            return None
        return None if named == gerund(self._done) else _SINGULAR.search(text[: pronoun.start()])

    def _person(self, kind: str, word: str, after: str, others: list[str]) -> str:
        named = _person(self._thread)
        if word in ("him", "her") and kind == "person" and named in others:
            return ""  # "why did he fire him": they are two
        owns = kind == "hers" or (word == "her" and re.match(r"\s+[a-z]", after))
        return f"{named}'s" if named and owns else named

    def _thing(self, kind: str, word: str, before: str) -> str:
        focus = self._thread.focus
        many = kind in ("plural", "those") or word in ("their", "ones")
        phrase = antecedent(self._known, many)
        named = phrase.text if phrase else next(iter(identifiers(self._thread.answer)), "")
        if kind == "single" and phrase and phrase.plural and focus and not phrase_is_plural(focus):
            named = focus
        if many and not (phrase and phrase.plural) and (people := _names(focus)):
            named = people[0]
        if named and kind == "poss":
            return f"{named}'s"
        if named and word == "one" and not _DETERMINED.search(before):
            return f"a {named}" if named[0].lower() not in "aeiou" else f"an {named}"
        return named


def _person(thread: Thread) -> str:
    """Return whom "he" or "her" stands for: the one the thread is about, else the first in the question."""
    about = _names(thread.focus)
    asked = _names(thread.question)
    if about and (not asked or any(set(about[0].split()) & set(name.split()) for name in asked)):
        return about[0]
    for text in (thread.question, thread.focus, thread.opening, thread.answer.partition(".")[0]):
        if found := _names(text):
            return found[0]
    return ""


def _names(text: str) -> list[str]:
    return [re.sub(r"['’]s$", "", name) for name in names(text)]


def masked(text: str, product: Product) -> str:
    """Blank releases and the product's name, so that neither is taken for the subject; places stay."""
    out = text
    for mention in mentions(text, product):
        out = out[: mention.start] + "." * (mention.end - mention.start) + out[mention.end :]
    blanked = spellings(product).product.sub(lambda m: "." * len(m[0]), out)
    return blanked if phrases(blanked) else out
