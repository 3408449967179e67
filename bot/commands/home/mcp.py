"""`mcp`: the community's knowledge for editors, by the Model Context Protocol."""

from __future__ import annotations

from bot.commands.command import Command, Option

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
    program="bot.cli.editors.transports:run",
    rank=83,
)
