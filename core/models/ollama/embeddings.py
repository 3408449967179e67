"""Embeddings of Ollama behind the `Encoder` port: `EMBEDDING_MODEL=ollama:nomic-embed-text`."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import httpx
import ollama

from core.errors import ConfigurationError, EncoderError, ModelError
from core.models.address import Address, addresses
from core.models.certificates import trusted
from core.models.embedding.local import LocalEncoder
from core.models.embedding.prefixes import BY_OLLAMA, is_embedder
from core.models.embedding.served import TOKENS, EstimatedCounter, VectorsOnly, cutting, unit_rows
from core.models.ollama.server import FAILURES, duration, full_name, told
from core.models.refusal import is_too_long
from core.ports import Matrix
from core.settings import Settings

_T = TypeVar("_T")
_CONNECT_SECONDS = 5.0
_ASKED_SECONDS = 2.0
"""Longest wait where nobody needs the answer."""
_AGAIN = (0.5, 1.0, 2.0)
"""Seconds before each further try of a call that failed for now."""
_QUESTION = 4
"""Texts up to which somebody may wait for them, so that one further try is enough."""
_SHORTEST = 8
"""Characters below which a text is not cut any further."""
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.MULTILINE)
_DIGITS = 12
"""Digits of a model's digest that stand in an encoder's name."""


def open_ollama(model: str, settings: Settings | None) -> OllamaEncoder:
    """Open an embedding model of Ollama, which `settings` say the place of.

    Its name has the model's digest: a model that was pulled again is another encoder. Blocking. Raises
    EncoderError, which says what to do.
    """
    if settings is None or not settings.ollama_host:
        raise EncoderError(
            f"EMBEDDING_MODEL is of Ollama ({model}), but OLLAMA_HOST is off. Set that to Ollama's address,"
            " or choose another EMBEDDING_MODEL."
        )
    if not model.strip():
        raise EncoderError(
            "EMBEDDING_MODEL names no model; write it like ollama:nomic-embed-text, and get that one with "
            "`ollama pull nomic-embed-text`."
        )
    ask = _Asking(model.strip(), settings)
    max_tokens, digest = ask.tokens(), ask.digest()
    ask.max_tokens = max_tokens
    ask.dimensions = ask(["How do I run it?"]).shape[1]
    name = f"ollama:{model}@{max_tokens}" + (f"+{digest}" if digest else "")
    return OllamaEncoder(name, ask, settings.ollama_parallel)


def embedders_at(host: str) -> list[str] | None:
    """Return the models of an Ollama that embed better than the packaged one may, None where none answers.

    Blocking, two seconds at most: nobody needs the answer.
    """
    try:
        with _client(_first(host), _ASKED_SECONDS) as client:
            names = [model.model or "" for model in client.list().models]
    except (*FAILURES, ConfigurationError):
        return None
    return [name for name in names if is_embedder(f"{BY_OLLAMA}{name}")]


class OllamaEncoder(LocalEncoder):
    """Vectors from Ollama: many texts by as many calls at once as it may have, questions beside them."""

    def __init__(self, name: str, ask: _Asking, parallel: int) -> None:
        spare = max(0, (os.cpu_count() or 1) - parallel)
        super().__init__(name, ask.dimensions, ask.max_tokens, ask, EstimatedCounter(), spare=spare)
        self._ask = ask

    def place(self) -> str:
        """Say where many texts are embedded."""
        return f"by Ollama at {self._ask.url}"

    def close(self) -> None:
        """End the worker threads and the connections."""
        super().close()
        self._ask.close()


class _Asking(VectorsOnly):
    """Asks Ollama for vectors, and checks what comes."""

    def __init__(self, model: str, settings: Settings) -> None:
        self.dimensions = 0
        """What every vector has to have; 0 until it is known."""
        self.max_tokens = TOKENS
        address = _first(settings.ollama_host)
        self.url = address.url
        self._model = model
        self._timeout = settings.ollama_timeout
        self._keep_alive = duration(settings.ollama_keep_alive)
        self._client = _client(address, self._timeout)

    def __call__(self, texts: list[str]) -> Matrix:
        """Return rows of unit length; a dot stands for an empty text."""
        cut = cutting(self.max_tokens)
        rows = self._rows([cut(text) if text.strip() else "." for text in texts])
        try:
            return unit_rows(rows, len(texts), self.dimensions)
        except (TypeError, ValueError) as error:
            raise EncoderError(
                f"{self._model} gives {error}. Set EMBEDDING_MODEL to an embedding model, such as "
                "ollama:nomic-embed-text."
            ) from None

    def tokens(self) -> int:
        """Return how many tokens of a text count: what the model takes, and no more than others get."""
        shown = self._tried(lambda: self._client.show(self._model))
        facts = (shown.modelinfo or {}).items()
        lengths = [v for k, v in facts if k.endswith(".context_length") and isinstance(v, int)]
        lengths += [int(found) for found in _NUM_CTX.findall(shown.parameters or "")]
        return min([TOKENS, *lengths])

    def digest(self) -> str:
        """Return what tells this version of the model from others; empty where nobody says."""
        listed = self._tried(self._client.list)
        full = full_name(self._model)
        digest = next((m.digest or "" for m in listed.models if m.model == full), "")
        return digest.removeprefix("sha256:")[:_DIGITS]

    def close(self) -> None:
        """Close the connections."""
        self._client.close()  # type: ignore[no-untyped-call]

    def _rows(self, texts: list[str]) -> list[Sequence[float]]:
        """Ask for some texts at once; where one cannot be embedded, each alone, and that one shorter.

        Servers since 0.13.5 refuse a text that is too long whatever `truncate` says (ollama/ollama, issue
        14186), and some models have no numbers for a text, which does them no harm once it is cut (14657).
        """
        try:
            return self._asked(texts)
        except _Unfit as error:
            if len(texts) > 1:
                return [row for text in texts for row in self._rows([text])]
            if len(texts[0]) < _SHORTEST:
                raise EncoderError(str(error)) from None
            return self._rows([texts[0][: len(texts[0]) * 3 // 4]])

    def _asked(self, texts: list[str]) -> list[Sequence[float]]:
        def embed() -> list[Sequence[float]]:
            made = self._client.embed(self._model, texts, truncate=True, keep_alive=self._keep_alive)
            return list(made.embeddings)

        return self._tried(embed, _AGAIN if len(texts) > _QUESTION else _AGAIN[:1])

    def _tried(self, call: Callable[[], _T], again: Sequence[float] = _AGAIN) -> _T:
        """Call Ollama, again where it fails for now; raises EncoderError, which says what to do."""
        for seconds in (*again, None):
            try:
                return call()
            except FAILURES as error:
                if isinstance(error, ollama.ResponseError) and _is_unfit(str(error.error)):
                    raise _Unfit(f"{self._model} takes no text at all ({error.error}).") from None
                problem = told(error, self._model, self.url, self._timeout)
                late = isinstance(error, (TimeoutError, httpx.TimeoutException))
                if seconds is None or late or not problem.retryable:
                    raise _wrong(problem) from error
                time.sleep(seconds)
        raise AssertionError("the last try returns or raises")


class _Unfit(EncoderError):
    """Report a text that the model takes only when it is cut."""


def _is_unfit(words: str) -> bool:
    """Return True if a text is too long, or gives what is no number."""
    return is_too_long(words) or "unsupported value: nan" in words.lower()


def _wrong(problem: ModelError) -> EncoderError:
    """Say what goes wrong with the model that writes of the one that embeds."""
    return EncoderError(str(problem).replace("OLLAMA_MODEL", "EMBEDDING_MODEL"))


def _first(hosts: str) -> Address:
    """Return the first of the servers that there are: vectors of one corpus come from one of them."""
    return Address.parse(next(iter(addresses(hosts)), ""))


def _client(address: Address, seconds: float) -> ollama.Client:
    return ollama.Client(
        host=address.url,
        auth=address.login,
        timeout=httpx.Timeout(seconds, connect=min(_CONNECT_SECONDS, seconds)),
        # a proxy set for the outer world must not be asked for a server on this machine
        trust_env=not address.here,
        verify=trusted(not address.here),
    )
