"""Complete a follow-up from its thread, by rule.

A message that stands alone is left as it is, character for character. A completed one takes every
word from the thread: nothing is invented, no identifier, number or release is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.domain import Product, Turn
from core.query.anaphora import antecedent, gerund, phrase_is_plural, phrases, pointed, predicate, pronouns
from core.query.checks import checked
from core.query.forms import content as content_words
from core.query.forms import topic, without, without_product
from core.query.mentions import Mention, mentions
from core.query.spellings import spellings
from core.text import STOP_WORDS, identifiers
from core.vocabulary import word_list

_TURNS = 8
"""Earlier messages of a person that are looked at; older ones are another subject by then."""
_LONG = 30
"""Words from which a message is taken to explain itself."""

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
_PREPOSITION = re.compile(
    r"^(?:only\s+|also\s+|even\s+|just\s+|specifically\s+)?(?:for|with|without|in|on|inside|outside|using"
    r"|via|from|under|over"
    r"|during|per|by|at|to|through|within|behind|against|across|instead of|except|when using|as)\b\s*\S",
    re.IGNORECASE,
)
_CLAUSE_START = re.compile(
    r"^(?:what\s+|even\s+)?(?:if|when|unless|once|because|since|while|after|before)\b", re.IGNORECASE
)
_ASKS = re.compile(
    r"\b(?:who|whom|whose|what|when|where|why|which|how|is|are|was|were|do|does|did|can|could|will|would"
    r"|should|has|have"
    r"|had|am|may|must|show|tell|explain|give|list|describe|help|need|want|trying|tried|get|got|getting"
    r"|see|please)\b"
    r"|n['’]t\b|['’](?:s|re|m|ve|d|ll)\b",
    re.IGNORECASE,
)
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


def complete(text: str, history: Sequence[Turn], product: Product) -> str:
    """Return a message that stands alone: itself, or completed from the thread's earlier questions."""
    previous = answer = ""
    for turn in _recent(history):
        if turn.role == "assistant":
            answer = turn.text
        elif _is_question(turn.text):
            previous = _completed(turn.text, previous, answer, product)
    return _completed(text, previous, answer, product)


def _recent(history: Sequence[Turn]) -> Sequence[Turn]:
    asked = [place for place, turn in enumerate(history) if turn.role == "user"]
    return history[asked[-_TURNS] :] if len(asked) > _TURNS else history


def _is_question(text: str) -> bool:
    """Tell whether an earlier message is worth completing from: thanks and the like are not."""
    return bool(content_words(_LEAD.sub("", text))) or "?" in text


def _completed(text: str, previous: str, answer: str, product: Product) -> str:
    """Complete one message from the last question, itself complete, and the bot's answer to it."""
    if not previous or len(text.split()) > _LONG or "```" in text:
        return text
    core = _LEAD.sub("", text).strip()
    if not core:
        return text
    found = mentions(core, product)
    bare = without(core, found)
    if (
        found
        and all(word in _SAME for word in content_words(without_product(bare, product)))
        and len(core.split()) < 12
    ):
        return _for_release(previous, core, found, product)
    about, meant = _ABOUT.match(core), _MEANT.match(core)
    rest = (about["rest"] or about["same"]) if about else meant["rest"] if meant else ""
    if rest and not _CLAUSE_START.match(rest):
        return _about(rest, previous, answer, product)
    if _CLAUSE_START.match(core) and len(core.split()) < 14 and not _asks_after_comma(core):
        return _joined(previous, core)
    if _PREPOSITION.match(core) and len(core.split()) <= 8 and not _ASKS.search(core):
        return _kept(_appended(previous, core, product), core, previous)
    content = content_words(without_product(bare, product))
    if not content or all(word in _SAME for word in content):
        if resolved := _resolved(core, previous, answer, product):
            return resolved
        return _joined(previous, core)
    if resolved := _resolved(core, previous, answer, product):
        return resolved
    if pointed(core) or pronouns(core):
        return _joined(previous, core)
    if all(word in _RELATIONAL or word in _SAME or word.isdigit() for word in content) and not _complement(
        core
    ):
        return _related(core, previous, product)
    if len(content) <= 3 and len(core.split()) <= 5 and not _ASKS.search(core) and _LEAD.match(text):
        return _about(core.rstrip("?!. "), previous, answer, product)
    if len(content) <= 3 and len(core.split()) <= 4 and not _ASKS.search(core) and core.endswith("?"):
        return _about(core.rstrip("?!. "), previous, answer, product)
    return text


