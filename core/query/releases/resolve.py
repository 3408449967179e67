"""Find the release that a question is about (QAMR; by rule).

First that applies: given by the caller, named in the question, named earlier in the thread, the
channel's own, the latest.
"""

from __future__ import annotations

import re
from typing import Literal

from core.domain import Product, Question, Resolution
from core.query.releases.mentions import Mention, mentions
from core.query.releases.spellings import NUMBER, plain, spellings

Origin = Literal["given", "question", "thread", "channel", "latest"]


def lookup(spelled: str, product: Product) -> str:
    """Return the name of the release that a spelling stands for, or "" where there is none."""
    text = spelled.strip()
    if not product.releases or product.release(text):
        return text if product.releases else ""
    known = spellings(product)
    text = known.product.sub("", known.glued.sub("", text)).strip(" :-@=~><")
    if plain(text) in known.literals:
        return known.literals[plain(text)]
    if text.lower() in known.words:
        return known.words[text.lower()]
    if match := NUMBER.fullmatch(text):
        return known.numbered(match["number"])
    if match := known.relative.fullmatch(text):
        return known.relation(match[0], product.latest.name, product.latest.name)
    return ""


def resolve(question: Question, product: Product, default_release: str = "") -> Resolution:
    """Return the release a question is about, every release it names, and what it names in vain.

    `default_release` is the channel's. The release is always a known one (empty only where the
    product has none); a caller refuses to answer where `unknown` is not empty. Of several releases
    it is the one the asker uses, else the newest.
    """
    if not product.releases:
        return Resolution("", "latest")
    fallback, origin = _fallback(question, product, default_release)
    found = mentions(question.text, product, fallback)
    named, unknown = _named(found, product)
    spans = tuple((m.start, m.end) for m in found)
    if question.release:
        given = lookup(question.release, product)
        missing = () if given else (question.release,)
        return Resolution(given or fallback, "given", named, missing, spans, len(named) > 1)
    comparison = len(named) + len(unknown) > 1
    if not named:
        return Resolution(fallback, origin, (), unknown, spans, comparison)
    return Resolution(_chosen(found, named, product), "question", named, unknown, spans, comparison)


def _named(found: tuple[Mention, ...], product: Product) -> tuple[tuple[str, ...], tuple[str, ...]]:
    meant = [m for m in found if not m.denied] or list(found)
    named = list(dict.fromkeys(m.release for m in meant if m.release))
    unknown = tuple(dict.fromkeys(re.sub(r"^\w+\s+(?=\d)", "", m.spelled) for m in meant if not m.release))
    if len(named) == 1 and not unknown:
        # an open range ends at the latest release, or begins before the one it excludes
        bound = next((m.bound for m in meant if m.bound), "")
        other = {"from": product.latest.name, "until": spellings(product).neighbour(named[0], -1)}.get(
            bound, ""
        )
        if other and other != named[0]:
            named.append(other)
    return tuple(named), unknown


def _chosen(found: tuple[Mention, ...], named: tuple[str, ...], product: Product) -> str:
    own = next((m.release for m in found if m.own and m.release in named), "")
    return own or spellings(product).newest(set(named))


def _fallback(question: Question, product: Product, default_release: str) -> tuple[str, Origin]:
    for turn in reversed(question.history):
        if turn.release and (release := lookup(turn.release, product)):
            return release, "thread"
        if turn.role == "user":
            found = mentions(turn.text, product)
            named, _ = _named(found, product)
            if named:
                return _chosen(found, named, product), "thread"
    if default_release and (release := lookup(default_release, product)):
        return release, "channel"
    return product.latest.name, "latest"
