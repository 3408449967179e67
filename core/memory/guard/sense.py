"""Read out of a question what decides whether an answer fits it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from core.text.words import COMMON_WORDS, STOP_WORDS, identifiers, parts_of, quantities, stem
from core.vocabulary import NEGATIONS, NUMBER_WORDS, OPPOSITES, SOFTWARE, UNITS, words_of

_WORDS = words_of(__package__)

_PHRASES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement) for pattern, replacement in _WORDS["phrases"]
)
_NOT_NEGATED = re.compile(
    r"\bwhy\s+not\b|\b(?:whether|or)\s+not\b|\bif\s+not\b|\bnot\s+only\b|\bnot\s+sure\b|\bno\s+(?:idea"
    r"|clue|luck|matter|longer\s+than)\b"
    r"|\b(?:do|did|does)(?:n['’]?t|\s+not)\s+(?:know|understand|remember|see|find|get)\s+(?:how|where"
    r"|what|why|the\s+way|any|if)\b"
    r"|\b(?:can['’]?t|couldn['’]?t|cannot|could\s+not|can\s+not)\s+(?:figure|find\s+(?:out|how|a|any)|seem|work\s+out"
    r"|remember|think)\b|\bis\s+there\s+no\b"
    r"|(?<!\bwhy )\b(?:is|are|can|could|would|should|do|does)n['’]?t\s+(?:there|i|we|you|it|they)\b"
    r"(?=[^?\n]{0,500}\?)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z][\w+#'’-]*[\w+#]|[A-Za-z]|\d[\w.]*")
_FRAME = re.compile(
    r"^\W*(?:(?:hi|hello|hey|please|so|ok|and|i['’]?d like to know|can (?:you|anyone|someone) tell me"
    r"|does (?:any|some)(?:one|body) know)\b\W*)*"
    r"(?:how\s+(?:do|can|would|should|could|might|must|does|did)\s+(?:i|we|you|one|it)|how\s+to|how"
    r"|(?:what(?:['’]s|\s+is|\s+would be|\s+are)?|is\s+there|are\s+there)\s+(?:(?:a|an|the|any|some|best"
    r"|good|easy|easiest|simplest|proper|correct|right)\s+)*"
    r"ways?\s+(?:to|of|for)|is\s+it\s+possible\s+to|can\s+(?:i|we|you|one)|(?:i|we)\s+(?:want|need"
    r"|would\s+like|have)\s+to|i['’]d\s+like\s+to"
    r"|what\s+(?:must|should|can|do)\s+(?:i|we)\s+do\s+to|why\s+(?:is|are|do|does)|where\s+(?:is|are|do"
    r"|can)(?:\s+(?:i|we))?)\s+",
    re.IGNORECASE,
)
_OWNER = re.compile(r"(?<![\w+#.-])([\w+#.-]*[\w+#])\s+(?:(?:version|release|v)\.?\s*)?$", re.IGNORECASE)
_LONGEST_OWNER = 60
_UNOWNING = STOP_WORDS | COMMON_WORDS | frozenset(_WORDS["unowning"].split())
"""Words after which a version is the product's own."""
_COUNTED_ONE = re.compile(r"\b(?:exactly|only|just|most|least)\s+one\b", re.IGNORECASE)
_MOST = 4000
"""Characters that are looked at; what follows in a chat message is a log or a file."""
_ARTICLES = frozenset(_WORDS["articles"].split())
_STOPPED = re.compile(
    r"\b(?:stop|quit|cease)(?:s|ped|ping)?\s+(?:being|getting|(?=\w+ing\b))"
    r"|\b(?:keep|prevent|stop)(?:s|ping|ing)?\s+(?:[\w'’-]+\s+){1,5}from\s+(?:being\b|getting\b|(?=\w+ing\b))"
    r"|\b(?:not|n['’]t)\s+get(?:ting)?\s+(?=\w+e[dn]\b)|\bno\s+longer\b(?!\s+than)|\bany\s*(?:more|longer)\b",
    re.IGNORECASE,
)


