"""Complete a follow-up from its thread, by rule.

A message that stands alone is left as it is, character for character. A completed one takes every
word from the thread: nothing is invented, no identifier, number or release is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.domain import Product, Turn
from core.query.asking import is_aside
from core.query.followups.completions import (
    ASKS,
    PREPOSITION,
    about_other,
    appended,
    behind,
    focused,
    for_release,
    kept,
    related,
    resolved_pronouns,
)
from core.query.followups.focus import Thread, carried, leans, same_subject, subject
from core.query.followups.pronouns import pointed, pronouns, reacted
from core.query.forms import content as content_words
from core.query.forms import without, without_product
from core.query.language import says_little
from core.query.releases.mentions import Mention, mentions
from core.text.words import STOP_WORDS, identifiers
from core.vocabulary import words_of

_WORDS = words_of("core.query")["complete"]

_TURNS = 8
"""Earlier messages of a person that are looked at; older ones are another subject by then."""
_LONG = 30
"""Words from which a message is taken to explain itself."""

_CLAUSE_START = re.compile(
    r"^(?:what\s+|even\s+)?(?:if|when(?!\s+(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had|may)\b)|unless|once"
    r"|because|since|while|after|before)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^\s*(?:(?:and|but|so|also|then|ok(?:ay)?|hm+|ah+|oh|great|cool|nice|thanks?(?:\s+you)?|thx|ty"
    r"|perfect|right|yes|yep|no"
    r"|well|sorry|alright|got it|good|awesome|sure|now|wait)\b[\s,.!:;-]*)+",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"^(?:and\s+|but\s+|or\s+)?(?:what|how|wat)(?:\s*+['’]?s|\s++is)?\s++about\s++(?P<rest>.+)$"
    r"|^same\s++(?:question\s++)?(?P<same>\w++\s++\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_MEANT = re.compile(
    r"^(?:no[\s,.]+)?(?:i|we)\s+(?:actually\s+)?(?:meant|mean)\s++(?P<rest>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_THANKS = re.compile(
    r"^\W*(?:(?:thanks?|thx|ty|cheers|perfect|great|cool|awesome|got it|it works|solved"
    r"|danke|vielen dank|(?:muchas )?gracias|merci|obrigad[oa]|спасибо)\b|谢谢|感谢|多谢|ありがとう)",
    re.IGNORECASE,
)
_ABOUT_RELEASES = re.compile(
    r"\bwhat(?:['’]s|\s+is|\s+are|\s+has|\s+have|\s+was|\s+were)?\s+(?:the\s+)?(?:been\s+)?(?:new|chang\w+|differen\w+)\b"
    r"|\bchange-?log\b|\brelease\s+(?:notes?|date)\b|\bwhen\s+(?:was|is|will|did)\b",
    re.IGNORECASE,
)
"""Questions about a release as such, which a release completes by itself."""
_LEANING = re.compile(
    r"^(?:mine|ours|theirs)\b|\b(?:then|tho|though|instead|anyway)\s*[?.!]*$", re.IGNORECASE
)
_CONTRACTED = re.compile(r"^(?:\w+\s+){0,3}(?:they|he|she)['’]", re.IGNORECASE)
_POINTING = re.compile(r"\b(?:it|they|them|that|this|those|these)\b", re.IGNORECASE)
_SAME = frozenset(_WORDS["same"].split())
_CORRECTS = frozenset(_WORDS["corrects"].split())
"""What stands beside a release in "oh, I forgot to say that I'm on 2.0"."""
_RELATIONAL = frozenset(_WORDS["relational"].split())


@dataclass(frozen=True, slots=True)
class Completion:
    """A message that stands alone, and the words of its thread that a search takes along besides."""

    text: str
    carried: tuple[str, ...] = ()


_WHOLE = re.compile(
    r"\bhow\s+(?:(?:do|can|should|would|could|must)\s+(?:i|we|you|one)|to)\s+(?!(?:do|use|get|see|set|change)\s+(?:the\s+)?(?:same|other|others|rest)\b)"
    r"[a-z]\w+\s+(?:the|an?|my|our)\s+(?!(?:same|other|others|rest|one)\b)[a-z]\w+",
    re.IGNORECASE,
)
"""A question that has its own deed and thing: "how do I set the secret key?" goes on with nothing."""


def complete(text: str, history: Sequence[Turn], product: Product) -> Completion:
    """Complete a message from its thread, where it needs it; the text is the message itself where not."""
    thread = Thread()
    for turn in _recent(history):
        if turn.role == "assistant":
            thread = replace(thread, answer=turn.text)
        elif _is_question(turn.text):
            thread = _after(turn.text, thread, product)
    base = _completed(text, thread, product)
    if not thread.question or (base == text and not leans(text, product)):
        return Completion(base)
    other_release = bool(mentions(text, product)) and not pronouns(text)
    return Completion(base, carried(base, thread, product, told=not other_release))


def _after(text: str, thread: Thread, product: Product) -> Thread:
    """Return the thread with one more question; one that stands alone begins a subject."""
    base = _completed(text, thread, product)
    stands = not leans(text, product) or bool(_WHOLE.search(text))
    alone = base == text and stands and not same_subject(text, thread)
    if not thread.question or alone:
        return Thread(base, text, "", subject(text, product), text)
    return Thread(base, text, "", thread.focus, thread.opening)


def _recent(history: Sequence[Turn]) -> Sequence[Turn]:
    asked = [place for place, turn in enumerate(history) if turn.role == "user"]
    return history[asked[-_TURNS] :] if len(asked) > _TURNS else history


def _is_question(text: str) -> bool:
    """Return True if an earlier message is worth completing from: thanks, plans and the like are not."""
    asks_nothing = _THANKS.match(text) or is_aside(text)
    return "?" in text or (not asks_nothing and bool(content_words(_LEAD.sub("", text))))


def _completed(text: str, thread: Thread, product: Product) -> str:
    """Complete one message from the last question, itself complete, and the bot's answer to it."""
    if not thread.question or len(text.split()) > _LONG or "```" in text:
        return text
    core = reacted(_LEAD.sub("", text).strip())
    if not core:
        return text
    message = _Message(text, core, mentions(core, product), thread, product)
    ways = (
        _for_releases,
        _for_what_about,
        _for_clause,
        _for_restriction,
        _for_pronouns,
        _for_relation,
        _for_lone_words,
    )
    return next((found for way in ways if (found := way(message)) is not None), text)


