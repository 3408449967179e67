"""A language model on one server, whatever the wire: its running answers, its tokens, JSON by a schema."""

from __future__ import annotations

import json
import logging
import math
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, Literal

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    stop_before_delay,
    wait_random_exponential,
)

from core.errors import ModelBusy, ModelError, ModelMalformed, ModelRefused, ServerDown
from core.ports import ModelHealth, Prompt

Finish = Literal["", "stop", "length"]
Tries = AsyncRetrying
"""What tries again after an error; made by `again`."""
PAUSE_SECONDS = 60.0
"""Longest silence between two pieces; even a model on two CPU cores writes a token a second."""
THINKING_TOKENS = 1024
"""Extra room for models whose thinking can be lowered but not turned off (gpt-oss)."""

PROBE = "Say in one short sentence which colour grass has."
"""What is asked to see whether a schema is kept to: whoever ignores it answers in a sentence."""
_PROBE_SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["green"]}},
    "required": ["colour"],
}
_PROBE_TOKENS = 32

_SAMPLING: dict[str, dict[str, float]] = {
    "qwen": {"top_p": 0.8, "top_k": 20, "min_p": 0.0},
    "gemma": {"top_p": 0.95, "top_k": 64, "min_p": 0.0},
    "llama": {"top_p": 0.9},
}
"""What the families' own cards recommend beside a temperature, for models that do not think."""


def _may_work_later(error: BaseException) -> bool:
    is_misfit = isinstance(error, ModelMalformed) and bool(error.said)
    if isinstance(error, ServerDown):
        return False
    return isinstance(error, ModelError) and error.retryable and not is_misfit


