"""Headings that are the signature of a function: its name is the heading, as Sphinx has it."""

from __future__ import annotations

import re

from core.ingestion.formats._shared import heading_text, inline_code

_SIGNATURE = re.compile(
    r"(?P<name>(?:new )?[\w$]+(?:(?:\.|::|#)[\w$]+)*[!?]?)\((?P<given>[^()]*(?:\([^()]*\)[^()]*)*)\)"
)


def called(heading: str) -> str:
    """Return what a function is called: "fs.rm()" for "fs.rm(path[, options])", else the heading."""
    found = _SIGNATURE.fullmatch(heading_text(heading))
    return f"{found['name']}()" if found else heading


def signature(heading: str) -> list[str]:
    """Return a heading as a line of code where it tells what a function is given, else nothing."""
    found = _SIGNATURE.fullmatch(heading_text(heading))
    return [inline_code(found[0])] if found and found["given"].strip() else []
