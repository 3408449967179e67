"""Texts made to be slow to read, and how it is measured whether something is slow to read them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

MOST = 100_000
"""Characters of the longest text that is tried."""
SOON = 0.5e-6
"""Seconds for a character of the longest text that nobody waits for."""
LINEAR = 2.0
"""How much more a character may take in a text four times as long; where time is quadratic it takes 4."""
ROOF = 10e-6
"""Seconds for a character that nothing may take, on a machine that is busy with other things, too."""
SHORT = 5e-4
"""Seconds that are too few to be told from noise."""
SIGNS = " \t\na1Aé中()[]{}<>`~-_.,'\":;/\\*#|=+?!@$&"
PAIRS = (
    " \n", "\n\n", "\r\n", "```", "a ", " a", "a.", ".a", "a-", "a_", "a:", "a/", "1.", "1 ", "1,", "aA",
    "a1", "A1", "a\n", "- a\n", "> ", "a, ", "a? ", "a. A", "a (", "[a](", "](", "[a]", "[[", "<a ", "<a>",
    "</", "{{", "{%", "![", "**", "``", "` ", "| ", "|-", ":-", "--", "---\n", "```\n", "# a\n", '"a" ',
    "a' ", "a=", "=a", "the ", "how do i ", "and ", "is it a ", "I am on ", "version ", "3.1 ", "A.B ", "http://",
    "http://a ", "a@", "a@a.", ".. a::\n", ":a: ",
)  # fmt: skip
UNITS = (*SIGNS, *PAIRS)
"""What is repeated: space, letters, every bracket and mark, and what looks like the beginning of more."""


class Attack(NamedTuple):
    """A text that repeats one thing, between something to begin with and something that ends it."""

    head: str
    unit: str
    tail: str

    def text(self, size: int) -> str:
        """Return it with about so many characters."""
        return self.head + self.unit * (size // len(self.unit)) + self.tail

    def __str__(self) -> str:
        return f"{self.head[:80]!r} + {self.unit[:80]!r} * n + {self.tail!r}"


GENERIC = tuple(Attack("", unit, "\0") for unit in UNITS)


def made_for(pattern: str | bytes, flags: int) -> Iterator[Attack]:
    """Yield what a pattern says is hostile to it: each of its repeats over and over, after what precedes.

    Also two repeats that follow each other, its beginnings, nearly all of it again and again, and what is
    hostile to everything before a character that its sets leave out.
    """
    text = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
    tree = list(_parser.parse(text, flags | (re.ASCII if isinstance(pattern, bytes) else 0)))
    yield from dict.fromkeys(attack for attack in _attacks(tree) if attack.unit)


def _attacks(tree: list[Any]) -> Iterator[Attack]:
    stops = "".join(dict.fromkeys(_stops(tree)))
    tails = ("\0", "\n", *([stops] if stops else []))
    for variant in range(_VARIANTS):
        whole = _witness(tree, variant)
        for unit in (whole, whole[:-1], whole[:-2], whole[: len(whole) // 2]):
            yield from (Attack("", unit, tail) for tail in tails)
    if stops:
        yield from (Attack("", unit, stops) for unit in UNITS)
    repeats = list(_repeats(tree, ""))
    for head, item in repeats:
        for variant in range(_VARIANTS):
            unit = _witness(item, variant)
            for tail in tails:
                yield Attack(head, unit, tail)
                yield Attack("", unit, tail)
                yield Attack("", head + unit, tail)
            yield Attack("", unit + "\n", "")
            yield Attack("", head, unit)
            yield Attack("", "a" + unit, "\0")
    for (first, one), (second, two) in pairwise(repeats):
        between = second.removeprefix(first) if second.startswith(first) else ""
        for a, b in ((0, 0), (1, 0), (0, 1)):
            both = _witness(one, a) + between + _witness(two, b)
            yield Attack(first, both, "\0")
            yield Attack("", both, "\0")
            yield Attack(first + _witness(one, a) * 300 + between, _witness(two, b), "\0")


_VARIANTS = 4
_MANY = 12
"""Times from which something that may be repeated can be hostile."""
_REPEATED = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
_AROUND = (sre.ASSERT, sre.ASSERT_NOT)


def _inside(kind: Any, given: Any) -> list[list[Any]]:
    """Return the items inside of an item, by branch."""
    if kind in _REPEATED:
        return [list(given[2])]
    if kind is sre.SUBPATTERN:
        return [list(given[3])]
    if kind is sre.ATOMIC_GROUP:
        return [list(given)]
    if kind is sre.BRANCH:
        return [list(branch) for branch in given[1]]
    return [list(given[1])] if kind in _AROUND else []


def _stops(items: list[Any]) -> Iterator[str]:
    """Yield the characters that a pattern's negated sets leave out: what ends its repeats."""
    for kind, given in items:
        if kind is sre.NOT_LITERAL:
            yield chr(given)
        elif kind is sre.IN and given[0][0] is sre.NEGATE:
            yield from (chr(value) for what, value in given if what is sre.LITERAL)
        for inner in _inside(kind, given):
            yield from _stops(inner)


