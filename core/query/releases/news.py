"""Questions for release notes: what is new, what changed since when, and which names are gone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.domain import Dated, News, Product, Question, Resolution, Span, begins
from core.query.forms import content, without, without_product
from core.query.language import asked_of_changes
from core.query.releases.mentions import Mention, mentions
from core.query.releases.spellings import spellings
from core.text.words import identifiers
from core.vocabulary import in_english, kind_of, word_list, words_of

_WORDS = words_of("core.query")["news"]

Numbers = tuple[int, ...]

_NEWS = re.compile(
    r"\bnew\b|\bnews\b|\bnovelt|\bchang(?:e|es|ed|ing)\b|\bchange-?logs?\b|\brelease[\s-]+notes?\b|\bdiffer"
    r"|\badd(?:s|ed|itions?)\b|\bremov(?:e|es|ed|al|als)\b|\bdeprecat|\bdropp?(?:s|ed)\b|\bfix(?:es|ed)\b|\bbugfix"
    r"|\bbreak(?:s|ing)?\b|\bwhat\s+(?:broke|happened)\b|\bdisappear|\bincompatib|\bfeatures?\b|\bimprove[ds]?\b|\bimprovements?\b|\bintroduce[ds]?\b|\bbr(?:ings?|ought)\b|\bhighlights?\b",
    re.IGNORECASE,
)
_NOTES = re.compile(r"\bchange-?logs?\b|\brelease[\s-]+notes?\b", re.IGNORECASE)
_OTHER = re.compile(
    r"\b(?:when\s+(?:is|are|was|were|did|does|will)|why|where|who|should|(?:can|could|may)\s+(?:i|we)"
    r"|(?:is|are)\s+there\s+(?:a|any)\s+new(?:er)?\s+(?:versions?|releases?))\b",
    re.IGNORECASE,
)
"""Questions with such words ask for something else, unless they name the notes."""
_HOW = re.compile(r"\bhow\s+(?:do|can|to|should|would|could)\b", re.IGNORECASE)
"""The same, unless something about a difference follows: "how does it differ"."""
_DIFFERS = re.compile(r"\bdiffer", re.IGNORECASE)
_OF_ITSELF = re.compile(r"^\W*(?:is|are|was|were)\s+(?:the\s+)?(?:version\s+|release\s+)?$", re.IGNORECASE)
"""What stands before a release that is asked about itself: "is 2.0 deprecated?"."""
_POSSESSIVE = re.compile(r"(?<!\w)['’]s\b")
_RANGE = re.compile(
    r"\b(?:between|from|since|vs|versus|compar\w+|differ\w*|to|until|till|through|upgrad\w+|updat\w+|migrat\w+|mov(?:e|ing)|than|over)\b|[→⇒–—]|[-=]>|\d\s*-\s*v?\d",
    re.IGNORECASE,
)
_FRAME = frozenset(_WORDS["frame"].split())
"""Words that say nothing else than that notes are asked for."""

_WHEN = re.compile(
    r"^\W*(?:(?:since|in|with|from)\s+)?(?:when\s+(?:was|were|is|are|did|does)\b|(?:which|what)\s+(?:versions?|releases?)\s+(?:\w+\s+)?\w+)",
    re.IGNORECASE,
)
_SINCE = re.compile(r"^\W*since\s+(?:when|which|what)\b", re.IGNORECASE)
_SINCE_AT_END = re.compile(
    r"(?P<what>.*\w)[\s,;:–-]+since\s+(?:when|(?:which|what)(?:\s+(?:version|release))?)\W*", re.IGNORECASE
)
"""What is asked before the word that asks: "`--strict` since which version"."""
_CAME = re.compile(
    r"\b(?:add(?:s|ed)?|introduc\w+|remov\w+|delet\w+|dropp?(?:s|ed)?|deprecat\w+)\b", re.IGNORECASE
)
_NAMED = frozenset(_WORDS["named"].split())
"""Words that say of what kind the subject is."""
_HAS_IT = re.compile(
    r"^\W*(?:(?:since|in|from)\s+)?(?:which|what)\s+(?:versions?|releases?)\s+(?:\w+\s+){0,3}?"
    r"(?:has|have|had|needs?|supports?|contains?|includes?|provides?|offers?|brought|brings|there)\b",
    re.IGNORECASE,
)
_HAVING = frozenset(_WORDS["having"].split())
"""How the version is asked for that has something: "which version has `x`"."""
_TOLD = 300
"""Characters of a question that are looked at for what it asks the version of."""
_SHORT = 14
"""Words of a question for a version at most; a longer one tells a story."""


def news(base: str, question: Question, product: Product, resolution: Resolution) -> News | None:
    """Return which release notes a question asks for; None where it asks for something else, too.

    `base` is the question as it stands alone. Without a release in it, it must name the product or its
    changelog, or follow a question of this kind.
    """
    base, small = asked_of_changes(base)
    found = mentions(base, product, resolution.release)
    if not _asks(base, found, product, small):
        return None
    if not found:
        known = resolution.origin == "given" or _NOTES.search(base) or spellings(product).product.search(base)
        if not (known or _follows(question, product)):
            return None
        own = _numbers_of(resolution.release, product)
        return News((Span(resolution.release, own),), kind_of(base)) if own else None
    spans = _spans(base, found, product, resolution)
    return News(spans, kind_of(base)) if spans else None


def asks_news(base: str, product: Product) -> bool:
    """Return True if a question asks for nothing but what is new, of whichever release."""
    base, small = asked_of_changes(base)
    return _asks(base, mentions(base, product), product, small)


def dated(base: str, product: Product) -> Dated | None:
    """Return what a question asks the version of: "when was X added?"; None where it asks something else."""
    base, small = asked_of_changes(base)
    if at_end := _SINCE_AT_END.fullmatch(base[:_TOLD]):
        base = f"since when is there {at_end['what']}"
    came = _CAME.search(base) or _SINCE.match(base)
    if not came or not _WHEN.match(base) or len(base.split()) > _SHORT:
        return None
    kind = kind_of(base) or ("added" if _SINCE.match(base) else "")
    subject = [one for one in content(without_product(base, product)) if one not in _FRAME | _NAMED | small]
    return Dated(kind, tuple(subject)) if subject else None


def is_whole(asked: News, product: Product) -> bool:
    """Return True if all notes of one release are asked for, so that its name says which."""
    first = asked.spans[0]
    return len(asked.spans) == 1 and not first.after and first.until == _numbers_of(first.release, product)


def _asks(text: str, found: Sequence[Mention], product: Product, small: frozenset[str]) -> bool:
    if not _NEWS.search(text) or (_asks_otherwise(text) and not _NOTES.search(text)):
        return False
    if found and _OF_ITSELF.match(without_product(text[: found[0].start], product)):
        return False
    rest = _POSSESSIVE.sub(" ", without_product(without(text, found), product))
    return all(word in _FRAME or word in small for word in content(rest))


def _asks_otherwise(text: str) -> bool:
    differs = max((found.end() for found in _DIFFERS.finditer(text)), default=0)
    return bool(_OTHER.search(text) or _HOW.search(text, differs))


def _follows(question: Question, product: Product) -> bool:
    """Return True if the question before was of this kind: "what was removed?" after "what's new in 3.1?"."""
    before = [turn.text for turn in question.history if turn.role == "user"]
    return bool(before) and asks_news(before[-1], product)


def _spans(text: str, found: Sequence[Mention], product: Product, resolution: Resolution) -> tuple[Span, ...]:
    given = resolution.release if resolution.origin == "given" else ""
    if len(found) == 1 and found[0].release and not re.search(r"\d", found[0].spelled):
        # "the previous release" was counted from the thread's or the channel's
        own = _numbers_of(resolution.release, product)
        return (Span(resolution.release, own),) if own else ()
    ends = [(_numbers(mention, product), given or mention.release) for mention in found if not mention.denied]
    if not ends or not all(numbers for numbers, _ in ends) or any(m.bound == "until" for m in found):
        return ()
    ends = list(dict.fromkeys(ends))
    if len(ends) == 1 and found[0].bound == "from":
        latest = product.latest.name
        ends.append((_numbers_of(latest, product), given or latest))
    if len(ends) > 1 and (_RANGE.search(text) or found[0].bound == "from"):
        (after, _), *_between, (until, release) = sorted(ends)
        return (Span(release, until, after),) if until and until != after else ()
    return tuple(Span(release, numbers) for numbers, release in ends)


def _numbers(mention: Mention, product: Product) -> Numbers:
    """Return the version that a mention spells; that of its release where it has none of its own."""
    own = _numbers_of(mention.release, product)
    spelled = re.search(r"\d+(?:\.\d+)*", mention.spelled)
    if spelled is None:
        return own
    numbers = tuple(map(int, spelled[0].split(".")))
    # 17.20 may be how people write 17.2
    return numbers if not own or begins(numbers, own) or begins(own, numbers) else own


def _numbers_of(release: str, product: Product) -> Numbers:
    """Return the numbers in a release's name, or else in another name that it has; none in a code name's."""
    known = product.release(release)
    for name in (release, *(known.aliases if known else ())):
        if found := re.search(r"\d+(?:\.\d+)*", name):
            return tuple(map(int, found[0].split(".")))
    return ()


_NAME = r"['\"`‘’“”]?(?P<name>@?[A-Za-z_][\w.]*|--[\w-]+)"
_ERRORS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:cannot import name|no module named) {_NAME}",
        rf"\b(?:can(?:['’]?t| ?not)|couldn['’]?t|not|(?:unable|fails?|failed) to) import (?:name )?{_NAME}"
        r"['\"`’”]?(?:\(\))? from\b",
        rf"\bimport(?:ing)? {_NAME}['\"`’”]?(?:\(\))? from [\w.`'\"]{{1,60}} (?:now |just |suddenly )?"
        r"(?:fails|breaks|raises|throws|crash|is broken|(?:no longer|stopped|does(?:n['’]?t| not)) work)",
        rf"(?:has no attribute|ha(?:s|ve) no (?:attr\w*|method|member|function) (?:called|named)) {_NAME}",
        rf"(?:has|have) no (?:attr|method|member|function) (?=['\"`‘“]|(?-i:\w*[_A-Z(]|\w+\.\w)){_NAME}",
        rf"unexpected keyword argument {_NAME}",
        rf"\bname {_NAME}['\"`’”]? is not defined",
        rf"(?:no such|unrecogni[sz]ed|unknown|invalid) (?:option|argument|flag)s?:? {_NAME}",
        r"(?<![\w-])(?P<name>--[a-z][\w-]*+) (?:is|was) (?:now )?(?:un|not )(?:known|recogni[sz]ed)\b",
        rf"(?:warning|error): {_NAME}['\"`’”]?(?:\(\))? (?:is|was) (?:deprecated|removed|renamed|replaced)",
        rf"(?:undefined|unknown|unresolved) (?:name|method|function|reference|import|attribute):? {_NAME}",
    )
)
"""What interpreters and tools say of a name that is not there."""
_IMPORTED = re.compile(
    r"cannot import name ['\"`‘’“”]?(?P<name>(?-i:[a-z]+))['\"`’”]?"
    r" from ['\"`‘“]?(?P<module>[A-Za-z_]\w*(?:\.\w+)+)",
    re.IGNORECASE,
)
"""A plain word that a module inside of another lacks: anything may be called `url`, not `kettle.conf.url`."""
# a plain word is a name only if it comes from the product: data is imported from files, too
_FROM = re.compile(r"\bimport(?:ing)? (?P<name>(?-i:[a-z]+)) from ['\"`]?(?P<module>\w*)", re.IGNORECASE)
_CALLED = re.compile(rf"(?<![\w.<>])([\w.<>]++)\(\) got an unexpected keyword argument {_NAME}", re.I)
_ASKS = re.compile(
    r"\bstill\b|\bany\s?more\b|\bgone\b|\bremov(?:e|ed|al)\b|\bdeprecat(?!ionwarning)|\breplac(?:e|ed|es|ement)\b|\brenam"
    r"|\bdropp?ed\b|\bdisappear|\bvanish|\bno longer\b|\bmissing\b|\bwent away\b|\bobsolete\b"
    r"|\bwhat(?: has|'s|’s)? (?:happened|happens) (?:to|with)\b|\bbec[ao]me of\b|\bfate of\b"
    r"|\b(?:got|gotten|get) rid of\b"
    r"|\bsupersed|\binstead of\b|\balternatives?\b|\bsuccessor\b|\b(?:new name|now called|called now)\b"
    r"|\bwhere (?:is|did|has)\b.{1,80}\b(?:go|gone|moved?)\b|\bdoes(?:n['’]?t| not)? .{1,80}\bexist",
    re.IGNORECASE,
)
_WAS_SO = re.compile(
    r"(?<![\w.@])(?P<name>@?[A-Za-z_][\w.]*+)(?:\(\))?(?: = [^;?!\n]{1,60}?"
    r"|(?: (?!(?:and|or|but|which|that|it|everything)\b)\w+){0,2}?)"
    r" (?:(?:was|were) (?:fine|ok(?:ay)?|good|working)\b|(?<! is )(?<! are )(?<! be )used to work\b"
    r"|(?<! have )(?<! has )worked (?:fine |ok |well )?(?:in|on|until|before)\b)",
    re.IGNORECASE,
)
"""What somebody says whose code does not work in a newer version: "`X` was fine on 3.1"."""
_INSTEAD_NOW = re.compile(
    r"\bwhat (?:do|should|can|must|could) (?:i|we|you) (?:write|use|do|call|put|take) instead\b(?! of)",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"\bstill\b(?! (?:there|available|supported|exist|around|in\b|part of|valid|shipped|included))"
    r"|(?<!exist )(?<!exists )(?<!available )(?<!supported )(?<!there )\bany\s?more\b|\bmissing\b"
    r"|\bno longer\b(?! (?:there|available|supported|exist|part of|valid|shipped|included))",
    re.IGNORECASE,
)
"""What of plain words tells how something behaves: "the server does not stop any more"."""
_HAPPENS = frozenset(word_list("available become became exist exists happen happened happens supported"))
_AWAY = re.compile(
    r"\b(?:migrat|upgrad|port|mov|switch|convert|rewrit|chang)\w{0,4}\b.{0,80}?\b(?:from|off|away|to|since)\b"
    r"|\bwithout\b|\bother than\b|\brather than\b|\bused to\b|\bno more\b",
    re.IGNORECASE,
)
"""What is said by somebody who knows that a name is gone, or may know it."""
_INSTEAD = re.compile(r"\binstead of\b", re.IGNORECASE)
"""What asks of a name in code for its successor, and of plain words as a rule for something else."""
_GIVEN = re.compile(r"\((?:None|True|False|\d{1,9}|['\"][^'\"()]{0,40}['\"])\)")
_LONG = 6
"""Letters of a plain word that may be a name."""
_MOST = 3
"""Names that are looked for."""


def arrived(text: str, product: Product) -> tuple[str, ...]:
    """Return the name of which a question asks since which version it is there; () for others."""
    text = in_english(text)
    is_asked = _SINCE.match(text) or _SINCE_AT_END.fullmatch(text[:_TOLD]) or _HAS_IT.match(text)
    if not is_asked and not (_WHEN.match(text) and kind_of(text) == "added" and _CAME.search(text)):
        return ()
    if kind_of(text) not in ("", "added") or len(text.split()) > _SHORT:
        return ()
    names = identifiers(about := without_product(text, product))
    known = {name.lower() for name in names} | _FRAME | _NAMED | _HAVING
    if len(names) != 1 or any(word.removesuffix("()") not in known for word in content(about)):
        return ()
    return tuple(name.strip(".").lstrip("@") for name in names)


def lacking(text: str, product: Product) -> tuple[str, ...]:
    """Return the names that an interpreter, a tool or the asker says are not there."""
    names = (name.strip(".").lstrip("@") for name in _missing(text, product))
    return tuple(dict.fromkeys(name for name in names if len(name) > 1))[:_MOST]


def _missing(text: str, product: Product) -> list[str]:
    """Return what errors name, a plain word with the module inside of another that lacks it."""
    module = {match["name"]: match["module"] for match in _IMPORTED.finditer(text)}
    ours = spellings(product).product
    plain = {one["name"] for one in _FROM.finditer(text) if not ours.search(one["module"])}
    found = [one["name"] for pattern in _ERRORS for one in pattern.finditer(text) if one["name"] not in plain]
    return [f"{module[name]}.{name}" if name in module else name for name in found]


def premised(text: str, product: Product) -> tuple[str, ...]:
    """Return the names that a question takes for there: what it says nothing of the end of."""
    if gone(text, product) or any(sign.search(in_english(text)) for sign in (_ASKS, _AWAY, _CAME)):
        return ()
    names = (name.strip(".").lstrip("@") for name in identifiers(without_product(text, product)))
    return tuple(dict.fromkeys(name for name in names if len(name) > 1))[:_MOST]


def unknown_argument(text: str) -> tuple[str, str]:
    """Return the function that did not know an argument, and that, by a pasted error; "" twice without one.

    Where it is how something is made or called (`Pot.__init__()`) its class stands for it.
    """
    found = _CALLED.search(text)
    parts = [part for part in found[1].split(".") if not part.startswith("__")] if found else []
    return (parts[-1], found["name"]) if found and parts else ("", "")


def _was_so(text: str) -> bool:
    """Return True if a name in code was right once, or something else is to take its place."""
    if _INSTEAD_NOW.search(text):
        return True
    return any(identifiers(found["name"]) for found in _WAS_SO.finditer(text))


def asks_of_end(text: str) -> bool:
    """Return True if a question asks whether something is still there, or what became of it."""
    return _ASKS.search(in_english(text)) is not None


def gone(text: str, product: Product) -> tuple[str, ...]:
    """Return the names that a question believes to be removed, renamed or replaced."""
    told = _missing(text := in_english(text), product)
    if not told and not _ASKS.search(text) and _was_so(text):
        told = identifiers(without_product(text, product)) or identifiers(text)
    if not told and _ASKS.search(text):
        about = without_product(text, product)
        told = identifiers(about) or identifiers(text)
        if not told and _ASKS.search(_GOES_ON.sub(" ", _INSTEAD.sub(" ", text))):
            plain = [w for w in content(about) if len(w) >= _LONG and w.replace("-", "").isalpha()]
            told = [word for word in plain if "-" in word]
            told = told or [word for word in plain if not (_ASKS.search(word) or word in _HAPPENS)]
    names = (_as_called(name.strip(".").lstrip("@"), text) for name in told)
    return tuple(dict.fromkeys(name for name in names if len(name) > 1))[:_MOST]


def _as_called(name: str, text: str) -> str:
    """Return a name with the value that it is called with: "warns(None)" may end, and "warns" go on."""
    at = text.find(f"{name}(")
    called = _GIVEN.match(text, at + len(name)) if at >= 0 else None
    return f"{name}{called[0]}" if called else name
