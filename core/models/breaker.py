"""A circuit breaker around a language model, and the fair queue of those who wait for it.

Next is who had the fewest turns lately, so that nobody waits behind one person's twenty questions. This is
start-time fair queueing: a call gets the number of the turn that is being taken, or the one after its asker's
last call, whichever is later; the lowest number goes first, and of equal ones the earlier call. So that
newcomers never keep anybody waiting for ever, a call that many others overtook goes next.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast

from core.errors import ModelBusy, ModelError, ModelInterrupted, ModelMalformed, ModelUnavailable, ServerDown
from core.models.completion import Completion, Finish
from core.ports import ASKER, PLACE, TURN, UNHURRIED, LanguageModel, ModelHealth, Prompt

log = logging.getLogger(__name__)

PATIENCE = 16
"""Calls in line that may overtake one."""
DOWN_SECONDS = 5.0
"""Rest of a server where nothing listens: to see that takes no time, and it may just be starting."""
WARM = 1500.0
"""Seconds for which a server keeps a model that answered; Ollama is asked for 30 minutes."""

T = TypeVar("T")
State = Literal["closed", "open", "half-open"]


class Full(Exception):
    """Report that a call finds no place in line, or has lost it to somebody who waits for less."""


@dataclass(eq=False, slots=True)
class _Waiting:
    """A call that waits: for the turn with this number, as the `arrival`th of all."""

    asker: str
    turn: int
    arrival: int
    ready: asyncio.Future[None]
    told: Callable[[int], None] | None
    place: int = 0
    overtaken: int = 0

    @property
    def order(self) -> tuple[int, int]:
        """Return what is lower for a call that goes earlier."""
        return -1 if self.overtaken >= PATIENCE else self.turn, self.arrival


class FairQueue:
    """Lets `places` calls run at once and `most` wait, the askers (`ASKER`) in turn.

    Where it is full, the asker with the most calls in it loses the last one to somebody with fewer.
    Each hears from `PLACE` where in the line it stands, counted from 1, whenever that changes.
    """

    def __init__(self, places: int, most: int) -> None:
        self._places = places
        self._most = most
        self._taken = 0
        self._waiting: list[_Waiting] = []
        self._now = 0
        self._next: dict[str, int] = {}
        """The number that the next call of somebody would get, where it is beyond the present turn."""
        self._arrivals = 0

    @property
    def waiting(self) -> int:
        """Return how many calls wait."""
        return len(self._waiting)

    @property
    def is_taken(self) -> bool:
        """Return True if a call would have to wait."""
        return self._taken >= self._places

    def widen(self, places: int) -> None:
        """Let so many calls run at once from now on; those under way go on."""
        self._places = places
        self._admit()

    async def take(self, patient: bool = False) -> None:
        """Wait for a place, which `free` gives back. Raises Full, but for who is `patient`."""
        asker = ASKER.get()
        turn = max(self._now, self._next.get(asker, 0))
        if not self.is_taken:
            self._taken += 1
            self._begin(asker, turn)
            return
        if not patient and len(self._waiting) >= self._most:
            self._make_room(turn)
        self._arrivals += 1
        ready = asyncio.get_running_loop().create_future()
        mine = _Waiting(asker, turn, self._arrivals, ready, PLACE.get())
        self._waiting.append(mine)
        self._note(asker, turn)
        self._tell()
        try:
            await ready
        except asyncio.CancelledError:
            if mine in self._waiting:
                self._leave(mine)
            elif not ready.cancelled() and ready.exception() is None:
                self.free()  # its turn came just when it was given up
            raise

    def free(self) -> None:
        """Give a place back, to the call that is next."""
        self._taken -= 1
        self._admit()

    def _admit(self) -> None:
        while self._waiting and not self.is_taken:
            first = min(self._waiting, key=lambda one: one.order)
            self._waiting.remove(first)
            if first.ready.cancelled():
                continue  # it was given up, and is about to hear of it
            for one in self._waiting:
                one.overtaken += one.arrival < first.arrival
            self._taken += 1
            self._begin(first.asker, first.turn)
            first.ready.set_result(None)
        self._tell()

    def _begin(self, asker: str, turn: int) -> None:
        self._now = max(self._now, turn)
        self._note(asker, turn)
        self._next = {one: number for one, number in self._next.items() if number > self._now}

    def _note(self, asker: str, turn: int) -> None:
        if asker:  # calls of nobody in particular are not one person's
            self._next[asker] = turn + 1

    def _make_room(self, turn: int) -> None:
        """Have the last in line make room for a call of that number. Raises Full where that is the call."""
        last = max(self._waiting, key=lambda one: one.order, default=None)
        if last is None or last.turn <= turn:
            raise Full
        self._leave(last)
        if not last.ready.cancelled():
            last.ready.set_exception(Full())

    def _leave(self, one: _Waiting) -> None:
        self._waiting.remove(one)
        if self._next.get(one.asker) == one.turn + 1:
            self._next[one.asker] = one.turn
        self._tell()

    def _tell(self) -> None:
        for place, one in enumerate(sorted(self._waiting, key=lambda one: one.order), 1):
            if one.place != place:
                one.place = place
                if one.told is not None:
                    one.told(place)


@dataclass(frozen=True, slots=True)
class BreakerStatus:
    """What a breaker is doing: its state, calls under way and waiting, and why it opened."""

    state: State
    running: int
    waiting: int
    failures: int
    retry_in: float = 0.0
    """Seconds until the model is tried again."""
    reason: str = ""


class Breaker:
    """A `LanguageModel` that spares a failing server, and lets only so many in at a time.

    After `failures` retryable errors in a row it opens for `rest` seconds, at the first ServerDown for a few:
    calls fail at once with ModelUnavailable. Then one call is let through; its success closes the breaker,
    its failure opens it again. Errors that waiting does not cure, and malformed output, show that the server
    answers, so they close it too. At most `parallel` calls run; up to `queue` more wait in a `FairQueue`, and
    who finds no place there gets ModelBusy at once.

    Structured calls that are UNHURRIED run one at a time, and only once there have been no others for `quiet`
    seconds, which is more than two steps of one question lie apart. One under way is given up where another
    call would wait for it, and begun again later. An answer that is not finished `longest` seconds after its
    first piece is given up, too, and so is a structured call that somebody waits for after that time.
    """

    def __init__(
        self,
        model: LanguageModel,
        *,
        failures: int = 3,
        rest: float = 30.0,
        parallel: int = 1,
        queue: int = 16,
        quiet: float = 2.0,
        longest: float = 300.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = model.name
        self.context_tokens = model.context_tokens
        self._model = model
        self._limit = failures
        self._rest = rest
        self._clock = clock
        self._line = FairQueue(parallel, queue)
        self._running = 0
        self._failures = 0
        self._open_until = 0.0
        self._reason = ""
        self._is_down = False
        self._trying = False
        self._answered_at: float | None = None
        self._quiet = quiet
        self._longest = longest
        self._hurried = 0
        self._hurried_at = -math.inf
        self._unhurried: asyncio.Task[Any] | None = None
        self._one = asyncio.Lock()

    @property
    def is_warm(self) -> bool:
        """Return True if the model answered lately, so that a server need not load it first."""
        return self._answered_at is not None and self._clock() - self._answered_at < WARM

    @property
    def status(self) -> BreakerStatus:
        """Return what the breaker is doing now."""
        left = max(0.0, self._open_until - self._clock()) if self._reason else 0.0
        state: State = "closed" if not self._reason else "open" if left else "half-open"
        return BreakerStatus(state, self._running, self._line.waiting, self._failures, left, self._reason)

    def widen(self, parallel: int) -> None:
        """Let so many calls run at once from now on; those under way go on."""
        self._line.widen(parallel)

    def count_tokens(self, text: str) -> int:
        """Estimate the tokens of a text."""
        return self._model.count_tokens(text)

    async def health(self) -> ModelHealth:
        """Ask the server, whatever the breaker thinks of it."""
        try:
            return await self._model.health()
        finally:
            self.name, self.context_tokens = self._model.name, self._model.context_tokens

    def stream(self, prompts: Sequence[Prompt], *, temperature: float, max_tokens: int) -> Completion:
        """Yield the answer piece by piece, when it is this call's turn."""

        async def pieces(completion: Completion) -> AsyncGenerator[str, None]:
            async with self._turn():
                inner = self._model.stream(prompts, temperature=temperature, max_tokens=max_tokens)
                async with _closing(inner):
                    until: float | None = None
                    while (piece := await self._next(inner, until)) is not None:
                        until = until or asyncio.get_running_loop().time() + self._longest
                        yield piece
                finish: Finish = getattr(inner, "finish", "stop")
                completion.finish = finish
                completion.prompt_tokens = getattr(inner, "prompt_tokens", 0)
                completion.answer_tokens = getattr(inner, "answer_tokens", 0)

        return Completion(pieces)

    async def _next(self, pieces: AsyncIterator[str], until: float | None) -> str | None:
        """Return the next piece of an answer, None at its end; give up an answer that takes too long."""
        async with self._by(until):
            return await anext(pieces, None)

    @asynccontextmanager
    async def _by(self, until: float | None) -> AsyncGenerator[None, None]:
        """Raise ModelInterrupted where something is not done by a time of the loop, in seconds."""
        try:
            async with asyncio.timeout_at(until):
                yield
        except TimeoutError:
            raise ModelInterrupted(
                f"{self.name} did not finish its answer within {self._longest:.3g} s. Ask for less, take a "
                "smaller model, or raise ANSWER_TIMEOUT."
            ) from None

    async def structured(
        self, prompts: Sequence[Prompt], schema: dict[str, Any], *, max_tokens: int
    ) -> dict[str, Any]:
        """Return output that fits the schema, when it is this call's turn."""

        async def call() -> dict[str, Any]:
            async with self._turn():
                until = asyncio.get_running_loop().time() + self._longest
                async with self._by(None if UNHURRIED.get() else until):
                    return await self._model.structured(prompts, schema, max_tokens=max_tokens)

        return await (self._later(call) if UNHURRIED.get() else call())

    async def probe(self) -> bool | None:
        """See whether the server keeps the model to a schema, while nobody else wants the model.

        None where it cannot be seen, which is no failure: the model may have to be loaded first.
        """
        see = getattr(self._model, "probe", None)
        if see is None:
            return None

        async def call() -> bool | None:
            await self._line.take(patient=True)
            try:
                return cast("bool | None", await see())
            finally:
                self.name, self.context_tokens = self._model.name, self._model.context_tokens
                self._line.free()

        return await self._later(call)

    async def _later(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Make a call while nobody else wants the model, as often as it takes."""
        async with self._one:
            while True:
                if self._hurried or time.monotonic() - self._hurried_at < self._quiet:
                    await asyncio.sleep(self._quiet)
                    continue
                self._unhurried = task = asyncio.create_task(call())
                try:
                    return await task
                except asyncio.CancelledError:
                    here = asyncio.current_task()
                    if self._unhurried is task or (here and here.cancelling()):  # its asker gave up
                        raise
                    log.debug("%s makes way for a question", self.name)
                finally:
                    self._unhurried = None

    @contextmanager
    def _hurry(self) -> Iterator[None]:
        """Let what can wait make way while this call waits and runs, and shortly after."""
        self._hurried += 1
        if self._unhurried is not None and self._line.is_taken:
            self._unhurried.cancel()
            self._unhurried = None
        try:
            yield
        finally:
            self._hurried -= 1
            self._hurried_at = time.monotonic()

    @asynccontextmanager
    async def _turn(self) -> AsyncGenerator[None, None]:
        with nullcontext() if UNHURRIED.get() else self._hurry():
            async with self._slot():
                yield

    @asynccontextmanager
    async def _slot(self) -> AsyncGenerator[None, None]:
        self._pass()
        try:
            await self._line.take()
        except Full:
            waiting = self._line.waiting
            raise ModelBusy(
                f"{waiting} questions already wait for {self.name}. Ask again in a minute."
            ) from None
        try:
            # It may have opened while this call was waiting.
            trial = self._pass()
            self._running += 1
            if (begun := TURN.get()) is not None:
                begun()
            self._trying = self._trying or trial
            try:
                yield
            except ModelError as error:
                self._judge(error)
                raise
            else:
                self._close()
                self._answered_at = self._clock()
            finally:
                self._running -= 1
                self.name, self.context_tokens = self._model.name, self._model.context_tokens
                if trial:
                    self._trying = False
        finally:
            self._line.free()

    def _pass(self) -> bool:
        """Let a call through or raise; return True if it is the trial of a half-open breaker."""
        status = self.status
        if status.state == "open" or (status.state == "half-open" and self._trying):
            soon = f" Next try in {status.retry_in:.0f} s." if status.retry_in >= 1 else ""
            raise (ServerDown if self._is_down else ModelUnavailable)(f"{self._reason}{soon}")
        return status.state == "half-open"

    def _judge(self, error: ModelError) -> None:
        if not error.retryable or isinstance(error, ModelMalformed):
            self._close()
            return
        self._is_down = is_down = isinstance(error, ServerDown)
        self._failures = max(self._failures + 1, self._limit if is_down else 0)
        if self._failures >= self._limit:
            rest = min(self._rest, DOWN_SECONDS) if is_down else self._rest
            if not self._reason:
                log.warning("%s is left alone for %.0f s: %s", self.name, rest, error)
            self._reason = str(error)
            self._open_until = self._clock() + rest

    def _close(self) -> None:
        if self._reason:
            log.info("%s answers again.", self.name)
        self._failures = 0
        self._reason = ""


@asynccontextmanager
async def _closing(pieces: AsyncIterator[str]) -> AsyncGenerator[None, None]:
    """Close an iterator that can be closed, as generators and completions can."""
    try:
        yield
    finally:
        close = getattr(pieces, "aclose", None)
        if close is not None:
            await close()
