"""Markdown for people at a terminal: wrapped at its width, with colour where it has some."""

from __future__ import annotations

from typing import TextIO

from bot.rendering.splitting import broken

WIDEST = 100
"""Columns of prose; longer lines are hard to read."""


def say(markdown: str, out: TextIO) -> None:
    """Print Markdown: as it stands where it goes into a file or a pipe, else as a terminal shows it."""
    if not out.isatty():
        print(markdown, file=out, flush=True)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(file=out, highlight=False)
    shown = Markdown(broken(markdown), code_theme="ansi_dark", hyperlinks=False)
    console.print(shown, width=min(console.width, WIDEST))
    out.flush()
