"""How often, and how soon, channels fall back by the rule of `core.community.unsolicited`.

A channel gets one unasked answer after the other. Each is voted down or deleted with one probability, and
else noticed with another; after each the rule looks at the latest ones, as the bot does.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence

from core.community.unsolicited import AGAINST, PATIENCE, WINDOW, Heard, counted

CHANNELS = 1_000
ANSWERS = 500
PEOPLE = 20
BAD = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
NOTICED = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
USUAL = 0.3
"""Share of answers that are noticed where the other share is varied."""


def falls_after(bad: float, noticed: float, rng: random.Random) -> int:
    """Return after how many answers a channel falls back, 0 for never; a day passes between two answers."""
    latest: list[Heard] = []
    for number in range(1, ANSWERS + 1):
        is_bad = rng.random() < bad
        against = frozenset({f"person {rng.randrange(PEOPLE)}"}) if is_bad else frozenset[str]()
        latest = [Heard(number * PATIENCE, rng.random() < noticed, against), *latest][:WINDOW]
        if counted(latest, (number + 1) * PATIENCE).is_noise:
            return number
    return 0


def row(bad: float, noticed: float, seed: int = 1) -> tuple[float, float]:
    """Return the share of channels that fall back, and after how many answers the median of these does."""
    rng = random.Random(f"{seed} {bad} {noticed}")
    fallen = [n for n in (falls_after(bad, noticed, rng) for _ in range(CHANNELS)) if n]
    return len(fallen) / CHANNELS, statistics.median(fallen) if fallen else 0.0


def table(rows: Sequence[tuple[float, float]]) -> str:
    """Write the rows as Markdown."""
    lines = [
        "| voted down or deleted | else noticed | channels that fall back | median after |",
        "|---|---|---|---|",
    ]
    for bad, noticed in rows:
        share, after = row(bad, noticed)
        lines.append(
            f"| {bad:.2f} | {noticed:.2f} | {share:.3f} | {f'{after:.0f} answers' if after else '–'} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Print both tables."""
    print(f"{CHANNELS} channels of {ANSWERS} unasked answers each, at least {AGAINST} people against:\n")
    print(table([(bad, USUAL) for bad in BAD]))
    print(f"\nNobody against:\n\n{table([(0.0, noticed) for noticed in NOTICED])}")


if __name__ == "__main__":
    main()
