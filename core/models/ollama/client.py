"""The language model behind Ollama's chat API."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Literal

from core.errors import ModelError, ModelMissing, ModelRefused
from core.models.completion import (
    PAUSE_SECONDS,
    THINKING_TOKENS,
    AskDifferently,
    Call,
    Completion,
    Writer,
    again,
    sampling,
)
from core.models.filters import Shown, inert
from core.models.ollama.server import FAILURES, ModelServer, duration, is_about_thinking
from core.models.refusal import failed
from core.ports import ModelHealth

log = logging.getLogger(__name__)


class Ollama(Writer):
    """A `LanguageModel` served by Ollama.

    `timeout` is the longest wait in seconds for the first byte of an answer, loading the model
    included. What fails before any text came is tried again up to `retries` times, each a random
    part of `backoff` seconds later, which double, and not beyond `patience` seconds after the start.
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
        backoff: float = 0.5,
        patience: float = 10.0,
        pause: float = PAUSE_SECONDS,
    ) -> None:
        self._pause = min(pause, timeout)
        self._server = ModelServer(host, model, timeout, self._pause)
        super().__init__(model, self._server.url, num_ctx, again(retries, backoff, patience))
        self._num_ctx = self._loaded_tokens = num_ctx
        self._keep_alive = duration(keep_alive)
        self._think: bool | Literal["low"] | None = None
        self._described = False
        self._family = ""

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    async def _edition(self) -> str:
        return await self._server.digest()

    async def health(self) -> ModelHealth:
        """Ask the server for its version and for the model; never raises."""
        version = ""
        try:
            version = await self._server.version()
            await self._describe(anew=True)
        except ModelMissing as error:
            return ModelHealth(False, f"{error}{await self._installed()}", self.name, version)
        except ModelError as error:
            return ModelHealth(False, str(error), self.name, version)
        return ModelHealth(True, "", self.name, version, self._keeps_schema)

    async def placement(self) -> tuple[int, int]:
        """Return the bytes of the loaded model, and those on a GPU; 0 and 0 where it is not loaded."""
        return await self._server.placement()

    # --- one answer -------------------------------------------------------------------------------

    async def _attempt(self, completion: Completion, call: Call) -> AsyncGenerator[str, None]:
        if not self._described:
            await self._describe()
        prompts, tokens = inert(call.prompts)
        lines = await self._server.client.chat(
            model=self.name,
            messages=[{"role": p.role, "content": p.content} for p in prompts],
            stream=True,
            think=self._think,
            format=call.schema,
            options=self._options(call),
            keep_alive=self._keep_alive,
        )
        shown, begun = Shown(tokens, held=self._leaks), False
        async with aclosing(lines):  # type: ignore[type-var]  # an async generator under another name
            while True:
                try:
                    async with asyncio.timeout(self._pause if begun else None):
                        line = await anext(lines, None)
                except FAILURES as error:
                    if self._think is not None and is_about_thinking(error):
                        self._think = None
                        raise AskDifferently("it does not think") from error
                    raise self._told(error, begun) from error
                if line is None:
                    raise failed("cut", self.name, self.address)
                begun = True
                if piece := shown.feed(line.message.content or ""):
                    yield piece
                if line.done:
                    break
        if piece := shown.close():
            yield piece
        self._leaks = self._leaks or shown.leaked
        completion.prompt_tokens = line.prompt_eval_count or 0
        completion.answer_tokens = line.eval_count or 0
        self._tokens.learn(prompts, completion.prompt_tokens)
        cut = line.done_reason == "length"
        if not shown.is_written:
            raise failed("thought" if cut else "empty", self.name, self.address)
        completion.finish = "length" if cut else "stop"

    def _options(self, call: Call) -> dict[str, float]:
        return {
            "num_ctx": self._loaded_tokens,
            "num_predict": call.max_tokens + self._more_tokens,
            **sampling(self._family, call.temperature),
        }

    @property
    def _more_tokens(self) -> int:
        """Return the tokens that are written beside an answer."""
        return THINKING_TOKENS if self._think == "low" else 0

    # --- what the server knows --------------------------------------------------------------------

    async def _describe(self, anew: bool = False) -> None:
        """Learn what the model can do and how long a context it takes."""
        try:
            ability = await self._server.ability()
        except ModelMissing:
            self._described = False
            raise
        except ModelRefused as error:
            if anew:
                raise
            # A gateway that has only /api/chat; its answer to the chat request tells more.
            log.info("%s does not describe %s: %s", self.address, self.name, error)
            self._described = True
            return
        if ability.able and "completion" not in ability.able:
            raise ModelRefused(
                f"{self.name} cannot write text (it can: {', '.join(ability.able)})."
                " Set OLLAMA_MODEL to a chat model."
            )
        self._think = ability.think
        self._family = ability.family
        self._loaded_tokens = min(self._num_ctx, ability.context_tokens or self._num_ctx)
        # what it thinks has to have room behind the prompt and the answer
        self.context_tokens = max(self._loaded_tokens - self._more_tokens, self._loaded_tokens // 2)
        self._described = True

    async def _installed(self) -> str:
        names = (await self._server.installed())[:5]
        return f" (Or set OLLAMA_MODEL to one that is there: {', '.join(names)}.)" if names else ""

    def _told(self, error: Exception, begun: bool) -> ModelError:
        """Turn what the client raised into one of our errors; a model that is gone is looked up again."""
        told = self._server.told(error, begun)
        if isinstance(told, ModelMissing):
            self._described = False
        return told
