"""A loopback server with the wire format of OpenAI's chat API, as vLLM, SGLang and llama.cpp serve it.

    async with OpenAIServer() as server:
        server.script("busy", "cut")          # the next two chats; then answers as usual
        model = OpenAIModel(server.url, server.model)

It refuses what the documents do not have: unknown fields, roles and types, what is no schema, another key.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from aiohttp import web
from jsonschema import Draft202012Validator, SchemaError

from tests.ollama_answers import Recorded, cited_answer, filled, pieces_of, tokens_of
from tests.ollama_server import IN_WORDS, Answer, Structured, is_probe

Kind = Literal[
    "busy",  # 429 with Retry-After
    "loading",  # 503, as llama.cpp while it reads the model
    "too_long",  # 400, vLLM's words
    "echo",  # 422, FastAPI's words, with what was sent in them
    "too_long_event",  # 200, and the refusal as an event, as SGLang does
    "too_long_lmstudio",  # 200, and the refusal as an event that has a name, as LM Studio does
    "crashed",  # 500, the engine died
    "gateway",  # 502
    "timed_out",  # 524, Cloudflare's page
    "html",  # 404 of something else
    "page",  # 200 with a page, no events
    "error_event",  # an error among the events, after `after` pieces
    "cut",  # the connection ends in mid-stream
    "unfinished",  # the stream ends properly without a finish_reason
    "undone",  # finish_reason, but then the connection ends
    "abort",  # finish_reason abort
    "filtered",  # finish_reason content_filter after `after` pieces
    "empty",  # no text at all
    "length",  # finish_reason length after `after` pieces
    "thought",  # reasoning only, then finish_reason length
    "schema_thought",  # the output by schema in the reasoning, as LM Studio does for some models
    "hang",  # nothing comes
    "role_hang",  # who speaks, then nothing
    "stall",  # nothing more comes after `after` pieces
    "garbage",  # events that are no JSON
    "foreign",  # events that are no chunks
]
FIELDS = {
    "model", "messages", "stream", "stream_options", "max_tokens", "temperature", "top_p", "stop", "seed",
    "presence_penalty", "frequency_penalty", "response_format", "reasoning_effort", "max_completion_tokens",
}  # fmt: skip
"""What OpenAI's reference has of what a chat bot needs."""
EXTRA = {
    "vllm": {"top_k", "min_p", "chat_template_kwargs"},
    "sglang": {"top_k", "min_p", "chat_template_kwargs"},
    "llamacpp": {"top_k", "min_p", "chat_template_kwargs"},
    "lmstudio": {"top_k", "min_p", "chat_template_kwargs"},
    "ollama": {"top_k", "min_p", "chat_template_kwargs"},
    "plain": set(),
}
"""What each kind of server has beside that."""


@dataclass(frozen=True)
class Behaviour:
    """What happens to one chat; `text` replaces the answer."""

    kind: Kind | Literal["answer"] = "answer"
    after: int = 2
    text: str | None = None


