"""Tell apart questions that are near in meaning space but must not share an answer.

Embeddings put opposites side by side (enable/disable .96, 10/100 MB .94). Reuse therefore needs the
same numbers, identifiers, names, polarity and direction, and no lone word exchanged for another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.text import STOP_WORDS, identifiers, parts_of, quantities, stem
from core.vocabulary import NEGATIONS, NUMBER_WORDS, OPPOSITES, RIVALS, SOFTWARE, SYNONYMS, UNITS

_PHRASES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"\b(?:turn|switch|toggl)\w*\s+(?:(?!\b(?:on|off)\b)[\w' ]{0,40}?)?\bon\b", " enable {} "),
        (r"\b(?:turn|switch|toggl|shut)\w*\s+(?:(?!\b(?:on|off)\b)[\w' ]{0,40}?)?\boff\b", " disable {} "),
        (r"\b(?:get|gett|got|getting|gets)\w*\s+rid\s+of\b|\btak\w+\s+(?:\w+\s+){0,4}away\b", " remove {} "),
        (r"\b(?:log|sign)(?:ging|ged|ging|s|ing|ed)?[\s-]+(?:in|on)(?:to)?\b|\bsign-?in\b", " login "),
        (r"\b(?:log|sign)(?:ging|ged|s|ing|ed)?[\s-]+(?:out|off)\b", " logout "),
        (r"\bshut(?:ting)?\s+(?:\w+\s+)?down\b", " stop {} "),
        (r"\broll(?:ing|ed)?[\s-]+back\b", " rollback "),
        (r"\bset(?:ting)?\s+up\b", " setup "),
        (r"\bback(?:ing)?\s+up\b|\bback-up\b", " backup "),
        (r"\bspeed(?:ing)?\s+up\b", " fast "),
        (r"\blook(?:ing)?\s+(?:up|for|at)\b", " find "),
        (r"\b(?:break|clean|sign|end|come|came|pop|start|mess|hook|free|open|fill|make|show|bring)(?:s|ing|ed)?\s+up\b", " {} "),
        (r"\b(?:slow|break|write|track|cool|scroll)(?:s|ing|ed)?\s+down\b", " {} "),
        (r"\bput(?:ting)?\s+(?:\w+\s+){1,3}to\s+sleep\b", " sleep "),
        (r"\bread[\s-]+only\b", " read-only "),
        (r"\bread[\s/-]+write\b", " read-write "),
        (r"\b(?:right|left)[\s-]+click\w*", " click "),
        (r"\b(?:right\s+(?:now|away|way)|all\s+right|alright)\b", " "),
    )
)
_NOT_NEGATED = re.compile(
    r"\bwhy\s+not\b|\b(?:whether|or)\s+not\b|\bif\s+not\b|\bnot\s+only\b|\bnot\s+sure\b|\bno\s+(?:idea|clue|luck|matter|longer\s+than)\b"
    r"|\b(?:do|did|does)(?:n['’]?t|\s+not)\s+(?:know|understand|remember|see|find|get)\s+(?:how|where|what|why|the\s+way|any|if)\b"
    r"|\b(?:can|could)(?:n['’]?t|not|\s+not)\s+(?:figure|find\s+(?:out|how|a|any)|seem|work\s+out|remember|think)\b|\bis\s+there\s+no\b"
    r"|\b(?:is|are|can|could|would|should|do|does)n['’]?t\s+(?:there|i|we|you|it|they)\b(?=.*\?)",
    re.IGNORECASE,
)
_TURNED = frozenset(
    stem(w)
    for w in """disable deactivate remove delete prevent stop avoid hide deny forbid block uninstall refuse reject suppress
    silence ignore skip exclude lack fail fails error broken problem trouble unable impossible miss missing lose lost wrong invalid
    issue restrict undo unable hidden invisible rid clear omit bypass escape forgot forget unlike gone dead empty off
    offline quit cancel kill leave""".split()
)
"""Words that say by themselves what another question says with "not"."""
_LIGHT = frozenset(
    stem(w)
    for w in """make way possible best good better easy easily simple simply work works use using used want need able help
    question problem issue mean meaning happen actually currently exactly really correct correctly proper properly right
    know tell explain wonder idea example go going come take give keep done let try find get have cause reason purpose
    seem look looking like just still even ever already specific certain thing stuff kind sort someone anyone something anything
    people person one ones user's since here there time point respective various own my please wish wanna gonna cant
    recommend recommended suggest suggestion suggestions advice solution method approach manner quick quickly quickest fastest safe
    available support supported case different possibility exist exists long often many much number well part lot""".split()
)
_WORD = re.compile(r"[A-Za-z][\w+#'’-]*[\w+#]|[A-Za-z]|\d[\w.]*")
_PAIRED = re.compile(
    r"([\w+#.-]+(?:\s\d[\w.]*)?)\s+(?:in)?to\s+(?:an?\s+|the\s+)?([\w+#.-]+(?:\s+\d[\w.]*)?)", re.IGNORECASE
)
_FRAME = re.compile(
    r"^\W*(?:(?:hi|hello|hey|please|so|ok|and|i['’]?d like to know|can (?:you|anyone|someone) tell me|does (?:any|some)(?:one|body) know)\b\W*)*"
    r"(?:how\s+(?:do|can|would|should|could|might|must|does|did)\s+(?:i|we|you|one|it)|how\s+to|how"
    r"|(?:what(?:['’]s|\s+is|\s+would be|\s+are)?|is\s+there|are\s+there)\s+(?:(?:a|an|the|any|some|best|good|easy|easiest|simplest|proper|correct|right)\s+)*"
    r"ways?\s+(?:to|of|for)|is\s+it\s+possible\s+to|can\s+(?:i|we|you|one)|(?:i|we)\s+(?:want|need|would\s+like|have)\s+to|i['’]d\s+like\s+to"
    r"|what\s+(?:must|should|can|do)\s+(?:i|we)\s+do\s+to|why\s+(?:is|are|do|does)|where\s+(?:is|are|do|can)(?:\s+(?:i|we))?)\s+",
    re.IGNORECASE,
)
_ARTICLES = frozenset("a an the my your our their his her its this that these those some any i me we us so please here there just also".split())
_PREFIXES = ("un", "de", "dis", "non", "in", "im", "ir")
_STOPPED = re.compile(r"\b(?:stop|quit|cease)(?:s|ped|ping)?\s+(?:being|getting|(?=\w+ing\b))", re.IGNORECASE)


def _stem(word: str) -> str:
    word = re.sub(r"is(e|ed|es|ing|ation)$", r"iz\1", word) if len(word) > 6 else word
    return stem(word.replace("colour", "color"))


def _index(groups: Sequence[frozenset[str]]) -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, group in enumerate(groups):
        for word in group:
            found.setdefault(_stem(word), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


_FAMILIES = _index(SYNONYMS)
_KINDS = _index(RIVALS)
_POLES = tuple((frozenset(map(_stem, a)), frozenset(map(_stem, b))) for a, b in OPPOSITES)
_POLAR = frozenset().union(*(a | b for a, b in _POLES))
_KEPT = frozenset(w for w in STOP_WORDS if w in {v for a, b in OPPOSITES for v in a | b}) - {"on", "in", "make", "get", "all", "both"}


@dataclass(frozen=True)
class _Sense:
    """What of a question decides whether an answer fits."""

    text: str
    order: tuple[str, ...]
    """Stems of all words in their order, without frame and articles."""
    stems: frozenset[str]
    """Stems of the content words."""
    plain: str
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
    spelled: dict[str, str]
    """A stem to the word as it was written."""


def guard(
    asked: str, remembered: str, product_names: Sequence[str] = (), release_names: Sequence[str] = ()
) -> str:
    """Return "" where two questions may share an answer, else one sentence that names the difference.

    `product_names` never tell questions apart; neither does a release that just one of them names,
    for memory is kept by release. An addition to ComRAG, which reuses by similarity alone.
    """
    names, releases = tuple(product_names), tuple(release_names)
    left, right = _sense(asked, names, releases), _sense(remembered, names, releases)
    for check in (_numbers, _code, _software, _capitals, _opposites, _negation, _direction, _kinds, _exchange):
        if difference := check(left, right):
            return difference
    return ""


@lru_cache(maxsize=4096)
def _sense(text: str, product_names: tuple[str, ...], release_names: tuple[str, ...]) -> _Sense:
    text = _without_names(text, product_names, release_names)
    code = tuple(identifiers(text))
    flat = text
    for pattern, replacement in _PHRASES:
        flat = pattern.sub(lambda m, r=replacement: r.replace("{}", _middle(m[0])), flat)  # type: ignore[misc]
    shouted = text.isupper()
    stems: dict[str, str] = {}
    software: set[str] = set()
    capitals: set[str] = set()
    named: set[str] = set()
    before = ""
    for match in _WORD.finditer(flat):
        word = re.sub(r"['’]s?$", "", match[0])
        lower = word.lower()
        last, before = before, lower
        if lower in SOFTWARE:
            software.add(SOFTWARE[lower])
        if word.isupper() and len(word) > 1 and word.isalpha() and not shouted:
            capitals.add(lower)
        if word[0].isupper() and last and not shouted and len(word) > 1:
            named.add(_stem(lower))
        elif (lower in STOP_WORDS and lower not in _KEPT) or lower in NEGATIONS or lower.endswith(("n't", "n’t")):
            continue
        if lower in NUMBER_WORDS or lower[0].isdigit() or word in code or (lower in UNITS and last[:1].isdigit()):
            continue
        stems.setdefault(_stem(lower), word)
    numbers, worded, units = _quantities(flat)
    body = _FRAME.sub("", flat)
    return _Sense(
        text=flat.lower(),
        order=tuple(_stem(w.lower()) for w in re.findall(r"[\w'’+#.-]*[\w+#]", body) if w.lower() not in _ARTICLES),
        stems=frozenset(stems),
        plain=" " + " ".join(p for w in re.findall(r"\w+", flat) for p in (parts_of(w) or [w.lower()])) + " ",
        numbers=numbers,
        worded=worded,
        units=units,
        code=code,
        software=frozenset(software),
        capitals=frozenset(capitals),
        names=frozenset(named),
        denied=_denied(flat),
        spelled=stems,
    )


def _without_names(text: str, product_names: tuple[str, ...], release_names: tuple[str, ...]) -> str:
    for name in product_names:
        text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.[A-Za-z])", " ", text, flags=re.IGNORECASE)
    named = [r for r in release_names if re.search(rf"(?<![\w.]){re.escape(r)}(?!\w|\.\d)", text)]
    if len(named) == 1:
        return re.sub(rf"(?<![\w.])v?{re.escape(named[0])}(?:\.\d+|\.x)*(?!\w)", " ", text)
    return text


def _middle(text: str) -> str:
    """Return what stands between verb and particle: the debug mode of "turn debug mode on"."""
    return " ".join(text.split()[1:-1])


def _denied(text: str) -> frozenset[str]:
    """Return the first content word after each negation."""
    quiet = _STOPPED.sub(" not ", _NOT_NEGATED.sub(" ", text.lower()))
    found: set[str] = set()
    pending = False
    for word in re.findall(r"[\w'’+#-]+|[.!?;]", quiet):
        if word in NEGATIONS or word.endswith(("n't", "n’t")):
            pending = True
        elif word in ".!?;":
            pending = False
        elif pending and word not in STOP_WORDS | {"be", "being", "been", "want", "using", "use", "used", "having"} or (
            pending and word in ("see", "show", "get")
        ):
            found.add(_stem(word))
            pending = False
    return frozenset(found)


def _quantities(text: str) -> tuple[frozenset[str], frozenset[str], frozenset[tuple[str, str]]]:
    values: set[str] = set()
    units: set[tuple[str, str]] = set()
    for digits, unit in quantities(text):
        value = re.sub(r"(\.\d*?)0+$", r"\1", digits).rstrip(".") if "." in digits else digits.lstrip("0") or "0"
        values.add(value)
        if unit in UNITS:
            units.add((value, UNITS[unit]))
    values |= {m[1] for m in re.finditer(r"\b[A-Za-z]+(\d+)\b", text)}
    words = {NUMBER_WORDS[w] for w in re.findall(r"[a-z]+", text.lower()) if w in NUMBER_WORDS and w != "one"}
    return frozenset(values), frozenset(values | words), frozenset(units)


# --- the checks ---------------------------------------------------------------------------------


def _said(one: str, other: str) -> str:
    return f"One asks about {one}, the other about {other}."


def _only(one: str) -> str:
    return f"Only one of them speaks of {one}."


def _numbers(left: _Sense, right: _Sense) -> str:
    ours, theirs = left.worded - right.worded, right.worded - left.worded
    if ours and theirs:
        return _said(", ".join(sorted(ours)), ", ".join(sorted(theirs)))
    if lone := (ours & left.numbers) | (theirs & right.numbers):
        return _only(", ".join(sorted(lone)))
    for value, unit in left.units:
        others = {u for v, u in right.units if v == value}
        if others and unit not in others:
            return _said(f"{value} {unit}", f"{value} {min(others)}")
    return ""


def _code(left: _Sense, right: _Sense) -> str:
    ours = [name for name in left.code if not _mentions(name, right)]
    theirs = [name for name in right.code if not _mentions(name, left)]
    if ours and theirs:
        return _said(f"`{ours[0]}`", f"`{theirs[0]}`")
    strict = [name for name in ours + theirs if re.search(r"[_.:()]|^--?|^@", name)]
    return _only(f"`{strict[0]}`") if strict else ""


def _mentions(name: str, other: _Sense) -> bool:
    """Tell whether a question has an identifier, be it in words or by its last part."""
    if name in other.code or any(c.endswith("." + name) or name.endswith("." + c) for c in other.code):
        return True
    if name.startswith("-"):
        return len(name) > 2 and f" {' '.join(parts_of(name))} " in other.plain
    if any(c.lower() == name.lower() for c in other.code):
        return True
    words = " ".join(parts_of(name))
    return bool(words) and f" {words} " in other.plain


def _software(left: _Sense, right: _Sense) -> str:
    ours, theirs = left.software - right.software, right.software - left.software
    return _said(min(ours), min(theirs)) if ours and theirs else ""


def _capitals(left: _Sense, right: _Sense) -> str:
    ours = {c for c in left.capitals if f" {c} " not in right.plain}
    theirs = {c for c in right.capitals if f" {c} " not in left.plain}
    if any(_alike(a, b) or a[0] == b[0] and (a in b or b in a) for a in ours for b in theirs):
        return ""
    return _said(min(ours).upper(), min(theirs).upper()) if ours and theirs else ""


def _opposites(left: _Sense, right: _Sense) -> str:
    ours, theirs = left.stems - right.stems, right.stems - left.stems
    shared = left.stems & right.stems
    if not (ours | theirs) & _POLAR and not ours & theirs:
        pass
    for one, other in _POLES:
        for mine, yours in ((one, other), (other, one)):
            if ours & mine and theirs & yours and not ours & yours and not theirs & mine:
                if (left.denied & mine) or (right.denied & yours):
                    continue  # "don't show" and "hide"
                return _said(left.spelled[min(ours & mine)], right.spelled[min(theirs & yours)])
            if shared & mine and not ours and theirs & yours:
                return _only(right.spelled[min(theirs & yours)])
            if shared & mine and not theirs and ours & yours:
                return _only(left.spelled[min(ours & yours)])
    for mine in ours:
        for yours in theirs:
            longer, shorter = (mine, yours) if len(mine) > len(yours) else (yours, mine)
            if len(shorter) > 2 and any(longer == p + shorter for p in _PREFIXES):
                return _said(left.spelled[mine], right.spelled[yours])
    return ""


def _negation(left: _Sense, right: _Sense) -> str:
    for one, other in ((left, right), (right, left)):
        turned = (other.stems - one.stems) & _TURNED
        if one.denied and not other.denied and not turned and one.denied & other.stems:
            word = min(one.denied & other.stems)
            return f"Only one of them has a negation before “{other.spelled[word]}”."
    return ""


def _direction(left: _Sense, right: _Sense) -> str:
    ours, theirs = set(_PAIRED.findall(left.text)), set(_PAIRED.findall(right.text))
    for a, b in ours:
        if (b, a) in theirs and (b, a) not in ours:
            return _said(f"{a} to {b}", f"{b} to {a}")
    return ""


def _kinds(left: _Sense, right: _Sense) -> str:
    """Find two words of one kind, such as table and column, where little else differs."""
    ours, theirs = _exclusive(left, right), _exclusive(right, left)
    if len(ours) > 2 or len(theirs) > 2 or not left.stems & right.stems:
        return ""
    for mine in sorted(ours):
        for yours in sorted(theirs):
            if _KINDS.get(mine, frozenset()) & _KINDS.get(yours, frozenset()):
                return _said(left.spelled[mine], right.spelled[yours])
    return ""


def _exchange(left: _Sense, right: _Sense) -> str:
    """Find the one word or two that were exchanged, added or dropped where all the rest is the same."""
    ours, theirs = left.order, right.order
    begin = 0
    while begin < min(len(ours), len(theirs)) and ours[begin] == theirs[begin]:
        begin += 1
    end = 0
    while end < min(len(ours), len(theirs)) - begin and ours[-1 - end] == theirs[-1 - end]:
        end += 1
    mine, yours = ours[begin : len(ours) - end], theirs[begin : len(theirs) - end]
    if not (mine or yours) or begin + end < 1 or max(len(mine), len(yours)) > 2:
        return ""
    lone, other = _weighty(mine, left, right), _weighty(yours, right, left)
    if lone and other:
        return _said(_worded(lone, left), _worded(other, right))
    return ""


def _weighty(words: tuple[str, ...], one: _Sense, other: _Sense) -> list[str]:
    return [w for w in words if w in one.stems and (w not in _LIGHT or w in one.names) and not _met(w, other)]


def _exclusive(one: _Sense, other: _Sense) -> set[str]:
    return {w for w in one.stems - other.stems if (w not in _LIGHT or w in one.names) and not _met(w, other)}


def _met(word: str, other: _Sense) -> bool:
    """Tell whether the other question has this word, a synonym, or another form of it."""
    mine = _FAMILIES.get(word, frozenset())
    return any(word == w or _alike(word, w) or mine & _FAMILIES.get(w, frozenset()) for w in other.stems)


def _alike(one: str, other: str) -> bool:
    """Tell whether two stems are one word: a typo, a compound, another ending."""
    short, long = sorted((one, other), key=len)
    if len(short) >= 4 and long.startswith(short[: max(4, len(short) - 1)]) and len(long) - len(short) <= 4:
        return True
    if len(short) < 5 or one[0] != other[0] or len(long) - len(short) > 1:
        return False
    if len(short) == len(long):
        wrong = [i for i in range(len(one)) if one[i] != other[i]]
        swapped = len(wrong) == 2 and wrong[1] == wrong[0] + 1 and one[wrong[0]] == other[wrong[1]]
        return len(wrong) == 1 or swapped
    return any(long[:i] + long[i + 1 :] == short for i in range(len(long)))


def _worded(words: Sequence[str], sense: _Sense) -> str:
    return " ".join(sense.spelled[w] for w in words)
