"""What goes wrong with a model server, as errors that say what to do."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

from core.errors import (
    ModelBusy,
    ModelError,
    ModelInterrupted,
    ModelMalformed,
    ModelMissing,
    ModelRefused,
    ModelUnavailable,
    ServerDown,
    ServerRefused,
)
from core.text.words import one_line


@dataclass(frozen=True, slots=True)
class Wire:
    """What a kind of server is called, which settings it has, and what to do where it fails."""

    name: str
    host: str
    """The setting with its address, as `model` is the one with the model."""
    model: str
    fetch: str
    """How a server comes to have `{model}`."""
    start: str
    login: str
    room: str
    """How it takes longer prompts."""
    memory: str
    """How it does with less memory."""


OLLAMA = Wire(
    name="Ollama",
    host="OLLAMA_HOST",
    model="OLLAMA_MODEL",
    fetch="run `ollama pull {model}`",
    start="Start Ollama (`ollama serve`) or correct OLLAMA_HOST",
    login="Run `ollama signin` there, or set OLLAMA_API_KEY",
    room="raise OLLAMA_NUM_CTX",
    memory="a smaller model or OLLAMA_NUM_CTX needs less memory",
)
OPENAI = Wire(
    name="an OpenAI-compatible server",
    host="MODEL_SERVER",
    model="MODEL_NAME",
    fetch="have it serve {model}, or correct MODEL_NAME",
    start="Start it, or correct MODEL_SERVER",
    login="Set MODEL_KEY",
    room="start the server with a longer context",
    memory="a smaller model or a shorter context needs less memory",
)

_OUR_FAULT = (
    "option",
    "invalid",
    "must be",
    "unmarshal",
    "template",
    "support",
    "format",
    "schema",
    "grammar",
)
"""What Ollama says where a request, and not the server, is wrong."""
_CRASHES = (
    "runner process",
    "runner has unexpectedly stopped",
    "llama runner",
    "model failed to load",
    "while running the model",
    "cuda error",
    "rocm error",
    "eof",
    "connection reset",
)
_GATEWAY = frozenset({408, 502, 504, *range(520, 528), 530})
"""Statuses of a proxy whose server does not answer; from 520 on they are Cloudflare's."""
_PAGE = re.compile(r"\s*<(?:!doctype\s+html|html|head)\b", re.IGNORECASE)
_TITLE = re.compile(r"<title[^<>]{0,100}>([^<]{1,200})", re.IGNORECASE)
_TOO_LONG = (
    "context length",
    "context size",
    "context window",
    "exceed_context",
    "num_ctx",
    "prompt is too long",
    "longer than the model",
)


def said(error: Any) -> str:
    """Return the words of an error body: text, an object, JSON inside a string; or a proxy's page's title."""
    for _ in range(8):
        if isinstance(error, str):
            try:
                inner = json.loads(error)
            except ValueError:
                break
            if not isinstance(inner, (dict, str)):
                break
            error = inner
        elif isinstance(error, dict):
            error = error.get("error") or error.get("message") or json.dumps(error)
        else:
            break
    text = str(error)
    if _PAGE.match(text):
        title = _TITLE.search(text)
        text = title[1] if title else "a web page"
    return one_line(text)[:300]


def is_too_long(words: str) -> bool:
    """Return True if a server says that a text is longer than the model takes."""
    return any(sign in words.lower() for sign in _TOO_LONG)


