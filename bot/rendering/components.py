"""The buttons and the menu under an answer, its form, and the meaning of emoji."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from bot.ports.chat import ACCEPT, DOWN, OBJECT, UP, Choice, Control, Field, Form
from bot.rendering.answers import remembered_question
from core.domain import Answer
from core.languages import N_, _

RELEASES = 25
"""Lines of a menu that every platform shows."""
LONGEST_VALUE = 80
"""Characters of a control's value; with its name it has to fit into 90."""
WRONG = {
    "release": N_("It is for the wrong release"),
    "wrong": N_("It is wrong"),
    "outdated": N_("It is outdated"),
    "other": N_("It is not what I asked"),
}
"""What can be wrong with an answer: how it is kept, and how the form says it."""
ASK_WHAT_WAS_WRONG = N_("Your 👎 counts. What was wrong with the answer?")
_MARKS: dict[str, Literal["accept", "object"]] = {
    "white_check_mark": "accept",
    ACCEPT: "accept",
    "x": "object",
    OBJECT: "object",
}


def controls(answer: Answer, ready: Sequence[str], to_person: bool = False) -> tuple[Control, ...]:
    """Return the buttons and the menu of a finished answer.

    `ready` names the releases that answer now; `to_person` tells whether there is a person to ask.
    """
    given = [
        Control("up", UP, answer.id),
        Control("down", DOWN, answer.id),
        Control("why", _("Why?"), answer.id),
        *((Control("apart", _("Not my question"), answer.id),) if remembered_question(answer) else ()),
        *((Control("person", _("Ask a person"), answer.id),) if to_person else ()),
        Control("delete", _("Delete"), answer.id),
    ]
    others = _others(answer, ready)
    if others:
        given.append(Control("release", _("Another release"), answer.id, others))
    return tuple(given)


def _others(answer: Answer, ready: Sequence[str]) -> tuple[Choice, ...]:
    """Offer other releases, those with a different answer first; none under a comparison."""
    if answer.resolution is not None and answer.resolution.comparison:
        return ()
    different = [name for name in answer.offers if name in ready]
    names = dict.fromkeys([*different, *ready])
    choices = [
        Choice(
            f"{answer.id} {name}",
            _("{release}: says something else").format(release=name) if name in different else name,
        )
        for name in names
        if name != answer.release
    ]
    return tuple(choice for choice in choices if len(choice.value) <= LONGEST_VALUE)[:RELEASES]


def wrong_button(answer_id: str) -> Control:
    """Return the button that opens the form on what was wrong with an answer."""
    return Control("wrong", _("What was wrong?"), answer_id)


def wrong_form(answer_id: str) -> Form:
    """Return the form on what was wrong with an answer."""
    choices = tuple(Choice(value, _(label)) for value, label in WRONG.items())
    return Form(
        "wrong",
        _("What was wrong?"),
        answer_id,
        (
            Field("what", _("Choose what fits best"), choices, required=True),
            Field("better", _("A better answer, if you know one")),
        ),
    )


def mark_of(emoji: str) -> Literal["accept", "object", ""]:
    """Return `accept` for ✅ and `object` for ❌, in any spelling; empty for any other emoji."""
    return _MARKS.get(emoji.strip(":").removesuffix("\ufe0f"), "")
