"""The language model behind Ollama's chat API; the only file that imports the `ollama` client."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Literal

import httpx
import ollama

from core.errors import (
    ModelError,
    ModelMalformed,
    ModelMissing,
    ModelRefused,
)
from core.models.address import Address
from core.models.completion import Completion
from core.models.refusal import failed, refusal, said
from core.models.retry import Retry
from core.models.schema import read_json
from core.models.thinking import Unthought
from core.models.tokens import TokenCount
from core.ports import ModelHealth, Prompt

log = logging.getLogger(__name__)

_CONNECT_SECONDS = 5.0
_PAUSE_SECONDS = 60.0
"""Longest silence between two pieces; even a model on two CPU cores writes a token a second."""
_THINKING_TOKENS = 1024
"""Extra room for models whose thinking can be lowered but not turned off (gpt-oss)."""

# All that `ollama` lets through: its own error, raw httpx errors, the builtin ConnectionError and
# TimeoutError (OSError), ValueError for lines that are no JSON or no chat line, and AttributeError or
# TypeError where it takes an error body apart that is not the object it expects.
_FAILURES = (
    ollama.ResponseError,
    httpx.HTTPError,
    httpx.InvalidURL,
    httpx.StreamError,
    OSError,
    ValueError,
    AttributeError,
    TypeError,
)


@dataclass(frozen=True, slots=True)
class _Call:
    prompts: Sequence[Prompt]
    temperature: float
    max_tokens: int
    schema: dict[str, Any] | None = None


class _WithoutThinking(ModelRefused):
    """Report that the server does not take `think` for this model after all; the next try leaves it out."""

    retryable = True


class Ollama:
    """A `LanguageModel` served by Ollama.

    `timeout` is the longest wait in seconds for the first byte of an answer, loading the model
    included. What fails before any text came is tried again up to `retries` times, with exponential
    backoff (starting at `backoff` seconds) and jitter, and not beyond `patience` seconds after the start.
    """

    def __init__(
        self,
        host: str,
        model: str,
        *,
        timeout: float = 120.0,
        num_ctx: int = 8192,
        keep_alive: str = "30m",
        retries: int = 2,
        backoff: float = 0.25,
        patience: float = 10.0,
        pause: float = _PAUSE_SECONDS,
    ) -> None:
        self.name = model
        self._server = Address.parse(host)
        self.address = self._server.url
        self._timeout = timeout
        self._num_ctx = num_ctx
        self.context_tokens = num_ctx
        """Tokens of context: `num_ctx`, or what the model was trained for where that is less."""
        self._keep_alive = _duration(keep_alive)
        self._retry = Retry(retries, backoff, patience)
        self._pause = min(pause, timeout)
        self._tokens = TokenCount()
        self._leaks = False
        self._think: bool | Literal["low"] | None = None
        self._described = False
        self._client = ollama.AsyncClient(
            host=self._server.url,
            auth=self._server.login,
            timeout=httpx.Timeout(timeout, connect=min(_CONNECT_SECONDS, timeout)),
            # A proxy set for the outer world must not be asked for a server on this machine.
            trust_env=not self._server.here,
        )

    def count_tokens(self, text: str) -> int:
        """Estimate the tokens of a text without its tokenizer, rather too many than too few.

        What the server counts in prompts corrects the estimate upwards.
        """
        return self._tokens.of(text)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()  # type: ignore[no-untyped-call]

    def stream(self, prompts: Sequence[Prompt], *, temperature: float, max_tokens: int) -> Completion:
        """Yield the answer piece by piece; `finish` of the completion tells whether it was cut.

        Raises the ModelErrors; ModelInterrupted only after a first piece of text or an error line.
        """
        return self._completion(_Call(prompts, temperature, max_tokens))

    async def structured(
        self, prompts: Sequence[Prompt], schema: dict[str, Any], *, max_tokens: int
    ) -> dict[str, Any]:
        """Return output that fits the schema, at temperature 0.

        Raises ModelMalformed where the output was cut, is no JSON, or does not fit.
        """
        completion = self._completion(_Call(prompts, 0.0, max_tokens, schema))
        async with aclosing(completion):
            text = "".join([piece async for piece in completion])
        if completion.finish == "length":
            raise ModelMalformed(
                f"{self.name} did not finish its structured output within {max_tokens} tokens."
                " Allow it more, or give it less to work on."
            )
        value, problem = read_json(text, schema)
        if problem:
            raise ModelMalformed(f"{self.name} was asked for JSON that fits a schema, but {problem}.")
        return value

    async def health(self) -> ModelHealth:
        """Ask the server for its version and for the model; never raises."""
        version = ""
        try:
            version = await self._version()
            await self._describe(anew=True)
        except ModelMissing as error:
            return ModelHealth(False, f"{error}{await self._installed()}", self.name, version)
        except ModelError as error:
            return ModelHealth(False, str(error), self.name, version)
        return ModelHealth(True, "", self.name, version)

    async def placement(self) -> tuple[int, int]:
        """Return the bytes of the loaded model, and those on a GPU; 0 and 0 where it is not loaded."""
        try:
            running = await asyncio.wait_for(self._client.ps(), _CONNECT_SECONDS)
        except _FAILURES:
            return 0, 0
        mine = next((m for m in running.models if self.name in (m.model, m.name)), None)
        return (int(mine.size or 0), int(mine.size_vram or 0)) if mine else (0, 0)

    # --- one answer -------------------------------------------------------------------------------

    def _completion(self, call: _Call) -> Completion:
        return Completion(lambda done: self._retry.stream(lambda: self._attempt(done, call)))

    async def _attempt(self, completion: Completion, call: _Call) -> AsyncGenerator[str, None]:
        if not self._described:
            await self._describe()
        lines = await self._client.chat(
            model=self.name,
            messages=[{"role": p.role, "content": p.content} for p in call.prompts],
            stream=True,
            think=self._think,
            format=call.schema,
            options=self._options(call),
            keep_alive=self._keep_alive,
        )
        visible = Unthought(held=self._leaks)
        begun = written = False
        async with aclosing(lines):  # type: ignore[type-var]  # an async generator under another name
            while True:
                try:
                    async with asyncio.timeout(self._pause if begun else None):
                        line = await anext(lines, None)
                except _FAILURES as error:
                    if self._think is not None and _is_about_thinking(error):
                        self._think = None
                        raise _WithoutThinking(str(error)) from error
                    raise self._told(error, begun) from error
                if line is None:
                    raise failed("cut", self.name, self.address)
                begun = True
                if piece := visible.feed(line.message.content or ""):
                    written = written or bool(piece.strip())
                    yield piece
                if line.done:
                    break
        if piece := visible.close():
            written = written or bool(piece.strip())
            yield piece
        self._leaks = self._leaks or visible.leaked
        completion.prompt_tokens = line.prompt_eval_count or 0
        completion.answer_tokens = line.eval_count or 0
        self._tokens.learn(call.prompts, completion.prompt_tokens)
        cut = line.done_reason == "length"
        if not written:
            raise failed("thought" if cut else "empty", self.name, self.address)
        completion.finish = "length" if cut else "stop"

    def _options(self, call: _Call) -> dict[str, float]:
        extra = _THINKING_TOKENS if self._think == "low" else 0
        return {
            "num_ctx": self.context_tokens,
            "num_predict": call.max_tokens + extra,
            "temperature": call.temperature,
        }

    # --- what the server knows --------------------------------------------------------------------

    async def _describe(self, anew: bool = False) -> None:
        """Learn what the model can do and how long a context it takes."""
        try:
            shown = await asyncio.wait_for(self._client.show(self.name), self._timeout)
        except _FAILURES as error:
            told = self._told(error)
            if isinstance(told, ModelRefused) and not anew:
                # A gateway that has only /api/chat; its answer to the chat request tells more.
                log.info("%s does not describe %s: %s", self.address, self.name, told)
                self._described = True
                return
            raise told from error
        able = shown.capabilities or []
        if able and "completion" not in able:
            raise ModelRefused(
                f"{self.name} cannot write text (it can: {', '.join(able)})."
                " Set OLLAMA_MODEL to a chat model."
            )
        family = (shown.details.family or "") if shown.details else ""
        self._think = None
        if "thinking" in able:
            # gpt-oss takes no false, only a level.
            self._think = "low" if "gptoss" in family.replace("-", "") else False
        lengths = [
            v
            for k, v in (shown.modelinfo or {}).items()
            if k.endswith(".context_length") and isinstance(v, int)
        ]
        self.context_tokens = min([self._num_ctx, *lengths])
        self._described = True

    async def _version(self) -> str:
        # The client has no call for it.
        server = self._server
        try:
            async with httpx.AsyncClient(
                auth=server.login, timeout=_CONNECT_SECONDS, trust_env=not server.here
            ) as client:
                response = await client.get(f"{server.url}/api/version")
                return str(response.raise_for_status().json().get("version", ""))
        except httpx.HTTPStatusError:
            return ""
        except _FAILURES as error:
            raise self._told(error) from error

    async def _installed(self) -> str:
        try:
            listed = await asyncio.wait_for(self._client.list(), _CONNECT_SECONDS)
        except _FAILURES:
            return ""
        names = [m.model for m in listed.models if m.model][:5]
        return f" (Or set OLLAMA_MODEL to one that is there: {', '.join(names)}.)" if names else ""

    def _told(self, error: Exception, begun: bool = False) -> ModelError:
        """Turn what the client raised into one of our errors."""
        where = (self.name, self.address)
        if isinstance(error, ollama.ResponseError):
            if error.status_code < 0:
                return failed("broken", *where, words=said(error.error))
            told = refusal(error.status_code, said(error.error), *where)
            if isinstance(told, ModelMissing):
                self._described = False
            return told
        silent = isinstance(error, (TimeoutError, httpx.TimeoutException))
        if begun:
            return failed("silent" if silent else "cut", *where, seconds=self._pause)
        if isinstance(error, (httpx.ConnectTimeout, httpx.PoolTimeout)):
            return failed("unreachable", *where)
        if silent:
            return failed("late", *where, seconds=self._timeout)
        if isinstance(error, (httpx.TransportError, OSError)):
            # The client hides what it was that kept it from connecting.
            cause = error.__context__ if isinstance(error, ConnectionError) else error
            return failed("down", *where, words=str(cause or "")[:200])
        return failed("foreign", *where)


def _duration(text: str) -> float | str:
    """Turn `-1` or `300` into a number; Ollama takes text only with a unit."""
    try:
        return float(text)
    except ValueError:
        return text


def _is_about_thinking(error: Exception) -> bool:
    return (
        isinstance(error, ollama.ResponseError) and error.status_code == 400 and "think" in said(error.error)
    )
