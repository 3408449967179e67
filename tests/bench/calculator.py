"""The calculators on hostile and random texts: `python -m tests.bench.calculator [COUNT] [SEED]`.

Nothing may come of a text but a number, a date or a clear error; nothing may take 50 ms of processor time.
"""

from __future__ import annotations

import math
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from statistics import quantiles

from core.errors import UsageError
from core.generation.calculations.figures import converted
from core.generation.calculations.plain import plain
from core.generation.calculations.wording import Calculation
from core.generation.calculator import calculate
from tests.core.generation.plain_questions import LEFT, TAKEN
from tests.hostile import UNITS

COUNT = 100_000
TODAY = datetime(2024, 3, 10)
LONGEST = 400
_NUMBERS = (
    *"0 1 2 7 0.1 1e308 1e-320 3.14 1,000 1_000 0x1f 007 256 2048 1..2 1.2.3 ∞ nan inf ١٢ ½ ²".split(),
    "9" * 30,
    "9" * 180,
)
_SIGNS = tuple("+ - * / // % ** ^ × ÷ << | @ == , . ( ) [ ]".split())
_WORDS = (
    *(
        f" {word} "
        for word in "how many/what is/convert/calculate/in/to/for/at/of/and/per/between".split("/")
    ),
    *(f" {word}" for word in "after before percent bytes days seconds requests month today ago".split()),
    *"MB GiB /s year °C °F 2024-02-29 2023-02-31 9999-12-31 0001-01-01 sqrt( exp( log( max( pi e".split(),
    *("half a ", "__import__('os')", "lambda: 1", "x.__class__", "True", "{{calc: ", "}}"),
    *("\0", "\u202e", "\ud83d", "\n", "é", "中"),
)
_RESULT = re.compile(
    r"-?\d[\d.]*(?:E[+-]?\d+|e[+-]?\d+)?(?: ?[^\W\d][^\d]*| ?[°%][CF]?)?(?:and \d+ [a-z]+)?"
    r"|\d{4}-\d{2}-\d{2}(?: \d{2}:\d{2})?|[A-Z][a-z]+day"
)


@dataclass
class Tried:
    """What came of texts: the slowest with its seconds, all times, and how many came to what."""

    seconds: float = 0.0
    text: str = ""
    times: list[float] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def text_of(draw: random.Random) -> str:
    """Return a text: known questions changed, parts of calculations at random, one thing over and over."""
    kind = draw.randrange(4)
    if kind == 0:
        asked = draw.choice([question for question, _ in TAKEN] + list(LEFT))
        for _ in range(draw.randint(0, 4)):
            at = draw.randint(0, len(asked))
            asked = (
                asked[:at] + draw.choice((*_NUMBERS, *_SIGNS, *_WORDS, "")) + asked[at + draw.randint(0, 3) :]
            )
        return asked
    if kind == 1:
        parts = [draw.choice((*_NUMBERS, *_SIGNS, *_WORDS)) for _ in range(draw.randint(1, 40))]
        return draw.choice(("", " ")).join(parts)[:LONGEST]
    if kind == 2:
        unit = draw.choice((*UNITS, *_NUMBERS, *_SIGNS, *_WORDS))
        return (draw.choice(("", "1 ", "(", "what is ")) + unit * draw.randint(1, 200))[:LONGEST]
    return "".join(
        chr(draw.choice((draw.randint(0, 127), draw.randint(0, 0x2FFF)))) for _ in range(draw.randint(0, 120))
    )


def _calculated(text: str) -> str:
    """Return what `calculate` came to; raises AssertionError where that is no finite number."""
    try:
        result = calculate(text)
    except UsageError as error:
        assert str(error).endswith("."), error
        return "error"
    assert math.isfinite(float(result)) or len(result) > 300, result
    return "number"


def _plain(text: str) -> str:
    found = plain(text, TODAY)
    if found is None:
        return "left"
    assert isinstance(found, Calculation) and _RESULT.fullmatch(found.result), (text, found)
    return "worked out"


def _figure(text: str) -> str:
    found = converted(f"how many bytes is it? {text}", text)
    assert found is None or _RESULT.fullmatch(found[1]), (text, found)
    return "left" if found is None else "converted"


WAYS: dict[str, Callable[[str], str]] = {"calculate": _calculated, "plain": _plain, "figures": _figure}


def worst_of(count: int, draw: random.Random) -> Tried:
    """Try so many texts in each way; return what came of them. Raises AssertionError for no number."""
    plain("1 MB in bytes", TODAY)  # what is imported once is no text's time
    tried = Tried()
    for _ in range(count):
        text = text_of(draw)
        for name, way in WAYS.items():
            start = time.process_time()
            came = way(text)
            seconds = time.process_time() - start
            tried.counts[f"{name}: {came}"] += 1
            tried.times.append(seconds)
            if seconds > tried.seconds:
                tried.seconds, tried.text = seconds, text
    return tried


def main() -> None:
    """Try them and print what came of it."""
    given = [int(one) for one in sys.argv[1:]]
    tried = worst_of(given[0] if given else COUNT, random.Random(given[1] if len(given) > 1 else 16))
    for name, count in sorted(tried.counts.items()):
        print(f"{name:24} {count:8}")
    cuts = quantiles(tried.times, n=1000)
    print(f"median {cuts[499] * 1e3:.3f} ms, p99 {cuts[989] * 1e3:.3f} ms, p99.9 {cuts[998] * 1e3:.3f} ms")
    print(f"slowest {tried.seconds * 1e3:.1f} ms: {tried.text!r}")


if __name__ == "__main__":
    main()
