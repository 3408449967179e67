"""Several servers of one model: the least busy one is asked, a failing one rests while others serve.

A server that comes back from a rest is asked for its health and a word first."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from core.errors import (
    ModelBusy,
    ModelError,
    ModelInterrupted,
    ModelMalformed,
    ModelMissing,
    ModelUnavailable,
    ServerRefused,
    UsageError,
)
from core.models.completion import Completion, Writer, again, stream
from core.ports import ModelHealth, Prompt, ServerState

log = logging.getLogger(__name__)

_ELSEWHERE = (ModelBusy, ModelInterrupted, ModelMissing, ModelUnavailable, ServerRefused)
"""What is wrong with a server, so that another one may do better; all else is wrong with the call."""
_WORD_TOKENS = 8
_BUSY_SECONDS = 2.0
"""Rest of a server that is busy and does not say for how long."""


class Pool:
    """A `LanguageModel` on several servers, of any wire.

    A call goes to the server with the fewest calls under way, among equals to the one that was asked longest
    ago. Where it fails before a word was said the next server gets it at once; once one was said nothing is
    asked again. What fails everywhere is tried again up to `retries` times, a random part of `backoff`
    seconds later, which doubles, and no later than `patience` seconds after the start. A server that failed
    rests for `rest` seconds, twice as long each time in a row and at most `longest`. Then it is asked for
    its health and a word; if it is well it gets one call, and any number once that succeeded. The only server
    never rests.

    `opened` makes the model of an address that is added while serving.
    """

    def __init__(
        self,
        models: Sequence[Writer],
        *,
        opened: Callable[[str], Writer],
        retries: int = 2,
        backoff: float = 0.5,
        patience: float = 10.0,
        rest: float = 5.0,
        longest: float = 60.0,
    ) -> None:
        self._servers = [Server(model) for model in models]
        self._opened = opened
        self._tries = again(retries, backoff, patience)
        self._rests = Rests(rest, longest, self._settle)
        self._turns = itertools.count(1)
        self._told: Callable[[int], None] | None = None
        self.name = models[0].name
        self.context_tokens = models[0].context_tokens
        self._settle()

    def on_change(self, told: Callable[[int], None]) -> None:
        """Register who is told how many servers take calls, now and whenever that changes."""
        self._told = told
        self._settle()

    def count_tokens(self, text: str) -> int:
        """Estimate the tokens of a text, as the server does that counts most."""
        return max(server.model.count_tokens(text) for server in self._servers)

    async def close(self) -> None:
        """Close the connections to all servers."""
        for server in self._servers:
            if server.waking is not None:
                server.waking.cancel()
                await asyncio.wait([server.waking])
            await server.model.close()

    # --- calls ------------------------------------------------------------------------------------

    def stream(self, prompts: Sequence[Prompt], *, temperature: float, max_tokens: int) -> Completion:
        """Yield the answer piece by piece; raises the ModelErrors."""

        async def attempt(completion: Completion) -> AsyncGenerator[str, None]:
            failed: ModelError | None = None
            for server in self._each():
                begun = False
                inner = server.model.stream(prompts, temperature=temperature, max_tokens=max_tokens)
                try:
                    async with self._call(server), aclosing(inner):
                        async for piece in inner:
                            begun = True
                            yield piece
                except _ELSEWHERE as error:
                    if begun:
                        raise
                    failed = error
                    continue
                completion.finish = inner.finish
                completion.prompt_tokens = inner.prompt_tokens
                completion.answer_tokens = inner.answer_tokens
                return
            raise failed or ModelUnavailable(f"{self.name} has no server.")

        return Completion(lambda done: stream(lambda: attempt(done), self._tries))

    async def structured(
        self, prompts: Sequence[Prompt], schema: dict[str, Any], *, max_tokens: int
    ) -> dict[str, Any]:
        """Return output that fits the schema, at temperature 0; raises the ModelErrors."""

        async def attempt() -> dict[str, Any]:
            failed: ModelError | None = None
            for server in self._each():
                try:
                    async with self._call(server):
                        return await server.model.structured(prompts, schema, max_tokens=max_tokens)
                except _ELSEWHERE as error:
                    failed = error
            raise failed or ModelUnavailable(f"{self.name} has no server.")

        return await self._tries.copy()(attempt)

    async def probe(self) -> bool | None:
        """See whether all servers keep the model to a schema; None where not all of them tell."""
        awake = [server for server in self._servers if server.is_free]
        seen = [await server.model.probe() for server in awake]
        self._settle()  # some say only of a loaded model how long a context it takes
        return False if False in seen else True if seen and None not in seen else None

    def _each(self) -> Iterator[Server]:
        """Yield the servers to ask, the best first and each once, as they are when one is needed."""
        tried: set[Server] = set()
        while (server := self._best(tried)) is not None:
            tried.add(server)
            yield server

    def _best(self, tried: set[Server]) -> Server | None:
        left = [s for s in self._servers if s not in tried and not s.is_draining]
        if free := [s for s in left if s.is_free]:
            return min(free, key=lambda s: (s.running, s.last))
        # where all rest, the one that has nearly rested is asked rather than none
        return min(left, key=lambda s: (s.running, s.rests_until), default=None) if not tried else None

    @asynccontextmanager
    async def _call(self, server: Server) -> AsyncGenerator[None, None]:
        server.running += 1
        server.last = next(self._turns)
        rested = server.rests_until
        try:
            yield
        except _ELSEWHERE as error:
            self._note(server, error)
            raise
        else:
            if server.rests_until == rested:  # else it failed in the meantime
                self._rests.answered(server)
        finally:
            server.running -= 1
            self._settle()
            await self._gone(server)

    def _note(self, server: Server, error: ModelError) -> None:
        if sum(not s.is_draining for s in self._servers) > 1:
            self._rests.failed(server, error)

    # --- health -----------------------------------------------------------------------------------

    async def health(self) -> ModelHealth:
        """Ask every server whether the model could answer now; never raises."""
        servers = [server for server in self._servers if not server.is_draining]
        found = await asyncio.gather(*(server.model.health() for server in servers))
        if len(self._servers) == 1:
            self._settle()
            return found[0]
        ready = [health for health in found if health.ready]
        for server, health in zip(servers, found, strict=True):
            if not health.ready and ready and not server.rests_until:
                self._rests.unwell(server, health.problem)
        self._settle()
        keeps = [health.keeps_schema for health in ready]
        seen = False if False in keeps else None if None in keeps else bool(keeps) or None
        problems = " ".join(dict.fromkeys(h.problem for h in found if h.problem)) if not ready else ""
        best = ready[0] if ready else found[0]
        return replace(
            best, model=self.name, problem=problems, keeps_schema=seen, servers=tuple(self.states())
        )

    def states(self) -> list[ServerState]:
        """Return how each server is, without asking it."""
        return [server.state for server in self._servers]

    def _settle(self) -> None:
        """Take over what the servers know of the model, and tell how many take calls."""
        serving = [server for server in self._servers if not server.is_draining]
        self.name = next((server.model.name for server in serving if server.model.name), self.name)
        self.context_tokens = min(server.model.context_tokens for server in serving)
        if self._told is not None:
            self._told(max(1, sum(not server.rests_until for server in serving)))

    # --- servers that come and go -----------------------------------------------------------------

    async def add(self, address: str) -> None:
        """Ask an address, too, from now on. Raises ConfigurationError, ModelError and UsageError."""
        model = self._opened(address)
        known = next((s for s in self._servers if s.model.address == model.address), None)
        if known is not None and known.is_draining:
            known.is_draining = False
            if known.rests_until:
                self._rests.end(known)
            self._settle()
        if known is not None:
            await model.close()
            return
        health = await model.health()
        if not health.ready:
            await model.close()
            raise UsageError(f"{model.address} is not added: {health.problem}")
        await model.probe()
        self._servers.append(Server(model))
        self._settle()

    async def drain(self, address: str) -> None:
        """Give an address no more calls; it goes when those under way are done. Raises UsageError."""
        model = self._opened(address)  # completes the address
        await model.close()
        wanted = model.address
        server = next((s for s in self._servers if s.model.address == wanted), None)
        if server is None:
            known = ", ".join(s.model.address for s in self._servers)
            raise UsageError(f"There is no model server at {wanted}. There are: {known}.")
        if not any(not s.is_draining for s in self._servers if s is not server):
            raise UsageError(f"{wanted} is the only model server; add another one first.")
        server.is_draining = True
        server.stay_asleep()
        self._settle()
        await self._gone(server)

    async def _gone(self, server: Server) -> None:
        if server.is_draining and not server.running and server in self._servers:
            self._servers.remove(server)
            log.info("%s is drained", server.model.address)
            await server.model.close()


@dataclass(eq=False, slots=True)
class Server:
    """A server: its model, the calls under way, and whether it is asked at present."""

    model: Writer
    running: int = 0
    last: int = 0
    """When it was asked last, in calls of all servers."""
    failures: int = 0
    """Those in a row."""
    rests_until: float = 0.0
    """Time of the monotonic clock; 0 where it does not rest."""
    problem: str = ""
    is_on_trial: bool = False
    """It is back from a rest and gets one call until that succeeds."""
    is_draining: bool = False
    waking: asyncio.Task[None] | None = None

    @property
    def is_free(self) -> bool:
        """Return True if it takes a call."""
        return not (self.is_draining or self.rests_until or (self.is_on_trial and self.running))

    @property
    def state(self) -> ServerState:
        """Return how it is, without asking it."""
        left = max(0.0, self.rests_until - time.monotonic()) if self.rests_until else 0.0
        return ServerState(
            self.model.address,
            "draining" if self.is_draining else "resting" if self.rests_until else "serving",
            self.running,
            self.problem,
            left,
        )

    def stay_asleep(self) -> None:
        """Do not wake it any more."""
        if self.waking is not None:
            self.waking.cancel()
            self.waking = None


async def _unwell(model: Writer) -> str:
    """Ask a server for its health, then for a word; return why it cannot answer, or nothing."""
    health = await model.health()
    if not health.ready:
        return health.problem
    try:
        word = model.stream([Prompt("user", "Say OK.")], temperature=0.0, max_tokens=_WORD_TOKENS)
        async with aclosing(word):
            await anext(word, None)
    except ModelMalformed:
        pass  # it answers, only not with a word
    except ModelError as error:
        return str(error)
    await model.probe()  # nobody may have seen yet whether it keeps to schemas
    return ""


class Rests:
    """Lays servers down that failed, for `rest` seconds, twice as long each time in a row up to `longest`.

    At the end of a rest a server is asked for its health and for a word, so that nobody's question finds out,
    and rests on until it is well; one that was busy is not asked. `changed` is called whenever one is back.
    """

    def __init__(self, rest: float, longest: float, changed: Callable[[], None]) -> None:
        self._rest, self._longest = rest, longest
        self._changed = changed

    def failed(self, server: Server, error: ModelError) -> None:
        """Lay down a server for an error of a call; a busy one for as long as it asks to be left alone."""
        if server.rests_until:
            return
        if isinstance(error, ModelBusy):
            self._begin(server, str(error), error.after or _BUSY_SECONDS, is_busy=True)
            return
        server.failures += 1
        self._begin(server, str(error), self._seconds(server))

    def unwell(self, server: Server, problem: str) -> None:
        """Lay down a server that says itself that it cannot answer."""
        self._begin(server, problem, self._rest)

    def answered(self, server: Server) -> None:
        """Take note that a call succeeded."""
        if server.failures:
            log.info("%s answers again", server.model.address)
        server.failures, server.problem, server.is_on_trial, server.rests_until = 0, "", False, 0.0
        server.stay_asleep()

    def _begin(self, server: Server, problem: str, seconds: float, is_busy: bool = False) -> None:
        seconds = min(seconds, self._longest)
        log.warning("%s is left alone for %.3g s: %s", server.model.address, seconds, problem)
        server.problem, server.is_on_trial = problem, False
        server.rests_until = time.monotonic() + seconds
        server.waking = asyncio.create_task(self._waken(server, is_busy))

    def end(self, server: Server) -> None:
        """Ask a server again, by one call at first."""
        server.stay_asleep()
        log.info("%s is asked again", server.model.address)
        server.rests_until, server.is_on_trial = 0.0, True
        self._changed()

    async def _waken(self, server: Server, is_busy: bool) -> None:
        while True:
            await asyncio.sleep(server.rests_until - time.monotonic())
            problem = "" if is_busy else await _unwell(server.model)
            if not problem:
                break
            server.failures += 1
            server.problem = problem
            server.rests_until = time.monotonic() + self._seconds(server)
        server.waking = None
        self.end(server)

    def _seconds(self, server: Server) -> float:
        return float(min(self._rest * 2 ** min(server.failures - 1, 30), self._longest))
