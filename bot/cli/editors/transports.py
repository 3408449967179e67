"""How editors reach the MCP server: a process of their own, or HTTP with a token."""

from __future__ import annotations

import re
from argparse import Namespace

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from bot.cli.editors.home import Home, home
from bot.cli.editors.server import Tokens, Tools, holder, server
from bot.home.home import started_by
from core.errors import UsageError
from core.settings import Settings

PATH = "/mcp"
SHORTEST = 16
"""Characters of a token."""
_NAME = re.compile(r"[\w.-]{1,60}")


async def run(settings: Settings, options: Namespace) -> int:
    """Talk to one editor, or serve many over HTTP, until told to end. Raises UsageError without tokens."""
    port = options.http
    await (over_stdio(settings) if port is None else over_http(settings, port))
    return 0


async def over_stdio(settings: Settings) -> None:
    """Talk to the editor that started this process."""
    async with home(settings) as asked:
        tools = Tools(asked, settings.questions_per_minute, lambda: started_by("mcp"))
        await server(tools, await _product(asked)).run_stdio_async()


async def over_http(settings: Settings, port: int) -> None:
    """Serve whoever has a token. Raises UsageError where there are none."""
    known = tokens_of(settings.mcp_tokens.get_secret_value())
    address = f"http://{settings.host}:{port}{PATH}"
    async with home(settings) as asked:
        tools = Tools(asked, settings.questions_per_minute, holder)
        made = server(tools, await _product(asked), Tokens(known), address)
        names = ["localhost", "127.0.0.1", "[::1]", settings.host, *settings.allowed_hosts]
        hosts = [entry for name in names for entry in (name, f"{name}:*")]
        origins = [f"{scheme}://{entry}" for scheme in ("http", "https") for entry in hosts]
        secured = TransportSecuritySettings(
            enable_dns_rebinding_protection=True, allowed_hosts=hosts, allowed_origins=origins
        )
        app = made.streamable_http_app(
            streamable_http_path=PATH, transport_security=secured, host=settings.host
        )
        config = uvicorn.Config(app, host=settings.host, port=port, log_level="warning", access_log=False)
        await uvicorn.Server(config).serve()


def tokens_of(text: str) -> dict[str, str]:
    """Read `name:token,other:token`. Raises UsageError that says what to write."""
    entries = [entry.strip().partition(":") for entry in text.split(",") if entry.strip()]
    known = {name.strip(): token.strip() for name, _, token in entries}
    if not known or len(known) < len(entries) or not all(_NAME.fullmatch(name) for name in known):
        raise UsageError(
            "Over HTTP everybody who asks needs a token of their own: set MCP_TOKENS=name:token,other:token "
            "in .env, with names of letters, digits, dots and dashes; `openssl rand -hex 24` makes a token."
        )
    if short := [name for name, token in known.items() if len(token) < SHORTEST]:
        raise UsageError(
            f"The token of {short[0]} in MCP_TOKENS has fewer than {SHORTEST} characters; "
            f"`openssl rand -hex 24` makes a good one."
        )
    return known


async def _product(asked: Home) -> str:
    return str(
        (await asked.ask({"command": "editors", "tool": "releases", "person": started_by("mcp")}))["product"]
    )
