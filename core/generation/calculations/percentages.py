"""Percentages: of an amount, of one amount in another, added, and between two amounts."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from core.generation.calculations import units
from core.generation.calculations.amounts import Amount, NoAmount, amount
from core.generation.calculations.measured import shown
from core.generation.calculations.wording import Calculation, Said, Token

_PERCENT = frozenset({"%", "percent", "percentage"})


def percentages(told: Said) -> Calculation | None:
    """Work out a question about percentages; None for every other one, and MISFITS for no amounts."""
    tokens = list(told.tokens)
    words = [token.low for token in tokens]
    if not _PERCENT & set(words):
        return None
    if tokens[0].kind == "number" and words[1:3] in (["%", "of"], ["percent", "of"]):
        share, whole = tokens[0].number, _amount_or_number(tokens[3:])
        return _of(whole, share / 100, f"{units.written(share)}% of {shown(tokens[3:])}")
    for frame in (
        ["what", "percentage", "is"], ["what", "percent", "is"], ["how", "many", "percent", "is"],
        ["how", "many", "percent", "are"], ["which", "percentage", "is"],
    ):  # fmt: skip
        if words[: len(frame)] == frame:
            return _share(tokens[len(frame) :])
    if words[-2:] in (["in", "percent"], ["in", "%"], ["as", "percentage"]):
        return _share(tokens[:-2])
    for frame in (["is", "what", "percent", "of"], ["is", "what", "percentage", "of"]):
        for at in range(1, len(words) - len(frame)):
            if words[at : at + len(frame)] == frame:
                return _share([*tokens[:at], tokens[at + 3], *tokens[at + 4 :]])
    if words[0] == "the":
        tokens, words = tokens[1:], words[1:]
    if words[:2] in (["percentage", "change"], ["percent", "change"], ["percentage", "increase"],
                     ["percentage", "decrease"], ["percentage", "difference"]):  # fmt: skip
        return _change(tokens[2:])
    return _raised(tokens)


def _amount_or_number(tokens: Sequence[Token]) -> Amount:
    found = amount(tokens)
    if found.measure is None and not found.value.unitless:
        raise NoAmount
    return found


def _of(whole: Amount, share: Fraction, working: str) -> Calculation:
    if whole.measure is None:
        return Calculation(units.written(Fraction(whole.value.magnitude) * share), working)
    value = units.converted(whole.value, whole.measure.name) * share
    return Calculation(whole.measure.of(value), working)


def _share(tokens: Sequence[Token]) -> Calculation | None:
    """Return how many per cent the first of two amounts, parted by "of", is of the second."""
    words = [token.low for token in tokens]
    if words.count("of") != 1:
        return None
    at = words.index("of")
    part, whole = _amount_or_number(tokens[:at]), _amount_or_number(tokens[at + 1 :])
    ratio = part.value / whole.value
    if not ratio.dimensionless:
        return None
    value = Fraction(ratio.to("").magnitude) * 100
    return Calculation(f"{units.written(value)}%", f"{shown(tokens[:at])} / {shown(tokens[at + 1 :])} × 100")


def _change(tokens: Sequence[Token]) -> Calculation | None:
    words = [token.low for token in tokens]
    if words[:1] not in (["from"], ["between"]) or not {"to", "and"} & set(words):
        return None
    at = next(n for n, word in enumerate(words) if word in ("to", "and"))
    old, new = _amount_or_number(tokens[1:at]), _amount_or_number(tokens[at + 1 :])
    ratio = (new.value - old.value) / old.value
    value = Fraction(ratio.to("").magnitude) * 100
    working = f"({shown(tokens[at + 1 :])} - {shown(tokens[1:at])}) / {shown(tokens[1:at])} × 100"
    return Calculation(f"{units.written(value)}%", working)


def _raised(tokens: Sequence[Token]) -> Calculation | None:
    """Read "80 + 20%"."""
    words = [token.low for token in tokens]
    if len(tokens) < 4 or words[-1] not in ("%", "percent") or tokens[-2].kind != "number":
        return None
    way = {"+": 1, "plus": 1, "-": -1, "minus": -1}.get(words[-3])
    if way is None:
        return None
    base, share = _amount_or_number(tokens[:-3]), tokens[-2].number
    sign = "+" if way > 0 else "-"
    return _of(base, 1 + way * share / 100, f"{shown(tokens[:-3])} {sign} {units.written(share)}%")
