"""A server that speaks OpenAI's protocol: where it is, what it serves, what it refuses, how it fails."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import Any

import httpx
import openai
from openai.types.chat import ChatCompletionChunk

from core.errors import ModelError, ModelMissing
from core.models.address import Address
from core.models.certificates import trusted
from core.models.embedding.prefixes import is_embedder
from core.models.refusal import OPENAI, failed, is_too_long, refusal, said

SETTING = "MODEL_SERVER"
_CONNECT_SECONDS = 5.0
_LONGEST_WAIT = 60.0
"""A server that asks to be left alone for longer is asked again after that."""

# All that `openai` lets through: its own errors, raw httpx errors once a stream has begun, the builtin
# TimeoutError (OSError), ValueError for events that are no JSON, and AttributeError or TypeError for those
# that are no chunk of an answer.
FAILURES = (
    openai.OpenAIError,
    httpx.HTTPError,
    httpx.InvalidURL,
    httpx.StreamError,
    OSError,
    RecursionError,  # JSON that is nested too deep
    ValueError,
    AttributeError,
    TypeError,
)

_OPTIONAL = {
    "response_format": ("response_format", "json_schema", "grammar", "guided", "structured output"),
    "chat_template_kwargs": ("chat_template", "enable_thinking"),
    "stream_options": ("stream_options", "include_usage"),
    "reasoning_effort": ("reasoning_effort",),
    "top_k": ("top_k",),
    "min_p": ("min_p",),
    "presence_penalty": ("presence_penalty",),
    "temperature": ("'temperature' does not support", "'temperature' is not supported"),
    "max_tokens": ("use 'max_completion_tokens'",),
}
"""Fields that a server may refuse, with the words that it does so in; the same is asked without them, or with
`max_completion_tokens` for `max_tokens`, as OpenAI's own thinking models want it."""


_UNLOADED = 4096
"""Tokens of context that LM Studio and Ollama load a model with where nobody sets more."""
_SENT = re.compile(r"""['"]input['"]\s?:""")
"""Where pydantic's words go on with what it was given."""


@dataclass(frozen=True, slots=True)
class Served:
    """What a server says of a model; empty and None where it does not say."""

    name: str
    context_tokens: int | None = None
    by: str = ""
    """The kind of server, as it calls itself: `vllm`, `sglang`, `llamacpp`."""
    slots: int | None = None
    """Calls that it answers at once; others wait in a line of its own."""
    is_loaded: bool = True
    """Whether this is how the model runs; else how it may come to."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one event of an answer holds."""

    text: str = ""
    is_thinking: bool = False
    finish: str = ""
    prompt_tokens: int = 0
    answer_tokens: int = 0


