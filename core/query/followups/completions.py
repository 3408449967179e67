"""Put a follow-up and the question before it together to one that stands alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.domain import Product, Turn
from core.query.checks import checked
from core.query.followups.anaphora import antecedent, gerund, names, phrase_is_plural, phrases, predicate
from core.query.followups.focus import Thread
from core.query.followups.pronouns import pointed, pronouns
from core.query.forms import topic, without
from core.query.releases.mentions import Mention, mentions
from core.query.releases.spellings import spellings
from core.text.words import identifiers, query_terms

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
