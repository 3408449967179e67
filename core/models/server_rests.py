"""One of several servers of a model: whether it is asked at present, and how it comes back after an error."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass

from core.errors import ModelBusy, ModelError, ModelMalformed
from core.models.writer import Writer
from core.ports import Prompt, ServerState

log = logging.getLogger(__name__)

_WORD_TOKENS = 8
_BUSY_SECONDS = 2.0
"""Rest of a server that is busy and does not say for how long."""


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
