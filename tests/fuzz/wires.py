"""Edges that are wires: streams of models, Slack's envelopes, HTTP, the control socket."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

import httpx
import ollama
import openai

from bot.home.control_socket import SOCKET, Control
from core.errors import ModelError
from core.models.ollama.client import Ollama
from core.models.openai.client import OpenAIModel
from core.ports import Prompt
from tests.fuzz.mutation import as_json, changed, spoiled
from tests.fuzz.watch import Case
from tests.platforms.slack_bot import Recorder, serving
from tests.platforms.slack_server import SlackServer
from tests.platforms.web_client import serving as web_serving
from tests.platforms.web_client import settings as web_settings
from tests.platforms.web_dispatch import FakeDispatch

ASKED = (Prompt("system", "Answer."), Prompt("user", "Which port?"))
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
LINE = {
    "model": "m",
    "created_at": "2026-01-01T00:00:00Z",
    "message": {"role": "assistant", "content": "It is 9090 [1]."},
    "done": False,
}
LAST = {
    **LINE,
    "done": True,
    "done_reason": "stop",
    "prompt_eval_count": 9,
    "eval_count": 5,
    "total_duration": 1,
}
SHOWN = {
    "capabilities": ["completion"],
    "details": {"family": "qwen3"},
    "model_info": {"qwen3.context_length": 4096},
    "parameters": "",
    "template": "",
    "modelfile": "",
}
CHUNK = {
    "id": "c",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
    "choices": [
        {"index": 0, "delta": {"role": "assistant", "content": "It is 9090 [1]."}, "finish_reason": None}
    ],
}
END = {
    **CHUNK,
    "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14},
}
MODELS = {
    "object": "list",
    "data": [{"id": "m", "object": "model", "owned_by": "vllm", "max_model_len": 4096}],
}


def _stream(lines: list[Any], chance: Random, form: bytes) -> bytes:
    """Return a stream whose values, or bytes, are not what they should be."""
    sent = [changed(line, chance) if chance.random() < 0.4 else line for line in lines]
    raw = b"".join(form % as_json(line) for line in sent)
    return spoiled(raw, chance) if chance.random() < 0.5 else raw


@asynccontextmanager
async def ollama_streams() -> AsyncIterator[Case]:
    """NDJSON of Ollama: lines cut, of wrong types, huge, no UTF-8."""
    answer = [b"", b"{}"]

    def reply(request: httpx.Request) -> httpx.Response:
        raw = answer[0] if request.url.path == "/api/chat" else answer[1]
        return httpx.Response(200, content=raw, headers={"content-type": "application/x-ndjson"})

    model = Ollama("http://127.0.0.1:9", "m", retries=0, timeout=5.0)
    await model.close()
    model._server.client = ollama.AsyncClient(host="http://127.0.0.1:9", transport=httpx.MockTransport(reply))

    async def case(chance: Random) -> None:
        answer[0] = _stream([LINE, LINE, LAST], chance, b"%s\n")
        answer[1] = as_json(changed(SHOWN, chance)) if chance.random() < 0.3 else as_json(SHOWN)
        model._described = False  # what the server says of itself is read once more
        await _asked(model, chance)

    yield case
    await model.close()


@asynccontextmanager
async def openai_streams() -> AsyncIterator[Case]:
    """Server-sent events of OpenAI's wire, and the list of models before them."""
    answer = [b"", b"{}"]

    def reply(request: httpx.Request) -> httpx.Response:
        is_chat = request.url.path.endswith("/chat/completions")
        kind = "text/event-stream" if is_chat else "application/json"
        return httpx.Response(200, content=answer[0 if is_chat else 1], headers={"content-type": kind})

    model = OpenAIModel("http://127.0.0.1:9", "m", retries=0, timeout=5.0)
    await model.close()
    http = httpx.AsyncClient(transport=httpx.MockTransport(reply))
    model._server.client = openai.AsyncOpenAI(
        base_url="http://127.0.0.1:9/v1", api_key="k", max_retries=0, http_client=http
    )

    async def case(chance: Random) -> None:
        answer[0] = _stream([CHUNK, CHUNK, END], chance, b"data: %s\n\n") + b"data: [DONE]\n\n"
        answer[1] = as_json(changed(MODELS, chance)) if chance.random() < 0.3 else as_json(MODELS)
        model._described = False  # what the server says of itself is read once more
        await _asked(model, chance)

    yield case
    await model.close()


