"""What the bot does in Slack: say, change and delete what it said, whisper, and put vote boxes there."""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any

from bot.platforms.slack.api.client import SlackApi
from bot.platforms.slack.api.errors import BARRED, GONE, PACING, Pace, Pacing, SlackRefused
from bot.platforms.slack.directory import Directory
from bot.platforms.slack.messages import Asides, Messages
from bot.platforms.slack.responder import SlackResponder
from bot.platforms.slack.stream import Streams
from bot.platforms.slack.text.earlier import Earlier
from bot.platforms.slack.text.reading import Reader
from bot.ports.chat import Person, Reaction, Reply, Responder
from bot.rendering.answers import Votes
from core.domain import MessageRef
from core.errors import MessageGone

log = logging.getLogger(__name__)

_PERMALINK = re.compile(r"https?://[^/\s]+/archives/([A-Z0-9]+)/p(\d{10,})(\d{6})(?:\?\S*)?\Z")
"""What a link to a message looks like: its channel, and its time in two parts."""
_HEARD = 2_000
"""Messages whose authors are remembered: a stream is for the person who is answered."""

_ID = re.compile(r"[A-Z][A-Z0-9]+")


class SlackChat:
    """Carries out what dispatch asks; raises SlackRefused where Slack does not."""

    name = "slack"

    def __init__(
        self,
        api: SlackApi,
        directory: Directory,
        streaming: bool = True,
        clock: Callable[[], float] = monotonic,
        pacing: Pacing = PACING,
        votes: Votes = "buttons",
        is_out: Callable[[str], bool] = lambda account: False,
    ) -> None:
        """`is_out` tells who opted out, so that nothing of theirs is read that others forward."""
        self._api, self._directory, self._clock = api, directory, clock
        self.user = api.user
        self.reader = Reader(api, directory, is_out)
        self.history, self.message = Earlier(api, self.reader).history, self.reader.message
        self.own_after, self.question_of = self.reader.own_after, self.reader.question_of
        self._streams = Streams(api, streaming, clock)
        self._messages = Messages(api, directory, self._streams, votes, pacing.posts)
        self.composer, self.send = self._messages.composer, self._messages.send
        self.sent, self.no_reply = self._messages.sent, self._messages.no_reply
        self.seed_votes, self.solve = self._messages.seed_votes, self._messages.solve
        self.asides = Asides(api, directory, self._messages)
        self._heard: OrderedDict[tuple[str, str], tuple[str, str]] = OrderedDict()
        self._pacing = pacing
        self._edits, self._appends = Pace(pacing.edits, clock), Pace(pacing.appends, clock)
        self._locks: dict[str, asyncio.Lock] = {}
        self._paused = -math.inf
        self.gone: set[str] = set()
        """Channels that were deleted, with all that stood in them."""

    def heard(self, ref: MessageRef, user: str, team: str) -> None:
        """Remember who wrote a message, and in which workspace they are."""
        self._messages.heard(ref.message)
        self._heard[ref.channel, ref.message] = (user, team or self._api.team)
        while len(self._heard) > _HEARD:
            self._heard.popitem(last=False)

    # --- reading ------------------------------------------------------------------------------

    async def permalink(self, ref: MessageRef) -> str:
        """Return a link to a message; empty where Slack gives none."""
        try:
            given = {"channel": ref.channel, "message_ts": ref.message}
            return str(
                (await self._api.call("chat.getPermalink", quick=True, **given)).get("permalink") or ""
            )
        except SlackRefused as error:
            log.info("Slack gives no link to %s: %s", ref.key, error)
            return ""

    async def linked(self, link: str) -> MessageRef | None:
        """Return the message that a link of this workspace leads to; None for any other link."""
        found = _PERMALINK.match(link)
        return MessageRef("slack", found[1], f"{found[2]}.{found[3]}") if found else None

    # --- writing ------------------------------------------------------------------------------

    async def post(self, where: MessageRef, reply: Reply) -> tuple[MessageRef, ...]:
        """Post in the thread of `where`; in a direct message only where that is a thread.

        What is not final is the beginning of a stream where there can be one.
        """
        thread = where.thread
        if not thread and where.message:
            direct = (await self._directory.scope(where.channel)).kind == "direct"
            thread = "" if direct else where.message
        if not reply.final:
            user, team = self._heard.get((where.channel, where.message), ("", ""))
            if ts := await self._streams.start(where.channel, thread, user, team, reply):
                begun = MessageRef("slack", where.channel, ts, thread)
                self.asides.posted(begun)
                return (begun,)
        try:
            parts = await self._messages.post(where.channel, thread, reply)
        except SlackRefused as error:
            if error.code in GONE:
                raise MessageGone(str(error)) from error
            raise
        self.asides.posted(parts[0])
        return parts

    def responder(self, address: Mapping[str, Any]) -> Responder | None:
        """Return how to answer somebody whom an earlier process left waiting; None where it is too late."""
        return SlackResponder.late(self._api, self, address)

    async def name_of(self, to: str) -> str:
        """Return a person's name, or a public channel's; empty where Slack does not tell it."""
        if not _ID.fullmatch(to):
            return ""  # what somebody typed in an id's place is not asked for, nor told to a log
        if to[:1] in ("U", "W"):
            name = (await self._directory.person(to)).name
            return "" if name == to else name
        is_public = (await self._directory.scope(to)).kind == "public"
        return await self._directory.title(to) if is_public else ""

    async def edit(self, parts: tuple[MessageRef, ...], reply: Reply) -> tuple[MessageRef, ...]:
        """Replace a posted reply; one that is not final is skipped when it comes too soon."""
        if not parts:
            return ()
        key, place = parts[0].key, (parts[0].channel, parts[0].message)
        lock = self._locks.setdefault(key, asyncio.Lock())
        pace = self._appends if place in self._streams else self._edits
        if not reply.final and (lock.locked() or self._clock() < self._paused or not pace.may(key)):
            return parts
        shown = list(parts)
        async with lock:
            try:
                if place in self._streams and await self._stream(place, reply):
                    return parts
                return await self._messages.show(
                    shown, parts[0].channel, parts[0].thread, reply, quick=not reply.final
                )
            except SlackRefused as error:
                if reply.final:
                    for ref in shown[len(parts) :]:  # the one who tries again knows nothing of these
                        with suppress(SlackRefused):
                            await self._messages.remove(ref, quick=True)
                if error.code in GONE:
                    raise MessageGone(str(error)) from error
                if reply.final:
                    if error.retryable or error.code in BARRED or error.method != "chat.update":
                        raise
                    # a workspace may limit edits, and Slack names more reasons for which it changes nothing
                    log.warning("A message cannot be changed, so the answer is posted again: %s", error)
                    return await self._anew(parts, reply)
                log.debug("An edit that is not the last was left out: %s", error)
                self._paused = self._clock() + max(self._pacing.refused, error.retry_after)
                return tuple(shown)
            finally:
                if reply.final:
                    self._locks.pop(key, None)

    async def _stream(self, place: tuple[str, str], reply: Reply) -> bool:
        """Feed a stream, or end it with what is final; returns True if that was all there is to do."""
        if reply.final:
            await self._streams.stop(*place)
            return False
        try:
            await self._streams.add(*place, reply)
        except SlackRefused as error:
            if place in self._streams:
                raise
            log.info("A stream has ended early, so its message is edited from now on: %s", error)
        return place in self._streams

    async def _anew(self, parts: tuple[MessageRef, ...], reply: Reply) -> tuple[MessageRef, ...]:
        fresh = await self._messages.post(parts[0].channel, parts[0].thread, reply)
        for ref in parts:
            with suppress(SlackRefused):
                await self._messages.remove(ref, quick=True)
        return fresh

    async def delete(self, parts: tuple[MessageRef, ...]) -> None:
        """Delete a posted reply; what stood in a channel that was deleted is gone already."""
        for ref in (part for part in parts if part.channel not in self.gone):
            self.asides.deleted(ref)
            await self._messages.remove(ref)

    async def take_back(self, reaction: Reaction) -> bool:
        """Do nothing: Slack lets nobody remove the reaction of somebody else."""
        return False

    async def whisper(self, where: MessageRef, person: Person, reply: Reply) -> bool:
        """Say something that only one person sees, there or else in their direct messages; False for neither.

        The message may have opened a thread without replies, so what is said of it stands in the channel.
        """
        thread = where.thread if where.thread != where.message else ""
        return await self.asides.say(where.channel, thread, person.id.removeprefix("slack:"), reply)
