"""Whether one question says what the other says, be it in another word, and how a difference is put."""

from __future__ import annotations

from collections.abc import Sequence

from core.languages import _
from core.memory.guard.sense import Sense, root
from core.text.words import parts_of
from core.vocabulary import RIVALS, SOFTWARE, SYNONYMS, words_of

_LONG = 4
"""Letters that a word has more of where a slip of the finger tells no other word."""
_ENDINGS = frozenset(("ment", "ments", "ation", "ations", "ition", "ness", "able", "ance", "ence"))
_LIGHT = frozenset(map(root, words_of(__package__)["light"].split()))
"""Stems of words in which two questions may differ and still ask the same."""
_NAMED = {root(spelled): name for spelled, name in SOFTWARE.items()}


def places_of(groups: Sequence[frozenset[str]]) -> dict[str, frozenset[int]]:
    """Map each stem to the numbers of the groups it is in."""
    found: dict[str, set[int]] = {}
    for number, group in enumerate(groups):
        for word in group:
            found.setdefault(root(word), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


_FAMILIES = places_of(SYNONYMS)
DEEDS = places_of([frozenset(group.split()) for group in words_of(__package__)["deeds"].split("|")])
"""Stems of what is done, each with the numbers of the groups that it is in."""
_KINDS = places_of(RIVALS)


def mentions(name: str, other: Sense) -> bool:
    """Return True if a question has an identifier, be it in words or by its last part."""
    if name in other.code or any(c.endswith("." + name) or name.endswith("." + c) for c in other.code):
        return True
    if name.startswith("-"):
        return len(name) > 2 and f" {' '.join(parts_of(name))} " in other.plain
    if any(c.lower() == name.lower() for c in other.code):
        return True
    words = " ".join(parts_of(name))
    return bool(words) and f" {words} " in other.plain


def exclusive(one: Sense, other: Sense) -> set[str]:
    """Return the stems that weigh in a question and have no counterpart in the other."""
    return {w for w in one.stems - other.stems if not is_light(w, one) and not met(w, one, other)}


def apart(left: Sense, right: Sense) -> int:
    """Return how many words of two questions weigh and have no counterpart in the other one."""
    return len(exclusive(left, right)) + len(exclusive(right, left))


def is_light(word: str, one: Sense) -> bool:
    """Return True if a word says little; who does something (owner) says more than doing it (own)."""
    agent = one.spelled[word].lower().rstrip("s").endswith("er") and not word.endswith("er")
    return word in _LIGHT and word not in one.names and not agent


def met(word: str, one: Sense, other: Sense) -> bool:
    """Return True if the other question has this word, a synonym, or another form of it."""
    mine = _FAMILIES.get(word, frozenset())
    if _NAMED.get(word, "?") in other.software:
        return True
    spelled = one.spelled.get(word, word).lower()
    if spelled in other.joined or any(
        spelled in (long[: len(spelled)], long[-len(spelled) :]) and long.lower() in one.joined
        for long in other.spelled.values()
    ):
        return True
    free = other.stems - one.stems  # what both have stands for itself
    if any(alike(word, w) for w in other.stems) or any(mine & _FAMILIES.get(w, frozenset()) for w in free):
        return True
    return len(spelled) > _LONG and any(mistyped(spelled, w.lower()) for w in other.spelled.values())


def of_a_kind(one: str, other: str) -> bool:
    """Return True if two stems are words of one kind, such as table and column."""
    return bool(_KINDS.get(one, frozenset()) & _KINDS.get(other, frozenset()))


def mistyped(one: str, other: str) -> bool:
    """Return True if two words have the same letters, first and last in place, or differ in one at most."""
    one, other = one.replace("-", ""), other.replace("-", "")
    if one[0] != other[0] or len(other) <= _LONG:
        return False
    return (one[-1] == other[-1] and sorted(one) == sorted(other)) or alike(one, other)


def alike(one: str, other: str) -> bool:
    """Return True if two stems are one word: a typo, a compound, another ending."""
    short, long = sorted((one, other), key=len)
    if len(short) >= 4 and long.startswith(short) and long[len(short) :] in _ENDINGS:
        return True
    if len(short) >= 4 and long.startswith(short[: max(4, len(short) - 1)]) and len(long) - len(short) <= 3:
        return True
    if len(short) < 5 or one[0] != other[0] or len(long) - len(short) > 1:
        return False
    if len(short) == len(long):
        wrong = [i for i in range(len(one)) if one[i] != other[i]]
        swapped = len(wrong) == 2 and wrong[1] == wrong[0] + 1 and one[wrong[0]] == other[wrong[1]]
        return len(wrong) == 1 or swapped
    return any(long[:i] + long[i + 1 :] == short for i in range(len(long)))


def said(one: str, other: str) -> str:
    """Say that the two ask about different things."""
    return _("One asks about {one}, the other about {other}.").format(one=one, other=other)


def only(one: str) -> str:
    """Say that just one of the two speaks of something."""
    return _("Only one of them speaks of {one}.").format(one=one)
