"""Pulling a model: Ollama downloads it from its library, and says how far that is."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

import httpx
import ollama

from core.errors import ModelError, ModelInterrupted, ModelMissing, ModelUnavailable, ServerRefused
from core.models.ollama.server import FAILURES, ModelServer
from core.models.refusal import said
from core.text.words import one_line

ASKED_SECONDS = 20.0
"""Longest wait for whether a model is there."""
SILENT_SECONDS = 600.0
"""Longest wait between two lines of a pull; while a large file is compared with its digest nothing comes."""
_AGAIN = "and run `threadlore doctor --fix` again"
_UNKNOWN = ("file does not exist", "invalid model name")
_FULL = ("no space left", "not enough space", "disk quota")
_OFFLINE = ("no such host", "dial tcp", "i/o timeout", "connection re", "tls handshake", "max retries", "eof")


@dataclass(frozen=True, slots=True)
class Pulled:
    """How far a pull is: what the server says that it does, and the bytes of the files it has begun."""

    doing: str
    done: int = 0
    total: int = 0


async def is_missing(host: str, model: str) -> bool:
    """Return True if a server answers and does not have a model."""
    server = ModelServer(host, model, ASKED_SECONDS, ASKED_SECONDS)
    try:
        await server.ability()
    except ModelMissing:
        return True
    except ModelError:
        return False
    finally:
        await server.close()
    return False


async def pull(
    host: str, model: str, setting: str = "OLLAMA_MODEL", *, silent: float = SILENT_SECONDS
) -> AsyncGenerator[Pulled, None]:
    """Have a server download a model, and yield how far it is; `setting` is where the model's name stands.

    `silent` is the longest wait in seconds between two lines. Raises the ModelErrors, which say what to do.
    """
    server = ModelServer(host, model, silent, silent)
    sizes: dict[str, tuple[int, int]] = {}
    last = Pulled("")
    try:
        async with aclosing(await server.client.pull(model, stream=True)) as lines:  # type: ignore[type-var]
            async for line in lines:
                if line.digest:
                    sizes[line.digest] = (line.completed or 0, line.total or 0)
                done, total = (
                    (sum(counted) for counted in zip(*sizes.values(), strict=True)) if sizes else (0, 0)
                )
                doing = "".join(filter(str.isprintable, one_line(line.status or "")))[:80]
                last = Pulled(doing, done, total)
                yield last
    except FAILURES as error:
        raise _told(error, server, model, setting, bool(last.doing), silent) from error
    finally:
        await server.close()
    if last.doing != "success":
        raise _cut(server, model)


def _told(
    error: Exception, server: ModelServer, model: str, setting: str, begun: bool, silent: float
) -> ModelError:
    """Turn what the client raised into one of our errors."""
    if isinstance(error, ollama.ResponseError):
        return _refused(error, server, model, setting)
    if isinstance(error, (httpx.ReadTimeout, TimeoutError)):
        return ModelUnavailable(
            f"Nothing came from the model server at {server.url} for {silent:.3g} s while it pulled {model}."
            f" Look at its log, {_AGAIN}."
        )
    return _cut(server, model) if begun else server.told(error)


def _cut(server: ModelServer, model: str) -> ModelError:
    return ModelInterrupted(
        f"The connection to the model server at {server.url} ended while it pulled {model}."
        f" Check that Ollama still runs, {_AGAIN}."
    )


def _refused(error: ollama.ResponseError, server: ModelServer, model: str, setting: str) -> ModelError:
    words = said(error.error)
    low = words.lower()
    if any(sign in low for sign in _UNKNOWN):
        return ModelMissing(
            f"Ollama's library has no model {model} ({words})."
            f" Correct {setting}: https://ollama.com/library lists the models."
        )
    if any(sign in low for sign in _FULL):
        return ServerRefused(
            f"The disk of the model server at {server.url} is full ({words})."
            f" Make room there or set {setting} to a smaller model, {_AGAIN}."
        )
    if "newer version" in low:
        return ServerRefused(
            f"Ollama at {server.url} is too old for {model} ({words}). Update Ollama, {_AGAIN}."
        )
    if any(sign in low for sign in _OFFLINE):
        return ModelUnavailable(
            f"The model server at {server.url} does not reach Ollama's library ({words})."
            f" Check its network, {_AGAIN}."
        )
    if error.status_code > 0:
        return server.told(error)
    return ModelInterrupted(
        f"The model server at {server.url} could not pull {model} ({words}). Look at its log, {_AGAIN}."
    )