class OpenAIServer:
    """A server with one model, on a free port of 127.0.0.1; `kind` is whose manners it has."""

    def __init__(
        self,
        *,
        model: str = "Qwen/Qwen3-8B",
        kind: Literal["vllm", "sglang", "llamacpp", "lmstudio", "ollama", "plain"] = "vllm",
        key: str = "",
        answer: Answer | None = None,
        structured: Structured | None = None,
        context_length: int = 32768,
        takes_schema: bool = True,
        keeps_schema: bool = True,
        refuses: Sequence[str] = (),
        tokens_per_second: float = 0.0,
        first_token_delay: float = 0.0,
        reasoning: str = "reasoning_content",
    ) -> None:
        self.model, self.kind, self.key = model, kind, key
        self.answer, self.structured = answer or cited_answer, structured or filled
        self.context_length = context_length
        self.takes_schema, self.keeps_schema, self.refuses = takes_schema, keeps_schema, set(refuses)
        self.tokens_per_second, self.first_token_delay = tokens_per_second, first_token_delay
        self.reasoning = reasoning
        self.slots = 4
        """Calls that llama.cpp says it answers at once."""
        self.thinks = ""
        """What it thinks before each answer."""
        self.always_thinks = False
        """Whether its model is one of OpenAI's that think: it takes no `max_tokens` and no temperature."""
        self.others: list[str] = []
        """Models that it lists before its own."""
        self.lists = True
        """Whether /v1/models is there."""
        self.requests: list[Recorded] = []
        self.refused: list[str] = []
        """Why requests were rejected for their shape."""
        self.keys: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.aborted = 0
        self.running = 0
        self.most_running = 0
        self.always: Behaviour | None = None
        self.probed = Behaviour()
        self.url = ""
        self.port = 0
        self._script: deque[Behaviour] = deque()
        self._runner: web.AppRunner | None = None
        self._released = asyncio.Event()

    @property
    def chats(self) -> list[Recorded]:
        return [r for r in self.requests if r.path.endswith("/chat/completions") and not is_probe(r)]

    @property
    def probes(self) -> list[Recorded]:
        return [r for r in self.requests if r.path.endswith("/chat/completions") and is_probe(r)]

    @property
    def calls(self) -> int:
        return len(self.chats)

    def script(self, *behaviours: Behaviour | Kind | Literal["answer"]) -> None:
        self._script.extend(b if isinstance(b, Behaviour) else Behaviour(b) for b in behaviours)

    def say(self, *texts: str) -> None:
        self._script.extend(Behaviour(text=text) for text in texts)

    async def __aenter__(self) -> OpenAIServer:
        await self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Listen; at the same port as before, if there was one."""
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/version", self._version)
        app.router.add_get("/props", self._props)
        app.router.add_get("/api/v0/models", self._lm_studio)
        app.router.add_get("/api/ps", self._ollama)
        app.router.add_post("/v1/chat/completions", self._chat)
        self._released = asyncio.Event()
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True).start()
        self.port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{self.port}/v1"

    async def stop(self) -> None:
        """Die: whatever is under way breaks off."""
        self._released.set()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    # --- the server ---------------------------------------------------------------------------

    async def _models(self, request: web.Request) -> web.Response:
        self.requests.append(Recorded(request.path, {}))
        if not self._may(request):
            return self._error(401, "Unauthorized", "authentication_error")
        if not self.lists:
            return web.Response(status=404, text="404 page not found")
        row: dict[str, Any] = {"id": self.model, "object": "model", "created": _NOW, "owned_by": self.kind}
        if self.kind in ("vllm", "sglang"):
            row |= {"root": self.model, "max_model_len": self.context_length}
        if self.kind == "llamacpp":
            row["meta"] = {"n_ctx_train": 131072}
        if owner := _OWNERS.get(self.kind):
            row["owned_by"] = owner
        rows = [*({**row, "id": other} for other in self.others), row]
        return web.json_response({"object": "list", "data": rows})

    async def _version(self, request: web.Request) -> web.Response:
        return web.json_response({"version": "0.15.0"}) if self.kind == "vllm" else web.Response(status=404)

    async def _props(self, request: web.Request) -> web.Response:
        if self.kind != "llamacpp":
            return web.Response(status=404)
        settings = {"n_ctx": self.context_length}
        return web.json_response({"default_generation_settings": settings, "total_slots": self.slots})

    @property
    def is_loaded(self) -> bool:
        """Whether somebody has asked the model, which loads it where a server does so when it is asked."""
        return bool(self.chats or self.probes)

    async def _lm_studio(self, request: web.Request) -> web.Response:
        if self.kind != "lmstudio":
            return web.Response(status=404, text="404 page not found")
        row: dict[str, Any] = {"id": self.model, "object": "model", "type": "llm", "state": "not-loaded"}
        row["max_context_length"] = 131072
        if self.is_loaded:
            row |= {"state": "loaded", "loaded_context_length": self.context_length}
        return web.json_response({"object": "list", "data": [row]})

    async def _ollama(self, request: web.Request) -> web.Response:
        if self.kind == "lmstudio":  # it says so with status 200
            return web.json_response({"error": "Unexpected endpoint or method. (GET /api/ps)"})
        if self.kind != "ollama":
            return web.Response(status=404, text="404 page not found")
        row = {"name": self.model, "model": self.model, "context_length": self.context_length}
        return web.json_response({"models": [row] if self.is_loaded else []})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        if not self._may(request):
            return self._error(401, "Incorrect API key provided", "invalid_request_error")
        recorded = Recorded(request.path, await request.json())
        self.headers.append(dict(request.headers))
        if told := self._wrong(recorded.body):
            self.refused.append(told)
            return self._error(400, told, "invalid_request_error")
        if recorded.body["model"] != self.model and self.kind != "llamacpp":
            words = f"The model `{recorded.body['model']}` does not exist."
            return self._error(404, words, "NotFoundError")
        self.requests.append(recorded)
        behaviour = self.probed if is_probe(recorded) else self._next()
        if refusal := self._refusal(behaviour, recorded):
            return refusal
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            return await self._streamed(request, recorded, behaviour)
        except (asyncio.CancelledError, ConnectionResetError):
            self.aborted += 1
            raise
        finally:
            self.running -= 1

    def _next(self) -> Behaviour:
        return self._script.popleft() if self._script else self.always or Behaviour()

    def _may(self, request: web.Request) -> bool:
        given = request.headers.get("Authorization", "")
        self.keys.append(given)
        return not self.key or given == f"Bearer {self.key}"

    def _wrong(self, body: dict[str, Any]) -> str:
        """Say what of a request the documents do not have; empty where nothing is wrong."""
        known = (FIELDS | EXTRA[self.kind]) - self.refuses
        if unknown := sorted(body.keys() - known):
            return f"Unrecognized request argument supplied: {unknown[0]}"
        messages = body.get("messages")
        if not isinstance(body.get("model"), str) or not isinstance(messages, list) or not messages:
            return "model and messages are required"
        for message in messages:
            if set(message) != {"role", "content"} or not isinstance(message["content"], str):
                return "a message has a role and a content"
            if message["role"] not in ("system", "user", "assistant"):
                return f"{message['role']} is no role"
        if body.get("stream") is not True or set(body.get("stream_options", {})) - {"include_usage"}:
            return "stream is true, and stream_options may have include_usage"
        if self.always_thinks and "max_tokens" in body:
            return (
                "Unsupported parameter: 'max_tokens' is not supported with this model."
                " Use 'max_completion_tokens' instead."
            )
        if self.always_thinks and body.get("temperature", 1) != 1:
            return (
                f"Unsupported value: 'temperature' does not support {body['temperature']} with this model."
                " Only the default (1) value is supported."
            )
        limit = body.get("max_completion_tokens" if self.always_thinks else "max_tokens")
        if not isinstance(limit, int) or not 0 < limit <= self.context_length:
            return "max_tokens must be a positive integer within the context"
        for name, low, high in (("temperature", 0, 2), ("top_p", 0, 1), ("presence_penalty", -2, 2)):
            if name in body and not (isinstance(body[name], (int, float)) and low <= body[name] <= high):
                return f"{name} is out of range"
        return self._wrong_format(body["response_format"]) if "response_format" in body else ""

    def _wrong_format(self, given: Any) -> str:
        if not self.takes_schema:
            return "response_format json_schema is not supported by this model"
        if not isinstance(given, dict) or set(given) != {"type", "json_schema"}:
            return "response_format has a type and a json_schema"
        wanted = given["json_schema"]
        if given["type"] != "json_schema" or set(wanted) - {"name", "schema", "strict", "description"}:
            return "response_format is not a json_schema"
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", wanted.get("name", "")):
            return "json_schema.name is required"
        try:
            Draft202012Validator.check_schema(wanted["schema"])
        except SchemaError as error:
            return f"json_schema.schema is no schema: {error.message}"
        return ""

    def _refusal(self, behaviour: Behaviour, recorded: Recorded) -> web.Response | None:
        match behaviour.kind:
            case "busy":
                busy = self._error(429, "Too many requests in the queue", "rate_limit_error")
                busy.headers["Retry-After"] = "1"
                return busy
            case "loading":
                return self._error(503, "Loading model", "unavailable_error")
            case "too_long":
                words = (
                    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens"
                )
                return self._error(400, words, "BadRequestError")
            case "echo":
                sent = [message["content"] for message in recorded.messages]
                if self.kind == "vllm":
                    words = f"[{{'type': 'extra', 'loc': ('body',), 'msg': 'Extra inputs', 'input': {sent}}}]"
                    return self._error(400, words, "BadRequestError")
                detail = {"type": "extra", "loc": ["body"], "msg": "Extra inputs", "input": sent}
                return web.json_response({"detail": [detail]}, status=422)
            case "crashed":
                return self._error(500, "EngineCore encountered an issue", "InternalServerError")
            case "gateway":
                return web.Response(status=502, text="<html>Bad Gateway</html>", content_type="text/html")
            case "timed_out":
                page = "<!DOCTYPE html>\n<html lang=en><title>gpu.example | 524: A timeout occurred</title>"
                return web.Response(status=524, text=page, content_type="text/html")
            case "html":
                return web.Response(status=404, text="<html>Not found</html>", content_type="text/html")
            case "page":
                return web.Response(text="<html>Welcome</html>", content_type="text/html")
        return None

    def _error(self, status: int, words: str, kind: str) -> web.Response:
        if self.kind == "sglang":
            body: Any = {"object": "error", "message": words, "type": kind, "param": None, "code": status}
        else:
            body = {"error": {"message": words, "type": kind, "param": None, "code": status}}
        return web.json_response(body, status=status)

    def _text(self, recorded: Recorded, behaviour: Behaviour) -> str:
        wanted = recorded.body.get("response_format")
        if behaviour.text is not None:
            return behaviour.text
        if wanted and self.keeps_schema:
            schema = wanted["json_schema"]["schema"]
            make = filled if is_probe(recorded) else self.structured
            filling = make(recorded, schema)
            return filling if isinstance(filling, str) else json.dumps(filling, ensure_ascii=False)
        if asked := IN_WORDS.search(recorded.prompt):
            filling = self.structured(recorded, json.loads(asked[1]))
            return f"Here it is:\n```json\n{json.dumps(filling, ensure_ascii=False)}\n```"
        return "Grass is green." if is_probe(recorded) else self.answer(recorded)

    async def _streamed(
        self, request: web.Request, recorded: Recorded, behaviour: Behaviour
    ) -> web.StreamResponse:
        if behaviour.kind == "hang":
            await self._released.wait()
        await asyncio.sleep(self.first_token_delay)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        response.enable_chunked_encoding()
        await response.prepare(request)

        async def event(value: Any) -> None:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            await response.write(f"data: {text}\n\n".encode())

        text, limit = self._text(recorded, behaviour), _limit(recorded.body)
        pieces, thoughts = pieces_of(text), [self.thinks] if self.thinks else []
        finish = "stop"
        match behaviour.kind:
            case "empty":
                pieces = []
            case "thought":
                pieces, thoughts, finish = [], ["Hmm, let me think"], "length"
            case "schema_thought":
                pieces, thoughts = [], [text]
            case "length":
                pieces, finish = pieces[: behaviour.after], "length"
            case "filtered":
                pieces, finish = pieces[: behaviour.after], "content_filter"
            case "abort":
                pieces, finish = pieces[: behaviour.after], "abort"
            case _ if len(pieces) > limit:
                pieces, finish = pieces[:limit], "length"
        if behaviour.kind == "too_long_event":
            words = "The input (9000 tokens) is longer than the model's context length (8192 tokens)."
            await event({"error": {"object": "error", "message": words, "code": 400}})
            await event("[DONE]")
            return response
        if behaviour.kind == "too_long_lmstudio":
            words = (
                "The number of tokens to keep from the initial prompt is greater than the context length."
                " Try to load the model with a larger context length, or provide a shorter input"
            )
            await response.write(b"event: error\n")
            await event({"error": {"message": words}, "message": words})
            return response
        await event(self._chunk({"role": "assistant", "content": ""}))
        if behaviour.kind == "role_hang":
            await self._released.wait()
        for thought in thoughts:
            await event(self._chunk({self.reasoning: thought}))
        for number, piece in enumerate(pieces):
            if number == behaviour.after and behaviour.kind in _BREAKING:
                break
            await event(self._chunk({"content": piece}))
            if self.tokens_per_second:
                await asyncio.sleep(1 / self.tokens_per_second)
        match behaviour.kind:
            case "error_event":
                await event({"error": {"message": "engine dead", "type": "InternalServerError", "code": 500}})
            case "garbage":
                await event("<html>502</html>")
                return response
            case "foreign":
                await event({"hello": "world"})
                return response
            case "stall":
                await self._released.wait()
            case "cut":
                assert request.transport is not None
                request.transport.close()
                return response
            case "unfinished":
                return response
            case _:
                await event(self._chunk({}, finish))
        if behaviour.kind == "undone":
            assert request.transport is not None
            request.transport.close()
            return response
        if recorded.body.get("stream_options", {}).get("include_usage"):
            counted = tokens_of(recorded.prompt) + 8 * len(recorded.messages)
            usage = {"prompt_tokens": counted, "completion_tokens": len(pieces)}
            usage["total_tokens"] = sum(usage.values())
            await event({**self._chunk({}), "choices": [], "usage": usage})
        await event("[DONE]")
        return response

    def _chunk(self, delta: dict[str, str], finish: str | None = None) -> dict[str, Any]:
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": _NOW,
            "model": self.model,
            "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
        }


_OWNERS = {"plain": "organization_owner", "lmstudio": "organization_owner", "ollama": "library"}


def _limit(body: dict[str, Any]) -> int:
    return int(body.get("max_completion_tokens") or body["max_tokens"])


_BREAKING = ("error_event", "cut", "stall", "unfinished", "garbage", "foreign")
_NOW = 1_760_000_000