def _repeats(items: list[Any], head: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield what may be repeated, with a text that leads to it."""
    for at, (kind, given) in enumerate(items):
        before = head + _witness(items[:at], 0)
        if kind in _REPEATED and given[1] > _MANY:
            yield before, list(given[2])
        if kind in _AROUND and given[0] < 0:
            continue
        for inner in _inside(kind, given):
            yield from _repeats(inner, before)


def _witness(items: list[Any], variant: int) -> str:
    """Return a short text that items match, more or less; variants take other characters and branches."""
    return "".join(_one(kind, given, variant) for kind, given in items)


_SAMPLES = "a 0.\n-_A`'\"([{<*:,;/#|=~!>\\é\t)]}中@$%&^+?"


def _one(kind: Any, given: Any, variant: int) -> str:
    if kind is sre.LITERAL:
        return chr(given)
    if kind is sre.NOT_LITERAL:
        return [sign for sign in _SAMPLES if ord(sign) != given][variant % 5]
    if kind is sre.ANY:
        return "a .0"[variant % 4]
    if kind is sre.IN:
        members = _members(given)
        return members[variant % min(len(members), _VARIANTS)]
    if kind in _AROUND or not (inside := _inside(kind, given)):
        return ""
    text = _witness(inside[variant % len(inside)], variant)
    return text * max(min(given[0], 50), min(given[1], 1) if variant else 0) if kind in _REPEATED else text


def _members(given: Any) -> list[str]:
    """Return characters of a set, some of each kind."""
    spelled = [chr(value) for what, value in given if what is sre.LITERAL]
    is_member = re.compile(_class(given)).match
    fitting = [sign for sign in _SAMPLES if is_member(sign)]
    own = [] if given[0][0] is sre.NEGATE else spelled[-2:]
    return list(dict.fromkeys([*fitting[:2], *own, *fitting])) or spelled or ["a"]


_CATEGORIES = {
    sre.CATEGORY_DIGIT: r"\d",
    sre.CATEGORY_NOT_DIGIT: r"\D",
    sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S",
    sre.CATEGORY_WORD: r"\w",
    sre.CATEGORY_NOT_WORD: r"\W",
}


def _class(given: Any) -> str:
    """Write a set as it stands in a pattern."""
    out = ""
    for kind, value in given:
        if kind is sre.NEGATE:
            out += "^"
        elif kind is sre.LITERAL:
            out += re.escape(chr(value))
        elif kind is sre.RANGE:
            out += f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
        else:
            out += _CATEGORIES[value]
    return f"[{out}]"


def slow(read: Callable[[str], object], attack: Attack) -> str:
    """Say how slow something is to read a text that grows; "" where its time grows as the text does.

    Growing stops where four times the text took about four times as long, and where the longest text will be
    read soon even if time is quadratic.
    """
    size, before = max(200, 40 * len(attack.unit), len(attack.head)), 0.0
    rates: dict[int, float] = {}
    while True:
        text = attack.text(size)
        rate, fine = _rate(read, text), max(SOON * size / MOST, LINEAR * before)
        for _ in range(3):  # a busy machine takes time from everybody
            if rate > fine:
                rate = min(rate, _rate(read, text))
        rates[size] = rate
        if rate > ROOF and rate * len(text) > SHORT:
            return _told("takes too long", rates)
        if before and rate < fine:
            return ""
        if size == MOST:
            return _told("grows faster than its text", rates)
        size, before = min(4 * size, MOST), rate


def _told(what: str, rates: dict[int, float]) -> str:
    return f"{what}: " + ", ".join(f"{size}: {rate * size * 1e3:.1f} ms" for size, rate in rates.items())


def _rate(read: Callable[[str], object], text: str) -> float:
    """Return the seconds of processor time for a character of a text."""
    used, began = time.process_time(), time.perf_counter()
    read(text)
    # some machines count processor time in ticks of milliseconds; nothing takes more of it than passes
    return min(time.perf_counter() - began, max(time.process_time() - used, 1e-6)) / len(text)
