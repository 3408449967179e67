"""How word lists are written down, and read."""

from __future__ import annotations


def word_list(text: str) -> list[str]:
    """Split a list of words; long lists read better as text."""
    return text.split()


def word_groups(text: str) -> list[str]:
    """Split groups of words that semicolons part."""
    return [group.strip() for group in text.split(";")]


def spellings(text: str) -> dict[str, str]:
    """Map every word of a line to the line's first word; `~` stands for a space inside a word."""
    found: dict[str, str] = {}
    for line in text.strip().splitlines():
        spelled = [word.replace("~", " ") for word in line.split()]
        found.update((word, spelled[0]) for word in spelled)
    return found
