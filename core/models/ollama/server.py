"""A server that speaks Ollama's protocol: where it is, what it has, what its models can, how it fails."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Literal

import httpx
import ollama

from core.errors import ModelError
from core.models.address import Address
from core.models.certificates import trusted
from core.models.refusal import failed, refusal, said

_CONNECT_SECONDS = 5.0

# All that `ollama` lets through: its own error, raw httpx errors, the builtin ConnectionError and
# TimeoutError (OSError), ValueError for lines that are no JSON or no chat line, and AttributeError or
# TypeError where it takes an error body apart that is not the object it expects.
FAILURES = (
    ollama.ResponseError,
    httpx.HTTPError,
    httpx.InvalidURL,
    httpx.StreamError,
    OSError,
    RecursionError,  # JSON that is nested too deep
    ValueError,
    AttributeError,
    TypeError,
)


@dataclass(frozen=True, slots=True)
class Ability:
    """What a model can do (empty where the server does not say), and the tokens of context it can take.

    `think` is what turns its thinking off, or as low as it goes; None where it does not think.
    """

    able: tuple[str, ...] = ()
    think: bool | Literal["low"] | None = None
    context_tokens: int | None = None
    family: str = ""


class ModelServer:
    """One model on one server.

    `timeout` is the longest wait in seconds for the first byte of an answer, `pause` that between two pieces.
    """

    def __init__(self, host: str, model: str, timeout: float, pause: float) -> None:
        self._address = Address.parse(host)
        self._model = model
        self._timeout = timeout
        self._pause = pause
        self.client = ollama.AsyncClient(
            host=self._address.url,
            auth=self._address.login,
            timeout=httpx.Timeout(timeout, connect=min(_CONNECT_SECONDS, timeout)),
            # A proxy set for the outer world must not be asked for a server on this machine.
            trust_env=not self._address.here,
            verify=trusted(not self._address.here),
        )

    @property
    def url(self) -> str:
        """Return the server's URL without credentials."""
        return self._address.url

    @property
    def _full(self) -> str:
        return full_name(self._model)

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()  # type: ignore[no-untyped-call]

    async def ability(self) -> Ability:
        """Ask what the model can do; raises the ModelErrors."""
        try:
            async with asyncio.timeout(self._timeout):
                shown = await self.client.show(self._model)
        except FAILURES as error:
            raise self.told(error) from error
        able = tuple(str(name) for name in shown.capabilities or ())
        family = (shown.details.family or "") if shown.details else ""
        think: bool | Literal["low"] | None = None
        if "thinking" in able:
            # gpt-oss takes no false, only a level.
            think = "low" if "gptoss" in family.replace("-", "") else False
        facts = (shown.modelinfo or {}).items()
        lengths = [v for k, v in facts if k.endswith(".context_length") and isinstance(v, int)]
        return Ability(able, think, min(lengths, default=None), family.lower())

    async def version(self) -> str:
        """Ask for the server's version, empty where it does not say; raises the ModelErrors."""
        # The client has no call for it.
        try:
            async with httpx.AsyncClient(
                auth=self._address.login,
                timeout=_CONNECT_SECONDS,
                trust_env=not self._address.here,
                verify=trusted(not self._address.here),
            ) as client:
                response = await client.get(f"{self.url}/api/version")
                return str(response.raise_for_status().json().get("version", ""))
        except httpx.HTTPStatusError:
            return ""
        except FAILURES as error:
            raise self.told(error) from error

    async def installed(self) -> list[str]:
        """Return the names of the models that are there; empty where nobody can say."""
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                listed = await self.client.list()
        except FAILURES:
            return []
        return [m.model for m in listed.models if m.model]

    async def digest(self) -> str:
        """Return the digest of the model, which changes with every new version; empty where nobody says."""
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                listed = await self.client.list()
        except FAILURES:
            return ""
        return next((m.digest or "" for m in listed.models if m.model == self._full), "")

    async def placement(self) -> tuple[int, int]:
        """Return the bytes of the loaded model, and those on a GPU; 0 and 0 where it is not loaded."""
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                running = await self.client.ps()
        except FAILURES:
            return 0, 0
        mine = next((m for m in running.models if self._full in (m.model, m.name)), None)
        return (int(mine.size or 0), int(mine.size_vram or 0)) if mine else (0, 0)

    def told(self, error: Exception, begun: bool = False) -> ModelError:
        """Turn what the client raised into one of our errors; `begun` once a first piece has come."""
        return told(error, self._model, self.url, self._pause if begun else self._timeout, begun)


def full_name(model: str) -> str:
    """Return a model's name as a server has it, also where it was asked for without a tag."""
    return model if ":" in model.rpartition("/")[2] else f"{model}:latest"


def told(error: Exception, model: str, url: str, seconds: float, begun: bool = False) -> ModelError:
    """Turn what the client raised into one of our errors; `seconds` is how long was waited at most."""
    where = (model, url)
    if isinstance(error, ollama.ResponseError):
        if error.status_code < 0:
            return failed("broken", *where, words=said(error.error))
        return refusal(error.status_code, said(error.error), *where)
    silent = isinstance(error, (TimeoutError, httpx.TimeoutException))
    if begun:
        return failed("silent" if silent else "cut", *where, seconds=seconds)
    if isinstance(error, (httpx.ConnectTimeout, httpx.PoolTimeout)):
        return failed("unreachable", *where)
    if silent:
        return failed("late", *where, seconds=seconds)
    if isinstance(error, (httpx.TransportError, OSError)):
        # The client hides what it was that kept it from connecting.
        cause = error.__context__ if isinstance(error, ConnectionError) else error
        return failed("down", *where, words=str(cause or "")[:200])
    return failed("foreign", *where)


def is_about_thinking(error: Exception) -> bool:
    """Return True if a server rejects a request because of its `think`."""
    return (
        isinstance(error, ollama.ResponseError) and error.status_code == 400 and "think" in said(error.error)
    )


def duration(text: str) -> float | str:
    """Turn `-1` or `300` into a number; Ollama takes text only with a unit."""
    try:
        return float(text)
    except ValueError:
        return text
