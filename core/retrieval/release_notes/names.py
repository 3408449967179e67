"""How release notes write a name that a question has: as code, behind what owns it, from its module."""

from __future__ import annotations

import re
import sys

from core.vocabulary import VARIABLES

_SHORT = re.compile(r"[a-z]{2,4}")
"""A variable that may be short for a class."""


def is_word(name: str) -> bool:
    """Return True for a name that could as well be an English word."""
    return re.fullmatch(r"[a-z]+|[A-Z][a-z]+", name) is not None


def is_of_module(name: str) -> bool:
    """Return True if a name is a module of Python's own library, or stands in one: `os.remove`."""
    return name.partition(".")[0] in sys.stdlib_module_names


def last_part(name: str) -> str:
    """Return the last part of a name with dots."""
    return name.removesuffix("()").rpartition(".")[2]


def named(name: str) -> re.Pattern[str]:
    """Return what finds a name, whatever it belongs to.

    One that is an English word is found only as code, and behind what the name has before it: `kettle.task`
    by `kettle.task`, `app.kettle.task`, and not by `task`. Notes write an option in the plural, too.
    """
    bare = re.escape(last_part(name))
    if name.startswith("--"):
        bare = re.escape(name.removesuffix("s")) + "s?"
    if is_word(last_part(name)):
        *owners, last = name.removesuffix("()").split(".")[-2:]
        bare = "".join(f"{_owner(one)}\\." for one in owners) + re.escape(last)
        return re.compile(rf"`(?:[\w.]+[.:])?{bare}(?:\([^`]*\))?(?P<of>\.\w+)?[^`\w]?`")
    return re.compile(rf"(?<![\w-]){bare}(?![\w-])(?P<of>\.\w+)?")


def imported_from(owner: str, name: str) -> re.Pattern[str]:
    """Return what finds that a name comes from its owner: "importing `X` from `kettle`" is on `kettle.X`."""
    others = r"(?:,? (?:and |or )?`[^`]{1,80}`){0,6}"
    return re.compile(rf"`{re.escape(name)}`{others} from `{re.escape(owner)}`", re.IGNORECASE)


def _owner(name: str) -> str:
    """Return what finds an owner, and of a short variable the class that it is of: `resp` is a `Response`.

    One that is not known stands for any class that it may be short for: `ds` for a `Dataset`.
    """
    known = [owner for variable, owner in VARIABLES if variable == name]
    short = name.rstrip("123456789")
    if not known and _SHORT.fullmatch(short) and not is_of_module(name):
        rest = "".join(rf"\w{{0,30}}[{sign}{sign.upper()}]" for sign in short[1:])
        known = [rf"{short[0].upper()}{rest}\w{{0,30}}"]
    return f"(?:{'|'.join((re.escape(name), *known))})"


def of_module(name: str, heading: str) -> re.Pattern[str] | None:
    """Return what finds a plain word below the heading of its module: `web.halt` below "tornado.web"."""
    parts = name.removesuffix("()").split(".")
    above = heading.rpartition(" > ")[2].strip("`")
    if len(parts) < 3 or not is_word(parts[-1]) or above != ".".join(parts[:-1]):
        return None
    bare = re.escape(parts[-1])
    return of_it(above, bare)


def of_it(module: str, bare: str) -> re.Pattern[str]:
    """Return what finds a name alone or behind its module."""
    return re.compile(rf"`(?:{re.escape(module)}[.:])?@?{bare}(?:\([^`]*\))?(?P<of>\.\w+)?`")


def behind_owner(name: str) -> re.Pattern[str]:
    """Return what finds a name in code behind any owner: people call `font.getsize` what is of a class."""
    return re.compile(rf"`(?:[\w.]+[.:])?{re.escape(last_part(name))}(?:\([^`]*\))?`")
