"""Keep a conversation's messages in their order while they are handled concurrently."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager


class Slot:
    """The place of one message among those of its conversation that are being handled."""

    def __init__(self, earlier: tuple[Slot, ...]) -> None:
        self._earlier = earlier
        self._looked = asyncio.Event()
        self._done = asyncio.Event()

    def looked(self) -> None:
        """Tell later messages that this one is claimed, or is not for the bot."""
        self._looked.set()

    def done(self) -> None:
        """Tell later messages that this one is answered, or never will be."""
        self._looked.set()
        self._done.set()

    async def after_claims(self) -> None:
        """Wait until every earlier message is claimed, or known not to be for the bot."""
        for slot in self._earlier:
            await slot._looked.wait()

    async def after_answers(self) -> None:
        """Wait until every earlier message is answered or never will be."""
        for slot in self._earlier:
            await slot._done.wait()


class InOrder:
    """Gives each message a slot in its conversation."""

    def __init__(self) -> None:
        self._slots: defaultdict[str, list[Slot]] = defaultdict(list)

    @contextmanager
    def slot(self, conversation: str) -> Iterator[Slot]:
        """Take the next slot, and give it back at the end; enter it before anything is awaited."""
        slots = self._slots[conversation]
        slot = Slot(tuple(slots))
        slots.append(slot)
        try:
            yield slot
        finally:
            slot.done()
            slots.remove(slot)
            if not slots and self._slots.get(conversation) is slots:
                del self._slots[conversation]
