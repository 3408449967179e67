"""What hangs under an answer, the form that opens from there, and what an emoji means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from bot.chat import ACCEPT, DOWN, OBJECT, UP, Choice, Control, Field, Form
from core.domain import Answer

RELEASES = 25
"""Lines of a menu that every platform shows."""
LONGEST_VALUE = 80
"""Characters of a control's value; with its name it has to fit into 90."""
WRONG = {
    "release": "It is for the wrong release",
    "wrong": "It is wrong",
    "outdated": "It is outdated",
    "other": "It is not what I asked",
}
"""What can be wrong with an answer: how it is kept, and how the form says it."""
ASK_WHAT_WAS_WRONG = "Your 👎 counts. What was wrong with the answer?"
_MARKS: dict[str, Literal["accept", "object"]] = {
    "white_check_mark": "accept",
    ACCEPT: "accept",
    "x": "object",
    OBJECT: "object",
}


def controls(answer: Answer, ready: Sequence[str]) -> tuple[Control, ...]:
    """Return the buttons and the menu of a finished answer; `ready` names the releases that answer now."""
    given = [
        Control("up", UP, answer.id),
        Control("down", DOWN, answer.id),
        Control("why", "Why?", answer.id),
        Control("delete", "Delete", answer.id),
    ]
    others = _others(answer, ready)
    if others:
        given.append(Control("release", "Another release", answer.id, others))
    return tuple(given)


def _others(answer: Answer, ready: Sequence[str]) -> tuple[Choice, ...]:
    """Offer other releases, first those that say something else; none under a comparison."""
    if answer.resolution is not None and answer.resolution.comparison:
        return ()
    different = [name for name in answer.offers if name in ready]
    names = dict.fromkeys([*different, *ready])
    choices = [
        Choice(f"{answer.id} {name}", f"{name}: says something else" if name in different else name)
        for name in names
        if name != answer.release
    ]
    return tuple(choice for choice in choices if len(choice.value) <= LONGEST_VALUE)[:RELEASES]


def wrong_button(answer_id: str) -> Control:
    """Return the button that opens the form on what was wrong with an answer."""
    return Control("wrong", "What was wrong?", answer_id)


def wrong_form(answer_id: str) -> Form:
    """Return the form on what was wrong with an answer."""
    choices = tuple(Choice(value, label) for value, label in WRONG.items())
    return Form(
        "wrong",
        "What was wrong?",
        answer_id,
        (
            Field("what", "What was wrong?", choices, required=True),
            Field("better", "A better answer, if you know one"),
        ),
    )


def mark_of(emoji: str) -> Literal["accept", "object", ""]:
    """Read an emoji as ✅ or ❌, in any spelling; empty for every other one."""
    return _MARKS.get(emoji.strip(":").removesuffix("\ufe0f"), "")
