"""The MCP server: four tools and a resource, over standard input and output or streamable HTTP.

The protocol is the SDK's (package `mcp`); what it asks goes to the home (`bot.cli.editors.home`), so that
limits, memory and the audit log are those of everybody.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.types import ToolAnnotations
from pydantic import AnyHttpUrl, Field

from bot.cli.editors.home import Home
from bot.commands.editors import CHANNEL, PAGES
from bot.conversation.limits import Limits, wait_text
from core.errors import ThreadloreError

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
        self._take()
        return dict(await self._do("ask", question=question, release=release))

    async def search(
        self,
        query: Annotated[str, Field(description="What to look for.", max_length=LONGEST)],
        release: Release = "",
        k: Annotated[int, Field(description="How many passages, at most 20.", ge=1, le=20)] = 5,
    ) -> list[dict[str, Any]]:
        """Return the passages of the documentation that are nearest to a query, the best first."""
        self._take()
        return list(await self._do("search", query=query, release=release, k=k))

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
            raise ToolError(str(error)) from None

    def _request(self, tool: str, **given: Any) -> dict[str, Any]:
        return {"command": "editors", "tool": tool, "person": self._person(), **given}

    def _take(self) -> None:
        if wait := self._limits.wait(self._person(), CHANNEL):
            raise ToolError(wait_text(wait))


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
