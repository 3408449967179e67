"""A loopback server with Ollama's wire format, for tests: scripted answers, failures and delays.

    async with OllamaServer() as server:
        server.script("busy", "cut")          # the next two chats; then answers as usual
        model = Ollama(server.url, server.model)
        ...
        assert server.calls == 3

What it answers by itself is built from the evidence in the prompt, with citations. A prompt longer
than `num_ctx` loses its beginning without a word, as with the real one; `truncated` tells.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from aiohttp import web

from core.models.completion import PROBE
from tests.ollama_answers import Recorded, cited_answer, embedded, filled, pieces_of, tokens_of
from tests.ollama_pulls import Pulls

Kind = Literal[
    "missing",  # 404, the model is not there
    "busy",  # 503, the queue is full
    "too_long",  # 400, the error is a JSON string inside
    "refused",  # 500, an option of the wrong type
    "broken",  # 500, for no reason that it gives
    "crashed",  # 500, the runner died
    "no_thinking",  # 400, the model cannot think
    "not_loaded",  # 500, the model did not load, as newer servers say it
    "faulty_gpu",  # 500, the runner hit an error
    "foreign_name",  # 403 without a word, as for a Host that is not this machine's
    "wall",  # 401, the page of a proxy
    "timed_out",  # 524, Cloudflare's page
    "html",  # 404 of something that is no Ollama
    "error_line",  # an error in mid-stream, after `after` pieces
    "cut",  # the connection ends in mid-stream
    "unfinished",  # the stream ends properly but without a last line
    "empty",  # a single line with done
    "length",  # the answer stops after `after` pieces, done_reason length
    "thought",  # thinking only, then done_reason length
    "hang",  # nothing at all comes
    "stall",  # nothing more comes after `after` pieces
    "garbage",  # lines that are no JSON
]


@dataclass(frozen=True)
class Behaviour:
    """What happens to one chat; `text` replaces the answer."""

    kind: Kind | Literal["answer"] = "answer"
    after: int = 2
    text: str | None = None


Answer = Callable[[Recorded], str]
Structured = Callable[[Recorded, Mapping[str, Any]], Any]


class OllamaServer:
    """An Ollama with one or more models, on a free port of 127.0.0.1."""

    version = "0.12.6"

    def __init__(
        self,
        *,
        model: str = "qwen3:8b",
        models: Sequence[str] | None = None,
        answer: Answer | None = None,
        structured: Structured | None = None,
        capabilities: Sequence[str] | None = ("completion", "tools", "thinking"),
        family: str = "qwen3",
        context_length: int = 40960,
        tokens_per_second: float = 0.0,
        first_token_delay: float = 0.0,
        parallel: int = 0,
        keeps_schema: bool = True,
    ) -> None:
        self.model = model
        self.models = list(models if models is not None else [model])
        self.answer = answer or cited_answer
        self.structured = structured or filled
        self.capabilities = capabilities
        self.family = family
        self.context_length = context_length
        self.tokens_per_second = tokens_per_second
        self.first_token_delay = first_token_delay
        self.holds_back = False
        """Whether what it writes waits before its last piece for as long as this is so."""
        self.at_once = 1
        """Pieces a line; Ollama sends one."""
        self.keeps_schema = keeps_schema
        """Whether `format` does anything; else only a schema in a prompt does, and is answered in a fence."""
        self.digest = "500a1f067a9f782620b40bee6f7b0c89e17ae61f686b92c24933e4ca4b2b8b41"
        self.requests: list[Recorded] = []
        self.truncated: list[Recorded] = []
        self.aborted = 0
        """Chats whose client went away before the end."""
        self.running = 0
        self.most_running = 0
        self.probed = Behaviour()
        """What happens to a probe."""
        self.always: Behaviour | None = None
        """What happens to every chat that no script is left for."""
        self.counted: int | None = None
        """What it says a prompt has in tokens, whatever the prompt."""
        self.encode: Callable[[list[str]], Awaitable[Any]] | None = None
        """What embeds texts; they are embedded by their words where that is None."""
        self.embeds_tokens = 8192
        """Tokens of a text that are embedded."""
        self.refuses_long = False
        """Whether longer ones are refused whatever `truncate` says, as from 0.13.5 on."""
        self.no_numbers = ""
        """What a text ends with for which the model's vector has no numbers."""
        self.busy_embeds = 0
        """Calls of /api/embed that come next and find the server busy."""
        self.parameters = 'stop "<|im_end|>"'
        self.describes = True
        """Whether /api/show is there at all."""
        self.url = ""
        self._script: deque[Behaviour] = deque()
        self._slots = asyncio.Semaphore(parallel) if parallel else None
        self._runner: web.AppRunner | None = None
        self._released = asyncio.Event()
        self.pulls = Pulls(lambda name: self.models.append(name), self._released)
        """What happens to a pull."""

    # --- what tests use -----------------------------------------------------------------------

    async def left(self) -> None:
        """Wait until a client has gone away before the end of its chat."""
        async with asyncio.timeout(20.0):
            while not self.aborted:
                await asyncio.sleep(0.01)

    @property
    def chats(self) -> list[Recorded]:
        """Chats that asked for text (an empty one only loads the model), without probes."""
        return [r for r in self.requests if r.path == "/api/chat" and r.messages and not is_probe(r)]

    @property
    def probes(self) -> list[Recorded]:
        """Chats that only looked whether `format` is kept to; no script is for them."""
        return [r for r in self.requests if r.path == "/api/chat" and is_probe(r)]

    @property
    def embedded_texts(self) -> list[str]:
        """Texts that were to be embedded, in order."""
        return [text for r in self.requests if r.path == "/api/embed" for text in r.body["input"]]

    @property
    def calls(self) -> int:
        return len(self.chats)

    def script(self, *behaviours: Behaviour | Kind | Literal["answer"]) -> None:
        """Say what happens to the next chats, in order."""
        self._script.extend(b if isinstance(b, Behaviour) else Behaviour(b) for b in behaviours)

    def say(self, *texts: str) -> None:
        """Say what the next chats answer, word for word."""
        self._script.extend(Behaviour(text=text) for text in texts)

    async def __aenter__(self) -> OllamaServer:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_get("/", self._root)
        app.router.add_get("/api/version", self._version)
        app.router.add_get("/api/tags", self._tags)
        app.router.add_get("/api/ps", self._ps)
        app.router.add_post("/api/show", self._show)
        app.router.add_post("/api/chat", self._chat)
        app.router.add_post("/api/embed", self._embed)
        app.router.add_post("/api/pull", self._pull)
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{port}"
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._released.set()
        if self._runner is not None:
            await self._runner.cleanup()

    # --- the server ---------------------------------------------------------------------------

    async def _root(self, request: web.Request) -> web.Response:
        return web.Response(text="Ollama is running")

    async def _version(self, request: web.Request) -> web.Response:
        self.requests.append(Recorded(request.path, {}))
        return web.json_response({"version": self.version})

    async def _tags(self, request: web.Request) -> web.Response:
        self.requests.append(Recorded(request.path, {}))
        return web.json_response({"models": [self._listed(name) for name in self.models]})

    async def _ps(self, request: web.Request) -> web.Response:
        self.requests.append(Recorded(request.path, {}))
        loaded = {
            **self._listed(self.model),
            "expires_at": "2030-01-01T00:00:00.000000000Z",
            "size_vram": 5_200_000_000,
            "context_length": self.context_length,
        }
        return web.json_response({"models": [loaded] if self.calls else []})

    async def _show(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.requests.append(Recorded(request.path, body))
        if not self.describes:
            return web.Response(status=404, text="404 page not found")
        if not self._has(body.get("model", "")):
            return self._missing(body.get("model", ""))
        shown: dict[str, Any] = {
            "modelfile": f"FROM {self.model}",
            "parameters": self.parameters,
            "template": "{{ .Prompt }}",
            "details": self._details(),
            "model_info": {
                "general.architecture": self.family,
                f"{self.family}.context_length": self.context_length,
            },
            "modified_at": "2025-10-01T10:00:00.000000000+02:00",
        }
        if self.capabilities is not None:
            shown["capabilities"] = list(self.capabilities)
        return web.json_response(shown)

    async def _embed(self, request: web.Request) -> web.Response:
        """Embed texts, by their words where nothing else embeds: texts with the same words are near."""
        body = await request.json()
        self.requests.append(Recorded(request.path, body))
        assert body.keys() <= {"model", "input", "truncate", "keep_alive", "options", "dimensions"}, body
        if unreadable := _unreadable(body):
            return unreadable
        if self.busy_embeds:
            self.busy_embeds -= 1
            return _error(503, "server busy, please try again.  maximum pending requests exceeded")
        if not self._has(body.get("model", "")):
            return self._missing(body.get("model", ""))
        given = body["input"]
        texts = [given] if isinstance(given, str) else given
        if not all(text.strip() for text in texts):
            return _error(400, "input must not be empty")
        tokens = [tokens_of(text) for text in texts]
        limit = self.embeds_tokens
        if max(tokens) > limit and (self.refuses_long or body.get("truncate") is False):
            return _error(400, "the input length exceeds the context length")
        if self.no_numbers and any(text.endswith(self.no_numbers) for text in texts):
            return _error(500, "failed to encode response: json: unsupported value: NaN")
        texts = ["".join(pieces_of(text)[:limit]) for text in texts]
        rows = [embedded(text) for text in texts]
        if self.encode is not None:
            rows = (await self.encode(texts)).tolist()
        return web.json_response(
            {
                "model": body["model"],
                "embeddings": rows,
                "total_duration": 14_143_917,
                "load_duration": 1_019_500,
                "prompt_eval_count": sum(tokens),
            }
        )

    async def _pull(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(Recorded(request.path, body))
        assert body.keys() <= {"model", "insecure", "stream"} and body["stream"] is True, body
        return await self.pulls.answer(request, body)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        recorded = Recorded(request.path, await request.json())
        self.requests.append(recorded)
        body = recorded.body
        if unreadable := _unreadable(body):
            return unreadable
        if not recorded.messages:
            unload = body.get("keep_alive") == 0
            return web.json_response(self._last("", "unload" if unload else "load", 0, 0))
        is_a_probe = is_probe(recorded)
        if is_a_probe:
            behaviour = self.probed
        else:
            behaviour = self._script.popleft() if self._script else self.always or Behaviour()
        refusal = self._refusal(behaviour, recorded)
        if refusal is not None:
            return refusal
        if is_a_probe:  # it is not counted
            return await self._answer(request, recorded, behaviour)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            if self._slots is None:
                return await self._answer(request, recorded, behaviour)
            async with self._slots:
                return await self._answer(request, recorded, behaviour)
        except (asyncio.CancelledError, ConnectionResetError):
            self.aborted += 1
            raise
        finally:
            self.running -= 1

    def _refusal(self, behaviour: Behaviour, recorded: Recorded) -> web.Response | None:
        name = recorded.body.get("model", "")
        kind = behaviour.kind
        if kind == "html":
            return web.Response(status=404, text="<html>Not found</html>", content_type="text/html")
        if kind == "missing" or not self._has(name):
            return self._missing(name)
        think = recorded.body.get("think")
        if kind == "no_thinking" or (think and "thinking" not in (self.capabilities or ())):
            return _error(400, f'"{name}" does not support thinking')
        if kind == "busy":
            return _error(503, "server busy, please try again.  maximum pending requests exceeded")
        if kind == "refused":
            return _error(500, 'option "num_ctx" must be of type integer')
        if kind == "broken":
            return _error(500, "something went wrong")
        if kind == "crashed":
            return _error(500, "llama runner process has terminated: exit status 2")
        if kind == "not_loaded":
            return _error(
                500,
                "model failed to load, this may be due to resource limitations or an internal error,"
                " check ollama server logs for details",
            )
        if kind == "faulty_gpu":
            return _error(500, "an error was encountered while running the model: CUDA error: unspecified")
        if kind == "foreign_name":
            return web.Response(status=403)
        if kind in _PAGES:
            page = f"<!DOCTYPE html>\n<html>\n<head><title>{_PAGES[kind]}</title></head></html>"
            return web.Response(status=int(_PAGES[kind][:3]), text=page, content_type="text/html")
        if kind == "too_long":
            inner = {
                "error": {
                    "code": 400,
                    "message": "the request exceeds the available context size, try increasing it",
                    "type": "exceed_context_size_error",
                }
            }
            return _error(400, json.dumps(inner))
        return None

    async def _answer(
        self, request: web.Request, recorded: Recorded, behaviour: Behaviour
    ) -> web.StreamResponse:
        body = recorded.body
        options = body.get("options") or {}
        recorded, prompt_tokens = self._fitted(recorded, int(options.get("num_ctx", 4096)))
        await asyncio.sleep(self.first_token_delay)
        if behaviour.kind == "hang":
            await self._released.wait()
        text = behaviour.text
        if text is None and body.get("format") and self.keeps_schema:
            schema = body["format"] if isinstance(body["format"], dict) else {"type": "object"}
            filling = filled(recorded, schema) if is_probe(recorded) else self.structured(recorded, schema)
            text = filling if isinstance(filling, str) else json.dumps(filling, ensure_ascii=False)
        elif text is None and (asked := IN_WORDS.search(recorded.prompt)):
            filling = self.structured(recorded, json.loads(asked[1]))
            text = filling if isinstance(filling, str) else json.dumps(filling, ensure_ascii=False)
            text = f"Here it is {{as asked}}:\n```json\n{text}\n```\nI hope this helps!"
        elif text is None and is_probe(recorded):
            text = "Grass is green."
        elif text is None:
            text = self.answer(recorded)
        pieces = pieces_of(text)
        reason, limit = "stop", int(options.get("num_predict", -1))
        if behaviour.kind in ("empty", "thought"):
            pieces = []
            reason = "length" if behaviour.kind == "thought" else "stop"
        elif behaviour.kind == "length" or 0 <= limit < len(pieces):
            pieces = pieces[: behaviour.after if behaviour.kind == "length" else limit]
            reason = "length"
        if not body.get("stream", True):
            return web.json_response(self._last("".join(pieces), reason, prompt_tokens, len(pieces)))
        return await self._streamed(request, behaviour, pieces, reason, prompt_tokens)

    async def _streamed(
        self, request: web.Request, behaviour: Behaviour, pieces: list[str], reason: str, prompt_tokens: int
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        response.enable_chunked_encoding()
        await response.prepare(request)

        async def line(value: dict[str, Any] | str) -> None:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            await response.write(text.encode() + b"\n")

        if behaviour.kind == "thought":
            await line(self._line("", thinking="Hmm, let me think"))
        held = ""
        for number, piece in enumerate(pieces):
            if number == behaviour.after and behaviour.kind in (
                "error_line",
                "cut",
                "stall",
                "unfinished",
                "garbage",
            ):
                break
            while self.holds_back and number == len(pieces) - 1:
                await asyncio.sleep(0.01)
            held += piece
            if (number + 1) % self.at_once and number < len(pieces) - 1:
                continue
            await line(self._line(held))
            held = ""
            if self.tokens_per_second:
                await asyncio.sleep(1 / self.tokens_per_second)
        match behaviour.kind:
            case "error_line":
                await line({"error": "an error was encountered while running the model: unexpected EOF"})
            case "cut":
                assert request.transport is not None
                request.transport.close()
            case "stall":
                await self._released.wait()
            case "garbage":
                await line("<html>502 Bad Gateway</html>")
            case "unfinished":
                pass
            case _:
                await line(self._last("", reason, prompt_tokens, len(pieces)))
        return response

    def _fitted(self, recorded: Recorded, num_ctx: int) -> tuple[Recorded, int]:
        """Cut the start of a prompt that does not fit, system text first, as Ollama does in silence."""
        tokens = tokens_of(recorded.prompt) + 8 * len(recorded.messages)
        window = min(num_ctx, self.context_length)
        if tokens <= window:
            return recorded, tokens
        self.truncated.append(recorded)
        words = re.findall(r"\S+\s*", recorded.prompt)
        left = "".join(words[-max(1, len(words) * window // (2 * tokens)) :])
        return Recorded(
            recorded.path, {**recorded.body, "messages": [{"role": "user", "content": left}]}
        ), window

    def _has(self, name: str) -> bool:
        return name in self.models or f"{name}:latest" in self.models

    def _missing(self, name: str) -> web.Response:
        return _error(404, f"model '{name}' not found")

    def _line(self, content: str, thinking: str = "") -> dict[str, Any]:
        message = {"role": "assistant", "content": content}
        if thinking:
            message["thinking"] = thinking
        return {"model": self.model, "created_at": _NOW, "message": message, "done": False}

    def _last(self, content: str, reason: str, prompt_tokens: int, answer_tokens: int) -> dict[str, Any]:
        return {
            "model": self.model,
            "created_at": _NOW,
            "message": {"role": "assistant", "content": content},
            "done": True,
            "done_reason": reason,
            "total_duration": 1_500_000_000,
            "load_duration": 20_000_000,
            "prompt_eval_count": prompt_tokens if self.counted is None else self.counted,
            "prompt_eval_duration": 300_000_000,
            "eval_count": answer_tokens,
            "eval_duration": 1_000_000_000,
        }

    def _details(self) -> dict[str, Any]:
        return {
            "parent_model": "",
            "format": "gguf",
            "family": self.family,
            "families": [self.family],
            "parameter_size": "8.2B",
            "quantization_level": "Q4_K_M",
        }

    def _listed(self, name: str) -> dict[str, Any]:
        return {
            "name": name,
            "model": name,
            "modified_at": "2025-10-01T10:00:00.000000000+02:00",
            "size": 5_225_388_164,
            "digest": self.digest,
            "details": self._details(),
        }


_PAGES = {"wall": "401 Authorization Required", "timed_out": "524: A timeout occurred"}
IN_WORDS = re.compile(r"Reply with JSON only[^\n]*\n(\{.*\})\s*\Z", re.DOTALL)


def is_probe(recorded: Recorded) -> bool:
    return [message["content"] for message in recorded.messages] == [PROBE]


_NOW = "2025-10-01T10:00:00.123456789Z"


def _unreadable(body: Mapping[str, Any]) -> web.Response | None:
    """Refuse a `keep_alive` that Go does not read as a duration; a number is one of seconds."""
    given = body.get("keep_alive")
    if not isinstance(given, str) or re.fullmatch(r"[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[nuµm]?s|m|h))+|0", given):
        return None
    return _error(400, f'time: missing unit in duration "{given}"')


def _error(status: int, message: str) -> web.Response:
    return web.json_response({"error": message}, status=status)