def _asks_after_comma(text: str) -> bool:
    """Tell whether a clause is followed by a question of its own: "if I use X, how do I Y?"."""
    tail = text.partition(",")[2]
    return bool(tail and _ASKS.search(tail)) or bool(
        re.search(r"\s(?:how|what|where|why|does|do|is|can)\s", text[8:])
    )


def _complement(text: str) -> bool:
    """Tell whether "the default" is said to be of something."""
    match = re.search(
        r"\b(?:of|for|to|in|with|between|from)\s+(?:the\s+|a\s+|an\s+)?([\w.]+)", text, re.IGNORECASE
    )
    return bool(match and match[1].lower() not in STOP_WORDS)


# --- completions ------------------------------------------------------------------------------


def _for_release(previous: str, text: str, found: Sequence[Mention], product: Product) -> str:
    """Ask the last question for the releases that a message names."""
    spelled = _spelled(text, found, product)
    earlier = mentions(previous, product)
    if not earlier:
        return _appended(previous, f"in {spelled}", product)
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


def _about(rest: str, previous: str, answer: str, product: Product) -> str:
    """Complete "what about X": X takes the place of what the last question was about."""
    if _PREPOSITION.match(rest):
        return _kept(_appended(previous, rest, product), rest, previous)
    resolved = _resolved(rest, previous, answer, product) or rest
    if re.match(r"\w+ing\b", resolved) or _ASKS.match(resolved):
        start = "" if _ASKS.match(resolved) else "What about "
        return _with_release(f"{start}{resolved}?", previous, product)
    subject = next(iter(phrases(_masked(previous, product))), None)
    if subject is None or resolved != rest:
        return _joined(previous, f"What about {resolved}?")
    placed = previous[: subject.start] + rest + previous[subject.end :]
    return _kept(placed, rest, previous)


def _resolved(text: str, previous: str, answer: str, product: Product) -> str:
    """Put what they stand for in the place of a message's open pronouns; "" where there is nothing."""
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
        else:
            phrase = antecedent(known, kind == "plural" or match[0].lower() in ("their", "ones"))
            named = phrase.text if phrase else next(iter(identifiers(answer)), "")
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


def _pointed_name(noun: str, previous: str, answer: str) -> str:
    """Return what "that option" stands for: a phrase with that noun, else a name from question or answer."""
    stem = noun.rstrip("s")
    for phrase in phrases(previous):
        if stem in phrase.text.lower():
            return phrase.text
    names = identifiers(previous) or identifiers(answer)
    return names[0] if names else ""


def _related(text: str, previous: str, product: Product) -> str:
    """Complete "what's the default?" with what the last question was about."""
    subject = next(iter(phrases(_masked(previous, product))), None)
    if subject is None:
        return _joined(previous, text)
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


def _appended(previous: str, addition: str, product: Product) -> str:
    """Add a restriction to the last question, in place of one that begins alike or of a release."""
    found = mentions(addition, product)
    if found and mentions(previous, product):
        previous = without(previous, mentions(previous, product))
    return _inserted(previous, addition)


def _inserted(text: str, addition: str) -> str:
    body = text.rstrip()
    end = body[len(body.rstrip("?!. ")) :].strip()
    return f"{body.rstrip('?!. ')} {addition.strip().rstrip('?!. ')}{end or '?'}"


def _joined(previous: str, text: str) -> str:
    """Put the message behind the last question: two sentences that stand alone together."""
    body = previous.rstrip()
    return f"{body if body[-1:] in '.?!' else body + '.'} {text[:1].upper()}{text[1:]}"


def _kept(rewrite: str, text: str, previous: str) -> str:
    return rewrite if checked(rewrite, text, (Turn("user", previous),)) else _joined(previous, text)


def _masked(text: str, product: Product) -> str:
    """Blank releases and the product's name, so that neither is taken for the subject; places stay."""
    out = text
    for mention in mentions(text, product):
        out = out[: mention.start] + "." * (mention.end - mention.start) + out[mention.end :]
    blanked = spellings(product).product.sub(lambda m: "." * len(m[0]), out)
    return blanked if phrases(blanked) else out
