"""Complete a follow-up from its thread, by rule.

A message that stands alone is left as it is, character for character. A completed one takes every
word from the thread: nothing is invented, no identifier, number or release is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.domain import Product, Turn
from core.query.completions import (
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
from core.query.focus import Thread, carried, leans, same_subject, subject
from core.query.forms import content as content_words
from core.query.forms import without, without_product
from core.query.language_words import says_little
from core.query.mentions import mentions
from core.query.pronouns import pointed, pronouns, reacted
from core.text import STOP_WORDS, identifiers
from core.vocabulary import word_list

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
    r"^(?:and\s+|but\s+|or\s+)?(?:what|how|wat)\s*(?:['’]?s|\s+is)?\s+about\s+(?P<rest>.+?)\s*[?.!]*$"
    r"|^same\s+(?:question\s+)?(?P<same>\w+\s+.+?)"
    r"\s*[?.!]*$",
    re.IGNORECASE | re.DOTALL,
)
_MEANT = re.compile(
    r"^(?:no[\s,.]+)?(?:i|we)\s+(?:actually\s+)?(?:meant|mean)\s+(?P<rest>.+?)\s*[?.!]*$",
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
_SAME = frozenset(
    word_list(
        """same still different true change changed changes valid apply applies work works worked working
        possible available version versions release releases case also differ differs exist exists
        existed there already supported support hold holds correct happen happens like look looks said
        docs ok then now one there's done go"""
    )
)
_RELATIONAL = frozenset(
    word_list(
        """default defaults example examples sample syntax difference differences alternative alternatives
        option options parameter parameters argument arguments limit limits limitation limitations
        drawback drawbacks downside downsides advantage advantages benefit benefits cost costs reason
        reasons purpose requirement requirements step steps type types cause causes code value values
        name names order effect effects performance exception exceptions details detail docs
        documentation link page symptoms treatment treatments signature caveats caveat gotchas risks
        risk side kind kinds source sources method methods ways workaround workarounds snippet meaning
        origin history output result"""
    )
)


@dataclass(frozen=True, slots=True)
class Completion:
    """A message that stands alone, and the words of its thread that a search takes along besides."""

    text: str
    carried: tuple[str, ...] = ()


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
    alone = base == text and not leans(text, product) and not same_subject(text, thread)
    if not thread.question or alone:
        return Thread(base, text, "", subject(text, product), text)
    return Thread(base, text, "", thread.focus, thread.opening)


def _recent(history: Sequence[Turn]) -> Sequence[Turn]:
    asked = [place for place, turn in enumerate(history) if turn.role == "user"]
    return history[asked[-_TURNS] :] if len(asked) > _TURNS else history


def _is_question(text: str) -> bool:
    """Tell whether an earlier message is worth completing from: thanks and the like are not."""
    return "?" in text or (not _THANKS.match(text) and bool(content_words(_LEAD.sub("", text))))


def _completed(text: str, thread: Thread, product: Product) -> str:
    """Complete one message from the last question, itself complete, and the bot's answer to it."""
    previous = thread.question
    if not previous or len(text.split()) > _LONG or "```" in text:
        return text
    core = reacted(_LEAD.sub("", text).strip())
    if not core:
        return text
    found = mentions(core, product)
    bare = without(core, found)
    if (
        found
        and not _ABOUT_RELEASES.search(core)
        and all(word in _SAME or says_little(word) for word in content_words(without_product(bare, product)))
        and len(core.split()) < 12
    ):
        return kept(for_release(previous, core, found, product), core, previous)
    if _ABOUT_RELEASES.search(core) and found and not pronouns(core):
        return text
    about, meant = _ABOUT.match(core), _MEANT.match(core)
    rest = (about["rest"] or about["same"]) if about else meant["rest"] if meant else ""
    if rest and (started := mentions(rest, product)) and started[0].start == 0:
        return kept(for_release(previous, rest, started[:1], product), rest, previous)
    if rest and not _CLAUSE_START.match(rest):
        return about_other(rest, thread, product)
    if _CLAUSE_START.match(core) and len(core.split()) < 14 and not _asks_after_comma(core):
        return behind(thread, core)
    if PREPOSITION.match(core) and len(core.split()) <= 8 and not ASKS.search(core):
        return kept(appended(previous, core, product), core, previous)
    content = content_words(without_product(bare, product))
    if not content or all(word in _SAME for word in content):
        if resolved := resolved_pronouns(core, thread, product):
            return focused(resolved, thread)
        return behind(thread, core)
    if resolved := resolved_pronouns(core, thread, product):
        return focused(resolved, thread)
    if (
        pointed(core)
        or pronouns(core)
        or _LEANING.search(core)
        or _CONTRACTED.search(core)
        or (core != text.strip() and _POINTING.search(core))
    ):
        return behind(thread, core)
    if all(word in _RELATIONAL or word in _SAME or word.isdigit() for word in content) and not _complement(
        core
    ):
        return related(core, previous, product)
    if len(content) <= 3 and len(core.split()) <= 5 and not ASKS.search(core) and _LEAD.match(text):
        return about_other(core.rstrip("?!. "), thread, product)
    if (
        len(content) <= 3
        and len(core.split()) <= 4
        and not ASKS.search(core)
        and core.endswith("?")
        and not identifiers(core)
    ):
        return about_other(core.rstrip("?!. "), thread, product)
    return text


def _asks_after_comma(text: str) -> bool:
    """Tell whether a clause is followed by a question of its own: "if I use X, how do I Y?"."""
    tail = text.partition(",")[2]
    return bool(tail and ASKS.search(tail)) or bool(
        re.search(r"\s(?:how|what|where|why|does|do|is|can)\s", text[8:])
    )


def _complement(text: str) -> bool:
    """Tell whether "the default" is said to be of something."""
    match = re.search(
        r"\b(?:of|for|to|in|with|between|from)\s+(?:the\s+|a\s+|an\s+)?([\w.]+)", text, re.IGNORECASE
    )
    return bool(match and match[1].lower() not in STOP_WORDS)
