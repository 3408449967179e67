"""The queue before a language model: next is who had the fewest turns lately, so that nobody waits behind one
person's twenty questions.

This is start-time fair queueing: a call gets the number of the turn that is being taken, or the one after
its asker's last call, whichever is later; the lowest number goes first, and of equal ones the earlier call.
So that newcomers never keep anybody waiting for ever, a call that many others overtook goes next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from core.ports import ASKER, PLACE

PATIENCE = 16
"""Calls that may overtake one."""


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
