"""What a thread is about, and whether a message leans on it although it has no pronoun."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.domain import Product
from core.query.followups.anaphora import names, phrases
from core.query.followups.pronouns import reacted
from core.query.forms import content, filtered, without, without_product
from core.query.releases.mentions import mentions
from core.text.words import identifiers, index_terms, query_terms, sentences
from core.vocabulary import SOFTWARE

MOST_CARRIED = 20
"""Words of the thread that a search takes along at most."""
_NAMES = 6
"""Names that it takes along from the last answer."""
_IDENTIFIERS = 3
"""Identifiers that it takes along from the last answer, the first ones: they are what it says to use."""
_TOLD = 1500
"""Characters of the last answer that are looked at."""
_FEW = 4
"""Words about its subject up to which a message with "the album" is taken to lean on its thread."""
_MORE = re.compile(
    r"\b(?:else|another|others?|more|also|too|either|both|same|again|instead|there|next|later|first|second|third"
    r"|last|previous|earlier|mentioned|said)\b",
    re.IGNORECASE,
)
_DEFINITE = re.compile(r"\b(?:the|those|these|that|this|such)\s+[a-z]", re.IGNORECASE)
_INNER = re.compile(r"\b(?:his|her|its|their|it|they|them|he|she|him|us|me|you)\b", re.IGNORECASE)
_SAYS_LITTLE = re.compile(r"[\d\s]+|[a-z]+ed|led|done|made|specifically|friend|immediate", re.IGNORECASE)
_NEW = re.compile(
    r"\b(?:different|another|new|other|unrelated)\s+(?:question|thing|topic|subject)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Thread:
    """What was said before a message, as far as it can complete the message.

    `question` is the last question, complete; `said` its own words; `answer` what was answered to it;
    `focus` names what the last question that stood alone was about, and `opening` is that question.
    """

    question: str = ""
    said: str = ""
    answer: str = ""
    focus: str = ""
    opening: str = ""


def subject(text: str, product: Product) -> str:
    """Name what a question is about: its identifier, its name, else its first noun phrase."""
    plain = without_product(without(text, mentions(text, product)), product)
    if exact := [*identifiers(plain), *names(plain)]:
        return exact[0]
    asked = [s for s in sentences(plain) if s.endswith("?")]
    for sentence in [*reversed(asked), *reversed(sentences(plain)), plain]:
        for phrase in phrases(sentence):
            if (
                not _SAYS_LITTLE.fullmatch(phrase.text)
                and content(phrase.text)
                and not _INNER.search(phrase.text)
            ):
                return sentence[phrase.start : phrase.end]
    return ""


def same_subject(text: str, thread: Thread) -> bool:
    """Return True if a message names what its thread is about, if only in part."""
    return bool(set(query_terms(thread.focus)) & set(query_terms(text)))


def leans(text: str, product: Product) -> bool:
    """Return True if a message without a pronoun may still lean on its thread: "what caused the drought?".

    Such a message stays as it is; only its search takes words of the thread along.
    """
    said = reacted(text)
    asked = " ".join(s for s in sentences(said) if s.endswith("?")) or said
    if _NEW.search(text) or identifiers(asked):
        return False
    words = _content(asked, product)
    if len(_content(said, product)) > 2 * _FEW:  # it explains itself
        return False
    if _MORE.search(asked):
        return True
    if any(word in SOFTWARE for word in words):
        return False
    pointing = _DEFINITE.search(asked) or _INNER.search(asked)
    return len(words) <= (_FEW if pointing else 2)


def _content(text: str, product: Product) -> list[str]:
    return content(without_product(without(text, mentions(text, product)), product))


def carried(text: str, thread: Thread, product: Product, *, told: bool = True) -> tuple[str, ...]:
    """Return the words of the thread that a search for a message takes along, without those it has.

    They are what the thread is about, what its opening and its last question say, the first identifiers of
    the last answer, and the names in its sentences that share a word with the message.
    Without `told` the answer is left out: it speaks of another release.
    """
    have = set(query_terms(text))
    wanted = set(query_terms(filtered(text)))
    found: list[str] = []
    for source in (thread.focus, thread.opening, thread.said):
        plain = without_product(without(source, mentions(source, product)), product)
        found += _lacking(filtered(reacted(plain)), have)
    answer = thread.answer[:_TOLD] if told else ""
    near = [s for s in sentences(answer) if wanted & set(index_terms(s))]
    named = " ".join(name for sentence in near for name in names(sentence))
    exact = without_product(" ".join(identifiers(answer)[:_IDENTIFIERS]), product)
    return (
        *found[:MOST_CARRIED],
        *_lacking(exact, have),
        *_lacking(without_product(named, product), have)[:_NAMES],
    )


def _lacking(text: str, have: set[str]) -> list[str]:
    """Return the words of a text whose terms are not there yet, and add those to `have`."""
    found = []
    for word in text.split():
        terms = set(query_terms(word))
        if terms and not terms <= have:
            have |= terms
            found.append(word)
    return found
