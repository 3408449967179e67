"""Which votes stand: of each person's votes on an answer the last that was not taken off."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def standing(votes: Iterable[Any]) -> dict[tuple[str, str], Any]:
    """Return by answer and voter the row of `votes` that counts; rows come in order of their number.

    A hand (👍 or 👎) that is taken off uncovers the other one, if that is still there.
    """
    return {place: hands[-1] for place, hands in sorted(raised(votes).items())}


def raised(votes: Iterable[Any]) -> dict[tuple[str, str], list[Any]]:
    """Return by answer and voter the rows of the hands that are up, the one that counts last."""
    found: dict[tuple[str, str], list[Any]] = {}
    for vote in votes:
        hands = found.setdefault((vote.answer_id, vote.voter), [])
        taken = vote.withdraws if vote.value is None else vote.value
        hands[:] = [hand for hand in hands if taken not in (None, hand.value)]
        if vote.value is not None:
            hands.append(vote)
    return {place: hands for place, hands in found.items() if hands}