@dataclass(frozen=True, slots=True)
class _Message:
    """A message to complete: `core` is its text without "ok, and" and the like, `found` its releases."""

    text: str
    core: str
    found: Sequence[Mention]
    thread: Thread
    product: Product

    @property
    def content(self) -> list[str]:
        """Return the words that say something about the subject, without releases and the product."""
        return content_words(without_product(without(self.core, self.found), self.product))

    @property
    def length(self) -> int:
        """Return the number of words."""
        return len(self.core.split())


# Each way returns the completed message, or None where it does not fit.


def _for_releases(message: _Message) -> str | None:
    """Complete "and in 2.3?"; "what is new in 2.3?" stands alone."""
    core, found, previous = message.core, message.found, message.thread.question
    if not found:
        return None
    if _ABOUT_RELEASES.search(core):
        return None if pronouns(core) else message.text
    if message.length >= 12 or not all(word in _SAME or says_little(word) for word in message.content):
        return _for_own_release(message)
    return kept(for_release(previous, core, found, message.product), core, previous)


def _for_own_release(message: _Message) -> str | None:
    """Complete "oh, I forgot to say that I'm on 2.0": it asks the last question for that release."""
    core, previous = message.core, message.thread.question
    little = all(word in _CORRECTS or word in _SAME or says_little(word) for word in message.content)
    if not little or "?" in core or message.length >= 16 or ASKS.match(core):
        return None
    named = [mention for mention in message.found if not mention.denied and mention.release]
    own = [mention for mention in named if mention.own] or named[-1:]
    return for_release(previous, core, own[-1:], message.product) if own else None


def _for_what_about(message: _Message) -> str | None:
    """Complete "what about cookies?" and "I meant 2.3"."""
    previous, product = message.thread.question, message.product
    about, meant = _ABOUT.match(message.core), _MEANT.match(message.core)
    rest = (about["rest"] or about["same"]) if about else meant["rest"] if meant else ""
    rest = rest.rstrip("?.!").rstrip() or rest[:1]
    if not rest:
        return None
    if (started := mentions(rest, product)) and started[0].start == 0:
        return kept(for_release(previous, rest, started[:1], product), rest, previous)
    return None if _CLAUSE_START.match(rest) else about_other(rest, message.thread, product)


def _for_clause(message: _Message) -> str | None:
    """Complete "if I use gunicorn?"; one that goes on with a question of its own stands alone."""
    core = message.core
    if not _CLAUSE_START.match(core) or message.length >= 14 or _asks_after_comma(core):
        return None
    return behind(message.thread, core)


def _for_restriction(message: _Message) -> str | None:
    """Complete "with async views?"."""
    core, previous = message.core, message.thread.question
    if not PREPOSITION.match(core) or message.length > 8 or ASKS.search(core):
        return None
    return kept(appended(previous, core, message.product), core, previous)


def _for_pronouns(message: _Message) -> str | None:
    """Complete "does it work there?", and what has no word of its own: "why?"."""
    core = message.core
    if resolved := resolved_pronouns(core, message.thread, message.product):
        return focused(resolved, message.thread)
    points = (
        all(word in _SAME for word in message.content)
        or pointed(core)
        or pronouns(core)
        or (_LEANING.search(core) and not _WHOLE.search(core))
        or _CONTRACTED.search(core)
        or (core != message.text.strip() and _POINTING.search(core))
    )
    return behind(message.thread, core) if points else None


def _for_relation(message: _Message) -> str | None:
    """Complete "what is the default?" where it is not said of what."""
    relates = all(word in _RELATIONAL or word in _SAME or word.isdigit() for word in message.content)
    if not relates or _complement(message.core):
        return None
    return related(message.core, message.thread.question, message.product)


def _for_lone_words(message: _Message) -> str | None:
    """Complete "and error handlers?", "cookies?"."""
    core = message.core
    if len(message.content) > 3 or message.length > 5 or ASKS.search(core):
        return None
    asks = message.length <= 4 and core.endswith("?") and not identifiers(core)
    if not asks and not _LEAD.match(message.text):
        return None
    return about_other(core.rstrip("?!. "), message.thread, message.product)


def _asks_after_comma(text: str) -> bool:
    """Return True if a clause is followed by a question of its own: "if I use X, how do I Y?"."""
    tail = text.partition(",")[2]
    return bool(tail and ASKS.search(tail)) or bool(
        re.search(r"\s(?:how|what|where|why|does|do|is|can)\s", text[8:])
    )


def _complement(text: str) -> bool:
    """Return True if "the default" is said to be of something."""
    match = re.search(
        r"\b(?:of|for|to|in|with|between|from)\s+(?:the\s+|a\s+|an\s+)?([\w.]+)", text, re.IGNORECASE
    )
    return bool(match and match[1].lower() not in STOP_WORDS)
