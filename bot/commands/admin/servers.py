"""`servers`: which servers write answers; one more while the bot serves, or one less."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.commands.command import Given, Option, Result, at_terminal

if TYPE_CHECKING:
    from bot.operations.application import Application


async def run(app: Application, given: Given) -> Result:
    """Add or drain a server, and say how all of them are. Raises UsageError and ConfigurationError."""
    from dataclasses import asdict

    from core.errors import UsageError

    if app.servers is None:
        raise UsageError("No model server is configured: set OLLAMA_HOST or MODEL_SERVER.")
    for address in given.get("add") or ():
        await app.servers.add(address)
    for address in given.get("drain") or ():
        await app.servers.drain(address)
    await app.servers.health()
    return Result([asdict(server) for server in app.servers.states()])


def _audited(given: Given) -> Sequence[str]:
    """Return the addresses; the audit log keeps no credentials that may stand in them."""
    return [f"--{way} {address}" for way in ("add", "drain") for address in given.get(way) or ()]


def text(result: Result) -> Sequence[str]:
    """List them, a line each."""
    from bot.rendering.status import server_line

    return [server_line(server) for server in result.data]


COMMAND = at_terminal(
    "servers",
    "admin",
    "show the servers of the language model; add or drain one while the bot serves",
    run,
    text,
    options=(
        Option("add", "Ask this address, too", named=True, repeated=True, metavar="URL"),
        Option("drain", "Give this address no more calls", named=True, repeated=True, metavar="URL"),
    ),
    changes=True,
    audit=_audited,
    is_audited=lambda given: bool(given.get("add") or given.get("drain")),
    rank=27,
    further="after a restart it is as `MODEL_SERVER` or `OLLAMA_HOST` says",
)
