"""What is nothing but a calculation, by its whole wording: sums, conversions, rates, dates, percentages.

A question is taken only where every word of it belongs to a form; whatever has one word more is a question
for the documentation.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from core.generation.calculations import dates
from core.generation.calculations.amounts import MISFITS
from core.generation.calculations.measured import measured
from core.generation.calculations.percentages import percentages
from core.generation.calculations.sums import arithmetic
from core.generation.calculations.wording import Calculation, Token, said


def plain(text: str, today: datetime) -> Calculation | None:
    """Work out a question that is nothing but a calculation; None for every other one."""
    told = said(text)
    if told is None:
        return None
    if any(token.kind in ("date", "clock") for token in told.tokens) or _speaks_of_today(told.tokens):
        of_dates = dates.worked(told.tokens, today)
        return Calculation(*of_dates) if of_dates else None
    for form in (percentages, measured, arithmetic):
        try:
            if found := form(told):
                return found
        except MISFITS:
            continue
    return None


def _speaks_of_today(tokens: Sequence[Token]) -> bool:
    return any(token.low in ("today", "ago") for token in tokens)