def _say_again(state: RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome else None
    log.info("the model is asked again in %.1f s: %s", state.upcoming_sleep, error)


class Completion(AsyncIterator[str]):
    """Yield an answer piece by piece and tell afterwards how it ended.

    `finish` stays empty until the last piece is out; then it is `stop`, or `length` where the
    answer was cut. Closing it (or cancelling its consumer) closes the connection to the server.
    """

    def __init__(self, write: Callable[[Completion], AsyncGenerator[str, None]]) -> None:
        self.finish: Finish = ""
        self.prompt_tokens = 0
        """Tokens the server counted in the prompt; 0 where it did not say."""
        self.answer_tokens = 0
        self._pieces = write(self)

    def __aiter__(self) -> Completion:
        return self

    async def __anext__(self) -> str:
        return await anext(self._pieces)

    async def aclose(self) -> None:
        """Give up the rest of the answer."""
        await self._pieces.aclose()


log = logging.getLogger(__name__)

Pieces = AsyncGenerator[str, None]


def again(times: int, backoff: float, patience: float) -> Tries:
    """Return what tries again after retryable errors: a random part of `backoff` seconds later, which
    doubles with each try, or when a busy server wants to be asked again, and no later than `patience` seconds
    after the first one. Neither output that does not fit nor a server that is down is asked for twice."""
    some = wait_random_exponential(multiplier=backoff)

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        return max(some(state), error.after if isinstance(error, ModelBusy) else 0.0)

    return AsyncRetrying(
        stop=stop_after_attempt(times + 1) | stop_before_delay(patience),
        wait=wait,
        retry=retry_if_exception(_may_work_later),
        before_sleep=_say_again,
        reraise=True,
    )


async def stream(attempt: Callable[[], Pieces], tries: Tries) -> Pieces:
    """Yield what an attempt yields; begin again on an error before the first piece, and only then."""
    begun: tuple[Pieces, str | None] = await tries.copy()(_begun, attempt)
    pieces, first = begun
    async with aclosing(pieces):
        if first is None:
            return
        yield first
        async for piece in pieces:
            yield piece


async def _begun(attempt: Callable[[], Pieces]) -> tuple[Pieces, str | None]:
    pieces = attempt()
    return pieces, await anext(pieces, None)


MESSAGE_TOKENS = 8
"""What a chat template adds to each message; 4 to 7 in the Llama, Qwen and Gemma templates."""
_LARGEST_SCALE = 3.0
_LEAST_LEARNED = 256
"""Estimated tokens from which a prompt teaches anything: templates add words of their own to every one, such
as gpt-oss's about 60 tokens, which are no share of a longer prompt. Ours."""

# One match stands for one token, rather too many than what a vocabulary of 100k to 150k makes: pieces of
# four letters, single digits (as Qwen and Gemma have them), single signs, one per line break or
# indentation. Beyond ASCII a two-byte letter counts one, a three-byte one two, an emoji three.
_PIECE = re.compile(r"[A-Za-z]{1,4}|[^\sA-Za-z]|\n+| {2,}|\t+")


def raw_tokens(text: str) -> int:
    """Count the pieces of a text that are no longer than a token usually is."""
    pieces = len(_PIECE.findall(text))
    if text.isascii():
        return pieces
    return pieces + sum((c > "\u07ff") + (c > "\uffff") for c in text)


class TokenCount:
    """An estimate that what a server counts in real prompts corrects upwards."""

    def __init__(self) -> None:
        self._scale = 1.0

    def of(self, text: str) -> int:
        """Estimate the tokens of a text."""
        return math.ceil(raw_tokens(text) * self._scale)

    def learn(self, prompts: Sequence[Prompt], counted: int) -> None:
        """Take note of the tokens that a server counted in prompts.

        Never downwards: servers leave cached tokens out of the count, and cut prompts short. Nor from short
        ones, such as a probe: most of what is counted there is the template's.
        """
        estimate = sum(raw_tokens(p.content) + MESSAGE_TOKENS for p in prompts)
        if estimate < _LEAST_LEARNED:
            return
        believed = min(counted, math.ceil(estimate * _LARGEST_SCALE))  # a count may have any size
        self._scale = min(max(self._scale, believed / estimate), _LARGEST_SCALE)


_WANTED = "Reply with JSON only: one object that fits this JSON Schema, and nothing else:\n{schema}"
_BRACE = re.compile(r"\{")
_TRIES = 20
"""Braces from which an object is tried to be read: prose and code have some, too."""
_DECODER = json.JSONDecoder(strict=False)
_SAID = {
    "type": "is not of type {}",
    "minItems": "has fewer than {} entries",
    "maxItems": "has more than {} entries",
    "minimum": "is below {}",
    "maximum": "is above {}",
}


def in_words(prompts: Sequence[Prompt], schema: Mapping[str, Any]) -> tuple[Prompt, ...]:
    """Return prompts that ask for JSON by a schema in their last message."""
    *before, last = prompts
    wanted = _WANTED.format(schema=json.dumps(schema, ensure_ascii=False))
    return (*before, replace(last, content=f"{last.content}\n\n{wanted}"))


def read_json(text: str, schema: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Read the first object in what a model wrote; the second value says what is wrong, or is empty.

    Whatever stands around it, a fence or a sentence, is passed over.
    """
    problem = "it is no JSON (no object is in it)"
    for at in list(_BRACE.finditer(text))[:_TRIES]:
        try:
            value, _end = _DECODER.raw_decode(text, at.start())
        except (ValueError, RecursionError) as error:
            problem = f"it is no JSON ({error})"
            continue
        return value, misfit(value, schema)
    return {}, problem


def misfit(value: Any, schema: Mapping[str, Any]) -> str:
    """Say where a value does not fit a schema, or return the empty string; the value's words are left out.

    `maxLength` is passed over: a reason that is told at length is still a reason.
    """
    from jsonschema import Draft4Validator  # takes a second where its optional formats are installed

    # In draft 4 no 2.0 is an integer; in later ones it is, and indexes no list.
    errors = Draft4Validator(schema).iter_errors(value)
    error = next((error for error in errors if error.validator != "maxLength"), None)
    if error is None:
        return ""
    where = error.json_path.removeprefix("$").removeprefix(".")
    if error.validator == "required":
        missing = next(name for name in error.validator_value if name not in error.instance)
        return f"{where}.{missing} is missing".removeprefix(".")
    said = _SAID.get(error.validator, f"does not fit {error.validator} {{}}")
    return f"{where or 'the output'} {said.format(error.validator_value)}"


def sampling(family: str, temperature: float) -> dict[str, float]:
    """Return the temperature, and what a model of this family (or name) wants beside it."""
    known = next((name for name in _SAMPLING if family.startswith(name)), "")
    # some models come with a penalty (Qwen 3.5: 1.5), but answers repeat names, keys and citations
    return {
        "temperature": temperature,
        "presence_penalty": 0.0,
        **(_SAMPLING.get(known, {}) if temperature else {}),
    }


@dataclass(frozen=True, slots=True)
class Call:
    """What a model is asked; `schema` is the one that its output has to fit."""

    prompts: Sequence[Prompt]
    temperature: float
    max_tokens: int
    schema: dict[str, Any] | None = None


class SchemaRefused(ModelRefused):
    """Report a server that does not take a schema; the same is asked in words."""


class AskDifferently(ModelRefused):
    """Report that a server has to be asked in another way, as the next attempt does; no word was said."""


class Writer(ABC):
    """A `LanguageModel` at one `address`; a subclass knows the wire.

    What fails before any text came is tried again as `tries` says.
    """

    def __init__(self, model: str, address: str, context_tokens: int, tries: Tries) -> None:
        self.name = model
        self.address = address
        """The server's URL without credentials."""
        self.context_tokens = context_tokens
        """Tokens of context: what was asked for, or what the model takes where that is less."""
        self.slots: int | None = None
        """Calls that the server answers at once; None where it does not say."""
        self._tries = tries
        self._tokens = TokenCount()
        self._leaks = False
        self._keeps: dict[str, bool] = {}
        self._keeps_schema: bool | None = None

    @abstractmethod
    def _attempt(self, completion: Completion, call: Call) -> AsyncGenerator[str, None]:
        """Yield the pieces of one answer, and note in the completion how it ended; raises the ModelErrors."""

    @abstractmethod
    async def _edition(self) -> str:
        """Return what changes when the server has another version of the model; raises the ModelErrors."""

    @abstractmethod
    async def health(self) -> ModelHealth:
        """Ask the server for its version and for the model; never raises."""

    @abstractmethod
    async def close(self) -> None:
        """Close the connections."""

    def count_tokens(self, text: str) -> int:
        """Estimate the tokens of a text without its tokenizer, rather too many than too few.

        What the server counts in prompts corrects the estimate upwards.
        """
        return self._tokens.of(text)

    def stream(self, prompts: Sequence[Prompt], *, temperature: float, max_tokens: int) -> Completion:
        """Yield the answer piece by piece; `finish` of the completion says whether it was cut.

        Raises the ModelErrors; ModelInterrupted only after a first piece of text or an error line.
        """
        return self._completion(Call(prompts, temperature, max_tokens))

    async def structured(
        self, prompts: Sequence[Prompt], schema: dict[str, Any], *, max_tokens: int
    ) -> dict[str, Any]:
        """Return output that fits the schema, at temperature 0.

        It is asked for in words where the server refuses schemas, or a probe has shown that it does not keep
        the model to them. Raises ModelMalformed where the output was cut, is no JSON, or does not fit.
        """
        by_words = Call(in_words(prompts, schema), 0.0, max_tokens)
        call = by_words if self._keeps_schema is False else Call(prompts, 0.0, max_tokens, schema)
        try:
            text, finish = await self._whole(self._completion(call))
        except SchemaRefused as error:
            self._refused_schema(error)
            text, finish = await self._whole(self._completion(by_words))
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

        It is seen once for each version of the model; None where it cannot be seen now, as with a model that
        begins an object and does not come to its end. Never raises a ModelError. Some servers ignore a schema
        beside thinking that is off (ollama/ollama, issue 14645).
        """
        call = Call([Prompt("user", PROBE)], 0.0, _PROBE_TOKENS, _PROBE_SCHEMA)
        try:
            edition = await self._edition()
            if edition not in self._keeps:
                text, finish = await self._whole(Completion(lambda done: self._one_way(done, call)))
                if finish == "length" and text.lstrip().startswith("{"):  # a schema allows any blanks
                    log.info("whether %s is kept to a JSON schema could not be seen: it was cut", self.name)
                    return None
                self._keeps[edition] = not read_json(text, _PROBE_SCHEMA)[1]
                if not self._keeps[edition]:
                    log.warning("%s is not kept to a JSON schema by its server: asked in words", self.name)
        except SchemaRefused as error:
            self._keeps[edition] = False
            self._refused_schema(error)
        except ServerDown:  # questions say so, and that once
            return None
        except ModelError as error:
            log.info("whether %s is kept to a JSON schema could not be seen: %s", self.name, error)
            return None
        self._keeps_schema = self._keeps[edition]
        return self._keeps_schema

    def _refused_schema(self, error: SchemaRefused) -> None:
        log.warning("%s is asked for JSON in words: %s", self.name, error)
        self._keeps_schema = False

    async def _whole(self, completion: Completion) -> tuple[str, Finish]:
        async with aclosing(completion):
            text = "".join([piece async for piece in completion])
        return text, completion.finish

    def _completion(self, call: Call) -> Completion:
        return Completion(lambda done: stream(lambda: self._one_way(done, call), self._tries))

    async def _one_way(self, completion: Completion, call: Call) -> AsyncGenerator[str, None]:
        """Attempt it in the way that the server takes."""
        while True:
            try:
                async with aclosing(self._attempt(completion, call)) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            except AskDifferently as error:
                log.info("%s is asked in another way: %s", self.name, error)
