"""The MCP server for editors: its tools, reached as a process of its own or over HTTP with a token."""

from __future__ import annotations

import hmac
import re
import time
from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import uvicorn
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import ToolAnnotations
from pydantic import AnyHttpUrl, Field

from bot.cli.editors.door import Door
from bot.cli.editors.home import Home, home
from bot.commands.editors import CHANNEL, PAGES
from bot.conversation.limits import Limits, wait_text
from bot.home.home import started_by
from core.errors import ThreadloreError, UsageError
from core.settings import Settings

INSTRUCTIONS = (
    "Answers questions about {product} from its documentation and from what its community worked out, for "
    "the release that is used. Give the user's release where you know it. Cite the sources of an answer. "
    "After the user said whether an answer helped, call feedback with its answer_id."
)
LONGEST = 4_000
"""Characters of a question."""
_ASKS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)

Release = Annotated[str, Field(description="Such as 2.3; the latest where it is left out.", max_length=100)]
PATH = "/mcp"
LAST_PORT = 65535
SHORTEST = 16
"""Characters of a token."""
_NAME = re.compile(r"[\w.-]{1,60}")


class Tools:
    """What the tools do, for the person whom `person` names at each call."""

    def __init__(
        self,
        home: Home,
        per_minute: float,
        person: Callable[[], str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Let each person ask `per_minute` questions, as in chat."""
        self._home = home
        self._limits = Limits(per_minute, clock)
        self._person = person

    async def ask(
        self,
        question: Annotated[str, Field(description="One question, which stands alone.", max_length=LONGEST)],
        release: Release = "",
    ) -> dict[str, Any]:
        """Answer a question, with sources. Where nothing is known the answer says so."""
        return dict(await self._counted("ask", question=question, release=release))

    async def search(
        self,
        query: Annotated[str, Field(description="What to look for.", max_length=LONGEST)],
        release: Release = "",
        k: Annotated[int, Field(description="How many passages, at most 20.", ge=1, le=20)] = 5,
    ) -> list[dict[str, Any]]:
        """Return the passages of the documentation that are nearest to a query, the best first."""
        return list(await self._counted("search", query=query, release=release, k=k))

    async def releases(self) -> dict[str, Any]:
        """Return the product and the releases that can be asked about, newest first."""
        return dict(await self._do("releases"))

    async def feedback(
        self,
        answer_id: Annotated[str, Field(description="What ask returned.", max_length=100)],
        vote: Literal["up", "down"],
    ) -> dict[str, Any]:
        """Say that an answer helped (up) or was wrong (down); a later vote replaces an earlier one."""
        return dict(await self._do("feedback", answer_id=answer_id, vote=vote))

    async def page(self, release: str, page: str) -> str:
        """Return a page of a release, as Markdown."""
        try:
            return str((await self._home.ask(self._request("page", release=release, page=page)))["text"])
        except ThreadloreError as error:
            raise ResourceNotFoundError(str(error)) from None

    async def _do(self, tool: str, **given: Any) -> Any:
        try:
            return await self._home.ask(self._request(tool, **given))
        except ThreadloreError as error:
            raise ToolError(str(error)) from error

    def _request(self, tool: str, **given: Any) -> dict[str, Any]:
        return {"command": "editors", "tool": tool, "person": self._person(), **given}

    async def _counted(self, tool: str, **given: Any) -> Any:
        """Do what counts as a question; a call that is refused as wrong does not."""
        person = self._person()
        if wait := self._limits.wait(person, CHANNEL):
            raise ToolError(wait_text(wait))
        try:
            return await self._do(tool, **given)
        except ToolError as error:
            if isinstance(error.__cause__, UsageError):
                self._limits.give_back(person, CHANNEL)
            raise


class Tokens:
    """Knows who has which token."""

    def __init__(self, tokens: Mapping[str, str]) -> None:
        """Take tokens by the name of who has them."""
        self._tokens = dict(tokens)

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return who has a token, None for nobody; as long for one as for the other."""
        found = None
        for name, known in self._tokens.items():
            if hmac.compare_digest(known.encode(), token.encode()):
                found = AccessToken(token=token, client_id=f"mcp:{name}", scopes=[])
        return found


def holder() -> str:
    """Return the account that the token of the current request belongs to."""
    token = get_access_token()
    if token is None:
        raise ToolError("A token is needed: `Authorization: Bearer …`.")
    return token.client_id


def server(tools: Tools, product: str, tokens: Tokens | None = None, address: str = "") -> MCPServer[Any]:
    """Return the server; with `tokens` it takes HTTP requests of their holders, at `address`."""
    auth = None
    if tokens is not None:
        url = AnyHttpUrl(address)
        auth = AuthSettings(issuer_url=url, resource_server_url=None)
    made: MCPServer[Any] = MCPServer(
        "threadlore",
        title=f"Threadlore for {product}",
        instructions=INSTRUCTIONS.format(product=product),
        token_verifier=tokens,
        auth=auth,
        log_level="WARNING",
    )
    made.add_tool(tools.ask, annotations=_ASKS)
    made.add_tool(tools.search, annotations=_READS)
    made.add_tool(tools.releases, annotations=_READS)
    made.add_tool(tools.feedback, annotations=_ASKS)
    made.resource(
        PAGES + "{release}/{page}", name="page", title="A page of a release", mime_type="text/markdown"
    )(tools.page)
    return made


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
    """Serve everybody who has a token. Raises UsageError where there are none."""
    known = tokens_of(settings.mcp_tokens.get_secret_value())
    address = address_of(settings.host, port)
    async with home(settings) as asked:
        tools = Tools(asked, settings.questions_per_minute, holder)
        made = server(tools, await _product(asked), Tokens(known), address)
        guarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # the door does that
        app = made.streamable_http_app(
            streamable_http_path=PATH, transport_security=guarded, host=settings.host
        )
        door = Door(app, settings.host, settings.allowed_hosts)
        config = uvicorn.Config(door, host=settings.host, port=port, log_level="warning", access_log=False)
        await uvicorn.Server(config).serve()


def address_of(host: str, port: int) -> str:
    """Return where the server is asked. Raises UsageError for what is no port."""
    if not 1 <= port <= LAST_PORT:
        raise UsageError(f"{port} is not a port; choose one from 1 to {LAST_PORT} with --http.")
    return f"http://{_bracketed(host)}:{port}{PATH}"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


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
