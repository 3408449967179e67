"""Which version of other software the product needs: asked in few words, stated in one sentence (*ours*)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from core.domain import Evidence
from core.retrieval.found import Found, merged
from core.retrieval.release_notes.notes import version_of
from core.text.words import whole_word, words
from core.vocabulary import SOFTWARE, in_english

LONGEST = 18
"""Words of a question for a requirement at most; a longer one tells a story."""
_LEAST = (
    r"min|minimum|minimal|oldest|lowest|earliest|newest|supported|supports?|required|requires?|needs?"
    r"|which|what"
)
_NEEDED = r"requirements?|required|needed|supported|support|compatibility|compatible|minimum|min"
_HOW = re.compile(r"\b(?:how|why|install\w*|uninstall\w*|error|upgrad\w+|migrat\w+)\b", re.IGNORECASE)
_VERBS = (
    r"support(?:s|ed|ing)?|requir(?:e|es|ed|ing)|needs?|works? (?:on|with)|runs? on|tested (?:on|with)"
    r"|compatible with|at least"
)
_UP = r"\+|,?\s(?:and|or|to)\s(?:\w+\s)?(?:newer|later|above|higher|up|greater|\d)"
_ENDS = (
    r"\W*$|\s+(?:versions?|releases?|do|does|is|are|for|needed|required|supported"
    r"|(?:that\s|which\s)?works?|(?:we|i|you|one)\s(?:can|could|may))\b"
)
_CAN_BE = re.compile(r"^\W*(?:can|could|may|does|do|did|is|are|will|would|am i able)\b", re.IGNORECASE)
"""How a question begins that "no" answers."""
_VERSIONED = r"(?<![\w.-])[A-Za-z][\w+#-]{0,30}\s?\d{1,3}(?:\.\d{1,3}){0,2}(?![\w.]*\d)"
_WHICH = r"\b(?:which|what)\b[^?!\n]{0,25}?\b(?:versions?|releases?)\b[^?!\n]{0,30}?"
_NO_MORE = (
    r"\b(?:wo?n['’]?t|does ?n['’]?t|do ?n['’]?t|can(?:no|['’]?)t|not|no longer)\s(?:\w+\s)?"
    r"(?:supports?|supported|works?|runs?|installs?)"
)
_LEAVES = r"(?:drop(?:s|ped|ping)?|remov(?:es?|ed|ing)|end(?:s|ed)?|stop(?:s|ped)?\ssupporting)"
_SINCE_WHEN = re.compile(
    rf"{_WHICH}\b(?:{_LEAVES}(?:\s(?:the\s)?support\s(?:for|of))?|{_NO_MORE}(?:\s(?:on|with|under|in))?"
    rf"|stop(?:s|ped)?\s(?:working|running)\s(?:on|with))\s{_VERSIONED}"
    rf"|\b(?:which|what)(?:['’]?s|\sis|\swas)?\s(?:the\s)?last\s(?:version|release)\b[^?!\n]{{0,20}}?"
    rf"\b(?:support(?:s|ed|ing)?|works?|runs?|ran|for|with)\s(?:(?:on|with|for)\s)?{_VERSIONED}"
    rf"|\bwhen\s(?:did|will|does)\s(?:\w+\s){{1,3}}?{_LEAVES}\s(?:(?:the\s)?support\s(?:for|of)\s)?{_VERSIONED}"
    rf"|\bwhen\s(?:was|is|will)\s(?:(?:the\s)?support\s(?:for|of)\s)?{_VERSIONED}(?:\ssupport)?\s(?:be\s)?{_LEAVES}\b"
    rf"|\buntil\s(?:which|what)\s(?:version|release)\s(?:was|is)\s{_VERSIONED}\s(?:was\s|is\s)?supported\b",
    re.IGNORECASE,
)
"""How a question asks which version was the first without, or the last with, a version of other software."""
_NUMBERED = re.compile(r"(?<![\w.-])([A-Za-z][\w+#-]{0,30})\s?(\d{1,3}(?:\.\d{1,3}){0,2})(?![\w.]*\d)")
_OF_ITS_OWN = (
    r"\s(?:workarounds?|compat\w*|code|classifiers?|shims?|wheels?|images?|builds?|jobs?|tests?)\b"
    r"|\s(?:from|in|on)\s(?:the\s)?(?:CI|tests?|matrix|tox)\b"
)
"""What is dropped instead of the software whose name stands before it."""
_DROP = r"drop(?:s|ped|ping)?"
_FINE = r"(?:ok|okay|fine|enough|supported|too\sold)"
_STUCK = r"(?:stuck|still|only|have|has|got|running)"
_GO = (
    r"(?:go|use|take|install|move|update|upgrade|switch|run)(?:\s(?:up\s)?(?:to|with|for|on))?"
    r"\s(?:it|v?\d[\d.]*|(?:the\s)?(?:newest|latest|current|newer)(?:\s(?:one|version|release))?)"
)
"""How somebody tells what they have, and asks whether it will do."""
_CAN_GO = re.compile(rf"\b{_STUCK}\b[^?!\n]{{0,80}}?\bcan\s(?:we|i)\s(?:\w+\s)?{_GO}\b", re.IGNORECASE)
_ENOUGH = r"(?:still\s|also\s|officially\s)?(?:supported|compatible|ok|enough|works?)"


def required(text: str, own: Iterable[str] = ()) -> str:
    """Return the software of which a question asks the version that is needed; "" where it asks otherwise.

    `own` are the names of the product, of which no version is needed.
    """
    if (_HOW.search(text) and not asks_to_go(text)) or len(text.split()) > LONGEST:
        return ""
    mine = {name.lower() for name in own}
    for word in words(text):
        name = word.rstrip("0123456789.")
        if name in SOFTWARE and name not in mine and _asked(name).search(text):
            return str(SOFTWARE[name])
    return ""


def asks_to_go(text: str) -> bool:
    """Return True if somebody asks whether they can go to a release with what they have."""
    return _CAN_GO.search(text) is not None


@lru_cache(maxsize=256)
def _asked(name: str) -> re.Pattern[str]:
    own = re.escape(name)
    return re.compile(
        rf"\b(?:{_LEAST})\b(?:\s+\w+){{0,3}}?\s+{own}(?:\s*\d[\d.]*)?(?:,?\s(?:and|or|&)\s\w+)?(?={_ENDS})"
        rf"|\b{own}\s+(?:versions?\s+)?(?:\w+\s+)?(?:{_NEEDED})\b"
        rf"|\b{own}\s*\d[\d.]*\s+{_ENOUGH}\b"
        rf"|\b(?:works?|runs?|supports?|supported|compatible)(?:\s+(?:on|with|under|in|by|for))?\s+{own}\s*\d"
        rf"|\b{own}\s?\d[\d.]*,?\s(?:is|will)\s(?:that|this|it)\s(?:be\s|still\s){{0,2}}{_FINE}\b"
        rf"|\b{_STUCK}\s(?:\w+\s){{0,2}}?{own}\s?\d[^?!\n]{{0,60}}?\bcan\s(?:we|i)\s(?:\w+\s)?{_GO}\b",
        re.IGNORECASE,
    )


@lru_cache(maxsize=256)
def _stated(name: str) -> re.Pattern[str]:
    """Return what finds a statement on the versions of a software that are needed."""
    own = rf"(?<!\w){re.escape(name)}(?:\s(?:as\sof\s|from\s)?versions?)?"
    return re.compile(
        rf"\b(?:{_VERBS})(?:\s[\w:*`]+){{0,4}}?\s[*`]*{own}(?!\d\b(?!\.\d))[*`]*\s?(?:[<>=≥~]=?\s?)?[*`]{{0,2}}\d"
        rf"|{own}[*`]*(?:\s\d)?\s?\(?(?:[>≥]=?\s?\d|\d[\d.]*(?:{_UP}))"
        rf"|{own}\s\d[\d.]*\s(?:is|are)\s(?:the\s)?(?:required|supported|needed|lowest|minimum)",
        re.IGNORECASE,
    )


def states(name: str, text: str) -> bool:
    """Return True if a text states which versions of a software are needed."""
    return _stated(name).search(text) is not None


@lru_cache(maxsize=256)
def _left(name: str) -> re.Pattern[str]:
    """Return what finds a line that tells from which version of a software on the product runs."""
    own = rf"(?<!\w){re.escape(name)}"
    return re.compile(
        rf"\b(?:{_DROP}|remov(?:e|es|ed|ing))(?:\s\w+){{0,2}}?\ssupport\b[^\n]{{0,40}}?{own}[^\n]{{0,12}}?\d"
        rf"|\b{_DROP}\s{own}\s\d|{own}[^\n]{{0,30}}\d[^\n]{{0,20}}no longer supported"
        rf"|\b(?:requir(?:e|es|ed|ing)|minimum)\b[^\n]{{0,80}}?{own}[^\n]{{0,12}}?\d",
        re.IGNORECASE,
    )


@lru_cache(maxsize=256)
def _headed(name: str) -> re.Pattern[str]:
    """Return what finds the heading of a section on what is needed."""
    return re.compile(
        rf"require|prerequisite|dependenc|compatib|install|supported|{re.escape(name)} versions?\b|lowest",
        re.IGNORECASE,
    )


def dropped(name: str, page: str) -> list[str]:
    """Return the lines of release notes that tell from which version of a software on the product runs."""
    known = _left(name)
    return [line.strip() for line in page.split("\n") if known.search(line)]


def used(text: str, own: Iterable[str] = ()) -> tuple[str, str]:
    """Return the software and its version of which a question asks whether it can be used; "" for others.

    Or until when it could be: "which version dropped Python 3.7?".
    """
    text = in_english(text)
    if not (_CAN_BE.match(text) or asks_since_when(text)) or len(text.split()) > LONGEST:
        return "", ""
    mine = {name.lower() for name in own}
    for match in _NUMBERED.finditer(text):
        if (name := match[1].lower()) in SOFTWARE and name not in mine:
            return match[1], match[2]
    return "", ""


def asks_since_when(text: str) -> bool:
    """Return True if a question asks with which version something else can be used no more."""
    text = in_english(text)
    return _SINCE_WHEN.search(text) is not None and not _CAN_BE.match(text)


def spelled(name: str) -> tuple[str, ...]:
    """Return how notes may spell a software that is asked about by a name."""
    return tuple(dict.fromkeys((name, str(SOFTWARE.get(name.lower(), name)))))


def drops(name: str, version: str) -> re.Pattern[str]:
    """Return what finds a line that tells that exactly this version of a software is supported no more."""
    before = r"(?:\d[\d.]*(?:,\sand|,|\sand|\sor|/)\s?){0,6}"
    names = "|".join(map(re.escape, spelled(name)))
    own = rf"(?:{names})\s(?:versions?\s)?{before}{re.escape(version)}"
    one = rf"(?<!\w){own}(?![\w-])(?!\.\d)(?!\s(?:and|or)\s(?:newer|later|above))(?!{_OF_ITS_OWN})"
    return re.compile(
        rf"\b(?:{_DROP}|remov(?:e|es|ed))\s(?:(?:the\s)?support\s(?:for|of)\s)?{one}"
        rf"|{one}\s(?:is|are)\sno\slonger\ssupported",
        re.IGNORECASE,
    )


def named_in(line: str, name: str) -> str:
    """Return how a line spells a software that is asked about by a name: "py" is its "Python"."""
    for one in spelled(name):
        if found := whole_word(one).search(line):
            return found[0]
    return name


def stating(name: str, lists: Sequence[Found]) -> tuple[Found | None, Found | None]:
    """Return the pages that state which versions of a software are needed: those headed so, and any.

    None where none does. Release notes tell what was needed once, so they are none of them.
    """
    known, above = _stated(name), _headed(name)
    joined = merged(lists)
    pages = [one for one in joined.evidence if not version_of(f"{one.chunk.title} > {one.chunk.heading}")]
    stated = [one for one in pages if known.search(one.chunk.page)]
    headed = [one for one in stated if above.search(f"{one.chunk.title} > {one.chunk.heading}")]
    return _only(joined, headed), _only(joined, stated)


def _only(found: Found, pages: Sequence[Evidence]) -> Found | None:
    evidence = tuple(replace(one, number=n) for n, one in enumerate(pages, start=1))
    return replace(found, evidence=evidence) if pages else None
