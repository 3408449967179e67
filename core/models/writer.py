"""A language model on one server, whatever the wire: its answers, and its output by a schema."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from core.errors import ModelError, ModelMalformed, ModelRefused, ServerDown
from core.models.completion import Completion, Finish, TokenCount, Tries, in_words, read_json, stream
from core.ports import ModelHealth, Prompt

log = logging.getLogger(__name__)

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