class ModelServer:
    """One server, and the model that is asked there, by its name; empty for the first that writes.

    `timeout` is the longest wait in seconds for the first word of an answer, `pause` that between two pieces.
    """

    def __init__(self, host: str, model: str, key: str, timeout: float, pause: float) -> None:
        self._address = Address.parse(host, SETTING, 8000)
        self._model = model
        self._name = model
        """What the model is called: as it is asked for, then as the server calls it."""
        self._timeout = timeout
        self._pause = pause
        limit = httpx.Timeout(timeout, connect=min(_CONNECT_SECONDS, timeout))
        # A proxy set for the outer world must not be asked for a server on this machine.
        http = httpx.AsyncClient(
            auth=self._address.login,
            timeout=limit,
            trust_env=not self._address.here,
            verify=trusted(not self._address.here),
            follow_redirects=True,
        )
        self.client = openai.AsyncOpenAI(
            base_url=self.url, api_key=key or "none", max_retries=0, timeout=limit, http_client=http
        )
        # it takes these of the environment, where they are for somebody else
        self.client.organization = self.client.project = None

    @property
    def url(self) -> str:
        """Return the server's URL without credentials, up to and with `/v1`."""
        url = self._address.url
        return url if url.partition("://")[2].count("/") else f"{url}/v1"

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()

    async def served(self) -> Served:
        """Ask which model is there, and how long a context it takes; raises the ModelErrors."""
        listed = await self._get(f"{self.url}/models")
        rows = listed.get("data") if isinstance(listed, dict) else None
        if not isinstance(rows, list):
            raise failed("foreign", self._model, self.url, OPENAI)
        models = [row for row in rows if isinstance(row, dict) and row.get("id")]
        if self._model:
            mine = next((row for row in models if row["id"] == self._model), None)
        else:
            mine = min(models, key=lambda row: _embeds(str(row["id"])), default=None)
        # llama.cpp serves one model, whatever it is called in the request
        if mine is None and len(models) == 1 and models[0].get("owned_by") == "llamacpp":
            mine = models[0]
        if mine is None:
            names = ", ".join(str(row["id"]) for row in models[:5]) or "none"
            wanted = self._model or "a model"
            raise ModelMissing(
                f"The model server at {self.url} does not have {wanted}: set MODEL_NAME to one that it serves"
                f" ({names})."
            )
        by = str(mine.get("owned_by") or "")
        self._name = str(mine["id"])
        if by == "llamacpp":
            return await self._by_llamacpp(mine)
        context = _count(mine.get("max_model_len") or mine.get("context_length"))
        if context or not self.url.endswith("/v1"):
            return Served(self._name, context, by)
        return await self._by_lm_studio() or await self._by_ollama() or Served(self._name, None, by)

    async def _by_lm_studio(self) -> Served | None:
        """Return what LM Studio says of its model; None where this is another server."""
        return await self._loaded("v0/models", "data", "id", "loaded_context_length", "lmstudio")

    async def _by_ollama(self) -> Served | None:
        """Return what Ollama says of its model, which it cuts prompts for without a word."""
        return await self._loaded("ps", "models", "name", "context_length", "ollama")

    async def _loaded(self, path: str, rows: str, name: str, context: str, by: str) -> Served | None:
        try:
            told = await self._get(f"{self.url.removesuffix('/v1')}/api/{path}")
        except ModelError:
            return None
        found = told.get(rows) if isinstance(told, dict) else None
        if not isinstance(found, list):
            return None
        mine = next((row for row in found if isinstance(row, dict) and row.get(name) == self._name), {})
        is_loaded = bool(mine) and mine.get("state", "loaded") == "loaded"
        return Served(self._name, _count(mine.get(context)) if is_loaded else _UNLOADED, by, None, is_loaded)

    async def _by_llamacpp(self, row: dict[str, Any]) -> Served:
        """Return what llama.cpp says of its model; most of it stands elsewhere."""
        try:
            props = await self._get(f"{self.url.removesuffix('/v1')}/props")
            context = props["default_generation_settings"]["n_ctx"]
        except (ModelError, KeyError, TypeError):
            return Served(self._name, _count((row.get("meta") or {}).get("n_ctx_train")), "llamacpp")
        return Served(self._name, _count(context), "llamacpp", _count(props.get("total_slots")))

    async def version(self, by: str) -> str:
        """Return the kind of server with its version, as far as it says; never raises."""
        if by != "vllm":
            return by
        try:
            told = await self._get(f"{self.url.removesuffix('/v1')}/version")
        except ModelError:
            return by
        return f"{by} {told.get('version', '')}".strip() if isinstance(told, dict) else by

    async def _get(self, url: str) -> Any:
        try:
            async with asyncio.timeout(min(self._timeout, 2 * _CONNECT_SECONDS)):
                return await self.client.get(url, cast_to=object)
        except FAILURES as error:
            raise self.told(error) from error

    def told(self, error: Exception, begun: bool = False) -> ModelError:
        """Turn what the client raised into one of our errors; `begun` once a first piece has come."""
        where = (self._name or "The model", self.url, OPENAI)
        if isinstance(error, openai.APIStatusError):
            words = _said(error)
            return refusal(error.status_code, words, *where, after=_after(error.response.headers))
        if isinstance(error, openai.APIError) and not isinstance(error, openai.APIConnectionError):
            # an error among the events: SGLang and LM Studio tell so what others refuse before
            words = _said(error)
            status = error.body.get("code") if isinstance(error.body, dict) else None
            if is_too_long(words):
                status = 400
            if not begun and isinstance(status, int) and status >= 400:
                return refusal(status, words, *where)
            return failed("broken", *where, words=words)
        silent = isinstance(error, (TimeoutError, httpx.TimeoutException, openai.APITimeoutError))
        # before it begins, `openai` wraps what breaks a connection
        if begun or isinstance(error, (httpx.RemoteProtocolError, httpx.ReadError)):
            return failed("silent" if silent else "cut", *where, seconds=self._pause)
        cause = error.__cause__ if isinstance(error, openai.APIConnectionError) else error
        if isinstance(cause, (httpx.ConnectTimeout, httpx.PoolTimeout)):
            return failed("unreachable", *where)
        if silent:
            return failed("late", *where, seconds=self._timeout)
        if isinstance(cause, (httpx.TransportError, OSError)):
            return failed("down", *where, words=str(cause)[:200])
        return failed("foreign", *where)


def refused_fields(error: Exception) -> set[str]:
    """Return the optional fields that a server rejects a request for, by the words of its refusal."""
    if not isinstance(error, openai.APIStatusError) or error.status_code not in (400, 422, 501):
        return set()
    words = _said(error).lower()
    return {field for field, signs in _OPTIONAL.items() if any(sign in words for sign in signs)}


def part_of(chunk: ChatCompletionChunk) -> Part:
    """Read one event; raises AttributeError or TypeError where it is no chunk of an answer."""
    usage = chunk.usage
    counted = (_count(usage.prompt_tokens) or 0, _count(usage.completion_tokens) or 0) if usage else (0, 0)
    if not isinstance(chunk.choices, list):
        raise TypeError("no choices")
    if not chunk.choices:
        return Part("", False, "", *counted)
    choice = chunk.choices[0]
    # vLLM calls it `reasoning`, the others `reasoning_content`; it is not shown
    more = choice.delta.model_extra or {} if choice.delta else {}
    thought = bool(more.get("reasoning_content") or more.get("reasoning"))
    text = (choice.delta.content or "") if choice.delta else ""
    if not isinstance(text, str):
        raise TypeError("the text is none")
    return Part(text, thought, choice.finish_reason or "", *counted)


def _embeds(name: str) -> bool:
    """Return True if a model only embeds or ranks, by its name: servers list those beside the others."""
    return is_embedder(name) or any(sign in name.lower() for sign in ("embed", "rerank"))


def _count(told: Any) -> int | None:
    return told if isinstance(told, int) and told > 0 else None


def _said(error: openai.APIError) -> str:
    """Return a server's words, without what was sent: some say it again, and people's words are in it."""
    body = error.body or error.message
    details = body.get("detail") if isinstance(body, dict) else None
    if isinstance(details, list):
        body = "; ".join(
            str(d.get("msg", "")) + f" {d.get('loc', '')}" for d in details if isinstance(d, dict)
        )
    return _SENT.split(said(body))[0].rstrip(" ,")


def _after(headers: httpx.Headers) -> float:
    """Return the seconds of `Retry-After`; 0 where there are none, or it is a date."""
    try:
        return min(max(float(headers.get("retry-after", 0)), 0.0), _LONGEST_WAIT)
    except ValueError:
        return 0.0
