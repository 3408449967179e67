"""What the bot does in Slack: say, change and delete what it said, whisper, and put vote boxes there."""

from __future__ import annotations

import asyncio
import logging
import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any

from bot.chat import Control, Message, Person, Reply
from bot.platforms.slack_api import SlackApi
from bot.platforms.slack_directory import Directory
from bot.platforms.slack_errors import TOO_LONG, SlackRefused
from bot.platforms.slack_format import LEAST, ROOMY, Composer, cut
from bot.platforms.slack_reading import Reader
from core.domain import MessageRef, Turn

log = logging.getLogger(__name__)

EDIT_INTERVAL = 1.2
"""Seconds between edits that are not final: `chat.update` has 50 a minute over all messages."""
_STREAMING = 5.0
"""Seconds after which a message that was not edited counts as finished."""
_SHOWN = 2_000
"""Messages whose text is remembered, to leave out edits that change nothing."""
Shown = tuple[str, tuple[Control, ...]]
"""What a message shows: its Markdown and what hangs under it."""


class SlackChat:
    """Carries out what dispatch asks; raises SlackRefused where Slack does not."""

    name = "slack"

    def __init__(self, api: SlackApi, directory: Directory, clock: Callable[[], float] = monotonic) -> None:
        self._api, self._directory, self._clock = api, directory, clock
        self.user = api.user
        self.reader = Reader(api, directory)
        self.composer = Composer()
        self._shown: OrderedDict[str, Shown] = OrderedDict()
        self._edited: dict[str, float] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._paused = -math.inf

    # --- reading ------------------------------------------------------------------------------

    async def history(self, before: MessageRef, limit: int) -> Sequence[Turn]:
        """Return up to `limit` turns before a message, oldest first; fewer where Slack refuses."""
        return await self.reader.history(before, limit)

    async def message(self, ref: MessageRef) -> Message | None:
        """Return one message as it stands now; None where there is none or the bot may not read it."""
        return await self.reader.message(ref)

    async def question_of(self, ref: MessageRef) -> Message | None:
        """Return the message that opened a thread; a message outside of threads answers nothing."""
        return await self.reader.question_of(ref)

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

    # --- writing ------------------------------------------------------------------------------

    async def post(self, where: MessageRef, reply: Reply) -> tuple[MessageRef, ...]:
        """Post in the thread of `where`; in a direct message only where that is a thread."""
        thread = where.thread
        if not thread and where.message:
            direct = (await self._directory.scope(where.channel)).kind == "direct"
            thread = "" if direct else where.message
        posted: list[MessageRef] = []
        try:
            return await self._show(posted, where.channel, thread, reply)
        except SlackRefused:
            # half an answer that nobody can edit or vote on is worse than none
            for ref in posted:
                with suppress(SlackRefused):
                    await self._remove(ref, quick=True)
            raise

    async def edit(self, parts: tuple[MessageRef, ...], reply: Reply) -> tuple[MessageRef, ...]:
        """Replace a posted reply; one that is not final is skipped when it comes too soon."""
        if not parts:
            return ()
        key = parts[0].key
        lock = self._locks.setdefault(key, asyncio.Lock())
        if not reply.final and (lock.locked() or not self._may_edit(key)):
            return parts
        async with lock:
            try:
                shown = list(parts)
                return await self._show(
                    shown, parts[0].channel, parts[0].thread, reply, quick=not reply.final
                )
            except SlackRefused as error:
                if reply.final:
                    raise
                log.debug("An edit that is not the last was left out: %s", error)
                self._paused = self._clock() + 5 * EDIT_INTERVAL
                return tuple(shown)
            finally:
                if reply.final:
                    self._edited.pop(key, None)
                    self._locks.pop(key, None)

    def _may_edit(self, key: str) -> bool:
        now = self._clock()
        self._edited = {k: at for k, at in self._edited.items() if now - at < max(_STREAMING, EDIT_INTERVAL)}
        streams = len(self._edited.keys() | {key})
        if now < self._paused or now - self._edited.get(key, -math.inf) < EDIT_INTERVAL * streams:
            return False
        self._edited[key] = now
        return True

    async def _show(
        self,
        parts: list[MessageRef],
        channel: str,
        thread: str,
        reply: Reply,
        limit: int = ROOMY,
        quick: bool = False,
    ) -> tuple[MessageRef, ...]:
        """Bring the messages `parts` to say a reply; the list follows what is there."""
        pieces = cut(reply.markdown, limit)
        try:
            for index, piece in enumerate(pieces):
                shown = (piece, reply.controls if index == len(pieces) - 1 else ())
                if index < len(parts):
                    await self._update(parts[index], shown, quick)
                else:
                    parts.append(await self._say(channel, thread, shown))
        except SlackRefused as error:
            if error.code not in TOO_LONG or limit < LEAST:
                raise
            return await self._show(parts, channel, thread, reply, limit // 2, quick)
        while len(parts) > len(pieces):
            await self._remove(parts[-1], quick)
            parts.pop()
        return tuple(parts)

    async def _say(self, channel: str, thread: str, shown: Shown) -> MessageRef:
        given: dict[str, Any] = {"channel": channel, "unfurl_links": False, "unfurl_media": False}
        if thread:
            given["thread_ts"] = thread
        answer = await self.composer.send(
            *shown, lambda payload: self._api.call("chat.postMessage", **given, **payload)
        )
        ts = str(answer.get("ts") or "")
        channel = str(answer.get("channel") or channel)
        direct = not thread and (await self._directory.scope(channel)).kind == "direct"
        ref = MessageRef("slack", channel, ts, thread or ("" if direct else ts))
        self._remember(ref, shown)
        return ref

    async def _update(self, ref: MessageRef, shown: Shown, quick: bool) -> None:
        if self._shown.get(ref.key) == shown:
            return
        # `parse` is `client` by default here, unlike with chat.postMessage, and would find @names
        given = {"channel": ref.channel, "ts": ref.message, "parse": "none", "link_names": False}
        await self.composer.send(
            *shown, lambda payload: self._api.call("chat.update", quick=quick, **given, **payload)
        )
        self._remember(ref, shown)

    def _remember(self, ref: MessageRef, shown: Shown) -> None:
        self._shown[ref.key] = shown
        self._shown.move_to_end(ref.key)
        while len(self._shown) > _SHOWN:
            self._shown.popitem(last=False)

    async def delete(self, parts: tuple[MessageRef, ...]) -> None:
        """Delete a posted reply."""
        for ref in parts:
            await self._remove(ref)

    async def _remove(self, ref: MessageRef, quick: bool = False) -> None:
        self._shown.pop(ref.key, None)
        await self._tolerant(
            "chat.delete", {"message_not_found"}, quick=quick, channel=ref.channel, ts=ref.message
        )

    async def seed_votes(self, ref: MessageRef) -> None:
        """Put 👍 and 👎 under a message."""
        for name in ("+1", "-1"):
            fine = {"already_reacted", "message_not_found"}
            await self._tolerant("reactions.add", fine, channel=ref.channel, timestamp=ref.message, name=name)

    async def whisper(self, where: MessageRef, person: Person, reply: Reply) -> bool:
        """Say something that only one person sees; False where that person is not in the channel."""
        try:
            await self.tell(where, person.id.removeprefix("slack:"), reply)
        except SlackRefused as error:
            log.info("%s cannot be told anything in %s: %s", person.id, where.channel_key, error)
            return False
        return True

    async def tell(self, where: MessageRef, user: str, reply: Reply) -> None:
        """Post what one user alone sees, in the thread of `where`; raises SlackRefused."""
        given: dict[str, Any] = {"channel": where.channel, "user": user}
        if where.thread:
            given["thread_ts"] = where.thread
        pieces = cut(reply.markdown)
        for piece in pieces:
            await self.composer.send(
                piece,
                reply.controls if piece is pieces[-1] else (),
                lambda payload: self._api.call("chat.postEphemeral", **given, **payload),
            )

    async def _tolerant(self, method: str, fine: set[str], **given: Any) -> None:
        try:
            await self._api.call(method, **given)
        except SlackRefused as error:
            if error.code not in fine:
                raise
