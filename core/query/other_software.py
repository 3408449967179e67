"""Software beside the product that a question names: what its answer has to speak of (*ours*)."""

from __future__ import annotations

import re

from core.domain import Product
from core.text.words import ruled, words
from core.vocabulary import FORMATS, SOFTWARE

_PACKAGE = re.compile(r"\.(?:py|js|rs)$")
_IN_PASSING = frozenset(
    {"python", "asyncio", "ssl", "nodejs", "javascript", "curl", "wget", "postman"}
    | {"git", "pip", "chrome", "firefox", "safari", "pycharm"}
)
"""Languages with what runs them, modules, and tools that many have, which a question mentions in passing."""
_WHERE = re.compile(
    r"\b(?:on|behind|inside)\s(?:the\s|an?\s|our\s|my\s)?(?:aws|azure|gcp|heroku)\b"
    r"|\bfrom\s(?:the|an?|our|my)\s(?:aws|azure|gcp|heroku)\b",
    re.IGNORECASE,
)
"""Where something runs: "behind the aws alb"."""
ASIDE = re.compile(r"(?<!\S)\((?P<said>[^()]{1,120}+)\)")
"""What is only said beside it: "print a literal brace (vue on the same page)"."""


def other_software(text: str, product: Product) -> tuple[str, ...]:
    """Return the other software that a question names, in lower case, each with its canonical spelling.

    `flask-login` and `pytest-timeout` are software of their own, whatever they are made for. The language
    that a product is written in is on every page, so Python and Node.js are none; nor is where it runs, with
    what somebody tried it, or what is only said in brackets.
    """
    own = {name.lower() for name in (product.name, *product.aliases)}
    found: list[str] = []
    for word in words(ruled(ASIDE.sub(" ", _WHERE.sub(" ", text)))):
        known = SOFTWARE.get(_PACKAGE.sub("", word), "")
        is_other = (
            known and not own & {word, known} and not FORMATS & {word, known} and known not in _IN_PASSING
        )
        if is_other or (word not in own and is_made_for(word, own)):
            found.append(known or word)
    return tuple(dict.fromkeys(found))


def is_made_for(word: str, own: set[str]) -> bool:
    """Return True for the name of an extension: `flask-login` for Flask."""
    return any(word.startswith(f"{name}-") or word.endswith(f"-{name}") for name in own)


def speaks_of(text: str, names: tuple[str, ...]) -> bool:
    """Return True if a text names any of these, in any spelling that is known."""
    found = {_PACKAGE.sub("", word) for word in words(text)}
    return any(name in found or any(SOFTWARE.get(word) == name for word in found) for name in names)
