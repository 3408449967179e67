"""`mcp`: the community's knowledge for editors, by the Model Context Protocol."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from typing import TYPE_CHECKING

from bot.commands.command import Command, Option

if TYPE_CHECKING:
    from core.settings import Settings


def here(settings: Settings, options: Namespace) -> int:
    """Talk to one editor, or serve many over HTTP, until told to end. Raises UsageError without tokens."""
    from bot.editors.transports import over_http, over_stdio

    port = options.http
    asyncio.run(over_stdio(settings) if port is None else over_http(settings, port))
    return 0


COMMAND = Command(
    "mcp",
    "home",
    "answer editors by the Model Context Protocol: over standard input and output, or over HTTP",
    options=(
        Option(
            "http",
            "Serve many over HTTP on this port; who has a token of MCP_TOKENS may ask",
            kind="number",
            named=True,
            metavar="PORT",
        ),
    ),
    who="owner",
    where="terminal",
    here=here,
    rank=83,
)
