"""Find where a text names releases of the product, and only of the product.

A version belongs to whoever stands before it: "Werkzeug 2.3" is none of ours, "Flask 2.3" is, and
"2.3" alone is when it stands where people put releases. Unknown versions need such a cue; known
ones are taken unless something else owns them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from core.domain import Product
from core.query.spellings import NUMBER, Spellings, plain, spellings
from core.vocabulary import BEFORE_VERSIONS, UNITS

Owner = Literal["ours", "foreign", "amount", "cue", "plain"]


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


_MOST = 4000
"""Characters that are looked at: a chat message's length; what follows is a log or a file."""
_MASKED = re.compile(
    r"\b\d{4}[-/]\d{1,2}[-/]\d{1,2}\b|\b\d{1,2}[./]\d{1,2}[./](?:19|20)\d\d\b"  # dates
    r"|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\d)"  # addresses
    r"|\bhttps?://\S+|(?<![\w.+-])[\w.+-]{1,64}@[\w.-]+\.[a-z]+\b"  # links and mail
    r"|(?<![\w.])[~.]{0,2}/[\w.{}<>:-]+(?:/[\w.{}<>:-]*)*"  # paths
    r"|(?<!\w)[A-Za-z]:\\\S+|[$€£#]\s?\d[\d.]*"
)
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SEGMENT = re.compile(r"(?<=/)v?\d+(?:\.(?:\d+|x))*(?=/|$)", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z_][\w.+#'’]*(?:-[A-Za-z_][\w.+#'’]*)*|\d[\w.]*|[^\w\s]")
_VERSION_WORDS = frozenset(["version", "versions", "ver", "ver.", "release", "releases", "rel", "rel.", "v", "series"])
_SKIPPED = frozenset(["=", "==", "===", ">=", "<=", "~=", "!=", ">", "<", "~", "^", ":", "@", "(", "[", "`", "*", "**", "-", "_", "/", "|", '"', "'", "is", "are"])
_CUES = frozenset(
    ["in", "on", "for", "since", "until", "till", "before", "after", "between", "from", "to", "than", "vs", "vs.", "versus", "with", "using", "under", "through", "upgrade", "upgrading", "upgraded", "update", "updated", "migrate", "migrating", "use", "run", "running", "install", "installed", "installing", "about", "and", "or", "as", "pre", "at"]
)
_NEUTRAL = frozenset(["docs", "documentation", "product", "framework", "release", "the", "a", "this", "our", "new", "notes", "latest"])
_AMOUNT_NOUNS = frozenset(
    ["port", "error", "errors", "section", "sections", "chapter", "step", "page", "issue", "ticket", "bug", "figure", "fig", "table", "example", "line", "lines", "part", "question", "item", "point", "level", "ratio", "score", "timeout", "limit", "size", "by", "factor", "rate", "code", "status", "exit", "weight", "width", "height", "threshold", "value", "number", "no", "option", "row", "column", "appendix", "rule", "article", "exercise", "lesson", "week", "day", "year", "priority", "channel", "room", "building", "id", "pid", "uid", "approximately", "nearly", "almost", "exactly", "only", "every", "within", "another", "costs", "price", "alarm", "pi", "roughly", "plus", "minus", "times"]
)
_AMOUNT_BEFORE = re.compile(
    r"\b(?:set|sets|setting|increas\w+|decreas\w+|rais\w+|lower\w*|reduc\w+|scal\w+|round\w*|multipl\w+|limit\w*"
    r"|timeout|time-out|delay|interval|ratio|threshold|factor|weight|size|width|height|rate|score|value|zoom"
    r"|opacity|price|cost|temperature|equal|grew|rose|fell)\b(?:\W+\w+){0,4}\W+(?:from|to|of|by|at)\W*$",
    re.IGNORECASE,
)
_MOVE_BEFORE = re.compile(
    r"\b(?:upgrad|updat|migrat|mov|port|switch|bump|go|going|went|com|compar|downgrad|back|up|chang|roll|jump)\w*"
    r"\b(?:\W+\w+){0,6}\W+(?:from|to)\W*$",
    re.IGNORECASE,
)
_MEASURES = frozenset(
    word
    for word, unit in UNITS.items()
    if unit
    in ["b", "kb", "mb", "gb", "tb", "ms", "s", "min", "h", "d", "week", "month", "year", "px", "pt", "em", "hz", "%", "usd", "eur", "kg", "cm", "mm", "km", "mph", "bit", "million", "k"]
)
_RELEASE_NOUN = re.compile(
    r"\s+(?:release|version|docs|documentation|branch|series|line|lts|changelog)\b", re.I
)
_OF = re.compile(r"\s+(?:(?:release|version)\s+)?of\s+(?:the\s+|our\s+|my\s+)?(?!course\b)([\w.+#-]+)", re.I)
_SEQUENCE = re.compile(
    r"(?:\s|,|/|\+|&|-+>?|=+>|→|–|—|\b(?:and|or|to|vs|versus|through|than|nor|with|against|in|for|v)\b\.?)+",
    re.I,
)
_OWN = re.compile(
    r"\b(?:i['’]?m|i am|we['’]?re|we are|i|we)\s+(?:(?:still|currently|now|all)\s+)*"
    r"(?:on|use|using|run|running|have|got|stuck (?:on|with)|pinned to)\s*(?:(?:version|release)\s+)?$",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\bnot\s+(?:(?:in|for|on|with|about|the)\s+)*$", re.IGNORECASE)
_FROM = re.compile(
    r"\b(?:since|after|newer than|later than|higher than|greater than)\s+(?:the\s+)?$", re.IGNORECASE
)
_UNTIL = re.compile(
    r"\b(?:before|prior to|older than|earlier than|lower than|less than|pre)[\s-]+(?:the\s+)?$", re.IGNORECASE
)
_ONWARDS = re.compile(
    r"\s+(?:and|or)\s+(?:later|newer|up|above|higher|onwards?)\b|\s+onwards?\b|\s+on(?=[,.?]|$)",
    re.IGNORECASE,
)
_NO_NOUN_NEXT = re.compile(
    r"\s*(?:$|[^\w\s(]|(?:and|or|to|vs|is|are|was|does|do|did|has|have|can|how|what|where|when|why|if|the|a|for|on|in"
    r"|with|using|but|please|now|yet|then|i|we|still|that|which|docs|branch|line)\b)",
    re.IGNORECASE,
)
_PLURAL_NEXT = re.compile(r"\s+(?!(?:does|has|is|was|docs|vs|as|this|sessions)\b)[a-z]{3,}s\b", re.IGNORECASE)
_MOVER = re.compile(
    r"([A-Za-z][\w.+#-]*)\s+(?:(?:version|is|was|are)\s+)*(?:still\s+)?(?:from\s+v?\d\S*\s+)?(?:to|from|at|on)$",
    re.IGNORECASE,
)
_WHICH = re.compile(r"\b(?:which|what)\s+(?:versions?\s+of\s+)?([\w.+#-]+)", re.IGNORECASE)


def mentions(text: str, product: Product, base: str = "") -> tuple[Mention, ...]:
    """Return the places where a text names releases of the product, in order.

    `base` is the release from which "the previous one" counts; the latest where it is empty.
    """
    if not product.releases:
        return ()
    known = spellings(product)
    text = text[:_MOST]
    fences = [m.span() for m in _FENCE.finditer(text)]
    visible = _MASKED.sub(lambda m: "\0" * len(m[0]), text)
    prose = _FENCE.sub(lambda m: "\0" * len(m[0]), visible)
    found: list[Mention] = []
    if known.literal:
        for match in known.literal.finditer(prose):
            found.append(_mention(prose, match.start(), match.end(), known.literals[plain(match[0])], known))
    found += _numbers(prose, known, found)
    first = min(found, key=lambda m: m.start).release if found else ""
    for match in known.relative.finditer(prose):
        of = _OF.match(prose, match.end())
        if (of and not known.product.match(of[1])) or _overlaps(match.start(), match.end(), found):
            continue
        if release := known.relation(match[0], first or base or product.latest.name, product.latest.name):
            found.append(_mention(prose, match.start(), match.end(), release, known))
    if not found and fences:
        found += [m for m in _numbers(visible, known, [], ours_only=True) if m.release]
    if not found:
        found += _linked(text, known)
    return tuple(sorted(found, key=lambda m: m.start))


def _mention(text: str, start: int, end: int, release: str, known: Spellings) -> Mention:
    before, after = known.product.sub("", text[max(0, start - 60) : start]), text[end : end + 30]
    bound: Literal["", "from", "until"] = ""
    if _FROM.search(before) or _ONWARDS.match(after) or text[end - 1] == "+":
        bound = "from"
    elif _UNTIL.search(before):
        bound = "until"
    own, denied = bool(_OWN.search(before)), bool(_DENIED.search(before))
    return Mention(start, end, text[start:end], release, own, denied, bound)


def _overlaps(start: int, end: int, found: list[Mention]) -> bool:
    return any(start < m.end and m.start < end for m in found)


def _linked(text: str, known: Spellings) -> Iterator[Mention]:
    """Yield the releases that links to the product's own pages carry in their path."""
    for link in re.finditer(r"\bhttps?://[^\s)>\]]+", text):
        if not re.search(
            known.product.pattern.replace(r"(?<![\w-])", "").replace(r"(?![\w-])", ""), link[0], re.I
        ):
            continue
        for part in _SEGMENT.finditer(link[0]):
            if release := known.numbered(part[0].lower().strip("vx.").replace(".x", "")):
                yield Mention(link.start() + part.start(), link.start() + part.end(), part[0], release)


def _numbers(text: str, known: Spellings, taken: list[Mention], ours_only: bool = False) -> list[Mention]:
    found: list[Mention] = []
    previous: tuple[int, Owner] = (-1, "plain")
    which = _WHICH.search(text)
    choice = re.search(r"\d\S*\s*(?:,|\bor\b|/)\s*v?\d", text)
    all_foreign = bool(
        choice and which and which[1].lower() in BEFORE_VERSIONS and not known.product.fullmatch(which[1])
    )
    foreign_majors = False
    for match in _candidates(text, known):
        start, end = match.start("prefix") if match["prefix"] else match.start("number"), match.end()
        if _overlaps(start, end, taken):
            continue
        owner, version_word = _owner(text, start, known)
        between = text[previous[0] : start] if previous[0] >= 0 else ""
        if owner in ("plain", "cue") and not version_word and between and _SEQUENCE.fullmatch(between):
            owner = previous[1] if previous[1] != "plain" else owner
        if owner in ("plain", "cue") and (_foreign_after(text, end, known) or _measured(text, match)):
            owner = (
                "foreign"
                if owner == "plain" or version_word or _foreign_after(text, end, known)
                else "amount"
            )
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


def _owner(text: str, start: int, known: Spellings) -> tuple[Owner, bool]:
    """Tell who stands before a version, and whether a word such as "version" leads to it."""
    if start and text[start - 1] == "(" and start > 1 and re.match(r"\w", text[start - 2]):
        return "amount", False  # a call: sleep(2.0)
    before = text[max(0, start - 80) : start]
    words = list(_WORD.finditer(before))
    version_word = assigned = False
    while words:
        word = words[-1][0].lower()
        if word in _VERSION_WORDS:
            version_word = True
        elif word in _SKIPPED:
            assigned |= word in ("=", "is", "are")
        elif word not in ("'s", "’s"):
            break
        words.pop()
    if not words:
        return ("cue" if version_word else "plain"), version_word
    last = words[-1]
    head, word = before[: last.end()], last[0].lower().rstrip(".")
    product = None
    for product in known.product.finditer(head):
        pass
    if product and head[product.end() :].strip("'’s ") == "":
        return "ours", version_word
    if last[0][0].isdigit():
        return ("cue" if version_word else "plain"), version_word
    if last[0].endswith("\0") or word in _AMOUNT_NOUNS or _AMOUNT_BEFORE.search(before):
        return "amount", version_word
    stripped = re.sub(r"['’]s$", "", word)
    compound = re.search(r"[-_.]", stripped.strip(".")) and not stripped.startswith("pre-")
    if stripped in BEFORE_VERSIONS or compound or re.search(r"[a-z]\d", stripped):
        return "foreign", version_word
    if word in _CUES:
        return _moved(head, known) or "cue", version_word
    if assigned and not version_word:
        return "amount", False
    if version_word:
        return ("foreign" if _named(last, before, words) else "cue"), True
    return ("foreign" if _capitalised(last, before) else "plain"), False


def _moved(head: str, known: Spellings) -> Owner | None:
    """Tell who is moved in "upgrade Werkzeug from 2.3 to 3.1" or "Flask to 2.3"."""
    mover = _MOVER.search(head)
    if not mover:
        return None
    if known.product.fullmatch(mover[1]):
        return "ours"
    return "foreign" if mover[1].lower() in BEFORE_VERSIONS else None


def _capitalised(word: re.Match[str], before: str) -> bool:
    """Tell whether a word looks like a name: a capital inside it, or one that begins no sentence."""
    if re.search(r"[a-z][A-Z]", word[0]):
        return True
    lead = before[: word.start()].rstrip()
    if word[0].isupper() and len(word[0]) > 1 and word[0].isalpha():
        return any(letter.islower() for letter in before) or not lead
    return word[0][0].isupper() and bool(lead) and lead[-1] not in ".!?:;\n-*•("


def _named(word: re.Match[str], before: str, words: list[re.Match[str]]) -> bool:
    """Tell whether "X version 2" speaks of some X; verbs and small words are none."""
    lower = word[0].lower()
    if lower in _NEUTRAL or not word[0][0].isalpha():
        return False
    if _capitalised(word, before):
        return True
    earlier = words[-2][0].lower() if len(words) > 1 else ""
    return earlier in ("my", "our", "your", "their", "its", "app", "api", "schema", "protocol", "model")


def _foreign_after(text: str, end: int, known: Spellings) -> bool:
    of = _OF.match(text, end)
    if of and not known.product.match(text, of.start(1)) and of[1].lower() not in _NEUTRAL:
        return True
    following = re.match(r"[\s-]+([A-Za-z]\w+)", text[end : end + 40])
    return bool(
        following
        and following[1].lower()
        in ("license", "licence", "interpreter", "protocol", "schema", "spec", "slim", "alpine")
    )


def _measured(text: str, match: re.Match[str]) -> bool:
    following = re.match(r"\s?-?([A-Za-z%$€]+)", text[match.end() : match.end() + 20])
    return bool(following and following[1].lower() in _MEASURES and not match["prefix"])


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
            return not (owner == "ours" and _PLURAL_NEXT.match(text, match.end()) and len(number) > 2)
        return (
            (len(number) < 3
            and not _PLURAL_NEXT.match(text, match.end()))
            or bool(match["prefix"] and owner != "plain")
        )
    if not release or owner != "cue" or not _NO_NOUN_NEXT.match(text, match.end()):
        return False
    return known.whole or (known.major and bool(_MOVE_BEFORE.search(before)))
