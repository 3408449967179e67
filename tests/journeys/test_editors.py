"""Editors ask by the SDK's own client: over standard input and output, over HTTP, beside a serving bot."""

from __future__ import annotations

import asyncio
import re
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from bot.cli.editors.home import Home, home
from core.domain import Question, Scope
from core.errors import UsageError
from tests.endurance.process import Process
from tests.forked import program
from tests.journeys.house import Kettle, house
from tests.patience import PATIENCE

if TYPE_CHECKING:  # the SDK takes a second, in each process that lists tests
    from mcp.client.client import Client

ASKED = "How do I open the dashboard?"
TOKEN = "0123456789abcdef-chloe"


@asynccontextmanager
async def editor(kettle: Kettle, *python: str) -> AsyncIterator[Client]:
    """Start `threadlore mcp` as an editor does, by `python` or else forked, and talk to it."""
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters
    from mcp.client.stdio import stdio_client as over_stdio

    command, *arguments = python or program()
    started = StdioServerParameters(
        command=command, args=[*arguments, "mcp"], env=kettle.variables(), cwd=kettle.folder
    )
    async with Client(over_stdio(started)) as client:
        yield client


async def call(client: Client, tool: str, **given: Any) -> Any:
    """Call a tool; return what it gives, or its error as text."""
    result = await client.call_tool(tool, given)
    if result.is_error:
        return " ".join(getattr(part, "text", "") for part in result.content)
    held = result.structured_content
    return held["result"] if isinstance(held, dict) and set(held) == {"result"} else held


async def test_an_editor_asks_searches_reads_and_votes_over_standard_output(kettle: Kettle) -> None:
    async with editor(kettle, sys.executable, "-m", "bot") as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == {"ask", "search", "releases", "feedback"}
        known = await call(client, "releases")
        assert known == {"product": "Kettle", "releases": ["2.0", "1.5", "1.0"], "latest": "2.0"}

        answer = await call(client, "ask", question=ASKED, release="1.5")
        assert answer["release"] == "1.5" and "7171" in answer["answer"]
        assert answer["sources"][0]["url"].startswith("https://kettle.example/1.5/dashboard")

        found = await call(client, "search", query="retry limit of a job", k=2)
        assert len(found) == 2 and all(passage["release"] == "2.0" for passage in found)
        page = await client.read_resource(found[0]["page"])
        assert "retry_limit" in page.contents[0].text

        assert await call(client, "feedback", answer_id=answer["answer_id"], vote="down") == {
            "counted": "down",
            "answer_id": answer["answer_id"],
        }
        by_alias = await call(client, "ask", question=ASKED, release="v1.5")
        assert by_alias["release"] == answer["release"] == "1.5", "a spelling of corpora.toml"
        for wrong, told in [
            (call(client, "ask", question=ASKED, release="9.9"), "no release '9.9'"),
            (call(client, "ask", question=" "), "missing or empty"),
            (call(client, "feedback", answer_id="a0", vote="up"), "no answer 'a0'"),
            (call(client, "search", query="x", k=99), "20"),
        ]:
            assert told in await wrong


async def test_beside_a_serving_bot_the_same_memory_answers(kettle: Kettle) -> None:
    process = Process(kettle)
    await process.start()
    try:
        async with editor(kettle) as client, editor(kettle) as other:
            first = await call(client, "ask", question=ASKED)
            again = await call(other, "ask", question=ASKED)
            assert first["sources"] == again["sources"]
            said = "\n".join((await process.ask(command="why", answer_id=first["answer_id"])).lines)
            assert ASKED in said
    finally:
        await process.kill()


async def test_a_second_editor_goes_through_the_first_and_takes_its_place(kettle: Kettle) -> None:
    async with editor(kettle) as second:
        async with editor(kettle) as first:
            assert (await call(first, "releases"))["product"] == "Kettle"
            assert (await call(second, "releases"))["product"] == "Kettle"
        assert "9090" in (await call(second, "ask", question=ASKED))["answer"]


async def test_private_answers_are_neither_recalled_nor_voted_on(kettle: Kettle) -> None:
    from mcp.client.client import Client

    from bot.cli.editors.server import Tools, server

    async with house(kettle) as bot:
        private = Question(ASKED, "slack:U1", "slack:G1", Scope("private", "slack:G1"))
        told = await bot.app.engine.answer(private)
    async with home(kettle.settings()) as asked:
        tools = Tools(asked, 100.0, lambda: "mcp:chloe")
        async with Client(server(tools, "Kettle")) as client:
            assert "given in public" in await call(client, "feedback", answer_id=told.id, vote="up")


async def test_who_asks_too_much_is_told_when_to_ask_again(kettle: Kettle) -> None:
    from mcp.client.client import Client

    from bot.cli.editors.server import Tools, server

    class Never(Home):
        async def ask(self, request: dict[str, Any]) -> Any:
            return []

    tools = Tools(Never(kettle.settings(), AsyncExitStack()), 1.0, lambda: "mcp:chloe", clock=lambda: 0.0)
    async with Client(server(tools, "Kettle")) as client:
        for _ in range(5):
            assert await call(client, "search", query="jobs") == []
        assert re.search(r"ask again in \d+ s", await call(client, "search", query="jobs"))


async def test_a_call_that_is_wrong_costs_no_question(kettle: Kettle) -> None:
    from mcp.client.client import Client

    from bot.cli.editors.server import Tools, server

    async with home(kettle.settings()) as asked:
        tools = Tools(asked, 1.0, lambda: "mcp:chloe", clock=lambda: 0.0)
        async with Client(server(tools, "Kettle")) as client:
            for _ in range(6):
                assert "no release '9.9'" in await call(client, "search", query="jobs", release="9.9")
                assert "missing or empty" in await call(client, "ask", question=" ")
                assert "20" in await call(client, "search", query="jobs", k=99)
                assert "Unknown tool" in await call(client, "guess", question="jobs")
            for _ in range(5):
                assert await call(client, "search", query="jobs", k=1) != []
            assert re.search(r"ask again in \d+ s", await call(client, "search", query="jobs"))


