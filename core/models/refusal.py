"""What goes wrong with a model server, as errors that say what to do."""

from __future__ import annotations

import json
from typing import Any, Literal

from core.errors import (
    ModelBusy,
    ModelError,
    ModelInterrupted,
    ModelMalformed,
    ModelMissing,
    ModelRefused,
    ModelUnavailable,
)
from core.text.words import one_line

_CRASHES = ("runner process", "runner has unexpectedly stopped", "llama runner", "eof", "connection reset")
_TOO_LONG = (
    "context length",
    "context size",
    "context window",
    "exceed_context",
    "num_ctx",
    "prompt is too long",
)


def said(error: Any) -> str:
    """Return the words of an error body, which may be text, an object, or JSON inside a string."""
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
    return one_line(str(error))[:300]


def refusal(status: int, words: str, model: str, address: str) -> ModelError:
    """Turn an HTTP status and what the server said into an error that says what to do."""
    low = words.lower()
    match status:
        case 404 if "model" in low:
            return ModelMissing(f"The model server does not have {model}: run `ollama pull {model}`.")
        case 404 | 405:
            return ModelRefused(
                f"What answers at {address} is not Ollama ({status}). Set OLLAMA_HOST to Ollama's address."
            )
        case 401 | 403:
            return ModelRefused(
                f"The model server at {address} wants a login ({words or status})."
                " Run `ollama signin` there, or set OLLAMA_API_KEY."
            )
        case 429 | 503:
            return ModelBusy(
                f"The model server at {address} has too much to do ({words or status}). Try later."
            )
        case 408 | 502 | 504:
            return ModelUnavailable(
                f"The gateway at {address} gets no answer from Ollama ({status})."
                " Check that Ollama runs behind it."
            )
        case 500 if any(sign in low for sign in _CRASHES):
            return ModelUnavailable(
                f"Ollama could not keep {model} running ({words})."
                " Look at its log; a smaller model or OLLAMA_NUM_CTX needs less memory."
            )
        case 500 if "memory" in low:
            return ModelRefused(
                f"{model} does not fit into the server's memory ({words})."
                " Set OLLAMA_MODEL to a smaller model, or lower OLLAMA_NUM_CTX."
            )
        case 400 | 413 if any(sign in low for sign in _TOO_LONG):
            return ModelRefused(
                f"The prompt is too long for {model} ({words})."
                " Shorten the question, or raise OLLAMA_NUM_CTX."
            )
        case _:
            return ModelRefused(
                f"The model server rejects the request ({status}: {words or 'no reason given'})."
                " Check OLLAMA_MODEL and the server's version."
            )


Failure = Literal["unreachable", "down", "late", "foreign", "broken", "silent", "cut", "empty", "thought"]


def failed(kind: Failure, model: str, address: str, *, seconds: float = 0.0, words: str = "") -> ModelError:
    """Return the error for a call that got no proper answer."""
    match kind:
        case "unreachable":
            return ModelUnavailable(
                f"Nothing answers at {address}. Check OLLAMA_HOST, and that a firewall lets it through."
            )
        case "down":
            return ModelUnavailable(
                f"No model server at {address}{f' ({words})' if words else ''}."
                " Start Ollama (`ollama serve`) or correct OLLAMA_HOST."
            )
        case "late":
            return ModelUnavailable(
                f"{model} did not begin to answer within {seconds:.3g} s."
                " It may still be loading: ask again, or raise OLLAMA_TIMEOUT."
            )
        case "foreign":
            return ModelRefused(
                f"What answers at {address} does not speak Ollama's protocol. Correct OLLAMA_HOST."
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
                f"{model} gave an empty answer. Ask again, or set OLLAMA_MODEL to another model."
            )
        case "thought":
            return ModelMalformed(
                f"{model} used up its answer before writing any text, probably by thinking."
                " Set OLLAMA_MODEL to an instruction model that does not have to think."
            )
