"""Derive the forms of a query: without stop words, without the release, as memory compares it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.domain import Product
from core.query.mentions import Mention, mentions
from core.query.spellings import spellings
from core.text import COMMON_WORDS, STOP_WORDS, words

_EMPTY = STOP_WORDS | COMMON_WORDS
_GREETING = re.compile(
    r"^\s*(?:(?:hi|hello|hey|hiya|howdy|greetings|good (?:morning|afternoon|evening|day)"
    r"|dear)\b(?:\s+(?:all|there|everyone"
    r"|everybody|folks|guys|team|friends|y'all|threadlore|bot))?|(?:quick|short|dumb|stupid|newbie|noob"
    r"|basic)\s+question"
    r"|(?:sorry|thanks|thank you|please)(?=\s*[,.!]))[\s,.!:;–-]*",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"[\s,.;!]*\b(?:thanks|thank you|thx|ty|cheers|please|pls|plz|tia|thanks in advance|many thanks"
    r"|any (?:help|idea|ideas|hints?)"
    r"(?:\s+(?:is|would be)?\s*(?:appreciated|welcome))?)(?:\s+(?:a lot|so much|in advance|all"
    r"|everyone))?\s*(?P<end>[?.!:)]*)\s*$",
    re.IGNORECASE,
)
_USES = re.compile(
    r"\b(?:(?:i|we)(?:['’]?m|['’]re|\s+am|\s+are)?|i['’]m|we['’]re)\s+(?:(?:still|currently|now|all|on"
    r"|use|using|run|running|have"
    r"|stuck|with|at|version|release)\s+)*$",
    re.IGNORECASE,
)
_PREPOSED = r"(?:\b(?:in|on|with|using|for|of|under|from|to|at|within|about)\s+)?(?:the\s+|our\s+)?"


def without(text: str, found: Sequence[Mention]) -> str:
    """Cut mentions of releases out, with the preposition before them."""
    out = text
    for mention in sorted(found, key=lambda m: m.start, reverse=True):
        before = re.sub(
            _PREPOSED + r"(?:version\s+|release\s+|v)?$", "", out[: mention.start], flags=re.IGNORECASE
        )
        out = before.rstrip() + " " + out[mention.end :].lstrip()
    return _tidy(out)


def without_product(text: str, product: Product) -> str:
    """Blank the product\'s names."""
    return spellings(product).product.sub(" ", text)


def _tidy(text: str) -> str:
    text = re.sub(r"\(\s*\)|\[\s*\]|[=~<>!]=(?=\s|$)", " ", text)
    text = re.sub(r"\s+([?.!,;:])", r"\1", text)
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
    """Tell whether a lower-case word says nothing about the subject."""
    return word.replace("’", "'") in _EMPTY or re.split("['’]", word)[0] in STOP_WORDS


def topic(base: str, product: Product, found: Sequence[Mention] | None = None) -> str:
    """Return a question without greeting, release and product name, still a sentence.

    Memory compares this form. Releases that are compared stay, for they are what is asked; the
    product's name stays where the sentence needs it ("install Flask").
    """
    found = mentions(base, product) if found is None else found
    name = spellings(product).product.pattern
    out = base
    if len(found) == 1:
        out = _without_one(out, found[0], product)
    out = _GREETING.sub("", out)
    while (shorter := _GREETING.sub("", out)) != out:
        out = shorter
    out = _CLOSING.sub(lambda m: "" if out[: m.start()].endswith(("?", "!", ".")) else m["end"], out)
    if len(found) < 2:
        out = re.sub(
            rf"\s*\b(?:in|with|using|for|of|on|within)\s+(?:{name})(?!\s+[\w-])", "", out, flags=re.IGNORECASE
        )
        out = re.sub(rf"^\s*[\[(]?(?:{name})[\])]?\s*[:,-]\s*", "", out, flags=re.IGNORECASE)
        out = re.sub(
            rf"\b(?P<det>my|a|an|the|our|your|in|with)\s+(?:{name})\s+(?=[a-z])", r"\g<det> ", out, flags=re.I
        )
    out = _tidy(out)
    if len(content(out)) < 1:
        return base
    return out if out[:1] == base[:1] or not base[:1].isupper() else out[:1].upper() + out[1:]


def _without_one(text: str, mention: Mention, product: Product) -> str:
    """Cut the one release a question names, with what belongs to it; a subject becomes the product's name."""
    name = spellings(product).product.pattern
    joint = r"[\s,(\[@=<>~:-]*(?:(?:version|release|is|docs)\s+)*$"
    before = text[: mention.start]
    after = re.sub(
        rf"^[\])]?\s*(?:(?:version|release|docs)\b|(?:{name}))?", "", text[mention.end :], flags=re.IGNORECASE
    )
    if uses := _USES.search(before):
        after = re.sub(r"^\s*(?:[,.;:!-]+|here\b)*\s*(?:(?:and|but|so)\b\s*)?", "", after)
        return _tidy(f"{before[: uses.start()]} {after}")
    if re.search(r"\b(?:does|is|did|will|can|has|do|was|should|would|could)\s+$", before, re.IGNORECASE):
        return _tidy(f"{before}{product.name} {after.lstrip()}")
    preposed = re.sub(
        rf"\b(?:in|on|with|using|for|of|under|from|to|at|within|about|since)\s+(?:the\s+"
        rf"|our\s+)?(?:{name})?{joint}",
        "",
        before,
        flags=re.I,
    )
    if preposed == before:
        preposed = re.sub(joint, "", before, flags=re.IGNORECASE)
    return _tidy(f"{preposed.rstrip()} {after.lstrip()}")


def content(text: str) -> list[str]:
    """Return the words of a text that say something about its subject, in lower case."""
    return [w for w in words(text) if not says_nothing(w) and (w[0].isalnum() or w[0] in "_-@")]
