"""Votes of the time in which nobody listened: read the emoji under answers, and count the differences.

Discord tells nothing again, Slack for some minutes only. So what stands is read whenever a platform is
connected anew; what was counted before changes nothing, however often it is read.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bot.conversation.desk import Desk
from bot.interactions.reactions import ReactionHandler, worth
from bot.operations.application import Application
from bot.ports.chat import Chat, Reaction, vote_of
from bot.ports.standing import ReactionReader, Standing, Unreadable
from core.domain import MessageRef
from core.errors import PlatformError, StorageUnavailable
from core.ports.opinions import Shown

log = logging.getLogger(__name__)

PASSES = 3
"""How often an answer is read at most, until nothing differs: people go on while it is read."""
AGAIN_SECONDS = 30.0
"""Time after which a message is read again that the platform refused, where it names no time."""
ATTEMPTS = 5
LOOK_SECONDS = 0.5
"""How often a process of a cluster that does not lead looks whether it is the one to read."""
HANDS: tuple[Literal[0, 1], ...] = (1, 0)
"""👎 comes last: of two emoji that one person put meanwhile, it counts."""


@dataclass(frozen=True, slots=True)
class _Under:
    """What stands under the messages of one answer: where each account has which emoji."""

    emoji: Mapping[str, Mapping[str, MessageRef]]
    whole: bool


class Recount:
    """Counts the differences between the emoji that stand and the votes that are known, in the background."""

    def __init__(self, desk: Desk, reactions: ReactionHandler, app: Application) -> None:
        self._desk, self._reactions, self._store = desk, reactions, app.reactions
        self._voter = app.vote_weighting.voter
        self._hours, self._messages = app.settings.recount_hours, app.settings.recount_messages
        self._due: dict[str, float] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._told: set[str] = set()

    def begin(self, chat: Chat, reader: ReactionReader) -> None:
        """Read what stands on a platform that is connected anew; if that goes on, once more after it."""
        if not (self._hours and self._messages):
            return
        if chat.name in self._running:
            self._again.add(chat.name)
            return
        task = asyncio.create_task(self._logged(chat, reader))
        self._running[chat.name] = task
        task.add_done_callback(lambda _: self._running.pop(chat.name, None))

    async def stop(self) -> None:
        """End at once: what was not read is read after the next start."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def done(self, platform: str) -> None:
        """Wait until everything of a platform is read."""
        while task := self._running.get(platform):
            await asyncio.wait({task})

    async def _logged(self, chat: Chat, reader: ReactionReader) -> None:
        try:
            while True:
                await self._leading(reader)
                self._again.discard(chat.name)
                await self._run(chat, reader)
                if chat.name not in self._again:
                    return
        except Exception:  # it is a help beside everything else, which must go on
            log.exception("votes of the time without a connection could not be counted")

    async def _leading(self, reader: ReactionReader) -> None:
        """Wait until this process is the one to read: of a cluster, that which leads, or each for its own.

        One that takes over reads all of it, for the process before it may have died over that.
        """
        while not (reader.reads_here or self._desk.cluster.leads):  # noqa: ASYNC110 # a thread changes it
            await asyncio.sleep(LOOK_SECONDS)

    async def _run(self, chat: Chat, reader: ReactionReader) -> None:
        """Read the latest answers, newest first, until the hours or the messages are used up."""
        since = time.time() - self._hours * 3600
        left, closed, changes = self._messages, set[str](), 0
        for shown in await self._store.shown(chat.name, since, left):
            if reader.reads_here and not await reader.reads_here(shown.parts[0]):
                continue
            left -= len(shown.parts)
            if left < 0:
                break
            if shown.parts[0].channel_key in closed:
                continue
            found = await self._settled(chat, reader, shown)
            if isinstance(found, int):
                changes += found
                continue
            self._tell(chat.name, shown.parts[0], found)
            if found.what == "all":
                break
            if found.what == "channel":
                closed.add(shown.parts[0].channel_key)
        if changes:
            log.info("%s: %d votes of the time without a connection are counted", chat.name, changes)

    async def _settled(self, chat: Chat, reader: ReactionReader, shown: Shown) -> int | Unreadable:
        """Read an answer until nothing differs; return how many votes were put or taken back."""
        changes = 0
        for _ in range(PASSES):
            try:
                # who votes while it is read is heard of as always, and is not taken for what was read
                newest = await self._store.newest(shown)
                under = await self._under(reader, shown)
                if isinstance(under, Unreadable):
                    return under
                changed = await self._counted(chat, reader, shown, under, newest)
            except StorageUnavailable:
                await self._desk.outage.over()
                continue
            if not changed:
                break
            changes += changed
        return changes

    async def _under(self, reader: ReactionReader, shown: Shown) -> _Under | Unreadable:
        emoji: dict[str, dict[str, MessageRef]] = {}
        whole = True
        for part in shown.parts:
            found = await self._read(reader, part)
            if isinstance(found, Unreadable):
                return found
            whole = whole and found.whole
            for name, accounts in found.people.items():
                emoji.setdefault(name, {}).update(dict.fromkeys(accounts, part))
        return _Under(emoji, whole)

    async def _read(self, reader: ReactionReader, ref: MessageRef) -> Standing | Unreadable:
        """Read one message in its turn, and again later where the platform has trouble."""
        for attempt in range(1, ATTEMPTS + 1):
            await asyncio.sleep(self._due.get(ref.platform, 0.0) - time.monotonic())
            self._due[ref.platform] = time.monotonic() + reader.read_seconds
            try:
                return await reader.standing(ref)
            except PlatformError as error:
                if not error.retryable or attempt == ATTEMPTS:
                    return Unreadable("message", str(error))
                log.debug("which emoji stand under %s is read again later: %s", ref.key, error)
                await asyncio.sleep(getattr(error, "retry_after", 0.0) or AGAIN_SECONDS)
        raise AssertionError("unreachable")

    async def _counted(
        self, chat: Chat, reader: ReactionReader, shown: Shown, under: _Under, newest: int
    ) -> int:
        """Count what differs, as if it was heard now; return how many votes that were.

        `newest` is the latest vote that was known before it was read.
        """
        changes = 0
        for value in HANDS:
            hands = {
                account: (emoji, ref)
                for emoji, people in under.emoji.items()
                if worth(emoji) == value
                for account, ref in people.items()
            }
            if under.whole:
                for answer_id in (*shown.before, shown.answer_id):
                    changes += await self._desk.engine.votes_cleared(answer_id, value, set(hands), newest)
            heeded = sorted(account for account in hands if self._heeds(account, shown))
            waiting = {self._voter(account): account for account in heeded}
            for voter in sorted(await self._store.unheard(shown, value, set(waiting), newest)):
                account = waiting[voter]
                emoji, ref = hands[account]
                person = await reader.somebody(account, ref)
                helps = person.helper or self._desk.engine.helps(account)
                if person.bot or (vote_of(emoji) is None and not helps):
                    continue
                put = Reaction(ref, person, emoji, True, until=newest)
                await self._reactions.recounted(chat, put, shown.answer_id)
                changes += 1
        return changes

    def _heeds(self, account: str, shown: Shown) -> bool:
        """Return True if a vote of theirs may be kept: not of who opted out, or was forgotten since."""
        return not self._desk.opted_out.is_silent(account, shown.at)

    def _tell(self, platform: str, ref: MessageRef, found: Unreadable) -> None:
        """Say once what cannot be read."""
        key = {"message": ref.key, "channel": ref.channel_key, "all": platform}[found.what]
        if key not in self._told:
            self._told.add(key)
            say = log.info if found.what == "message" else log.warning
            say("votes put on %s while I was away cannot be counted: %s", key, found.why)