def refusal(
    status: int, words: str, model: str, address: str, wire: Wire = OLLAMA, after: float = 0.0
) -> ModelError:
    """Turn an HTTP status and what the server said into an error that says what to do.

    `after` are the seconds after which the server wants to be asked again, where it said so.
    """
    low = words.lower()
    match status:
        case 404 if "model" in low:
            fetch = wire.fetch.format(model=model)
            return ModelMissing(f"The model server at {address} does not have {model}: {fetch}.")
        case 404 | 405:
            return ServerRefused(
                f"What answers at {address} is not {wire.name} ({status})."
                f" Set {wire.host} to the server's address."
            )
        case 403 if wire is OLLAMA and not words:  # as it refuses names when it listens on loopback only
            return ServerRefused(
                f"Ollama at {address} refuses requests that call it by this name (403). Have the proxy before"
                " it send `Host: localhost:11434`, or set OLLAMA_HOST=0.0.0.0 where Ollama runs."
            )
        case 401 | 403:
            return ServerRefused(
                f"The model server at {address} wants a login ({words or status}). {wire.login}."
            )
        case 429 | 503:
            return ModelBusy(
                f"The model server at {address} has too much to do ({words or status}). Try later.", after
            )
        case _ if status in _GATEWAY:
            return ModelUnavailable(
                f"The gateway at {address} gets no answer from its model server ({status})."
                " Check that it runs behind it."
            )
        case 400 | 413 if is_too_long(words):
            return ModelRefused(
                f"The prompt is too long for {model} ({words}). Shorten the question, or {wire.room}."
            )
        case _ if status >= 500:
            return _broke_down(status, words, model, wire)
        case _:
            return _rejected(status, words, wire)


def _broke_down(status: int, words: str, model: str, wire: Wire) -> ModelError:
    low = words.lower()
    if any(sign in low for sign in _CRASHES):
        return ModelUnavailable(
            f"{wire.name[:1].upper()}{wire.name[1:]} could not keep {model} running ({words})."
            f" Look at its log; {wire.memory}."
        )
    if "memory" in low:
        return ServerRefused(
            f"{model} does not fit into the server's memory ({words})."
            f" Set {wire.model} to a smaller model; {wire.memory}."
        )
    # Ollama says 500 to options and templates that it does not take; the others only where they are broken.
    if wire is OLLAMA and any(sign in low for sign in _OUR_FAULT):
        return _rejected(status, words, wire)
    return ModelUnavailable(
        f"The model server of {model} broke down ({status}: {words or 'no reason given'}). Look at its log."
    )


def _rejected(status: int, words: str, wire: Wire) -> ModelError:
    return ModelRefused(
        f"The model server rejects the request ({status}: {words or 'no reason given'})."
        f" Check {wire.model} and the server's version."
    )


Failure = Literal["unreachable", "down", "late", "foreign", "broken", "silent", "cut", "empty", "thought"]


def failed(
    kind: Failure,
    model: str,
    address: str,
    wire: Wire = OLLAMA,
    *,
    seconds: float = 0.0,
    words: str = "",
) -> ModelError:
    """Return the error for a call that got no proper answer."""
    match kind:
        case "unreachable":
            return ModelUnavailable(
                f"Nothing answers at {address}. Check {wire.host}, and that a firewall lets it through."
            )
        case "down":
            return ServerDown(f"No model server at {address}{f' ({words})' if words else ''}. {wire.start}.")
        case "late":
            return ModelUnavailable(
                f"{model} did not begin to answer within {seconds:.3g} s."
                " It may still be loading: ask again, or raise OLLAMA_TIMEOUT."
            )
        case "foreign":
            whose = "Ollama's" if wire is OLLAMA else "OpenAI's"
            return ServerRefused(
                f"What answers at {address} does not speak {whose} protocol. Correct {wire.host}."
            )
        case "broken":
            return ModelInterrupted(f"{model} broke off its answer ({words}). Ask again.")
        case "silent":
            return ModelInterrupted(
                f"{model} fell silent for {seconds:.3g} s in the middle of its answer. Ask again."
            )
        case "cut":
            return ModelInterrupted(f"{model} lost its connection in the middle of its answer. Ask again.")
        case "empty":
            return ModelMalformed(
                f"{model} gave an empty answer. Ask again, or set {wire.model} to another model."
            )
        case "thought":
            return ModelMalformed(
                f"{model} used up its answer before writing any text, probably by thinking."
                f" Set {wire.model} to an instruction model that does not have to think."
            )
