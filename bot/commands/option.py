"""What may stand after a command, in chat and on the command line, and how what people typed is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

from core.errors import UsageError

Place = Literal["terminal", "chat", "both"]

_DASH = re.compile(r"(?<!\S)[—–](?=\w)")
"""What phones and Slack's composer make of two dashes before a word."""
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'"})
_WORD = re.compile(
    r"(?P<lead>--[\w-]+=)?(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)')(?!\S)"
    r"|(?P<plain><(?=[@#!]|https?:)[^<>]*>(?!\S)|\S+)"
)
"""A quote counts where a word begins and ends, so that an apostrophe is a letter like others.

What Slack puts in angle brackets is one word: `<@U1|Ann Lee>`.
"""
_OPTION = re.compile(r"--[A-Za-z][\w-]*(=.*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Option:
    """What may stand after a command.

    In chat it is a value at its place, or `--name value`, which is the only way where it is `named`; `--name`
    for a flag, whose dashes people may leave out. One that takes the `rest` is the last, and has all words
    that are left. On the command line a value has its place unless it is `named` or `dashed`.
    """

    name: str
    help: str
    required: bool = False
    kind: Literal["text", "person", "channel", "flag", "number", "share", "path"] = "text"
    choices: tuple[str, ...] = ()
    named: bool = False
    rest: bool = False
    hidden: bool = False
    """Left out of the usage; for what Discord needs a field for and people type otherwise."""
    where: Place = "both"
    dashed: bool = False
    """Written `--name value` on the command line though it has a place in chat."""
    many: bool = False
    """On the command line it takes several values."""
    repeated: bool = False
    """On the command line it may be given several times."""
    default: Any = None
    alone: str = ""
    """What `--name` means without a value."""
    metavar: str = ""
    most: int = 10_000
    """Largest number that is taken in chat."""
    called: str = ""
    """What a number is called where it is refused; `--name` where nothing is said."""

    @property
    def usage(self) -> str:
        """Return how it is written in chat: `[release]`, `[--dry-run]`, `[--days …]`."""
        if self.kind == "flag":
            written = f"--{self.name}"
        elif self.named:
            written = f"--{self.name} {'|'.join(self.choices) or '…'}"
        else:
            written = "|".join(self.choices) or (self.name.upper() if self.required else self.name)
        return written if self.required else f"[{written}]"

    @property
    def key(self) -> str:
        """Return the name that `Given` has its value under."""
        return self.name.replace("-", "_")


def words(text: str) -> tuple[str, ...]:
    """Split a command line at spaces, quoted words whole; an open quote is a character like others."""
    plain = _DASH.sub("--", text).translate(_QUOTES)
    return tuple(
        (found["lead"] or "") + (found["double"] or found["single"] or "")
        if found["plain"] is None
        else found["plain"]
        for found in _WORD.finditer(plain)
    )


def quoted(value: str) -> str:
    """Write a value so that `words` reads it as one; a quote that cannot be kept is written otherwise."""
    plain = value.translate(_QUOTES)
    if plain and not re.search(r"[\s\"']", plain):
        return plain
    return f"'{plain}'" if '"' in plain and "'" not in plain else '"' + plain.replace('"', "'") + '"'


def parsed(options: Sequence[Option], said: Sequence[str]) -> dict[str, str]:
    """Read words into values by option; flags have themselves as value, what is not said is left out.

    Raises UsageError with a sentence that says which word is wrong.
    """
    by_name = {option.name: option for option in options}
    places = [option for option in options if option.kind != "flag" and not option.named]
    given: dict[str, str] = {}
    left = list(said)
    while left:
        word = left.pop(0)
        name, _, value = word.removeprefix("--").partition("=")
        option = by_name.get(name)
        if option is not None and option.kind == "flag" and not value:
            given[name] = name
        elif option is not None and option.kind != "flag" and word.startswith("--"):
            places = [place for place in places if place is not option]
            if not value and not left:
                raise UsageError(f"`--{name}` wants a value after it")
            given[name] = value or left.pop(0)
        elif _OPTION.fullmatch(word):
            raise UsageError(_unknown(name, by_name))
        elif not places:
            raise UsageError(
                f"`{word}` is too much" if options else f"it takes nothing, so `{word}` is too much"
            )
        elif places[0].rest:
            given[places.pop(0).name] = " ".join([word, *left])
            left = []
        else:
            given[places.pop(0).name] = word
    for option in options:
        if option.required and option.name not in given:
            raise UsageError(f"{option.name.upper()} is missing")
        if option.choices and given.get(option.name, option.choices[0]) not in option.choices:
            allowed = ", ".join(f"`{choice}`" for choice in option.choices)
            raise UsageError(f"`{given[option.name]}` is not one of {allowed}")
    return given


def _unknown(name: str, known: dict[str, Option]) -> str:
    near = get_close_matches(name.lower(), known, n=1)
    return f"there is no option `--{name}`" + (f" (did you mean `--{near[0]}`?)" if near else "")


def whole_number(given: str, what: str, most: int = 10_000) -> int:
    """Read a number; raises UsageError that says what it is for."""
    is_number = given.isascii() and given.isdigit() and len(given) <= len(str(most))
    if not (is_number and 1 <= int(given) <= most):
        raise UsageError(f"{what} must be a whole number from 1 to {most}, not `{given}`.")
    return int(given)