@pytest.mark.parametrize(
    ("host", "allowed", "sent", "status"),
    [
        ("127.0.0.1", (), {"host": "localhost:8090"}, 200),
        ("127.0.0.1", (), {"host": "[::1]:8090"}, 200),
        ("127.0.0.1", (), {"host": "192.0.2.7:8090"}, 421),
        ("127.0.0.1", ("bot.example",), {"host": "bot.example"}, 200),
        ("0.0.0.0", (), {"host": "192.0.2.7:8090"}, 200),  # nosec B104
        ("0.0.0.0", (), {"host": "[2001:db8::7]:8090"}, 200),  # nosec B104
        ("0.0.0.0", (), {"host": "evil.example:8090"}, 421),  # nosec B104
        ("0.0.0.0", (), {"host": "192.0.2.7.evil.example"}, 421),  # nosec B104
        ("0.0.0.0", (), {"host": "evil.example@192.0.2.7"}, 400),  # nosec B104
        ("0.0.0.0", (), {}, 400),  # nosec B104
        ("0.0.0.0", (), {"host": "["}, 400),  # nosec B104
        ("0.0.0.0", ("bot.example",), {"host": "BOT.example.:8090"}, 200),  # nosec B104
        ("0.0.0.0", ("bot.example",), {"host": "bot.example", "origin": "https://bot.example"}, 200),
        ("0.0.0.0", (), {"host": "192.0.2.7:8090", "origin": "http://192.0.2.7:8090"}, 200),  # nosec B104
        ("0.0.0.0", (), {"host": "192.0.2.7:8090", "origin": "http://192.0.2.8:8090"}, 403),  # nosec B104
        ("0.0.0.0", (), {"host": "192.0.2.7:8090", "origin": "null"}, 403),  # nosec B104
        ("127.0.0.1", (), {"host": "localhost:8090", "origin": "https://evil.example"}, 403),
        ("127.0.0.1", (), {"host": "localhost:8090", "origin": "http://localhost:3000"}, 200),
    ],
)
async def test_over_http_known_names_and_addresses_are_answered(
    host: str, allowed: tuple[str, ...], sent: dict[str, str], status: int
) -> None:
    from bot.cli.editors.door import Door, Message

    async def app(scope: Message, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    heard: list[Message] = []

    async def send(message: Message) -> None:
        heard.append(message)

    headers = [(name.encode(), value.encode()) for name, value in sent.items()]
    await Door(app, host, allowed)({"type": "http", "headers": headers}, send, send)  # type: ignore[arg-type]
    assert heard[0]["status"] == status


async def test_over_http_a_token_says_who_asks(kettle: Kettle) -> None:
    import httpx2
    from mcp.client.client import Client
    from mcp.client.streamable_http import streamable_http_client

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    variables = kettle.variables(
        MCP_TOKENS=f"chloe:{TOKEN}",
        THREADLORE_HOST="0.0.0.0",  # nosec B104
        THREADLORE_ALLOWED_HOSTS="bot.example",
    )
    child = await asyncio.create_subprocess_exec(
        *program(), "mcp", "--http", str(port), env=variables, cwd=kettle.folder
    )
    url = f"http://127.0.0.1:{port}/mcp"

    async def reached(**headers: str) -> int:
        async with httpx2.AsyncClient() as plain:
            try:
                return (await plain.post(url, json={}, headers=headers)).status_code
            except httpx2.TransportError:
                return 0

    try:
        async with asyncio.timeout(PATIENCE):
            while not await reached():
                await asyncio.sleep(0.1)
        assert await reached() == 401
        assert await reached(Authorization="Bearer wrong") == 401
        bearer = f"Bearer {TOKEN}"
        assert await reached(Authorization=bearer, Host="evil.example") == 421
        for known in ("192.0.2.7", f"192.0.2.7:{port}", "bot.example"):
            assert await reached(Authorization=bearer, Host=known) == 400, "`{}` is no message"
        assert await reached(Authorization=bearer, Origin="https://evil.example") == 403
        http = httpx2.AsyncClient(headers={"Authorization": bearer})
        async with Client(streamable_http_client(url, http_client=http)) as client:
            answer = await call(client, "ask", question=ASKED)
            assert "9090" in answer["answer"]
            counted = await call(client, "feedback", answer_id=answer["answer_id"], vote="up")
            assert counted["counted"] == "up"
    finally:
        child.terminate()
        await child.wait()
    async with house(kettle) as bot:
        acts = await bot.app.audit.acts(10)
        assert [act.who for act in acts if act.what.startswith("vote ")] == ["mcp:chloe"]


@pytest.mark.parametrize(
    "text", ["", "chloe", "chloe:short", "a b:0123456789abcdef", "a:0123456789abcdef,a:x"]
)
def test_tokens_that_are_none_are_named(text: str) -> None:
    from bot.cli.editors.server import tokens_of

    with pytest.raises(UsageError, match="MCP_TOKENS"):
        tokens_of(text)


def test_where_it_is_asked_over_http() -> None:
    from bot.cli.editors.server import address_of

    assert address_of("::1", 8090) == "http://[::1]:8090/mcp"
    assert address_of("127.0.0.1", 65535) == "http://127.0.0.1:65535/mcp"
    for port in (0, 65536, 99999, -1):
        with pytest.raises(UsageError, match="from 1 to 65535"):
            address_of("127.0.0.1", port)
