"""Derive the forms of a query: without stop words, without the release, as memory compares it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from core.domain import Product
from core.query.releases.mentions import Mention, mentions
from core.query.releases.spellings import spellings
from core.text.words import COMMON_WORDS, STOP_WORDS, words

_EMPTY = STOP_WORDS | COMMON_WORDS
_GREETING = re.compile(
    r"\s*+(?:(?:hi|hello|hey|hiya|howdy|greetings|good (?:morning|afternoon|evening|day)"
    r"|dear)\b(?:\s+(?:all|there|everyone"
    r"|everybody|folks|guys|team|friends|y'all|threadlore|bot))?|(?:quick|short|dumb|stupid|newbie|noob"
    r"|basic)\s+question"
    r"|(?:sorry|thanks|thank you|please)(?=\s*[,.!]))[\s,.!:;–-]*",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"(?<![\s,.;!])[\s,.;!]*"
    r"\b(?:thanks|thank you|thx|ty|cheers|please|pls|plz|tia|thanks in advance|many thanks"
    r"|any (?:help|idea|ideas|hints?)"
    r"(?:\s++(?:(?:is|would be)\s*+)?(?:appreciated|welcome))?)(?:\s++(?:a lot|so much|in advance|all"
    r"|everyone))?\s*+(?P<end>[?.!:)]*+)\s*+$",
    re.IGNORECASE,
)
_USES = re.compile(
    r"\b(?:(?:i|we)(?:['’]?m|['’]re|\s+am|\s+are)?|i['’]m|we['’]re)\s+(?:(?:still|currently|now|all|on"
    r"|use|using|run|running|have"
    r"|stuck|with|at|version|release)\s+)*$",
    re.IGNORECASE,
)
_PREPOSED = re.compile(
    r"(?:\b(?:in|on|with|using|for|of|under|from|to|at|within|about)\s++)?(?:the\s++|our\s++)?"
    r"(?:version\s++|release\s++|v)?$",
    re.IGNORECASE,
)
_LONGEST_LEAD = 100
"""Characters before a release that may belong to it: a preposition, an article and the word "version"."""
_SIGNS = r"\s,(\[@=<>~:-"
_JOINED = rf"[{_SIGNS}]*+(?:(?:version|release|is|docs)\s++){{0,6}}$"
_JOINT = re.compile(rf"(?<![{_SIGNS}]){_JOINED}", re.IGNORECASE)
_AFTER_USE = re.compile(r"^\s*+(?:[,.;:!-]++|here\b)*+\s*+(?:(?:and|but|so)\b\s*+)?")


class _Named(NamedTuple):
    """Where a product is named beside what is asked: "in Flask", "Flask: …", "my Flask app", "Flask 2.3"."""

    preposed: re.Pattern[str]
    headed: re.Pattern[str]
    determined: re.Pattern[str]
    follows: re.Pattern[str]
    leads: re.Pattern[str]


@lru_cache(maxsize=16)
def named(name: str) -> _Named:
    """Prepare the patterns of a product; `name` is the pattern of its names."""
    patterns = (
        rf"(?<!\s)\s*+\b(?:in|with|using|for|of|on|within)\s++(?:{name})(?!\s+[\w-])",
        rf"^\s*+[\[(]?(?:{name})[\])]?\s*+[:,-]\s*+",
        rf"\b(?P<det>my|a|an|the|our|your|in|with)\s++(?:{name})\s++(?=[a-z])",
        rf"^[\])]?\s*+(?:(?:version|release|docs)\b|(?:{name}))?",
        rf"\b(?:in|on|with|using|for|of|under|from|to|at|within|about|since)\s++(?:the\s++|our\s++)?(?:{name})?"
        rf"{_JOINED}",
    )
    return _Named(*(re.compile(pattern, re.IGNORECASE) for pattern in patterns))


def without(text: str, found: Sequence[Mention]) -> str:
    """Cut mentions of releases out, with the preposition before them."""
    kept: list[str] = []
    last = 0
    for mention in sorted(found, key=lambda m: m.start):
        from_ = max(last, mention.start - _LONGEST_LEAD)
        lead = _PREPOSED.search(text, from_, mention.start)
        kept.append(text[last : lead.start() if lead else mention.start])
        last = mention.end
    first, *others = [*kept, text[last:]]
    return _tidy(" ".join([first.rstrip(), *(part.strip() for part in others[:-1]), *others[-1:]]))


def without_product(text: str, product: Product) -> str:
    """Blank the product\'s names."""
    return spellings(product).product.sub(" ", text)


def _tidy(text: str) -> str:
    text = re.sub(r"\(\s*\)|\[\s*\]|[=~<>!]=(?=\s|$)", " ", text)
    text = re.sub(r"(?<!\s)\s+([?.!,;:])", r"\1", text)
    return re.sub(r"\s{2,}", " ", text).strip(" ,;:-–")


def filtered(text: str) -> str:
    """Return a text\'s words without stop words and common ones, as they were written."""
    kept = [w.strip("`*\"'()[]{},;:!?") for w in re.split(r"\s+", text)]
    kept = [w.rstrip(".") for w in kept]
    quiet = not text.isupper()  # GET is a word of its own unless everything is shouted
    return " ".join(
        w for w in kept if w and ((quiet and w.isupper() and len(w) > 1) or not says_nothing(w.lower()))
    )


def says_nothing(word: str) -> bool:
    """Return True if a lower-case word says nothing about the subject."""
    return word.replace("’", "'") in _EMPTY or re.split("['’]", word)[0] in STOP_WORDS


def topic(base: str, product: Product, found: Sequence[Mention] | None = None) -> str:
    """Return a question without greeting, release and product name, still a sentence.

    Memory compares this form. Releases that are compared stay, for they are what is asked; the
    product's name stays where the sentence needs it ("install Flask").
    """
    found = mentions(base, product) if found is None else found
    known = named(spellings(product).product.pattern)
    out = base
    if len(found) == 1:
        out = _without_one(out, found[0], product)
    begin = 0
    while greeting := _GREETING.match(out, begin):
        begin = greeting.end()
    out = out[begin:]
    out = _CLOSING.sub(lambda m: "" if out[: m.start()].endswith(("?", "!", ".")) else m["end"], out)
    if len(found) < 2:
        out = known.headed.sub("", known.preposed.sub("", out))
        out = known.determined.sub(r"\g<det> ", out)
    out = _tidy(out)
    if len(content(out)) < 1:
        return base
    return out if out[:1] == base[:1] or not base[:1].isupper() else out[:1].upper() + out[1:]


def _without_one(text: str, mention: Mention, product: Product) -> str:
    """Cut the one release a question names, with what belongs to it; a subject becomes the product's name."""
    known = named(spellings(product).product.pattern)
    before = text[: mention.start]
    after = known.follows.sub("", text[mention.end :])
    if uses := _USES.search(before):
        after = _AFTER_USE.sub("", after)
        return _tidy(f"{before[: uses.start()]} {after}")
    if re.search(r"\b(?:does|is|did|will|can|has|do|was|should|would|could)\s+$", before, re.IGNORECASE):
        return _tidy(f"{before}{product.name} {after.lstrip()}")
    preposed = known.leads.sub("", before)
    if preposed == before:
        preposed = _JOINT.sub("", before)
    return _tidy(f"{preposed.rstrip()} {after.lstrip()}")


def content(text: str) -> list[str]:
    """Return the words of a text that say something about its subject, in lower case."""
    return [w for w in words(text) if not says_nothing(w) and (w[0].isalnum() or w[0] in "_-@")]
