"""What is typed after a slash command: words, options and their values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from bot.commands.option import Option
from core.errors import UsageError

__all__ = ["Option", "parsed", "quoted", "whole_number", "words"]

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
