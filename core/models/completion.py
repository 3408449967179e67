"""A running answer of a language model: its pieces, tokens and tries; JSON by a schema, asked and checked."""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Literal

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    stop_before_delay,
    wait_random_exponential,
)

from core.errors import ModelBusy, ModelError, ModelMalformed, ServerDown
from core.ports import Prompt

Finish = Literal["", "stop", "length"]
Tries = AsyncRetrying
"""What tries again after an error; made by `again`."""


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

        Never downwards: servers leave cached tokens out of the count, and cut prompts short.
        """
        estimate = sum(raw_tokens(p.content) + MESSAGE_TOKENS for p in prompts)
        believed = min(counted, math.ceil(max(estimate, 1) * _LARGEST_SCALE))  # a count may have any size
        self._scale = min(max(self._scale, believed / max(estimate, 1)), _LARGEST_SCALE)


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