async def _asked(model: Any, chance: Random) -> None:
    """Ask a model; what is wrong is a ModelError, whatever it sent."""
    try:
        if chance.random() < 0.2:
            await model.structured(ASKED, SCHEMA, max_tokens=50)
        else:
            async for piece in model.stream(ASKED, temperature=0.0, max_tokens=50):
                assert isinstance(piece, str)
    except ModelError as error:
        assert str(error).strip()


MESSAGE = {
    "type": "message",
    "user": "U1",
    "text": "<@UBOT> which port?",
    "ts": "1700000000.000100",
    "channel": "C1",
    "channel_type": "channel",
    "event_ts": "1700000000.000100",
    "team": "T1",
    "client_msg_id": "x",
    "blocks": [
        {
            "type": "rich_text",
            "elements": [
                {
                    "type": "rich_text_section",
                    "elements": [
                        {"type": "user", "user_id": "UBOT"},
                        {"type": "text", "text": " which port?"},
                    ],
                }
            ],
        }
    ],
}
EVENTS = (
    MESSAGE,
    {
        **MESSAGE,
        "type": "app_mention",
        "thread_ts": "1700000000.000001",
        "files": [{"id": "F1", "name": "a.txt"}],
    },
    {
        "type": "message",
        "subtype": "message_changed",
        "channel": "C1",
        "channel_type": "channel",
        "ts": "1.2",
        "message": {**MESSAGE, "edited": {"user": "U1", "ts": "2.0"}},
        "previous_message": {**MESSAGE, "text": "a"},
    },
    {
        "type": "message",
        "subtype": "message_deleted",
        "channel": "C1",
        "deleted_ts": "1700000000.000100",
        "previous_message": MESSAGE,
        "ts": "3.1",
    },
    {
        "type": "reaction_added",
        "user": "U1",
        "reaction": "+1",
        "item_user": "UBOT",
        "event_ts": "4.1",
        "item": {"type": "message", "channel": "C1", "ts": "1700000000.000100"},
    },
    {"type": "app_home_opened", "user": "U1", "tab": "home", "channel": "D1"},
    {"type": "message", "subtype": "channel_convert_to_private", "channel": "C1"},
)
COMMAND = {
    "command": "/ask",
    "text": "which port?",
    "user_id": "U1",
    "user_name": "ann",
    "channel_id": "C1",
    "channel_name": "help",
    "team_id": "T1",
    "trigger_id": "1.2",
    "response_url": "https://hooks.slack.example/1",
}
PRESS = {
    "type": "block_actions",
    "user": {"id": "U1"},
    "trigger_id": "1.3",
    "channel": {"id": "C1"},
    "container": {"type": "message", "message_ts": "1.5", "channel_id": "C1"},
    "message": MESSAGE,
    "response_url": "https://hooks.slack.example/2",
    "actions": [{"action_id": "up", "type": "button", "value": "a1", "action_ts": "1.6"}],
}
SUBMIT = {
    "type": "view_submission",
    "user": {"id": "U1"},
    "trigger_id": "1.4",
    "view": {
        "callback_id": "wrong",
        "private_metadata": json.dumps(["a1", "C1", "1.5", "1.2", "1.2", "https://h", 1.0, 0]),
        "state": {"values": {"b": {"better": {"type": "plain_text_input", "value": "It is 7."}}}},
    },
}


@asynccontextmanager
async def slack() -> AsyncIterator[Case]:
    """Envelopes of Slack, as Bolt hands them over; the loopback Slack answers look-ups."""
    async with SlackServer() as server:
        recorder = Recorder()
        async with serving(server, recorder) as platform:

            async def case(chance: Random) -> None:
                kind = chance.random()
                if kind < 0.6:
                    body = {
                        "event": changed(chance.choice(EVENTS), chance),
                        "event_id": "E1",
                        "team_id": "T1",
                    }
                    if isinstance(body["event"], dict):  # Bolt chooses its listener by the event's type
                        await platform._on_event(body)
                elif kind < 0.7:
                    body = changed(COMMAND, chance)
                    if isinstance(body, dict) and isinstance(body.get("command"), str):
                        await platform._on_command(body)
                else:
                    body = changed(chance.choice((PRESS, SUBMIT)), chance)
                    if isinstance(body, dict) and isinstance(body.get("type"), str):
                        await platform._on_press(body)
                for told in (recorder.messages, recorder.edits, recorder.presses, recorder.commands):
                    told.clear()

            yield case
            server.problems.clear()