_IRREGULAR = {
    **dict.fromkeys(("evening", "evenings"), "evening"),  # not "even"
    **dict.fromkeys(("people", "persons"), "person"),
    "children": "child",
    "men": "man",
    "women": "woman",
    "mice": "mouse",
}


def root(word: str) -> str:
    """Return the stem of a lower-case word, British and American spelling alike."""
    word = re.sub(r"is(e|ed|es|ing|ation)$", r"iz\1", word) if len(word) > 6 else word
    found = _IRREGULAR.get(word) or stem(word.replace("colour", "color"))
    return stem(found) if found.endswith("er") else found  # "lowered" as "lower"


_KEPT = (STOP_WORDS & {word for pole in OPPOSITES for side in pole for word in side}) - {
    *("on", "in", "make", "get", "all", "both")
}
"""Stop words that have an opposite, and therefore tell questions apart."""
_NEVER_DENIED = (STOP_WORDS | {"be", "being", "been", "want", "using", "use", "used", "having"}) - {
    *("see", "show", "get")
}
"""Words between a negation and what it denies."""


@dataclass(frozen=True)
class Sense:
    """What of a question decides whether an answer fits."""

    text: str
    said: str
    """The question as it was written, in lower case, without names of product and release."""
    body: str
    """The same without its frame, such as "How do I"."""
    order: tuple[str, ...]
    """Stems of all words in their order, without frame and articles."""
    stems: frozenset[str]
    """Stems of the content words."""
    joined: frozenset[str]
    """Each two neighbouring words as one: runtime of "run time"."""
    plain: str
    """All words with a space around each, identifiers cut to their parts."""
    numbers: frozenset[str]
    worded: frozenset[str]
    """Numbers, those in words as well."""
    units: frozenset[tuple[str, str]]
    code: tuple[str, ...]
    software: frozenset[str]
    capitals: frozenset[str]
    names: frozenset[str]
    """Stems of the words that are written like names."""
    denied: frozenset[str]
    """Stems of what is denied: sent in "not sent"."""
    negated: int
    """How often something is denied."""
    spelled: dict[str, str]
    """A stem to the word as it was written."""


@lru_cache(maxsize=512)
def sense(text: str, product_names: tuple[str, ...], release_names: tuple[str, ...]) -> Sense:
    """Read a question; cached, for one remembered question is compared with many asked ones."""
    text = _without_names(text[:_MOST], product_names, release_names)
    code = tuple(identifiers(text))
    flat = text
    for pattern, replacement in _PHRASES:
        flat = pattern.sub(lambda m, r=replacement: r.replace("{}", _middle(m[0])), flat)  # type: ignore[misc]
    read = _read(flat, code, shouted=text.isupper())
    numbers, worded, units = _quantities(flat)
    denied, negated = _denied(flat)
    ordered = re.findall(r"(?<![\w'’+#.-])[\w'’+#.-]*[\w+#]", _FRAME.sub("", flat))
    parts = [part for word in re.findall(r"\w+", flat) for part in (parts_of(word) or [word.lower()])]
    return Sense(
        text=flat.lower(),
        said=text.lower(),
        body=_FRAME.sub("", flat.lower()),
        order=tuple(root(word.lower()) for word in ordered if word.lower() not in _ARTICLES),
        stems=frozenset(read.stems),
        joined=frozenset(a + b for a, b in pairwise(parts)),
        plain=f" {' '.join(parts)} ",
        numbers=numbers,
        worded=worded,
        units=units,
        code=code,
        software=frozenset(read.software),
        capitals=frozenset(read.capitals),
        names=frozenset(read.names),
        denied=denied,
        negated=negated,
        spelled=read.stems,
    )


@dataclass(slots=True)
class _Read:
    """What the words of a question are, one by one; `stems` maps each to the word as it was written."""

    stems: dict[str, str] = field(default_factory=dict)
    software: set[str] = field(default_factory=set)
    capitals: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)


