"""The language model behind the chat API of OpenAI, as vLLM, SGLang, llama.cpp and LM Studio serve it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any, cast

from openai import AsyncStream
from openai.types.chat import ChatCompletionChunk

from core.errors import ModelError, ModelMissing, ModelRefused
from core.models.completion import (
    PAUSE_SECONDS,
    THINKING_TOKENS,
    AskDifferently,
    Call,
    Completion,
    SchemaRefused,
    Writer,
    again,
    sampling,
)
from core.models.filters import Shown, inert
from core.models.openai.server import FAILURES, ModelServer, Part, part_of, refused_fields
from core.models.refusal import OPENAI, failed
from core.ports import ModelHealth, Prompt

log = logging.getLogger(__name__)

Chunks = AsyncStream[ChatCompletionChunk]

_BROKEN = ("abort", "error")
"""How an answer ends that the server gave up."""
_CUT = ("length", "content_filter")
"""How an answer ends that is not whole."""


class OpenAIModel(Writer):
    """A `LanguageModel` on a server that speaks OpenAI's protocol.

    `timeout` is the longest wait in seconds for the first word of an answer; `context_tokens` are used at
    most, and fewer where the server says that it takes fewer. What fails before any text came is tried again
    as with Ollama. With an empty `model` it is the first that the server serves and that writes.
    """

    def __init__(
        self,
        host: str,
        model: str,
        *,
        key: str = "",
        timeout: float = 120.0,
        context_tokens: int = 8192,
        retries: int = 2,
        backoff: float = 0.5,
        patience: float = 10.0,
        pause: float = PAUSE_SECONDS,
    ) -> None:
        self._timeout, self._pause = timeout, min(pause, timeout)
        self._server = ModelServer(host, model, key, timeout, self._pause)
        super().__init__(model, self._server.url, context_tokens, again(retries, backoff, patience))
        self._most_tokens = context_tokens
        self._described = False
        self._unwanted: set[str] = set()
        """Fields that the server has refused."""

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    async def _edition(self) -> str:
        served = await self._server.served()
        return f"{served.name} {served.by}"

    async def health(self) -> ModelHealth:
        """Ask the server for the models that it serves; never raises."""
        try:
            version = await self._describe(anew=True)
        except ModelError as error:
            return ModelHealth(False, str(error), self.name)
        return ModelHealth(True, "", self.name, version, self._keeps_schema)

    # --- one answer -------------------------------------------------------------------------------

    async def _attempt(self, completion: Completion, call: Call) -> AsyncGenerator[str, None]:
        if not self._described:
            await self._describe()
        prompts, tokens = inert(call.prompts)
        shown, thought, finish = Shown(tokens, held=self._leaks), False, ""
        async with self._asked(prompts, call) as chunks, aclosing(self._parts(chunks)) as parts:
            async for part in parts:
                thought = thought or part.is_thinking
                finish = part.finish or finish
                completion.prompt_tokens = part.prompt_tokens or completion.prompt_tokens
                completion.answer_tokens = part.answer_tokens or completion.answer_tokens
                if piece := shown.feed(part.text):
                    yield piece
        if piece := shown.close():
            yield piece
        self._leaks = self._leaks or shown.leaked
        self._tokens.learn(prompts, completion.prompt_tokens)
        if not self._described:  # only now it is loaded
            with suppress(ModelError):
                await self._describe()
        cut, full = finish in _CUT, finish == "length"
        if not shown.is_written:
            if call.schema is not None and thought and not cut:
                # LM Studio keeps some models' thinking to the schema instead of their answer
                raise SchemaRefused(f"{self.name} wrote its JSON where it thinks.")
            raise failed("thought" if full or thought else "empty", self.name, self.address, OPENAI)
        completion.finish = "length" if cut else "stop"

    async def _parts(self, chunks: Chunks) -> AsyncGenerator[Part, None]:
        """Yield what the events hold, to the end; raises the ModelErrors."""
        loop, begun, finish = asyncio.get_running_loop(), False, ""
        first = loop.time() + self._timeout
        while True:
            try:
                async with asyncio.timeout_at(loop.time() + self._pause if begun else first):
                    chunk = await anext(chunks, None)
                if chunk is None:
                    break
                part = part_of(chunk)
            except FAILURES as error:
                if finish:  # all was said; only the end of the stream is missing
                    return
                raise self._told(error, begun) from error
            # a first event may only say who speaks, long before a word
            begun = begun or bool(part.text) or part.is_thinking
            finish = part.finish or finish
            if part.finish in _BROKEN:
                raise failed("broken", self.name, self.address, OPENAI, words=part.finish)
            yield part
        if not finish:
            is_events = "event-stream" in chunks.response.headers.get("content-type", "")
            raise failed("cut" if begun or is_events else "foreign", self.name, self.address, OPENAI)

    @asynccontextmanager
    async def _asked(self, prompts: Sequence[Prompt], call: Call) -> AsyncGenerator[Chunks, None]:
        """Ask; what the server does not take is left out, now and from now on."""
        fields = {k: v for k, v in self._fields(call).items() if k not in self._unwanted}
        try:
            made = await self._server.client.chat.completions.create(
                model=self.name,
                messages=[{"role": p.role, "content": p.content} for p in prompts],  # type: ignore[misc]
                stream=True,
                extra_body=fields,
            )
        except FAILURES as error:
            refused = refused_fields(error) & fields.keys()
            if not refused:
                raise self._told(error, False) from error
            if "response_format" in refused:
                raise SchemaRefused(f"The server at {self.address} takes no schema.") from error
            self._unwanted |= refused
            raise AskDifferently(f"the server does not take {', '.join(sorted(refused))}") from error
        chunks = cast(Chunks, made)
        try:
            yield chunks
        finally:
            await chunks.close()

    def _fields(self, call: Call) -> Mapping[str, Any]:
        """Return what is sent beside the messages."""
        family = self.name.rpartition("/")[2].lower()
        fields: dict[str, Any] = {
            "max_tokens": call.max_tokens,
            "stream_options": {"include_usage": True},
            "chat_template_kwargs": {"enable_thinking": False},
            **sampling(family, call.temperature),
        }
        limit = "max_completion_tokens" if "max_tokens" in self._unwanted else "max_tokens"
        if self._always_thinks:
            fields |= {"reasoning_effort": "low", limit: call.max_tokens + THINKING_TOKENS}
        if call.schema is not None:
            schema = {"name": "output", "strict": True, "schema": call.schema}
            fields["response_format"] = {"type": "json_schema", "json_schema": schema}
        return fields

    @property
    def _always_thinks(self) -> bool:
        """Return True for a model that thinks only more or less."""
        return "gpt-oss" in self.name.rpartition("/")[2].lower() or "max_tokens" in self._unwanted

    # --- what the server knows --------------------------------------------------------------------

    async def _describe(self, anew: bool = False) -> str:
        """Learn which model is there and how long a context it takes; return what serves it."""
        try:
            served = await self._server.served()
        except ModelMissing:
            self._described = False
            raise
        except ModelRefused as error:
            if anew or not self.name:
                raise
            # A gateway that has only /chat/completions; its answer to that tells more.
            log.info("%s does not say what it serves: %s", self.address, error)
            self._described = True
            return ""
        self.name = served.name
        self.slots = served.slots
        room = served.context_tokens or self._most_tokens
        if self._always_thinks:  # what it thinks has to have room behind the prompt and the answer
            room = max(room - THINKING_TOKENS, room // 2)
        self.context_tokens = min(self._most_tokens, room)
        self._described = served.is_loaded
        return await self._server.version(served.by) if anew else ""

    def _told(self, error: Exception, begun: bool) -> ModelError:
        """Turn what the client raised into one of our errors; a model that is gone is looked up again."""
        told = self._server.told(error, begun)
        if isinstance(told, ModelMissing):
            self._described = False
        return told
