"""Language models of llama-index behind the `LanguageModel` port."""

from __future__ import annotations

import asyncio
import contextvars
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any

from core.errors import ConfigurationError, ModelError, ModelInterrupted, ModelMalformed, ModelUnavailable
from core.models.completion import Completion, Finish, TokenCount, again, in_words, read_json, stream
from core.models.filters import TurnedBack, Unthought, inert
from core.models.llama_index.answers import by_schema, finish_of, object_in, output_class, piece_of
from core.models.llama_index.integration import Integration, build, failure
from core.ports import ModelHealth, Prompt

SETTING = "LLM"
PATIENCE_SECONDS = 10.0
"""After the first try no other begins later than that."""
PAUSE_SECONDS = 60.0
"""Longest silence between two pieces."""
CONTEXT_TOKENS = 3900
"""Context where the class does not say: llama-index's own default."""
HEALTHY_SECONDS = 60.0
"""A model that answered so long ago is not asked again whether it could."""
_LIMITS = ("max_tokens", "max_output_tokens", "max_completion_tokens", "max_new_tokens")
_CHARACTERS = 5
"""Characters of a token, amply: where a class takes no limit, the answer is cut here."""
_THREADS = 4
_COPIES = 16


@dataclass(frozen=True, slots=True)
class _Call:
    prompts: Sequence[Prompt]
    temperature: float
    max_tokens: int
    output: type | None = None


class _NoOutput(ModelMalformed):
    """Report a function call that gave nothing; the same is asked in words."""

    retryable = False


