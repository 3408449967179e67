"""Find the release that a question is about, and tell one about what a release brings (QAMR; by rule).

First that applies: given by the caller, named in the question, named earlier in the thread, the
channel's own, the one that the asker uses, the latest.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import Literal

from core.domain import Product, Question, Resolution
from core.query.releases.mentions import Mention, mentions
from core.query.releases.spellings import NUMBER, plain, spellings
from core.text.version_order import version_key

_COMPARES = re.compile(
    r"\b(?:differ\w*|compar\w+|versus|vs|same|alike|both|either|neither|unlike|faster|slower|better"
    r"|(?:any|what|which|list|all)\s+(?:\w+\s+){0,3}?(?:is\s+|are\s+|was\s+|were\s+|has\s+|have\s+)?"
    r"(?:been\s+)?(?:chang\w+|new|newly|added|remov\w+|gone|dropped|deprecat\w+|break|breaks|broke"
    r"|incompatib\w+)"
    r"|new\s+since|incompatibilit\w+|between|have\s+to\s+change(?!\s+(?:those|these|them|that|this|it)\b)|must\s+(?:i|we)\s+change|that\s+\w+\s+cannot"
    r"|behaves?\s+like|migration|upgrad\w+\s+(?:steps|guide))\b",
    re.IGNORECASE,
)
"""What asks for the difference of releases."""
_SYMPTOM = re.compile(
    r"\b(?:no longer|any ?more|stopped|broke|broken|fail(?:s|ed|ing|ure)?|errors?|exceptions?|raises?"
    r"|crash\w*|ignored|gone|missing|returns?|says|complains?|is down|i get|we get|i see|we see"
    r"|(?:does|do|is|are|did|can|could|was|were)(?:n['’]?t|\s+not)|cannot)\b",
    re.IGNORECASE,
)
_MOVED = re.compile(
    r"\b(?:went|moved|upgraded|updated|switched|migrated|jumped|bumped|ported|came|changed|rolled|downgraded)\b",
    re.IGNORECASE,
)
_MOVES = re.compile(
    r"\b(?:going|moving|upgrad(?:e|ing)|updat(?:e|ing)|switch(?:ing)?|migrat(?:e|ing|ion)|jump(?:ing)?|bump(?:ing)?"
    r"|downgrad(?:e|ing)|port(?:ing)?)\b",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"\b(?:after|since|when|while|upon)\s+(?:\w+\s+){0,2}(?:upgrad|updat|mov|switch|migrat|jump|bump|go)\w*\s+from\s+$",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"\b(?:before|prior\s+to)\s+(?:\w+\s+)?$", re.IGNORECASE)
_LEFT = re.compile(
    r"\b(?:(?:upgrad|updat|mov|switch|migrat|jump|bump|port|chang|com|cam|go|went)(?:e|ed|es|ing)?\s+(?:\w+\s+){0,3}?from"
    r"|(?:since|after|when|now\s+that)\s+(?:we|i)\s+(?:left|dropped|abandoned))\s+(?:version\s+|v)?$",
    re.IGNORECASE,
)
"""What stands before a release that somebody moves on from, wherever to."""
_LIKE = re.compile(
    r"\b(?:(?<!something )(?<!anything )like|as|the\s+way)\s+(?:(?:it|that|this|they)\s+)?"
    r"(?:(?:was|is|did|were|worked)\s+)?(?:(?:back\s+)?(?:in|on|with)\s+)?$",
    re.IGNORECASE,
)
"""What stands before a release that something is likened to: "still 1, like in 2.0?"."""
_TO = re.compile(
    r"\s*(?:(?:back\s+|up\s+|over\s+)?to\s|(?:we|i)\s+\w+\s+to\s|[-=]{1,2}>|→)\s*(?:the\s+)?"
    r"(?:(?:new|newest|current|latest)\s+)?(?:version\s+|release\s+|v\s*|==\s*)?",
    re.IGNORECASE,
)
_WORKED = re.compile(
    r"\b(?:worked|used\s+to|there\s+(?:was|were)"
    r"|(?:was|were)\s+(?:\w+\s+)?(?:fine|ok|okay|good|possible|enough)"
    r"|sufficed|did\s+(?:it|so|the\s+(?:job|same|trick))|ran|had|(?:i|we)\s+(?:used|needed)"
    r"|(?:did(?:n['’]?t|\s+not)|never)\s+(?:show|have|raise|fail|complain|do|need|care|mind|bother)(?:ed|d)?)\b",
    re.IGNORECASE,
)
"""What tells of a release in which all was well, so that it is another one that is asked about."""
_CLAUSE = re.compile(
    r"[.;!?:](?=\s|$)|,\s|\n|\s[-–—]+\s|\s(?:but|so|yet|while|whereas|although|though"
    r"|(?<!\bis\s)(?<!\bwas\s)(?<!\bdoes\s)(?<!\bdid\s)(?<!\bhas\s)(?<!\bcan\s)(?<!\bwill\s)that)\s",
    re.IGNORECASE,
)
"""Where a clause ends; "is that gone" is one."""
_JOINT = re.compile(r"\b(?:and|then|now|after)\b", re.IGNORECASE)
_BOUND = re.compile(r"(?:[<>~!]=?|[<>])\s?$")
"""Stands before a version that is a limit and not the one in use: "has requirement Flask>=0.12"."""
_LISTED = re.compile(
    r"\s*(?:,\s*)?(?P<last>(?:and|or)\s+)?(?:in\s+)?(?:v|version\s+|release\s+)?", re.IGNORECASE
)
"""What stands between two releases of a list, the last of which has its "and"."""
_ASKS = re.compile(
    r"\W*(?:(?:and|but|or|so|now)\s+)?(?:how|what|why|which|where|when|who|is|are|do|does|did|can|could|should"
    r"|would|will|has|have)\b",
    re.IGNORECASE,
)

Origin = Literal["given", "question", "thread", "channel", "person", "latest"]


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


def resolve(
    question: Question, product: Product, default_release: str = "", own_release: str = ""
) -> Resolution:
    """Return the release a question is about, every release it names, and what it names in vain.

    `default_release` is the channel's, `own_release` the asker's. The release is always a known one (empty
    only where the product has none); a caller refuses to answer where `unknown` is not empty. Of several
    releases it is the one the asker uses, else the newest.
    """
    if not product.releases:
        return Resolution("", "latest")
    fallback, origin = _fallback(question, product, default_release, own_release)
    found = tuple(
        m
        for m in mentions(question.text, product, fallback)
        if m.release or not _BOUND.search(question.text[max(0, m.start - 4) : m.start])
    )
    spans = tuple((m.start, m.end) for m in found)
    named, unknown = _named(
        _meant(question.text, found, product), product, bool(_COMPARES.search(question.text))
    )
    if question.release:
        given = lookup(question.release, product)
        missing = () if given else (question.release,)
        return Resolution(given or fallback, "given", named, missing, spans, len(named) > 1)
    if named and unknown and not _COMPARES.search(question.text):
        asked = [m for m in found if _ASKS.match(_clause(question.text, m))]
        if any(m.release in named for m in asked) and all(m.release for m in asked):
            unknown = ()  # it is only told of: "the book uses 0.12, how do I do it in 3.1?"
    comparison = len(named) + len(unknown) > 1
    if not named:
        return Resolution(fallback, origin, (), unknown, spans, comparison)
    return Resolution(_chosen(found, named, product), "question", named, unknown, spans, comparison)


def _meant(text: str, found: tuple[Mention, ...], product: Product) -> tuple[Mention, ...]:
    """Leave out the releases that a question only tells of; all are meant where it asks for a difference."""
    if len({m.release for m in found}) > 1 and _COMPARES.search(text):
        return found
    text = _in_one_clause(text, found)
    found = tuple(replace(m, bound="") if m.bound == "until" and _is_told(text, m) else m for m in found)
    told = [
        m
        for m in found
        if _is_left(text, m, found, product) or _is_past(text, m) or _is_likened(text, m, found, product)
    ]
    rest = tuple(m for m in found if m not in told)
    if not rest and len({m.release for m in found}) > 1:
        rest = _now(text, found)
    if len({m.release for m in rest}) < 2:
        return rest
    asked = tuple(m for m in rest if _ASKS.match(_clause(text, m)))
    if len({m.release for m in asked}) == 1:
        return asked
    return tuple(m for m in rest if m.own) or rest


def _now(text: str, found: tuple[Mention, ...]) -> tuple[Mention, ...]:
    """Return the releases of one clause that nothing is told well of: "worked in 2.0 and fails in 2.3"."""
    begins = [0]
    for one, other in pairwise(found):
        joint = _JOINT.search(text, one.end, other.start)
        begins.append(joint.start() if joint else one.end)
    ends = [*begins[1:], len(text)]
    kept = [
        m
        for m, begin, end in zip(found, begins, ends, strict=True)
        if not _WORKED.search(_clause(text, m)) or not _WORKED.search(text, begin, end)
    ]
    return tuple(kept) or found[-1:]


def _in_one_clause(text: str, found: tuple[Mention, ...]) -> str:
    """Blank the commas in a list of releases ("2.0, 2.3 and 3.1"), which end no clause."""
    is_list = False
    for one, other in reversed(tuple(pairwise(found))):
        between = text[one.end : other.start]
        listed = _LISTED.fullmatch(between)
        is_list = bool(listed and (listed["last"] or is_list))
        if is_list:
            text = f"{text[: one.end]}{between.replace(',', ' ')}{text[other.start :]}"
    return text


def _is_left(text: str, mention: Mention, found: tuple[Mention, ...], product: Product) -> bool:
    """Return True if somebody moved on from a release: "went from 2.0 to 3.1 and …", "updating from 2.0"."""
    following = next((m for m in found if m.start >= mention.end), None)
    if following is None and _LEFT.search(_without_product(text[: mention.start], product)):
        return True
    if following is None or not _TO.fullmatch(_without_product(text[mention.end : following.start], product)):
        return False
    before = text[: mention.start]
    is_told = _MOVED.search(text) or _AFTER.search(before)
    # of a release without pages nothing can be told: it is asked what holds in the other one
    is_symptom = not mention.release or _SYMPTOM.search(text)
    return bool(is_told or (_MOVES.search(before) and is_symptom))


def _is_past(text: str, mention: Mention) -> bool:
    """Return True if all was well in a release: "in 2.0 it worked"; "before 3.1 it worked" tells of 3.1."""
    return not _BEFORE.search(text, 0, mention.start) and _is_told(text, mention)


def _is_likened(text: str, mention: Mention, found: tuple[Mention, ...], product: Product) -> bool:
    """Return True if a release is only what something is likened to: "like npm 6 did", "as in 2.0".

    Not where that is the question: "is that the same as in 2.0?".
    """
    if len(found) != 1 or _COMPARES.search(text):
        return False
    return bool(_LIKE.search(_without_product(text[: mention.start], product)))


def _without_product(text: str, product: Product) -> str:
    return spellings(product).product.sub("", text)


def _is_told(text: str, mention: Mention) -> bool:
    """Return True if somebody tells how it was in a release."""
    clause = _clause(text, mention)
    return bool(_WORKED.search(clause)) and not _ASKS.match(clause)


def _clause(text: str, mention: Mention) -> str:
    """Return the part of a sentence that a release stands in."""
    begin = max((m.end() for m in _CLAUSE.finditer(text, 0, mention.start)), default=0)
    end = next((m.start() for m in _CLAUSE.finditer(text, mention.end)), len(text))
    return text[begin:end]


def _named(
    found: tuple[Mention, ...], product: Product, compares: bool = True
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    meant = [m for m in found if not m.denied] or list(found)
    named = list(dict.fromkeys(m.release for m in meant if m.release))
    missing = [m for m in meant if not m.release and (compares or not _is_bygone(m, product))]
    unknown = tuple(dict.fromkeys(re.sub(r"^\w+\s+(?=\d)", "", m.spelled) for m in missing))
    if len(named) == 1 and not unknown:
        # an open range ends at the latest release, or begins before the one it excludes
        bound = next((m.bound for m in meant if m.bound and (compares or not m.moment)), "")
        other = {"from": product.latest.name, "until": spellings(product).neighbour(named[0], -1)}.get(
            bound, ""
        )
        if other and other != named[0]:
            named.append(other)
    return tuple(named), unknown


def _is_bygone(mention: Mention, product: Product) -> bool:
    """Return True if something is so since a release that is not here and is older than the latest.

    Who says so uses a later one.
    """
    number = NUMBER.search(mention.spelled)
    return mention.moment and bool(
        number and version_key(number["number"]) < version_key(product.latest.name)
    )


def _chosen(found: tuple[Mention, ...], named: tuple[str, ...], product: Product) -> str:
    own = next((m.release for m in found if m.own and m.release in named), "")
    return own or spellings(product).newest(set(named))


def _fallback(
    question: Question, product: Product, default_release: str, own_release: str
) -> tuple[str, Origin]:
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
    if own_release and (release := lookup(own_release, product)):
        return release, "person"
    return product.latest.name, "latest"


def for_release(text: str, product: Product, release: str) -> str:
    """Return a question with every release that it names, known or not, replaced by another one."""
    question = Question(text)
    resolution, text = resolve(question, product), question.text
    for start, end in sorted(resolution.spans, reverse=True):
        text = text[:start] + release + text[end:]
    return text
