"""Notice a model that says the same again and again, while it is still writing."""

from __future__ import annotations

import re

TIMES = 4
"""How often something must stand behind itself to be a loop."""
LONGEST = 600
"""Characters of the longest loop."""
LEAST = 90
"""Characters that all rounds of a loop must have together: `very, very, very` is none."""


def unrepeated(text: str) -> str:
    """Return a text up to the second round of a loop that it ends in; the text itself where it ends in none.

    Two rounds hold one that begins where its first sentence does; what is said twice goes later.
    """
    for length in range(2, min(LONGEST, len(text) // TIMES) + 1):
        if text[-length:] != text[-2 * length : -length]:
            continue
        loop = text[-length:]
        rounds = 2
        while text.endswith(loop * (rounds + 1)):
            rounds += 1
        if rounds >= TIMES and rounds * length >= LEAST and re.search(r"[^\W_]", loop):
            return text[: len(text) - (rounds - 2) * length]
    return text