class LlamaIndexModel:
    """A `LanguageModel` that an integration of llama-index asks.

    `timeout` is the longest wait in seconds for the first piece of an answer, and for a whole answer by
    schema. What fails before any text came is tried again, as with Ollama. Temperature and length of a call
    are given on where the class has fields for them that neither the line nor the class has set.
    """

    def __init__(
        self, named: Integration, *, timeout: float = 120.0, retries: int = 2, backoff: float = 0.25
    ) -> None:
        self.name = str(getattr(named.made, "model", "") or re.split(r"[.:]", named.path)[-1])
        self.context_tokens = CONTEXT_TOKENS
        self._named = named
        self._llm = named.made
        self._timeout = timeout
        self._pause = min(PAUSE_SECONDS, timeout)
        self._tries = again(retries, backoff, PATIENCE_SECONDS)
        self._tokens = TokenCount()
        self._copies: dict[tuple[float, int], tuple[Any, bool]] = {}
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="llm")
        self._calls_functions = False
        self._is_described = False
        self._leaks = False
        self._answered_at: float | None = None

    def count_tokens(self, text: str) -> int:
        """Estimate the tokens of a text, rather too many than too few."""
        return self._tokens.of(text)

    async def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def stream(self, prompts: Sequence[Prompt], *, temperature: float, max_tokens: int) -> Completion:
        """Yield the answer piece by piece; `finish` of the completion says whether it was cut."""
        return self._completion(_Call(prompts, temperature, max_tokens))

    async def structured(
        self, prompts: Sequence[Prompt], schema: dict[str, Any], *, max_tokens: int
    ) -> dict[str, Any]:
        """Return output that fits the schema, at temperature 0.

        Asks by a function where the model has those, else, or where that gives nothing that fits, in words; a
        misfit is told to the model once. Raises ModelMalformed where the output was cut or does not fit.
        """
        await self._described()
        problem = text = ""
        if self._calls_functions:
            with suppress(ModelMalformed):
                text, _ = await self._whole(_Call(prompts, 0.0, max_tokens, output_class(schema)))
                value, problem = read_json(text, schema)
                if not problem:
                    return value
        asked = in_words(prompts, schema)
        for _ in range(2):
            text, finish = await self._whole(_Call(asked, 0.0, max_tokens))
            if finish == "length":
                raise ModelMalformed(
                    f"{self.name} did not finish its structured output within {max_tokens} tokens."
                    " Allow it more, or give it less to work on.",
                    text,
                )
            value, problem = read_json(object_in(text), schema)
            if not problem:
                return value
            asked = by_schema(asked, text, problem)
        raise ModelMalformed(f"{self.name} was asked for JSON that fits a schema, but {problem}.", text)

    async def health(self) -> ModelHealth:
        """Ask the model for a word, unless it has just answered; never raises."""
        try:
            await self._described()
            if self._answered_at is None or time.monotonic() - self._answered_at > HEALTHY_SECONDS:
                completion = self.stream([Prompt("user", "Say OK.")], temperature=0.0, max_tokens=16)
                async with aclosing(completion):
                    await anext(completion, None)
        except ModelMalformed:
            pass  # it answers, only not with a word
        except ModelError as error:
            return ModelHealth(False, str(error), self.name)
        return ModelHealth(True, "", self.name)

    # --- one answer -------------------------------------------------------------------------------

    def _completion(self, call: _Call) -> Completion:
        return Completion(lambda done: stream(lambda: self._attempt(done, call), self._tries))

    async def _whole(self, call: _Call) -> tuple[str, Finish]:
        completion = self._completion(call)
        async with aclosing(completion):
            text = "".join([piece async for piece in completion])
        return text, completion.finish

    async def _attempt(self, completion: Completion, call: _Call) -> AsyncGenerator[str, None]:
        await self._described()
        prompts, tokens = inert(call.prompts)
        visible, turned_back = Unthought(held=self._leaks), TurnedBack(tokens)
        llm, is_limited = self._with(call.temperature, call.max_tokens)
        room = None if is_limited or call.output else call.max_tokens * _CHARACTERS
        finish: Finish = ""
        written, is_shown = "", False
        async with aclosing(self._responses(llm, call, prompts)) as responses:
            async for response in responses:
                piece, written = piece_of(response, written)
                finish = finish_of(response) or finish
                counted = (getattr(response, "additional_kwargs", None) or {}).get("prompt_tokens")
                completion.prompt_tokens = counted if isinstance(counted, int) else completion.prompt_tokens
                if shown := turned_back.feed(visible.feed(piece)):
                    is_shown = is_shown or bool(shown.strip())
                    yield shown
                if room is not None and len(written) >= room:
                    finish = "length"
                    break
        if shown := turned_back.feed(visible.close()) + turned_back.close():
            is_shown = is_shown or bool(shown.strip())
            yield shown
        self._leaks = self._leaks or visible.leaked
        self._tokens.learn(prompts, completion.prompt_tokens)
        if not is_shown:
            why = "used up its answer by thinking" if written.strip() else "gave an empty answer"
            raise ModelMalformed(f"{self.name} {why}. Ask again, or set {SETTING} to another model.")
        completion.finish = finish or "stop"

    async def _responses(self, llm: Any, call: _Call, prompts: Sequence[Prompt]) -> AsyncGenerator[Any, None]:
        """Yield the responses of the class; raises the ModelErrors for whatever it raises."""
        from llama_index.core.llms import ChatMessage, CustomLLM

        messages = [ChatMessage(role=p.role, content=p.content) for p in prompts]
        begun = False
        try:
            if call.output is not None:
                async with asyncio.timeout(self._timeout):
                    yield await llm.as_structured_llm(call.output).achat(messages)
                return
            async with asyncio.timeout(self._timeout):
                # the async methods of a CustomLLM would hold the loop
                stream: AsyncIterator[Any] = (
                    self._in_threads(llm, messages)
                    if isinstance(llm, CustomLLM)
                    else await llm.astream_chat(messages)
                )
            try:
                while True:
                    async with asyncio.timeout(self._pause if begun else self._timeout):
                        response = await anext(stream, None)
                    if response is None:
                        return
                    begun = begun or bool(response.message.content)
                    self._answered_at = time.monotonic()
                    yield response
            finally:
                await _closed(stream)
        except TimeoutError as error:
            self._answered_at = None
            raise self._silent(begun) from error
        except Exception as error:  # noqa: BLE001  an integration is anybody's code and raises whatever it likes
            if call.output is not None and isinstance(error, (ValueError, TypeError, AttributeError)):
                raise _NoOutput(f"{self.name} gave no output by schema.") from None
            self._answered_at = None
            raise failure(error, self._named.told(error), self.name, SETTING, begun) from None

    async def _in_threads(self, llm: Any, messages: Sequence[Any]) -> AsyncGenerator[Any, None]:
        """Yield what a class gives that only knows how to block."""
        context = contextvars.copy_context()

        def run(work: Callable[[], Any]) -> asyncio.Future[Any]:
            return asyncio.get_running_loop().run_in_executor(self._threads, lambda: context.run(work))

        stream = await run(lambda: llm.stream_chat(messages))
        while (response := await run(lambda: next(stream, None))) is not None:
            yield response

    def _silent(self, begun: bool) -> ModelError:
        if begun:
            return ModelInterrupted(
                f"{self.name} fell silent for {self._pause:.3g} s in the middle of its answer. Ask again."
            )
        return ModelUnavailable(
            f"{self.name} did not begin to answer within {self._timeout:.3g} s."
            " It may still be loading: ask again, or raise OLLAMA_TIMEOUT."
        )

    # --- what the class says ----------------------------------------------------------------------

    async def _described(self) -> None:
        """Learn name, context and abilities; some classes ask their server for that."""
        if self._is_described:
            return
        try:
            metadata = await asyncio.get_running_loop().run_in_executor(
                self._threads, lambda: self._llm.metadata
            )
        except Exception as error:  # noqa: BLE001  an integration is anybody's code and raises whatever it likes
            raise failure(error, self._named.told(error), self.name, SETTING, False) from None
        if metadata.model_name and metadata.model_name != "unknown":
            self.name = metadata.model_name
        self.context_tokens = metadata.context_window or CONTEXT_TOKENS
        self._calls_functions = metadata.is_function_calling_model
        self._is_described = True

    def _with(self, temperature: float, max_tokens: int) -> tuple[Any, bool]:
        """Return the class's object for these values, and whether it keeps to the limit by itself."""
        key = (temperature, max_tokens)
        if key not in self._copies:
            while len(self._copies) >= _COPIES:
                del self._copies[next(iter(self._copies))]
            fields = type(self._llm).model_fields
            limit = next((name for name in _LIMITS if name in fields), "")
            given = {"temperature": temperature} | ({limit: max_tokens} if limit else {})
            unset = {
                name: value
                for name, value in given.items()
                if name in fields and getattr(self._llm, name) in (None, fields[name].default)
            }
            self._copies[key] = self._llm.model_copy(update=unset), bool(limit)
        return self._copies[key]


async def _closed(stream: Any) -> None:
    """Give up the rest of a stream, and with it the connection."""
    if close := getattr(stream, "aclose", None):
        with suppress(RuntimeError):  # it is just being closed
            await close()


def open_llm(line: str, timeout: float) -> LlamaIndexModel:
    """Make the language model that a line names; blocking. Raises ConfigurationError that says what to do."""
    named = build(line, SETTING, "llama_index.core.llms:LLM", ConfigurationError)
    return LlamaIndexModel(named, timeout=timeout)
