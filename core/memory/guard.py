"""Tell apart questions that are near in meaning space but must not share an answer.

Embeddings put opposites side by side (enable/disable .96, 10/100 MB .94). Reuse therefore needs the
same numbers, identifiers, names, polarity and direction, and no lone word exchanged for another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.languages import _
from core.memory.sense import Sense, root, sense
from core.text import parts_of
from core.vocabulary import OPPOSITES, RIVALS, SOFTWARE, SYNONYMS, word_list

_DOMAIN = re.compile(r"\.(?:com|org|net|io|dev|de|eu|co|js)$", re.IGNORECASE)
_PAIRED = re.compile(
    r"(?<![\w+#.-])([\w+#.-]+(?:\s\d[\w.]*)?)\s+(?:in)?to\s+(?:an?\s+|the\s+)?([\w+#.-]+(?:\s+\d[\w.]*)?)",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(last|previous|past|this|current|present|next|coming|following)\s+"
    r"(?:second|minute|hour|day|night|week|weekend|month|quarter|year|release|version)\b",
    re.IGNORECASE,
)
_WHEN = {
    **dict.fromkeys(("last", "previous", "past"), "the last"),
    **dict.fromkeys(("this", "current", "present"), "this"),
    **dict.fromkeys(("next", "coming", "following"), "the next"),
}
_ONE = frozenset(word_list("one single individual"))
_ALL = frozenset(word_list("all every each everyone everybody entire whole"))
_PREFIXES = ("un", "de", "dis", "non", "in", "im", "ir")
_TURNED = frozenset(
    root(w)
    for w in word_list(
        """disable deactivate remove delete prevent stop avoid hide deny forbid block uninstall refuse
        reject suppress silence ignore skip exclude lack fail fails error broken problem trouble unable
        impossible miss missing lose lost wrong invalid issue restrict undo unable hidden invisible rid
        clear omit bypass escape forgot forget unlike gone dead empty off offline quit cancel kill leave
        halt pause cease revoke withdraw"""
    )
)
"""Words that say by themselves what another question says with "not"."""
_LIGHT = frozenset(
    root(w)
    for w in word_list(
        """make way possible best good better easy easily simple simply work works use using used want need
        able help question problem issue mean meaning happen actually currently exactly really correct
        correctly proper properly right know tell explain wonder idea example go going come take give
        keep done let try find get have cause reason purpose seem look looking like just still even ever
        already specific certain thing stuff kind sort someone anyone something anything people person
        one ones user's since here there time point respective various own my please wish wanna gonna
        cant recommend recommended suggest suggestion suggestions advice solution method approach manner
        quick quickly quickest fastest safe available support supported case different possibility exist
        exists long often many much number well part lot"""
    )
)


def _index(groups: Sequence[frozenset[str]]) -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, group in enumerate(groups):
        for word in group:
            found.setdefault(root(word), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


_FAMILIES = _index(SYNONYMS)
_KINDS = _index(RIVALS)
_NAMED = {root(spelled): name for spelled, name in SOFTWARE.items()}
_ONE_ROOTS, _ALL_ROOTS = frozenset(map(root, _ONE)), frozenset(map(root, _ALL))
_POLES = tuple((frozenset(map(root, a)), frozenset(map(root, b))) for a, b in OPPOSITES)


def guard(
    asked: str, remembered: str, product_names: Sequence[str] = (), release_names: Sequence[str] = ()
) -> str:
    """Return "" where two questions may share an answer, else one sentence that names the difference.

    `product_names` never tell questions apart; neither does a release that just one of them names,
    for memory is kept by release. An addition to ComRAG, which reuses by similarity alone.
    """
    names, releases = tuple(product_names), tuple(release_names)
    left, right = sense(asked, names, releases), sense(remembered, names, releases)
    for check in (
        _numbers,
        _code,
        _software,
        _capitals,
        _opposites,
        _negation,
        _direction,
        _amount,
        _time,
        _kinds,
        _exchange,
    ):
        if difference := check(left, right):
            return difference
    return ""


# --- the checks ---------------------------------------------------------------------------------


def _said(one: str, other: str) -> str:
    return _("One asks about {one}, the other about {other}.").format(one=one, other=other)


def _only(one: str) -> str:
    return _("Only one of them speaks of {one}.").format(one=one)


def _numbers(left: Sense, right: Sense) -> str:
    ours, theirs = left.worded - right.worded, right.worded - left.worded
    if ours and theirs:
        return _said(", ".join(sorted(ours)), ", ".join(sorted(theirs)))
    if single := (ours & left.numbers) | (theirs & right.numbers):
        return _only(", ".join(sorted(single)))
    for value, unit in left.units:
        others = {u for v, u in right.units if v == value}
        if others and unit not in others:
            return _said(f"{value} {unit}", f"{value} {min(others)}")
    return ""


def _code(left: Sense, right: Sense) -> str:
    ours = [name for name in left.code if not _mentions(name, right)]
    theirs = [name for name in right.code if not _mentions(name, left)]
    if ours and theirs:
        return _said(f"`{ours[0]}`", f"`{theirs[0]}`")
    strict = [name for name in ours + theirs if re.search(r"[_.:()]|^-", name) and not _DOMAIN.search(name)]
    return _only(f"`{strict[0]}`") if strict else ""


def _mentions(name: str, other: Sense) -> bool:
    """Tell whether a question has an identifier, be it in words or by its last part."""
    if name in other.code or any(c.endswith("." + name) or name.endswith("." + c) for c in other.code):
        return True
    if name.startswith("-"):
        return len(name) > 2 and f" {' '.join(parts_of(name))} " in other.plain
    if any(c.lower() == name.lower() for c in other.code):
        return True
    words = " ".join(parts_of(name))
    return bool(words) and f" {words} " in other.plain


def _software(left: Sense, right: Sense) -> str:
    ours, theirs = left.software - right.software, right.software - left.software
    return _said(min(ours), min(theirs)) if ours and theirs else ""


def _capitals(left: Sense, right: Sense) -> str:
    ours = {c for c in left.capitals - right.capitals if len(c) == 1 or f" {c} " not in right.plain}
    theirs = {c for c in right.capitals - left.capitals if len(c) == 1 or f" {c} " not in left.plain}
    if any(a + "s" == b or b + "s" == a for a in ours for b in theirs):  # HTTP and HTTPS
        return _said(min(ours).upper(), min(theirs).upper())
    if any(_alike(a, b) or (a[0] == b[0] and (a in b or b in a)) for a in ours for b in theirs):
        return ""
    return _said(min(ours).upper(), min(theirs).upper()) if ours and theirs else ""


def _opposites(left: Sense, right: Sense) -> str:
    ours, theirs = left.stems - right.stems, right.stems - left.stems
    shared = left.stems & right.stems
    for one, other in _POLES:
        for mine, yours in ((one, other), (other, one)):
            if ours & mine and theirs & yours and not ours & yours and not theirs & mine:
                if _turned(left, ours) and _turned(right, theirs) and (mine | yours) & _TURNED:
                    continue  # "stop it from playing" and "disable that it starts", "don't show" and "hide"
                return _said(left.spelled[min(ours & mine)], right.spelled[min(theirs & yours)])
            if shared & mine and not ours and theirs & yours:
                return _only(right.spelled[min(theirs & yours)])
            if shared & mine and not theirs and ours & yours:
                return _only(left.spelled[min(ours & yours)])
    for a in ours:
        for b in theirs:
            longer, shorter = (a, b) if len(a) > len(b) else (b, a)
            if len(shorter) > 2 and any(longer == p + shorter for p in _PREFIXES):
                base = left if shorter == a else right
                if base.denied or base.stems & _TURNED:
                    continue  # "unlabeled" and "not labeled", "untrust" and "revoke the trust"
                return _said(left.spelled[a], right.spelled[b])
    return ""


def _turned(one: Sense, exclusive: frozenset[str]) -> bool:
    return bool(one.denied or exclusive & _TURNED)


def _negation(left: Sense, right: Sense) -> str:
    for one, other in ((left, right), (right, left)):
        turned = (other.stems - one.stems) & _TURNED
        if one.denied and not other.denied and not turned and one.denied & other.stems:
            word = min(one.denied & other.stems)
            said = _("Only one of them has a negation before “{word}”.")
            return said.format(word=other.spelled[word])
    return ""


def _direction(left: Sense, right: Sense) -> str:
    ours, theirs = set(_PAIRED.findall(left.text)), set(_PAIRED.findall(right.text))
    for a, b in ours:
        if (b, a) in theirs and (b, a) not in ours:
            return _said(f"{a} to {b}", f"{b} to {a}")
    if len(left.stems ^ right.stems) > 2:
        return ""
    (start, end), (other_start, other_end) = _parted(left), _parted(right)
    there, back = (start & other_end) - end - other_start, (end & other_start) - start - other_end
    if there and back:
        one, two = left.spelled[min(there)], left.spelled[min(back)]
        return _said(f"{one} to {two}", f"{two} to {one}")
    return ""


def _parted(one: Sense) -> tuple[frozenset[str], frozenset[str]]:
    """Return the content words before and after the last "to" or "into" of a question."""
    at = max((place for place, word in enumerate(one.order) if word in ("to", "into")), default=-1)
    if at < 0:
        return frozenset(), frozenset()
    return frozenset(one.order[:at]) & one.stems, frozenset(one.order[at:]) & one.stems


def _amount(left: Sense, right: Sense) -> str:
    """Find that one of them asks about one thing, the other about all."""
    for a, b in ((left, right), (right, left)):
        ours, theirs = set(a.order), set(b.order)
        if ours & _ONE_ROOTS and theirs & _ALL_ROOTS and not ours & _ALL_ROOTS and not theirs & _ONE_ROOTS:
            one, every = ("one", "all") if a is left else ("all", "one")
            return _said(one, every)
    return ""


def _time(left: Sense, right: Sense) -> str:
    ours = {_WHEN[word.lower()] for word in _TIME.findall(left.text)}
    theirs = {_WHEN[word.lower()] for word in _TIME.findall(right.text)}
    return _said(f"{min(ours)} time", f"{min(theirs)}") if ours and theirs and ours != theirs else ""


def _kinds(left: Sense, right: Sense) -> str:
    """Find two words of one kind, such as table and column, where little else differs."""
    ours, theirs = _exclusive(left, right), _exclusive(right, left)
    if len(ours) > 2 or len(theirs) > 2 or not left.stems & right.stems:
        return ""
    for mine in sorted(ours):
        for yours in sorted(theirs):
            if _KINDS.get(mine, frozenset()) & _KINDS.get(yours, frozenset()):
                return _said(left.spelled[mine], right.spelled[yours])
    return ""


def _exchange(left: Sense, right: Sense) -> str:
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


def _weighty(words: tuple[str, ...], one: Sense, other: Sense) -> list[str]:
    """Return the words that weigh, of those in which two questions differ."""
    coded = {root(name.lower()) for name in one.code if not _mentions(name, other)}
    return [
        w
        for w in words
        if w in coded
        or (w in _ALL_ROOTS and not _ALL_ROOTS & set(other.order))
        or (w in one.stems and not _is_light(w, one) and not _met(w, one, other))
    ]


def _exclusive(one: Sense, other: Sense) -> set[str]:
    return {w for w in one.stems - other.stems if not _is_light(w, one) and not _met(w, one, other)}


def _is_light(word: str, one: Sense) -> bool:
    """Tell whether a word says little; who does something (owner) says more than doing it (own)."""
    agent = one.spelled[word].lower().rstrip("s").endswith("er") and not word.endswith("er")
    return word in _LIGHT and word not in one.names and not agent


def _met(word: str, one: Sense, other: Sense) -> bool:
    """Tell whether the other question has this word, a synonym, or another form of it."""
    mine = _FAMILIES.get(word, frozenset())
    if _NAMED.get(word, "?") in other.software:
        return True
    free = other.stems - one.stems  # what both have stands for itself
    return any(_alike(word, w) for w in other.stems) or any(
        mine & _FAMILIES.get(w, frozenset()) for w in free
    )


def _alike(one: str, other: str) -> bool:
    """Tell whether two stems are one word: a typo, a compound, another ending."""
    short, long = sorted((one, other), key=len)
    if len(short) >= 4 and long.startswith(short[: max(4, len(short) - 1)]) and len(long) - len(short) <= 3:
        return True
    if len(short) < 5 or one[0] != other[0] or len(long) - len(short) > 1:
        return False
    if len(short) == len(long):
        wrong = [i for i in range(len(one)) if one[i] != other[i]]
        swapped = len(wrong) == 2 and wrong[1] == wrong[0] + 1 and one[wrong[0]] == other[wrong[1]]
        return len(wrong) == 1 or swapped
    return any(long[:i] + long[i + 1 :] == short for i in range(len(long)))


def _worded(words: Sequence[str], sense: Sense) -> str:
    return " ".join(sense.spelled.get(w, w) for w in words)
