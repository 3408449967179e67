"""Keeps what is secret or only the bot's own in a bot's folder from being committed with it."""

from __future__ import annotations

from pathlib import Path

IGNORED = (".env", "/home/")
"""The tokens, and the bot's home: its key, its database, its logs, the pages it read."""


def keep_out_of_git(folder: Path) -> None:
    """Write a `.gitignore` into a bot's folder; lines that somebody wrote there stay."""
    place = folder / ".gitignore"
    there = place.read_text(encoding="utf-8") if place.exists() else ""
    lacking = [line for line in IGNORED if line not in there.splitlines()]
    gap = "\n" if there and not there.endswith("\n") else ""
    if lacking:
        place.write_text(there + gap + "\n".join(lacking) + "\n", encoding="utf-8")
