"""Running text of HTML: code and quotes within a sentence, and paragraphs that are code alone."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bs4 import Tag


def lines_of(tag: Tag) -> str:
    """Return the lines of a paragraph that is one piece of code, empty where it is none.

    It has breaks in it, or is all that stands in an example: elsewhere it may be a name that is told of next.
    """
    parts = [part for part in tag.children if isinstance(part, Tag) or str(part).strip()]
    code = parts[0] if len(parts) == 1 else None
    if not isinstance(code, Tag) or code.name not in ("code", "tt", "kbd", "samp"):
        return ""
    if not code.find("br") and not (tag.parent and "example" in (tag.parent.get("class") or ())):
        return ""
    parted = (part for part in code.descendants if not isinstance(part, Tag) or part.name == "br")
    said = "".join("\0" if isinstance(part, Tag) else str(part) for part in parted)
    lines = (" ".join(re.split(r"[ \t\r\n]+", line)).strip(" ") for line in said.split("\0"))
    return "\n".join(line.replace("\xa0", " ").rstrip() for line in lines).strip("\n")


_QUOTED = re.compile(r"``([^`'\n]{1,80})''")


def spelled(text: object) -> str:
    """Return running text with quotes as they are shown: ``so'' would begin code in Markdown."""
    return _QUOTED.sub(r'"\1"', str(text))


def put(said: list[str], piece: str) -> None:
    """Append a piece of a sentence; code right behind code is one piece of code, or has a space before it."""
    if said and piece.startswith("`") and said[-1].endswith("`"):
        plain = said[-1].count("`") == 2 == piece.count("`")
        if plain and piece.endswith("`") and said[-1].startswith("`"):
            piece = f"{said.pop()[:-1]}{piece[1:]}"
        else:
            piece = f" {piece}"
    said.append(piece)


def joined(pieces: Iterable[str]) -> str:
    """Return the pieces of a sentence as one."""
    said: list[str] = []
    for piece in pieces:
        put(said, piece)
    return "".join(said)


def is_whole(bold: str) -> bool:
    """Return True if bold words are no piece of a signature: `<b>date(</b><i>time</i><b>)</b>`."""
    return bold.count("(") == bold.count(")") and not bold.strip().startswith((",", ";"))
