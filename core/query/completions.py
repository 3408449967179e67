"""Put a follow-up and the question before it together to one that stands alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.domain import Product, Turn
from core.query.anaphora import antecedent, gerund, names, phrase_is_plural, phrases, predicate
from core.query.checks import checked
from core.query.focus import Thread
from core.query.forms import topic, without
from core.query.mentions import Mention, mentions
from core.query.pronouns import pointed, pronouns
from core.query.spellings import spellings
from core.text import identifiers, query_terms

PREPOSITION = re.compile(
    r"^(?:only\s+|also\s+|even\s+|just\s+|specifically\s+)?(?:for|with|without|in|on|inside|outside|using"
    r"|via|from|under|over"
    r"|during|per|by|at|to|through|within|behind|against|across|instead of|except|when using|as)\b\s*\S",
    re.IGNORECASE,
)
ASKS = re.compile(
    r"\b(?:who|whom|whose|what|when|where|why|which|how|is|are|was|were|do|does|did|can|could|will|would"
    r"|should|has|have"
    r"|had|am|may|must|show|tell|explain|give|list|describe|help|need|want|trying|tried|get|got|getting"
    r"|see|please)\b"
    r"|n['’]t\b|['’](?:s|re|m|ve|d|ll)\b",
    re.IGNORECASE,
)
_ACTS = re.compile(
    r"\s+(?:(?:also|still|even|already)\s+)?(?:works?|working|possible|apply|applies|supported|allowed"
    r"|recommended|break|breaks"
    r"|happen|happens)\b",
    re.IGNORECASE,
)
_DETERMINED = re.compile(
    r"\b(?:a|an|the|another|my|each|this|that|other|which|any|new)\s+(?:[\w-]+\s+)?$", re.IGNORECASE
)
_SINGULAR = re.compile(r"\b(does|is|was|has)\s+$", re.IGNORECASE)
_PLURAL = {"does": "do", "is": "are", "was": "were", "has": "have"}


def for_release(previous: str, text: str, found: Sequence[Mention], product: Product) -> str:
    """Ask the last question for the releases that a message names."""
    spelled = _spelled(text, found, product)
    earlier = mentions(previous, product)
    if not earlier:
        return appended(previous, f"in {spelled}", product)
    out, position = "", 0
    for place, mention in enumerate(earlier):
        last = place == len(earlier) - 1
        if len(earlier) > 1 and not last:
            continue
        out += previous[position : mention.start] + (spelled if last else "")
        position = mention.end
    out += previous[position:]
    # "in Flask the latest release" reads as nobody writes
    return (
        re.sub(
            rf"(?:{spellings(product).product.pattern})\s+(?={re.escape(spelled)})",
            "",
            out,
            flags=re.IGNORECASE,
        )
        if (spelled.lower().startswith("the "))
        else out
    )


def _spelled(text: str, found: Sequence[Mention], product: Product) -> str:
    """Return the words that name the releases, from the first mention to the last one."""
    part = text[found[0].start : found[-1].end]
    return part if all(m.release or m.spelled for m in found) else found[0].spelled


def about_other(rest: str, thread: Thread, product: Product) -> str:
    """Complete "what about X": X takes the place of what the last question was about."""
    previous = thread.question
    if PREPOSITION.match(rest):
        return kept(appended(previous, rest, product), rest, previous)
    resolved = resolved_pronouns(rest, thread, product) or rest
    if re.match(r"\w+ing\b", resolved) or ASKS.match(resolved):
        start = "" if ASKS.match(resolved) else "What about "
        return _with_release(f"{start}{resolved}?", previous, product)
    subject = next(iter(phrases(_masked(previous, product))), None)
    if subject is None or resolved != rest:
        return behind(thread, f"What about {resolved}?")
    placed = previous[: subject.start] + rest + previous[subject.end :]
    return kept(placed, rest, previous)


def resolved_pronouns(text: str, thread: Thread, product: Product) -> str:
    """Put what they stand for in the place of a message's open pronouns; "" where there is nothing."""
    previous, answer = thread.question, thread.answer
    known = _masked(previous, product)
    edits: list[tuple[int, int, str]] = []
    if noun := pointed(text):
        name = _pointed_name(noun["noun"].lower(), known, answer)
        if name:
            edits.append((noun.start(), noun.end(), name))
    for match in pronouns(text):
        kind = match.lastgroup or ""
        if any(start <= match.start() < end for start, end, _ in edits):
            continue
        done = predicate(topic(previous, product))
        if kind == "do":
            named = "" if match[0].lower().startswith("doing") else done
        elif kind in ("this", "single") and done and _ACTS.match(text, match.end()):
            named = gerund(done)
        elif kind in ("person", "hers"):
            named = person(thread)
            if (
                match[0].lower() in ("him", "her")
                and kind == "person"
                and any(named == other for _, _, other in edits)
            ):
                continue  # "why did he fire him": they are two
            if named and (
                kind == "hers" or (match[0].lower() == "her" and re.match(r"\s+[a-z]", text[match.end() :]))
            ):
                named += "'s"
        else:
            many = kind in ("plural", "those") or match[0].lower() in ("their", "ones")
            phrase = antecedent(known, many)
            named = phrase.text if phrase else next(iter(identifiers(answer)), "")
            if (
                kind == "single"
                and phrase
                and phrase.plural
                and thread.focus
                and not phrase_is_plural(thread.focus)
            ):
                named = thread.focus
            if many and thread.focus and not (phrase and phrase.plural) and _names(thread.focus):
                named = _names(thread.focus)[0]
            if named and kind == "poss":
                named += "'s"
            elif named and match[0].lower() == "one" and not _DETERMINED.search(text[: match.start()]):
                named = f"a {named}" if named[0].lower() not in "aeiou" else f"an {named}"
        if named:
            verb = (
                _SINGULAR.search(text[: match.start()])
                if kind in ("this", "single") and phrase_is_plural(named) and named != gerund(done)
                else None
            )
            if verb:
                edits.append((verb.start(1), match.end(), f"{_PLURAL[verb[1].lower()]} {named}"))
                continue
            edits.append((match.start(), match.end(), named))
            if len(edits) >= 2:
                break
    if not edits:
        return ""
    out = text
    for start, end, named in sorted(edits, reverse=True):
        out = out[:start] + named + out[end:]
    return _with_release(out, previous, product)


def person(thread: Thread) -> str:
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


def _pointed_name(noun: str, previous: str, answer: str) -> str:
    """Return what "that option" stands for: a phrase with that noun, else a name from question or answer."""
    stem = noun.rstrip("s")
    for phrase in phrases(previous):
        if stem in phrase.text.lower():
            return phrase.text
    names = identifiers(previous) or identifiers(answer)
    return names[0] if names else ""


def related(text: str, previous: str, product: Product) -> str:
    """Complete "what's the default?" with what the last question was about."""
    subject = next(iter(phrases(_masked(previous, product))), None)
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


def _masked(text: str, product: Product) -> str:
    """Blank releases and the product's name, so that neither is taken for the subject; places stay."""
    out = text
    for mention in mentions(text, product):
        out = out[: mention.start] + "." * (mention.end - mention.start) + out[mention.end :]
    blanked = spellings(product).product.sub(lambda m: "." * len(m[0]), out)
    return blanked if phrases(blanked) else out
