"""What is said of a vote by button: that it counts, and what it has just done."""

from __future__ import annotations

from typing import Literal

from core.languages import N_, _, ngettext
from core.memory.scoring import Esteem

COUNTED = N_("Your 👍 counts. Thank you!")
LASTING = N_("Your 👍 counts. This answer is remembered now: anyone who asks again gets it right away.")
SHUN = N_("Your 👍 is taken back. This answer is no longer remembered.")
UNCOUNTED = {1: N_("Your 👍 is taken back."), 0: N_("Your 👎 is taken back.")}


def counted(esteem: Esteem | None) -> str:
    """Say what a 👍 has just done."""
    if esteem is None:
        return _(COUNTED)
    if esteem.missing:
        said = ngettext(
            "Your 👍 counts. One more 👍 and it is remembered.",
            "Your 👍 counts. {count} more 👍 and it is remembered.",
            esteem.missing,
        )
        return said.format(count=esteem.missing)
    if not esteem.is_remembered:
        return _(COUNTED)
    if esteem.good == 1:
        return _(LASTING)
    found = _(
        "Your 👍 counts. {count} people found this answer good: anyone who asks again gets it right away."
    )
    return found.format(count=esteem.good)


def taken_back(value: Literal[0, 1], esteem: Esteem | None) -> str:
    """Say what a vote that is taken back has just done."""
    is_gone = value and esteem is not None and not (esteem.good or esteem.is_remembered)
    return _(SHUN) if is_gone else _(UNCOUNTED[value])
