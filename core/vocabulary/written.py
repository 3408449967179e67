"""How word lists are written down, and read."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any


def words_of(package: str) -> dict[str, Any]:
    """Read the word lists of a package, which are in its `words.toml`."""
    return tomllib.loads(files(package).joinpath("words.toml").read_text("utf-8"))


def word_list(text: str) -> list[str]:
    """Split a list of words; long lists read better as text."""
    return text.split()


def word_groups(text: str) -> tuple[frozenset[str], ...]:
    """Return the words of each line."""
    return tuple(frozenset(line.split()) for line in text.splitlines())


def spellings(text: str) -> dict[str, str]:
    """Map every word of a line to the line's first word; `~` stands for a space inside a word."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        spelled = [word.replace("~", " ") for word in line.split()]
        found.update((word, spelled[0]) for word in spelled)
    return found
