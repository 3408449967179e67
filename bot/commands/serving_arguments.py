"""What `sources`, `pause`, `resume`, `mode` and `audit` take on the command line."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable


def add_serving(command: Callable[[str, str], ArgumentParser]) -> None:
    """Add the commands about what is served and who did what."""
    sources = command("sources", "List the sources of each release: when they were read, what failed.")
    sources.add_argument("--json", action="store_true", help="print it as JSON")
    pause = command("pause", "Answer no new questions; votes still count.")
    pause.add_argument("words", nargs="*", metavar="TIME REASON", help="30, 2h, 1d; open without; then why")
    resume = command("resume", "Answer questions again.")
    for parser in (pause, resume):
        parser.add_argument("--channel", help="only there, such as slack:C0123")
    mode = command("mode", "Show how channels are served, or set it for one.")
    mode.add_argument("channel", nargs="?", help="such as slack:C0123")
    modes = ["mentions", "off", "questions", "forum", "default"]
    mode.add_argument("mode", nargs="?", choices=modes, help="default is what corpora.toml says")
    audit = command("audit", "List what admins, the command line and the bot itself did.")
    audit.add_argument("number", nargs="?", type=int, default=50, help="how many lines (50)")
    audit.add_argument("--json", action="store_true", help="print it as JSON")