def _read(text: str, code: tuple[str, ...], shouted: bool) -> _Read:
    """Sort the words of a text; where all is `shouted`, capitals tell nothing."""
    read, last = _Read(), ""
    for match in _WORD.finditer(text):
        word = re.sub(r"['’]s?$", "", match[0])
        before, last = last, word.lower()
        if last in SOFTWARE:
            read.software.add(SOFTWARE[last])
        if word.isupper() and len(word) > 1 and word.isalpha() and not shouted:
            read.capitals.add(last)
        if len(word) == 1 and word.isupper() and before in ("a", "an", "the"):  # an A record, the C compiler
            read.capitals.add(last)
        if word[0].isupper() and before and not shouted and len(word) > 1:
            read.names.add(root(last))
        elif _is_silent(last):
            continue
        if word not in code and not _is_quantity(last, before):
            read.stems.setdefault(root(last), word)
    return read


def _is_silent(word: str) -> bool:
    """Return True if a word says nothing about the subject: a stop word, or a negation."""
    return (word in STOP_WORDS and word not in _KEPT) or _negates(word)


def _negates(word: str) -> bool:
    return word in NEGATIONS or word == "unless" or word.endswith(("n't", "n’t"))


def _is_quantity(word: str, before: str) -> bool:
    """Return True if a word is a number, or the unit of the one before it."""
    return word in NUMBER_WORDS or word[0].isdigit() or (word in UNITS and before[:1].isdigit())


def _without_names(text: str, product_names: tuple[str, ...], release_names: tuple[str, ...]) -> str:
    for name in product_names:
        text = product_of(name).sub(" ", text)
    found = [name for name in release_names if release_of(name)[0].search(text)]
    if len(found) != 1:
        return text
    return release_of(found[0])[1].sub(lambda m: m[0] if _owned(text[: m.start()]) else " ", text)


def _owned(before: str) -> bool:
    """Return True if the version after a text is another software's: "Werkzeug 2.3", "Python version 2.3"."""
    word = _OWNER.search(before[-_LONGEST_OWNER:])
    return word is not None and word[1].lower() not in _UNOWNING


@lru_cache(maxsize=64)
def product_of(name: str) -> re.Pattern[str]:
    """Return the pattern of a product's name."""
    return re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.[A-Za-z])", re.IGNORECASE)


@lru_cache(maxsize=1024)
def release_of(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a release's name: alone, and with what it may be written with."""
    alone = rf"(?<![\w.]){re.escape(name)}(?!\w|\.\d)"
    return re.compile(alone), re.compile(rf"(?<![\w.])v?{re.escape(name)}(?:\.\d+|\.x)*(?!\w)")


def _middle(text: str) -> str:
    """Return what stands between verb and particle: the debug mode of "turn debug mode on"."""
    return " ".join(text.split()[1:-1])


def _denied(text: str) -> tuple[frozenset[str], int]:
    """Return the first content word after each negation, and how many there are."""
    quiet = _STOPPED.sub(" not ", _NOT_NEGATED.sub(" ", text.lower()))
    found: set[str] = set()
    pending, negated = False, 0
    for word in re.findall(r"[\w'’+#-]+|[.!?;]", quiet):
        if _negates(word):
            pending, negated = True, negated + 1
        elif word.startswith("non-"):
            found.add(root(word[4:]))
            negated += 1
        elif word in ".!?;":
            pending = False
        elif pending and word not in _NEVER_DENIED:
            found.add(root(word))
            pending = False
    return frozenset(found), negated


def _quantities(text: str) -> tuple[frozenset[str], frozenset[str], frozenset[tuple[str, str]]]:
    """Return the numbers, these with those in words and at the end of words, and the numbers with units."""
    values: set[str] = set()
    units: set[tuple[str, str]] = set()
    for digits, unit in quantities(text):
        value = digits.rstrip("0").rstrip(".") if "." in digits else digits.lstrip("0") or "0"
        values.add(value)
        if unit in UNITS:
            units.add((value, UNITS[unit]))
    glued = {m[1] for m in re.finditer(r"\b[A-Za-z]+(\d+)\b", text)}
    words = set(re.findall(r"[a-z]+", text.lower())) - {"one"}
    worded = {NUMBER_WORDS[word] for word in words & NUMBER_WORDS.keys()}
    if _COUNTED_ONE.search(text):
        worded.add("1")
    return frozenset(values), frozenset(values | glued | worded), frozenset(units)
