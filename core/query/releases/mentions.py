"""Find where a text names releases of the product, and only of the product.

A version belongs to the product that stands before it: "Werkzeug 2.3" is none of ours, "Flask 2.3" is, and
"2.3" alone is when it stands where people put releases. Unknown versions need such a cue; known
ones are taken unless something else owns them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from core.domain import Product
from core.query.releases.spellings import LIMITS, NUMBER, SAID_AFTER, Spellings, in_english, plain, spellings
from core.query.releases.version_attribution import OF, Owner, foreign_after, measured, owner_of
from core.text.markup import FENCED
from core.text.words import ruled
from core.vocabulary import BEFORE_VERSIONS


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in a text that names a release; `release` is empty where there is no such release."""

    start: int
    end: int
    spelled: str
    release: str = ""
    own: bool = False
    """The asker says that they use it."""
    denied: bool = False
    """The asker says that it is not meant."""
    bound: Literal["", "from", "until"] = ""
    """It is one end of an open range: "since 2.3", "before 2.3"."""
    moment: bool = False
    """It is where something began: "raises since 2.3", "before 2.3 this worked"."""


_MASKED = re.compile(
    r"\b\d{4}[-/]\d{1,2}[-/]\d{1,2}\b|\b\d{1,2}[./]\d{1,2}[./](?:19|20)\d\d\b"  # dates
    r"|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\d)"  # addresses, and kinds of them and of UUIDs
    r"|\b(?:[iI][pP] ?[vV][46]|[uU][uU][iI][dD][sS]?(?: ?| \()[vV][1-8])\b"
    r"|\bv[46](?:(?: and | or |/|, ?)v[46])? (?:[iI][pP]s?|add?resses)\b"
    r"|\bhttps?://\S+|(?<![\w.+-])[\w.+-]{1,64}@[\w.-]+\.[a-z]+\b"  # links and mail
    r"|(?<![\w.])[~.]{0,2}/[\w.{}<>:-]+(?:/[\w.{}<>:-]*)*"  # paths
    r"|(?<!\w)[A-Za-z]:\\\S+|[$€£#]\s?\d[\d.]*"
)
_WIDE = {0xFF10 + digit: str(digit) for digit in range(10)} | {0xFF0E: "."}
_UNSPACED = re.compile(
    r"([\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]?)(?<![A-Za-z0-9_.])([vV]?\d{1,4}(?:\.\d{1,4}){1,3})"
    r"(?![A-Za-z0-9_.]|[秒天日年月倍万億亿元円块個个次兆字毫초분시간배]|分(?![支岐])|[时時](?!点))([\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]?)"
)
"""A version between letters of Chinese, Japanese or Korean; what follows a measure is none."""
_FILE = re.compile(r"(?<![\w.-])(?>[\w.-]*?[A-Za-z][-_.]v?\d)[\w.-]*\.[A-Za-z]\w{1,5}\b")
"""A file whose name carries a number: `report-2.3.pdf`."""
_GENITIVE = re.compile(r"(?<=\d)['’]s\b")
"""What follows a number that has something: `3.1's router`."""
_HAS = "\0\0"
_SEGMENT = re.compile(r"(?<=/)v?\d+(?:\.(?:\d+|x))*(?=/|$)", re.IGNORECASE)
_MOVE_BEFORE = re.compile(
    r"\b(?:upgrad|updat|migrat|mov|port|switch|bump|go|going|went|com|compar|downgrad|back|up|chang|roll"
    r"|jump)\w*"
    r"\b(?:\W+\w+){0,6}\W+(?:from|to)\W*$",
    re.IGNORECASE,
)
_FROM_ANOTHER = re.compile(r"\bfrom\s+v?\d[\d.x]{0,12}\s+to\s*$", re.IGNORECASE)
_RELEASE_NOUN = re.compile(
    rf"{SAID_AFTER}|\s+(?:release|version|docs|documentation|branch|series|line|lts|changelog)\b", re.I
)
_SEQUENCE = re.compile(
    r"(?:\s|,|/|\+|&|-++>?|=++>|→|–|—|\b(?:and|or|to|vs|versus|through|than|nor|with|against|in|for|v)\b\.?)++",
    re.I,
)
_PLACE = re.compile(r"\b(?:in|for|with|against)\b", re.IGNORECASE)
"""Where something is so, between an amount and a version."""
_OWN = re.compile(
    r"\b(?:i['’]?m|i am|we['’]?re|we are|i|we)\s+(?:(?:still|currently|now|all)\s+)*"
    r"(?:on|use|using|run|running|have|got|need|want|stuck (?:on|with)|pinned to)\s*"
    r"(?:(?:version|release)\s+)?$"
    r"|\b(?:ich|wir)\s+(?:bin|sind|habe|haben|(?:be)?nutzen?|verwenden?|brauchen?)\s+(?:(?:noch|immer|derzeit|aktuell)\s+)*"
    r"(?:(?:auf|bei|mit)\s+)?(?:version\s+)?$",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\bnot\s+(?:(?:in|for|on|with|about|the)\s+)*$"
    r"|\b(?:you\s+answered|you\s+told\s+me|(?:the|your)\s+answer\s+(?:is|was))\s+(?:(?:it|me|this|only)\s+)*"
    r"(?:for|about)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
"""It was answered for, or is not meant: "you answered for 3.1 but I need 2.0"."""
_FROM = re.compile(
    r"\b(?:since|after|newer than|later than|higher than|greater than)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_MOMENT = re.compile(r"\b(?:since|after|as of)\s+(?:the\s+)?@?$", re.IGNORECASE)
_UNTIL = re.compile(
    r"\b(?:before|prior to|older than|earlier than|lower than|less than|pre)[\s-]+(?:the\s+)?$", re.IGNORECASE
)
_ONWARDS = re.compile(
    r"\s+(?:and|or)\s+(?:later|newer|up|above|higher|onwards?)\b|\s+onwards?\b", re.IGNORECASE
)
_FROM_ON = (
    re.compile(r"\bfrom\s+(?:(?:version|release)\s+)?v?$", re.IGNORECASE),
    re.compile(r"\s{1,3}+on(?=[,.?]|$)"),
)
"""What stands before and after a release from which on something is so: "to run 6.3 on" says it of none."""
_NO_NOUN_NEXT = re.compile(
    r"\s*(?:$|[^\w\s(]|(?:and|or|to|vs|is|are|was|does|do|did|has|have|can|how|what|where|when|why|if|the"
    r"|a|for|on|in|my|our|your|it|this|they|there|says|fails|raises|gives|shows|throws|works|worked"
    r"|with|using|but|please|now|yet|then|i|we|still|that|which|docs|branch|line)\b)",
    re.IGNORECASE,
)
_PLURAL_NEXT = re.compile(r"\s+(?!(?:does|has|is|was|docs|vs|as|this|sessions)\b)[a-z]{3,}s\b", re.IGNORECASE)
_PAUSE = re.compile(r"[:;,–—-]\s*$")
"""What stands between a title and a number of things: "Flask: 2 ways"."""
_BEGINS_A_LINE = re.compile(
    r"^[^\S\n]{0,8}\d{1,2}[.)](?=\s)"
    r"|(?<=\n)\d{1,3}(?=[^\S\n]{1,3}(?!(?:does|has|is|was|docs|vs|as|this|sessions)\b)[a-z]{3,20}s\b)",
    re.MULTILINE,
)
"""A number of a list, and of things: no version of the product that the line above ends with."""
_EXTREME = re.compile(r"(?:the\s+)?(?:very\s+)?(?:first|oldest|earliest|last)\b", re.IGNORECASE)
_OF_SOME = re.compile(r"\s+(?:with|that|which|to|supporting|having|where)\b", re.IGNORECASE)
"""Makes it the first or last of some: "the first version that has async views" is not the oldest one."""
_SUBJECT = re.compile(r"\b(?:do|does|did|will|can)\s+$", re.IGNORECASE)
"""What stands before those who do something: "which Python do 2.0 and 2.3 need"."""
_WHICH = re.compile(r"\b(?:which|what)\s+(?:versions?\s+of\s+)?([\w.+#-]+)", re.IGNORECASE)


_MAJOR_BEFORE = re.compile(r"\b(?:in|on|since|before|until|under|from)\s+$", re.IGNORECASE)
_NO_NOUN_AFTER = re.compile(
    r"\s*(?:$|[.?!,;:](?:\s|$))|\s+(?:and|or|but|is|are|was|does|do|did|can|how|what|where|when|why|if|i|we|now|any\s?more"
    r"|still|already|it|there|says|fails|raises|works|please)\b",
    re.IGNORECASE,
)
_OF_RELEASES = re.compile(
    r"\bstill\b|\bany\s?more\b|\bdeprecat|\bremov(?:ed|al)\b|\bgone\b|\bdropped\b|\bsupport|\bavailable\b|\bexists?\b"
    r"|\bnew\b|\bnewly\b|\bchang(?:ed|es)\b|\bupgrad|\bbroke\b|\bbroken\b|\bworked\b|\bsince\b|\brenamed\b|\breplaced\b"
    r"|\bno longer\b",
    re.IGNORECASE,
)
"""What is asked of releases: "is `tmpdir` deprecated in 7", and not "is it split in 7"."""


def _is_major(text: str, start: int, end: int) -> bool:
    """Return True if a whole number stands where a release would, in a question about releases."""
    if not _NO_NOUN_AFTER.match(text, end):
        return False
    before = text[max(0, start - 60) : start]
    return bool(_OWN.search(before) or (_MAJOR_BEFORE.search(before) and _OF_RELEASES.search(text)))


def mentions(text: str, product: Product, base: str = "") -> tuple[Mention, ...]:
    """Return the places where a text names releases of the product, in order.

    `base` is the release from which "the previous one" counts; the latest where it is empty.
    """
    if not product.releases:
        return ()
    known = spellings(product)
    text = _set_apart(ruled(text))
    fences = [m.span() for m in FENCED.finditer(text)]
    visible = _MASKED.sub(lambda m: "\0" * len(m[0]), _GENITIVE.sub(_HAS, text))
    visible = _FILE.sub(lambda m: m[0] if known.called.search(m[0]) else "\0" * len(m[0]), visible)
    prose = FENCED.sub(lambda m: "\0" * len(m[0]), visible)
    prose = _BEGINS_A_LINE.sub(lambda m: " " * len(m[0]), prose)
    found, prose = _limited(prose, known)
    if known.literal:
        found += [
            _mention(prose, match.start(), match.end(), known.literals[plain(match[0])], known)
            for match in known.literal.finditer(prose)
        ]
    found += _numbers(prose, known, found)
    first = min(found, key=lambda m: m.start).release if found else ""
    for match in known.relatives(prose):
        of = OF.match(prose, match.end())
        if _OF_SOME.match(prose, match.end()) and _EXTREME.match(match[0]):
            continue
        if (of and not known.product.match(of[1])) or _overlaps(match.start(), match.end(), found):
            continue
        if release := known.relation(match[0], first or base or product.latest.name, product.latest.name):
            found.append(_mention(prose, match.start(), match.end(), release, known))
    if not found and fences:
        found += [m for m in _numbers(visible, known, [], ours_only=True) if m.release]
    if not found:
        found += _linked(text, known)
    return tuple(sorted(found, key=lambda m: m.start))


def _limited(prose: str, known: Spellings) -> tuple[list[Mention], str]:
    """Return what requirements with an upper limit mean (`Flask>=2.0,<3`), and the text without them."""
    found: list[Mention] = []
    for name in known.product.finditer(prose):
        limits = LIMITS.match(prose, name.end())
        if limits is None or not re.search("[<~]", limits[0]):
            continue
        start, end = limits.start("first"), limits.end()
        if release := known.limited(limits[0]):
            found.append(Mention(start, end, prose[start:end], release))
        prose = f"{prose[:start]}{re.sub('[0-9]', '_', prose[start:end])}{prose[end:]}"
    return found, prose


def _set_apart(text: str) -> str:
    """Put spaces beside a version in a script without spaces (在2.3中), and narrow digits for wide ones.

    The text keeps its length. What is counted or measured (2.3秒) is left as it is.
    """
    return _UNSPACED.sub(
        lambda m: f"{' ' * len(m[1])}{m[2]}{' ' * len(m[3])}", in_english(text.translate(_WIDE))
    )


def _mention(text: str, start: int, end: int, release: str, known: Spellings) -> Mention:
    before, after = known.product.sub("", text[max(0, start - 60) : start]), text[end : end + 30]
    bound: Literal["", "from", "until"] = ""
    from_on = _FROM_ON[0].search(before) and _FROM_ON[1].match(after)
    if _FROM.search(before) or _ONWARDS.match(after) or from_on or text[end - 1] == "+":
        bound = "from"
    elif _UNTIL.search(before):
        bound = "until"
    moment = bool(_MOMENT.search(before))
    own, denied = bool(_OWN.search(before)), bool(_DENIED.search(before))
    return Mention(start, end, text[start:end], release, own, denied, bound, moment)


def _overlaps(start: int, end: int, found: list[Mention]) -> bool:
    return any(start < m.end and m.start < end for m in found)


def _linked(text: str, known: Spellings) -> Iterator[Mention]:
    """Yield the releases that links to the product's own pages carry in their path."""
    for link in re.finditer(r"\bhttps?://[^\s)>\]]+", text):
        if not known.called.search(link[0]):
            continue
        for part in _SEGMENT.finditer(link[0]):
            if release := known.numbered(part[0].lower().strip("vx.").replace(".x", "")):
                yield Mention(link.start() + part.start(), link.start() + part.end(), part[0], release)


def _numbers(text: str, known: Spellings, taken: list[Mention], ours_only: bool = False) -> list[Mention]:
    found: list[Mention] = []
    previous: tuple[int, Owner] = (-1, "plain")
    which = _WHICH.search(text)
    choice = re.search(r"\d[\w.]{0,12}\s*(?:,|\bor\b|/)\s*v?\d", text)
    all_foreign = bool(
        choice
        and which
        and which[1].lower() in BEFORE_VERSIONS
        and not known.product.fullmatch(which[1])
        and not _SUBJECT.search(known.product.sub("", text[: choice.start()]))
    )
    foreign_majors = False
    for match in _candidates(text, known):
        start, end = match.start("prefix") if match["prefix"] else match.start("number"), match.end()
        if _overlaps(start, end, taken):
            continue
        owner, version_word = owner_of(text, start, known)
        between = text[previous[0] : start] if previous[0] >= 0 else ""
        is_apart = previous[1] == "amount" and _PLACE.search(between)  # "x = 0 in 5.2"
        if (
            owner in ("plain", "cue")
            and not (version_word or is_apart)
            and between
            and _SEQUENCE.fullmatch(between)
        ):
            owner = previous[1] if previous[1] != "plain" else owner
        if owner in ("plain", "cue") and (foreign_after(text, end, known) or measured(text, match)):
            owner = (
                "foreign" if owner == "plain" or version_word or foreign_after(text, end, known) else "amount"
            )
        if owner == "ours" and not version_word and "." not in match["number"] and measured(text, match):
            owner = "amount"  # "Black on 1 million lines"
        if owner == "amount" and text.startswith(_HAS, end):
            owner = "plain"
        prefixed = bool(match["prefix"])
        if owner in ("plain", "cue") and (all_foreign or (foreign_majors and "." not in match["number"])):
            owner = "foreign"
        foreign_majors |= owner == "foreign" and prefixed
        previous = (end, owner)
        if owner in ("foreign", "amount") or (ours_only and owner != "ours"):
            continue
        release = known.numbered(match["number"])
        strong = owner == "ours" or version_word or prefixed or bool(match["any"])
        if _accepted(text, match, release, owner, strong, known):
            found.append(_mention(text, start, end, release, known))
            previous = (end, "ours" if strong else owner)
    return found


def _candidates(text: str, known: Spellings) -> Iterator[re.Match[str]]:
    """Yield versions; where the product's name is glued to one (`flask2.3`), from the digits on."""
    glued = known.glued.sub(lambda m: m[0][:-1] + " " if m[0][-1:] == "-" else m[0], text)
    for match in known.glued.finditer(text):
        glued = glued[: match.end() - 1] + " " + glued[match.end() :]
    yield from NUMBER.finditer(glued)


def _accepted(
    text: str, match: re.Match[str], release: str, owner: Owner, strong: bool, known: Spellings
) -> bool:
    number, before = match["number"], text[max(0, match.start() - 160) : match.start()]
    if "." in number or match["any"]:
        if release:
            return True
        if owner == "cue" and re.search(r"\bto\W*$", before, re.IGNORECASE):
            strong |= bool(_MOVE_BEFORE.search(before))
        elif owner == "cue":
            strong = True
        alone = not re.search(r"\w", before + text[match.end() : match.end() + 160])
        return strong or alone or bool(_RELEASE_NOUN.match(text, match.end()))
    if strong:
        if release:
            counts = len(number) > 2 or _PAUSE.search(before)
            return not (owner == "ours" and counts and _PLURAL_NEXT.match(text, match.end()))
        return (len(number) < 3 and not _PLURAL_NEXT.match(text, match.end())) or bool(
            match["prefix"] and owner != "plain"
        )
    if owner == "cue" and number in known.majors and _is_major(text, match.start(), match.end()):
        return True
    moved = bool(_MOVE_BEFORE.search(before))
    is_end = moved and bool(_FROM_ANOTHER.search(before))
    if not release or owner != "cue" or not (is_end or _NO_NOUN_NEXT.match(text, match.end())):
        return False
    return known.whole or (known.major and moved)