PATHS = (
    "/api/messages",
    "/api/reactions",
    "/api/presses",
    "/api/commands",
    "/api/state",
    "/api/dashboard",
    "/api/progress",
    "/api/threads",
    "/api/releases",
    "/widget/ask",
    "/widget/vote",
    "/widget/config",
    "/dashboard",
    "/healthz",
    "/metrics",
    "/widget.js",
    "/static/../x",
    "/api/source",
    "/api/edits",
)
SAY = {
    "person": "ada",
    "channel": "general",
    "text": "hi",
    "thread": "",
    "id": "m1",
    "answer": "a1",
    "value": 1,
    "emoji": "👍",
    "name": "up",
    "command": "ask",
    "site": "docs",
    "question": "Which port?",
    "release": "2.0",
}


@asynccontextmanager
async def http() -> AsyncIterator[Case]:
    """Requests to the playground, the dashboard and the widget: none is answered with 500."""
    with tempfile.TemporaryDirectory() as folder:
        async with web_serving(web_settings(Path(folder)), FakeDispatch()) as client:
            port = urlsplit(client.playground.url).port

            async def case(chance: Random) -> None:
                body = as_json(changed(SAY, chance))
                method = chance.choice(("GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"))
                path = chance.choice(PATHS) + chance.choice(("", "?person=ada", "?person=ada&since=x", "/m1"))
                head = (
                    f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                    f"Authorization: Bearer {client.token}\r\nContent-Length: {len(body)}\r\n"
                    "Connection: close\r\n\r\n"
                ).encode()
                raw = head + body
                if chance.random() < 0.5:
                    raw = spoiled(raw, chance, 3)
                status = await _sent(port, raw)
                assert status < 500 or status == 501, raw[:2000]

            yield case


async def _sent(port: int | None, raw: bytes) -> int:
    """Send bytes and return the status; 0 where the connection ends or the server waits for more."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(raw)
        writer.write_eof()
        line = await asyncio.wait_for(reader.readline(), 5.0)
    except (TimeoutError, ConnectionError, ValueError):
        return 0
    finally:
        writer.close()
    words = line.split()
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0


REQUESTS = (
    {"command": "status"},
    {"command": "memory", "action": "list", "json": True},
    {"command": "memory", "action": "show", "id": "p1"},
    {"command": "ask", "question": "Which port?", "release": "2.0"},
    {"command": "gaps", "days": 7},
    {"command": "why", "answer_id": "a1"},
    {"command": "verify"},
    {"command": "pause", "channel": "slack:C1"},
    {"command": "memory", "action": "import", "text": '{"question": "a?", "answer": "b"}', "name": "a.jsonl"},
    {"command": "my-data", "user": "slack:U1"},
    {"command": "glossary"},
)


@asynccontextmanager
async def control() -> AsyncIterator[Case]:
    """Lines on the control socket, handled by the real commands: each is answered in lines of JSON."""
    from bot.commands.command_line import handle
    from tests.journeys.house import house, new_kettle
    from tests.proofs.world import models_folder

    with tempfile.TemporaryDirectory() as folder:
        kettle = await new_kettle(Path(folder) / "k", models_folder(), "2.0")
        async with house(kettle) as bot:

            async def carry_out(request: dict[str, Any], send: Any) -> None:
                await handle(bot.app, request, send)

            listening = Control(kettle.home, carry_out)
            await listening.start()

            async def case(chance: Random) -> None:
                raw = as_json(changed(chance.choice(REQUESTS), chance)) + b"\n"
                if chance.random() < 0.3:
                    raw = spoiled(raw, chance)
                reader, writer = await asyncio.open_unix_connection(kettle.home / SOCKET, limit=2**24)
                try:
                    writer.write(raw)
                    writer.write_eof()
                    said = await reader.read()
                except ConnectionError:
                    return
                finally:
                    writer.close()
                for line in said.splitlines():
                    assert isinstance(json.loads(line), dict), raw[:2000]

            yield case
            await listening.stop()
