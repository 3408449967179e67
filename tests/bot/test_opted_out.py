"""What is left of a conversation in which somebody spoke who opted out."""

from __future__ import annotations

import pytest

from bot.privacy.opted_out import OptedOut
from core.domain import Turn
from core.privacy.names import Names, Privacy
from tests.fake_privacy import FakeOptOuts

OUT, ANN, BOB = "slack:UOUT", "slack:UANN", "slack:UBOB"


def turns(said: str) -> tuple[Turn, ...]:
    """Read `o` (who opted out), `a`, `b` and `.` (the bot) as turns, each with its place as its text."""
    who = {"o": OUT, "a": ANN, "b": BOB}
    return tuple(
        Turn("assistant", str(place)) if one == "." else Turn("user", str(place), who[one])
        for place, one in enumerate(said)
    )


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("", ""),
        ("a.b.", "0123"),
        ("o.", ""),
        ("a.o.", "01"),
        ("o.a.", "23"),
        ("ob.a.", "134"),  # the answer may be to the one or to the other
        ("ao.b.", "034"),
        ("o..a.", "34"),
        ("oo.a", "3"),
        ("a.oba.", "0134"),
        ("oa", "1"),
    ],
)
async def test_their_words_and_the_answers_to_them_are_left_out(said: str, kept: str) -> None:
    privacy = Privacy(FakeOptOuts(), Names(b"k" * 32, {}))
    await privacy.opt_out(OUT)
    heard = OptedOut(privacy).heard(turns(said))
    assert "".join(turn.text for turn in heard) == kept
    await privacy.opt_in(OUT)
    assert OptedOut(privacy).heard(turns(said)) == turns(said)
