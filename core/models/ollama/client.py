"""The language model behind Ollama's chat API."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Literal

from core.errors import ModelError, ModelMalformed, ModelMissing, ModelRefused
from core.models.completion import Completion, Finish, TokenCount, again, in_words, read_json, stream
from core.models.ollama.filters import TurnedBack, Unthought, inert
from core.models.ollama.server import FAILURES, ModelServer, is_about_thinking
from core.models.refusal import failed
from core.ports import ModelHealth, Prompt

log = logging.getLogger(__name__)

_PAUSE_SECONDS = 60.0
"""Longest silence between two pieces; even a model on two CPU cores writes a token a second."""
_THINKING_TOKENS = 1024
"""Extra room for models whose thinking can be lowered but not turned off (gpt-oss)."""


_SAMPLING: dict[str, dict[str, float]] = {
    "qwen": {"top_p": 0.8, "top_k": 20, "min_p": 0.0},
    "gemma": {"top_p": 0.95, "top_k": 64, "min_p": 0.0},
    "llama": {"top_p": 0.9},
}
"""What the families' own cards recommend beside a temperature, for models that do not think."""


PROBE = "Say in one short sentence which colour grass has."
"""What is asked to see whether a schema is kept to: whoever ignores it answers in a sentence."""
_PROBE_SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["green"]}},
    "required": ["colour"],
}
_PROBE_TOKENS = 32


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
        pause: float = _PAUSE_SECONDS,
    ) -> None:
        self.name = model
        self._pause = min(pause, timeout)
        self._server = ModelServer(host, model, timeout, self._pause)
        self.address = self._server.url
        self._num_ctx = num_ctx
        self.context_tokens = num_ctx
        """Tokens of context: `num_ctx`, or what the model was trained for where that is less."""
        self._keep_alive = _duration(keep_alive)
        self._tries = again(retries, backoff, patience)
        self._tokens = TokenCount()
        self._leaks = False
        self._think: bool | Literal["low"] | None = None
        self._described = False
        self._family = ""
        self._keeps: dict[str, bool] = {}
        self._keeps_schema: bool | None = None

    def count_tokens(self, text: str) -> int:
        """Estimate the tokens of a text without its tokenizer, rather too many than too few.

        What the server counts in prompts corrects the estimate upwards.
        """
        return self._tokens.of(text)

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    def stream(self, prompts: Sequence[Prompt], *, temperature: float, max_tokens: int) -> Completion:
        """Yield the answer piece by piece; `finish` of the completion tells whether it was cut.

        Raises the ModelErrors; ModelInterrupted only after a first piece of text or an error line.
        """
        return self._completion(_Call(prompts, temperature, max_tokens))

    async def structured(
        self, prompts: Sequence[Prompt], schema: dict[str, Any], *, max_tokens: int
    ) -> dict[str, Any]:
        """Return output that fits the schema, at temperature 0.

        It is asked for in words where a probe has shown that the server does not keep the model to it.
        Raises ModelMalformed where the output was cut, is no JSON, or does not fit.
        """
        call = _Call(prompts, 0.0, max_tokens, schema)
        if self._keeps_schema is False:
            call = _Call(in_words(prompts, schema), 0.0, max_tokens)
        text, finish = await self._whole(self._completion(call))
        value, problem = read_json(text, schema)
        if not problem:
            return value
        if finish == "length":
            raise ModelMalformed(
                f"{self.name} did not finish its structured output within {max_tokens} tokens."
                " Allow it more, or give it less to work on.",
                text,
            )
        raise ModelMalformed(f"{self.name} was asked for JSON that fits a schema, but {problem}.", text)

    async def probe(self) -> bool | None:
        """See by one short call whether the server keeps the model to a schema, with its thinking off.

        It is seen once for each version of the model; None where it cannot be seen now. Never raises a
        ModelError. Some servers ignore `format` beside `think: false` (ollama/ollama, issue 14645).
        """
        call = _Call([Prompt("user", PROBE)], 0.0, _PROBE_TOKENS, _PROBE_SCHEMA)
        try:
            digest = await self._server.digest()
            if digest not in self._keeps:
                text, _ = await self._whole(Completion(lambda done: self._attempt(done, call)))
                self._keeps[digest] = not read_json(text, _PROBE_SCHEMA)[1]
                if not self._keeps[digest]:
                    log.warning("%s is not kept to a JSON schema by its server: asked in words", self.name)
        except ModelError as error:
            log.info("whether %s is kept to a JSON schema could not be seen: %s", self.name, error)
            return None
        self._keeps_schema = self._keeps[digest]
        return self._keeps_schema

    async def _whole(self, completion: Completion) -> tuple[str, Finish]:
        async with aclosing(completion):
            text = "".join([piece async for piece in completion])
        return text, completion.finish

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

    def _completion(self, call: _Call) -> Completion:
        return Completion(lambda done: stream(lambda: self._attempt(done, call), self._tries))

    async def _attempt(self, completion: Completion, call: _Call) -> AsyncGenerator[str, None]:
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
        visible, turned_back = Unthought(held=self._leaks), TurnedBack(tokens)
        begun = written = False
        async with aclosing(lines):  # type: ignore[type-var]  # an async generator under another name
            while True:
                try:
                    async with asyncio.timeout(self._pause if begun else None):
                        line = await anext(lines, None)
                except FAILURES as error:
                    if self._think is not None and is_about_thinking(error):
                        self._think = None
                        raise _WithoutThinking(str(error)) from error
                    raise self._told(error, begun) from error
                if line is None:
                    raise failed("cut", self.name, self.address)
                begun = True
                if piece := turned_back.feed(visible.feed(line.message.content or "")):
                    written = written or bool(piece.strip())
                    yield piece
                if line.done:
                    break
        if piece := turned_back.feed(visible.close()) + turned_back.close():
            written = written or bool(piece.strip())
            yield piece
        self._leaks = self._leaks or visible.leaked
        completion.prompt_tokens = line.prompt_eval_count or 0
        completion.answer_tokens = line.eval_count or 0
        self._tokens.learn(prompts, completion.prompt_tokens)
        cut = line.done_reason == "length"
        if not written:
            raise failed("thought" if cut else "empty", self.name, self.address)
        completion.finish = "length" if cut else "stop"

    def _options(self, call: _Call) -> dict[str, float]:
        extra = _THINKING_TOKENS if self._think == "low" else 0
        family = next((name for name in _SAMPLING if self._family.startswith(name)), "")
        return {
            "num_ctx": self.context_tokens,
            "num_predict": call.max_tokens + extra,
            "temperature": call.temperature,
            # some models come with one (Qwen 3.5: 1.5), but answers repeat names, keys and citations
            "presence_penalty": 0.0,
            **(_SAMPLING.get(family, {}) if call.temperature else {}),
        }

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
        self.context_tokens = min(self._num_ctx, ability.context_tokens or self._num_ctx)
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


def _duration(text: str) -> float | str:
    """Turn `-1` or `300` into a number; Ollama takes text only with a unit."""
    try:
        return float(text)
    except ValueError:
        return text
