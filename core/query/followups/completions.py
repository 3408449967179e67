"""Put a follow-up and the question before it together to one that stands alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.domain import Product, Turn
from core.query.checks import checked
from core.query.followups.anaphora import phrases
from core.query.followups.focus import Thread
from core.query.followups.references import masked, resolved
from core.query.forms import without
from core.query.releases.mentions import Mention, mentions
from core.query.releases.spellings import spellings
from core.text.words import identifiers, query_terms

PREPOSITION = re.compile(
    r"^(?:only\s+|also\s+|even\s+|just\s+|specifically\s+)?(?:for|with|without|in|on|inside|outside|using"
    r"|via|from|under|over"
    r"|during|per|by|at|to|through|within|behind|against|across|instead of|except|when using|as)\b\s*\S",
    re.IGNORECASE,
)
_SPACE = re.compile(r"\s+")
ASKS = re.compile(
    r"\b(?:who|whom|whose|what|when|where|why|which|how|is|are|was|were|do|does|did|can|could|will|would"
    r"|should|has|have"
    r"|had|am|may|must|show|tell|explain|give|list|describe|help|need|want|trying|tried|get|got|getting"
    r"|see|please)\b"
    r"|n['’]t\b|['’](?:s|re|m|ve|d|ll)\b",
    re.IGNORECASE,
)


def for_release(previous: str, text: str, found: Sequence[Mention], product: Product) -> str:
    """Ask the last question for the releases that a message names."""
    spelled = _spelled(text, found, product)
    earlier = mentions(previous, product)
    if not earlier:
        return appended(previous, f"in {spelled}", product)
    last = earlier[-1]
    out = previous[: last.start] + spelled + previous[last.end :]
    if not spelled.lower().startswith("the "):
        return out
    # "in Flask the latest release" reads as nobody writes
    kept: list[str] = []
    at = 0
    for name in spellings(product).product.finditer(out):
        space = _SPACE.match(out, name.end())
        begin = space.end() if space else 0
        if space and out[begin : begin + len(spelled)].lower() == spelled.lower():
            kept.append(out[at : name.start()])
            at = begin
    return "".join([*kept, out[at:]])


def _spelled(text: str, found: Sequence[Mention], product: Product) -> str:
    """Return the words that name the releases, from the first mention to the last one."""
    part = text[found[0].start : found[-1].end]
    return part if all(m.release or m.spelled for m in found) else found[0].spelled


def about_other(rest: str, thread: Thread, product: Product) -> str:
    """Complete "what about X": X takes the place of what the last question was about."""
    previous = thread.question
    if PREPOSITION.match(rest):
        return kept(appended(previous, rest, product), rest, previous)
    named = resolved_pronouns(rest, thread, product) or rest
    if re.match(r"\w+ing\b", named) or ASKS.match(named):
        start = "" if ASKS.match(named) else "What about "
        return _with_release(f"{start}{named}?", previous, product)
    subject = next(iter(phrases(masked(previous, product))), None)
    if subject is None or named != rest:
        return behind(thread, f"What about {named}?")
    placed = previous[: subject.start] + rest + previous[subject.end :]
    return kept(placed, rest, previous)


def resolved_pronouns(text: str, thread: Thread, product: Product) -> str:
    """Put what they stand for in the place of a message's open pronouns; "" where there is nothing."""
    out = resolved(text, thread, product)
    return _with_release(out, thread.question, product) if out else ""


def related(text: str, previous: str, product: Product) -> str:
    """Complete "what's the default?" with what the last question was about."""
    subject = next(iter(phrases(masked(previous, product))), None)
    if subject is None:
        return joined(previous, text)
    return _with_release(_inserted(text, f"for {subject.text}"), previous, product)


def _with_release(text: str, previous: str, product: Product) -> str:
    """Carry over the release the last question named, where the message names none."""
    earlier = mentions(previous, product)
    if len(earlier) != 1 or mentions(text, product):
        return text
    return _inserted(text, f"in {_with_name(previous, earlier[0], product)}")


def _with_name(text: str, mention: Mention, product: Product) -> str:
    """Return a mention with the product's name where that stands right before it."""
    known = spellings(product).product
    for name in known.finditer(text, 0, mention.start):
        if not text[name.end() : mention.start].strip():
            return text[name.start() : mention.end]
    return mention.spelled


def appended(previous: str, addition: str, product: Product) -> str:
    """Add a restriction to the last question, in place of one that begins alike or of a release."""
    found = mentions(addition, product)
    if found and mentions(previous, product):
        previous = without(previous, mentions(previous, product))
    return _inserted(previous, addition)


def _inserted(text: str, addition: str) -> str:
    body = text.rstrip()
    end = body[len(body.rstrip("?!. ")) :].strip()
    return f"{body.rstrip('?!. ')} {addition.strip().rstrip('?!. ')}{end or '?'}"


def joined(previous: str, text: str) -> str:
    """Put the message behind the last question: two sentences that stand alone together."""
    body = previous.rstrip()
    return f"{body if body[-1:] in '.?!' else body + '.'} {text[:1].upper()}{text[1:]}"


def focused(text: str, thread: Thread) -> str:
    """Say what the thread is about, where a completed message does not: "About X: …"."""
    if not thread.focus or identifiers(text) or set(query_terms(thread.focus)) & set(query_terms(text)):
        return text
    return f"About {thread.focus}: {text}"


def behind(thread: Thread, text: str) -> str:
    """Put the message behind the last question, without what that one was put behind itself."""
    said = thread.said[1:]
    last = thread.said if said and thread.question.endswith(said) else thread.question
    return focused(joined(last, text), thread)


def kept(rewrite: str, text: str, previous: str) -> str:
    """Return a rewrite that keeps to what was said, else both messages one after the other."""
    return rewrite if checked(rewrite, text, (Turn("user", previous),)) else joined(previous, text)
