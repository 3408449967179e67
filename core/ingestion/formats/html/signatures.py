"""Headings that are the signature of a function: its name is the heading, as Sphinx has it."""

from __future__ import annotations

import re

from core.ingestion.formats._shared import heading_text, inline_code

_SIGNATURE = re.compile(
    r"(?P<name>(?:new )?[\w$]+(?:(?:\.|::|#)[\w$]+)*[!?]?)\((?P<given>[^()]*(?:\([^()]*\)[^()]*)*)\)"
)


def called(heading: str, is_code: bool) -> str:
    """Return what a function is called: "fs.rm()" for "fs.rm(path[, options])", else the heading.

    `is_code` says whether the heading is code; "Parameter(s)" and "O(n)" are none.
    """
    found = _function(heading, is_code)
    return f"{found['name']}()" if found else heading


def signature(heading: str, is_code: bool) -> list[str]:
    """Return a heading as a line of code where it tells what a function is given, else nothing."""
    found = _function(heading, is_code)
    return [inline_code(found[0])] if found and found["given"].strip() else []


def _function(heading: str, is_code: bool) -> re.Match[str] | None:
    found = _SIGNATURE.fullmatch(heading_text(heading))
    return found if found and (is_code or re.search(r"[._:#]", found["name"])) else None
