"""Requests as they come over the control socket, looked at before they are used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.commands.command import Command
from bot.commands.option import Option
from core.errors import UsageError

LARGEST = 10**12
"""No number of a request is larger: days, lines, seconds."""
_TEXTS = frozenset({"text", "name", "question", "user", "what", "better", "answer_id", "release"})
"""What programs send beside a command's options."""


class Request(dict[str, Any]):
    """A request that says by UsageError what it lacks."""

    def __missing__(self, name: str) -> Any:
        raise UsageError(f"The request has no '{name}'.")


def checked(request: Mapping[str, Any], command: Command | None = None) -> Request:
    """Return a request whose values are of the kinds that a command takes; raises UsageError.

    Of what is none of its options, the text of a file and the lines of a batch are looked at.
    """
    kinds = {option.key: option for option in command.options_in("terminal")} if command else {}
    for name, value in request.items():
        option = kinds.get(name)
        is_left_out = value is None and not (option and option.required)
        is_known = option is not None or name == "lines" or name in _TEXTS
        if is_known and not (is_left_out or _fits(name, value, option)):
            raise UsageError(f"'{name[:50]}' of the request is not what is wanted there.")
    return Request({name: value for name, value in request.items() if value is not None or name in kinds})


def _fits(name: str, value: Any, option: Option | None) -> bool:
    if option is not None and option.kind == "flag":
        return isinstance(value, bool)
    if option is not None and option.kind in ("number", "share"):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and abs(value) <= LARGEST  # which NaN is not
    if isinstance(value, list):
        may_be_many = option.many or option.repeated if option else name == "lines"
        return may_be_many and all(isinstance(one, str) for one in value)
    return isinstance(value, str)
